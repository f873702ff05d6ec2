//! The result document: its published form, and the histograms in it.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde_json::{Value, json as value};
use sixmark_plan::plan::tls::PlanTls;
use sixmark_result::result::RunResult;
use sixmark_tally::tls::{Cause, Certificate, Facts, Reason, TlsTally};
use sixmark_testkit::forms::RESULT;
use sixmark_testkit::{Origin, json};

fn sample() -> Value {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/1000");
    let load = ["-n", "3000", "-c", "8", "--source", "127.0.0.2", "-H", "A: b", "--calibrate"];
    json(&[&load[..], &[&v6, &v4]].concat())
}

/// The same of an open loop.
fn open_sample() -> Value {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/1000");
    json(&["--steps", "10k:100ms,20k:100ms", "--spin", "5us", "-c", "8", &v6, &v4])
}

/// The same of a search, which has two trials of each family.
fn search_sample() -> Value {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/1000");
    json(&["--find-max", "response.p99 < 1ns", "-d", "100ms", &v6, &v4])
}

/// The same of a mix.
fn mix_sample() -> Value {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/");
    let folder = tempfile::tempdir().unwrap();
    let mix = folder.path().join("mix.toml");
    let requests = ["/bytes/1000", "/status/404"].map(|of| format!("[[request]]\npath = '{of}'\n"));
    std::fs::write(&mix, requests.concat()).unwrap();
    json(&["-n", "40", "--requests", mix.to_str().unwrap(), &v6, &v4])
}

/// The same with what TLS adds.
fn secure_sample() -> Value {
    let plan = PlanTls { alpn: vec!["http/1.1".into()], ..PlanTls::default() };
    let mut counted = TlsTally::default();
    let certificate = Certificate { sha256: [7; 32], not_after: Some(0) };
    let facts = Facts {
        version: "TLSv1.3",
        cipher: "TLS_AES_128_GCM_SHA256",
        group: Some("x25519"),
        alpn: Some(0),
        resumed: false,
        offered: false,
        retried: false,
        certificate: Some(certificate),
    };
    counted.finished(&facts, 1_000);
    counted.finished(&Facts { resumed: true, ..facts }, 500);
    counted.failed(Some(Cause::new(Reason::Alert, Some(40))));
    let mut document = sample();
    let tls = serde_json::to_value(counted.result(&plan)).unwrap();
    for path in ["/families/ipv6/tls", "/families/ipv4/tls", "/total/tls"] {
        put(&mut document, path, tls.clone());
    }
    put(&mut document, "/plan/tls", serde_json::to_value(plan).unwrap());
    document
}

/// A result of two agents.
fn fleet_sample() -> Value {
    let agents = ["a", "b"].map(|name| sixmark_result::fixture::agent(name, 1_000.0));
    let fleet = sixmark_result::fleet::FleetSection {
        load: "load-1".to_owned(),
        agents: agents.into(),
        server_restarts: 0,
        duplicates: 0,
        foreign: 0,
    };
    let mut document = sample();
    put(&mut document, "/fleet", serde_json::to_value(fleet).unwrap());
    document
}

#[test]
fn the_schema_rejects_invalid_results() {
    let validator = RESULT.validator();
    assert!(jsonschema::meta::is_valid(&RESULT.schema()));
    let good = sample();
    assert!(validator.is_valid(&good));
    for (path, wrong) in [
        ("/schema", value!("sixmark.result/2")),
        ("/ended", value!("finished")),
        ("/started", value!("yesterday")),
        ("/elapsed_s", value!(-1)),
        ("/families", value!({})),
        ("/families/ipv6/outcomes/NORMAL", value!(1.5)),
        ("/families/ipv6/outcomes", value!({"NORMAL": 1, "ODD": 1})),
        (
            "/families/ipv4/failures",
            value!([{"outcome": "NORMAL", "phase": "wait", "errno": null, "count": 1}]),
        ),
        ("/families/ipv4/status", value!({"2000": 1})),
        ("/total/wait_us/p99", value!(null)),
        ("/total/wait_us/hdr", value!("")),
        ("/total/addresses/0", value!("::1")),
        ("/ratio/sent", value!([1, 2, 3])),
        ("/plan/load/timeout", value!("5s")),
        ("/generator/busiest", value!(95)),
        ("/plan/load/pace", value!({"mode": "open"})),
        ("/find_max", value!({})),
        ("/total/slip_us", good["total"]["wait_us"].clone()),
        ("/generator/timestamps/mode", value!("hardware")),
        ("/families/ipv6/tcp/mss", value!({"big": 1})),
        ("/calibration/legs/0/difference_us/wait", value!(-1)),
    ] {
        let mut bad = good.clone();
        put(&mut bad, path, wrong);
        assert!(!validator.is_valid(&bad), "{path}");
    }
}

/// Puts a value where there is one, or where one might be.
fn put(document: &mut Value, path: &str, value: Value) {
    let (parent, field) = path.rsplit_once('/').unwrap();
    match document.pointer_mut(path) {
        Some(place) => *place = value,
        None => document.pointer_mut(parent).unwrap()[field] = value,
    }
}

/// Objects whose fields are not fixed.
const FREE: [&str; 8] =
    ["/sysctls", "/families", "/status", "/mss", "/versions", "/ciphers", "/groups", "/alpn"];

/// Takes each field of each object away, and adds one.
#[test]
fn the_schema_requires_every_field_and_rejects_unknown_ones() {
    let all =
        [sample(), open_sample(), search_sample(), secure_sample(), mix_sample(), fleet_sample()];
    all.iter().for_each(is_known);
}

fn is_known(good: &Value) {
    let free =
        |path: &str| FREE.iter().any(|end| path.ends_with(end)) && !path.contains("/intervals/");
    RESULT.knows_every_field(good, free);
}

#[test]
fn a_short_run_has_tenths_of_a_second_and_a_search_its_duration() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/1000");
    let run = json(&["-d", "450ms", &v6, &v4]);
    let tenths = run["tenths"].as_array().unwrap();
    let number = |tenth: &Value| tenth["tenth"].as_u64().unwrap();
    assert!(
        tenths.len() >= 2 && tenths.iter().map(number).is_sorted_by(|a, b| a < b),
        "{tenths:?}"
    );
    let lengths = tenths.iter().map(|tenth| tenth["length_s"].as_f64().unwrap());
    let seconds = run["intervals"].as_array().unwrap().iter();
    let seconds: f64 = seconds.map(|second| second["length_s"].as_f64().unwrap()).sum();
    // Workers end a tenth at slightly different times, and the longest counts.
    assert!(lengths.sum::<f64>() >= seconds * 0.99);
    let search = search_sample();
    assert_eq!(search["tenths"], value!([]));
    assert!(search["find_max"]["took_s"].as_f64() >= search["elapsed_s"].as_f64());
}

#[test]
fn a_result_survives_a_json_round_trip() {
    for document in [sample(), open_sample(), search_sample(), secure_sample(), fleet_sample()] {
        let result: RunResult = serde_json::from_value(document.clone()).unwrap();
        assert_eq!(serde_json::to_value(result).unwrap(), document);
    }
}

#[test]
fn histograms_agree_with_their_summaries() {
    let result = sample();
    let families = [&result["families"]["ipv6"], &result["families"]["ipv4"], &result["total"]];
    for figures in families {
        for kind in ["connect_us", "wait_us", "transfer_us", "response_us", "lifetime_us"] {
            agrees(&figures[kind]);
        }
        agrees(&figures["tcp"]["rtt_us"]);
        agrees(&figures["tcp"]["min_rtt_us"]);
    }
    let seconds = result["intervals"].as_array().unwrap().iter();
    seconds.for_each(|second| agrees(&second["families"]["ipv6"]["response_us"]));
}

/// Nanoseconds in the histogram, microseconds in the summary; quantiles to three digits.
fn agrees(summary: &Value) {
    let bytes = STANDARD.decode(summary["hdr"].as_str().unwrap()).unwrap();
    let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
    assert_eq!(summary["count"], histogram.len());
    let us = |name: &str| summary[name].as_f64().unwrap();
    for (name, quantile) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)] {
        let decoded = histogram.value_at_quantile(quantile) as f64 / 1e3;
        assert_eq!(us(name), decoded.clamp(us("min"), us("max")), "{name}");
    }
    // The summary's maximum is exact, the histogram's the end of its bucket.
    let max = histogram.max() as f64 / 1e3;
    assert!(us("max") <= max && max <= us("max") * 1.001, "{max} is not {}", us("max"));
}

/// Every code in the source is one that the schema and the description name, and the other way.
#[test]
fn every_warning_is_documented() {
    let source = concat!(
        include_str!("../../../result/src/warnings.rs"),
        include_str!("../../../result/src/warnings/before.rs"),
        include_str!("../../../result/src/warnings/certificates.rs"),
        include_str!("../../../compare/src/warnings.rs"),
        include_str!("../../../result/src/warnings/family.rs"),
        include_str!("../../../result/src/warnings/fleet.rs"),
        include_str!("../../../result/src/warnings/lapses.rs"),
        include_str!("../../../result/src/warnings/recording.rs"),
        include_str!("../../../result/src/warnings/redirects.rs"),
        include_str!("../../../result/src/warnings/search.rs"),
        include_str!("../../../result/src/warnings/truth.rs"),
        include_str!("../../../watch/src/warnings.rs"),
        include_str!("../../../document/src/provenance.rs"),
        include_str!("../../../vitals/src/warnings.rs"),
        include_str!("../../../eyes/src/client_warnings.rs"),
        include_str!("../../../only6/src/only6_warnings.rs"),
    );
    let calls = source.split("warning(").skip(1).filter(|call| !call.starts_with("code: &str"));
    let code = |call: &'static str| call.trim_start().strip_prefix('"')?.split('"').next();
    let written: BTreeSet<&str> =
        calls.map(|call| code(call).unwrap_or_else(|| panic!("no code: {call}"))).collect();
    assert!(written.len() > 30, "{written:?}");
    let schema = RESULT.schema();
    let examples = &schema.pointer("/$defs/Warning/properties/code/examples").unwrap();
    let known = examples.as_array().unwrap().iter().map(|code| code.as_str().unwrap()).collect();
    assert_eq!(written, known);
    // Other tables of the page have words like them.
    let description = include_str!("../../../../docs/result.md");
    let section = description.split("\n## Warnings\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert_eq!(rows.collect::<BTreeSet<_>>(), written, "docs/result.md");
}
