//! What is rendered: documents of runs on loopback, and others with what seldom occurs.

use serde_json::{Value, json};
use sixmark::report::documents::Document;
use sixmark_compare::deciding::EquivalenceInterval;
use sixmark_compare::fixture::comparison_result;
use sixmark_compare::{Comparison, HeaderCorrected};
use sixmark_design::study_result::StudyResult;
use sixmark_document::provenance::Ended;
use sixmark_document::verdict::{Estimate, Verdict};
use sixmark_result::fixture;
use sixmark_result::fleet::FleetSection;
use sixmark_result::warnings;

/// A document of a run on loopback.
pub(crate) fn recorded(name: &str) -> Document {
    Document::parse(text_of(name)).unwrap()
}

fn text_of(name: &str) -> &'static str {
    match name {
        "run-both" => include_str!("../data/run-both.json"),
        "run-one" => include_str!("../data/run-one.json"),
        "run-mix" => include_str!("../data/run-mix.json"),
        "run-quic" => include_str!("../data/run-quic.json"),
        "run-failing" => include_str!("../data/run-failing.json"),
        "find-max" => include_str!("../data/find-max.json"),
        "watch" => include_str!("../data/watch.json"),
        "watch-hidden" => include_str!("../data/watch-hidden.json"),
        "comparison" => include_str!("../data/comparison.json"),
        "study" => include_str!("../data/study.json"),
        "vitals" => include_str!("../data/vitals.json"),
        "traffic" => include_str!("../data/traffic.json"),
        "doctor" => include_str!("../data/doctor.json"),
        "check" => include_str!("../data/check.json"),
        "eyes" => include_str!("../data/eyes.json"),
        "only6" => include_str!("../data/only6.json"),
        other => panic!("no document is called {other}"),
    }
}

/// A run with one of almost everything that seldom happens.
pub(crate) fn crowded() -> Document {
    let mut run: Value = serde_json::from_str(text_of("run-failing")).unwrap();
    let target = run["plan"]["targets"][0].clone();
    run["plan"]["targets"].as_array_mut().unwrap().extend([target.clone(), target]);
    run["ended"] = json!("hopeless");
    run["generator"]["saturated"] = json!(true);
    run["dns"] = json!([{"host": "a.example", "us": 1_234.5, "ipv6": 1, "ipv4": 2}]);
    for (name, count) in [("unaccepted", 3), ("redirects", 4), ("followed", 5), ("dropped", 6)] {
        run["families"]["ipv6"]["requests"][name] = json!(count);
    }
    for (name, count) in [("unsent", 7), ("waited", 8), ("resent", 9), ("interim_responses", 2)] {
        run["families"]["ipv4"]["requests"][name] = json!(count);
    }
    run["families"]["ipv4"]["status"] = json!({"200": 30, "404": 3, "503": 1});
    run["families"]["ipv4"]["tcp"]["spurious"] = json!(2);
    let addresses = (1..=10).map(|port| {
        json!({"address": format!("127.0.0.1:{port}"), "url": "", "ended": 20, "completed": 5,
            "unaccepted": 1, "failures": [{"outcome": "REFUSED", "phase": "connect", "errno": 111,
            "code": null, "count": 15}]})
    });
    run["families"]["ipv4"]["by_address"] = addresses.collect();
    read(run)
}

/// A run that three agents generated, one of which was lost, one slow, and one with an uncertain
/// clock.
pub(crate) fn of_a_fleet() -> Document {
    let mut run: Value = serde_json::from_str(text_of("run-both")).unwrap();
    let mut agents = [("berlin", 1_000.0), ("paris", 500.0), ("rome", 990.0)]
        .map(|(name, per_s)| fixture::agent(name, per_s));
    agents[1].share = Some(0.25);
    agents[2].incomplete_from = Some(7);
    agents[0].clock_bound_s = 0.02;
    let fleet = FleetSection {
        load: "20260102T030405Z-abcdef-1".to_owned(),
        agents: agents.into(),
        server_restarts: 1,
        duplicates: 2,
        foreign: 0,
    };
    let warnings = warnings::of_fleet(&fleet);
    let before = run["warnings"].as_array_mut().unwrap();
    before.extend(warnings.iter().map(|warning| serde_json::to_value(warning).unwrap()));
    run["fleet"] = serde_json::to_value(fleet).unwrap();
    read(run)
}

/// A comparison of a mix, one request of which only one side sends.
pub(crate) fn compared_mix() -> Document {
    let run: Value = serde_json::from_str(text_of("run-mix")).unwrap();
    let mut comparison: Value = serde_json::from_str(text_of("comparison")).unwrap();
    for (side, family) in [("a", "ipv6"), ("b", "ipv4")] {
        let requests = run["families"][family]["by_request"].clone();
        comparison["sides"][side]["figures"]["by_request"] = requests;
    }
    let b = comparison["sides"]["b"]["figures"]["by_request"].as_array_mut().unwrap();
    b.pop();
    b[0]["name"] = json!(null);
    read(comparison)
}

/// A run of three steps of a rate, the second of which was too much for the server. It was interrupted
/// before the third.
pub(crate) fn stepped() -> Document {
    let mut run: Value = serde_json::from_str(text_of("run-both")).unwrap();
    // A summary of no times.
    let hidden: Value = serde_json::from_str(text_of("watch-hidden")).unwrap();
    let none = &hidden["families"]["ipv6"]["response_us"];
    for path in ["/families/ipv6", "/families/ipv4", "/total"] {
        let times = run.pointer(path).unwrap()["response_us"].clone();
        let times = |lasts_s: f64| if lasts_s > 0.0 { times.clone() } else { none.clone() };
        let step = |number: f64, lasts_s: f64, failed: u64| {
            let completed = 90 * u64::from(lasts_s > 0.0);
            json!({
                "from": 100.0 * number, "to": 100.0 * number, "begins_s": 2.0 * (number - 1.0),
                "lasts_s": lasts_s, "due": completed + 3 * failed, "dropped": failed, "unsent": failed,
                "sent": completed + failed, "completed": completed, "unaccepted": 0, "failed": failed,
                "outcomes": {"NORMAL": completed, "TIMEOUT": failed}, "status": {"200": completed},
                "responses": completed, "responses_per_s": if lasts_s > 0.0 { 90.0 / lasts_s } else { 0.0 },
                "response_us": times(lasts_s),
            })
        };
        let steps = [step(1.0, 2.0, 0), step(2.0, 1.5, 7), step(3.0, 0.0, 0)];
        run.pointer_mut(path).unwrap()["by_step"] = steps.into_iter().collect();
    }
    run["ended"] = json!("interrupted");
    read(run)
}

/// A watch of connections without and with TLS and QUIC, and with a gate that failed.
pub(crate) fn watched_secure() -> Document {
    let mut watch: Value = serde_json::from_str(text_of("watch")).unwrap();
    watch["gates"] = json!([
        {"fail_if": "ipv6.response.p50 > 1us", "failed": true, "because": "ipv6.response.p50 is 7.38 us"}
    ]);
    let times = watch["families"]["ipv6"]["wait_us"].clone();
    let secure = |completed: u64| {
        json!({
            "connections": completed + 4, "completed": completed, "failed": 2, "unfinished": 1,
            "begun_before": 1, "first_flight_us": times, "handshake_us": times, "round_trip_us": times,
            "from_client_bytes": 1_000 * completed, "from_server_bytes": 20_000 * completed,
        })
    };
    let seen = &mut watch["watched"]["families"];
    seen["ipv6"]["tls"] = secure(5);
    seen["ipv4"]["tls"] = secure(7);
    seen["ipv4"]["quic"] = secure(1);
    seen["ipv6"]["spoken"]["tls"] = json!(9);
    seen["ipv4"]["spoken"]["tls"] = json!(11);
    seen["ipv4"]["spoken"]["quic"] = json!(5);
    seen["ipv6"]["hidden"] = json!(9);
    seen["ipv4"]["hidden"] = json!(16);
    read(watch)
}

/// A run that nobody answered.
pub(crate) fn silent() -> Document {
    let mut run = fixture::run();
    run.families.ipv6 = Some(fixture::silent());
    run.families.ipv4 = Some(fixture::silent());
    run.total = fixture::silent();
    run.ended = Ended::Interrupted;
    Document::Run(run.into())
}

fn read(document: Value) -> Document {
    Document::parse(&document.to_string()).unwrap()
}

/// A comparison of each verdict.
pub(crate) struct Verdicts;

impl Verdicts {
    /// Its name, and the document.
    pub(crate) fn all() -> Vec<(&'static str, Document)> {
        vec![
            ("worse", compared(|_| {})),
            ("better", compared(|of| judged(of, Verdict::Better, [0.8, 0.7, 0.9]))),
            ("equivalent", compared(|of| judged(of, Verdict::Equivalent, [1.01, 0.99, 1.02]))),
            ("inconclusive", compared(|of| judged(of, Verdict::Inconclusive, [1.02, 0.9, 1.2]))),
            ("many-times", compared(|of| judged(of, Verdict::Worse, [43.7, 33.0, 47.0]))),
            ("not-comparable", compared(unlike)),
            ("nothing", compared(|of| of.metrics.clear())),
        ]
    }
}

fn compared(change: fn(&mut Comparison)) -> Document {
    let mut result = comparison_result();
    change(&mut result.comparison);
    result.gates = serde_json::from_value(json!([
        {"fail_if": "verdict(response.p50) == worse", "failed": true, "because": "it is worse"}
    ]))
    .unwrap();
    Document::Comparison(result.into())
}

/// The interval that decides equivalence, for an estimate with this interval of 95 %.
fn narrower(value: f64, low: f64, high: f64) -> EquivalenceInterval {
    let [low, high] = [low, high].map(|end| value + 0.8 * (end - value));
    EquivalenceInterval { confidence: 0.9, low, high, margin: 0.05 }
}

fn judged(comparison: &mut Comparison, verdict: Verdict, [value, low, high]: [f64; 3]) {
    let goodput = HeaderCorrected {
        expected: 0.986,
        ratio: Estimate { value: 1.001, low: 0.99, high: 1.01 },
        equivalence: Some(narrower(1.001, 0.99, 1.01)),
        verdict: Verdict::Equivalent,
    };
    comparison.metrics[3].header_corrected = Some(goodput);
    let first = &mut comparison.metrics[0];
    first.verdict = verdict;
    (first.a, first.b) = (Some(12_000.0), Some(10_000.0));
    first.ratio = Some(Estimate { value, low, high });
    first.equivalence = Some(narrower(value, low, high));
    first.effects = vec![value.ln(), low.ln(), high.ln()];
}

fn unlike(comparison: &mut Comparison) {
    let said = "IPv6 fails 33.0 % of requests (the content failed a check); IPv4 none";
    comparison.sameness = serde_json::from_value(json!({
        "same": false, "said": said, "level": 0.001, "pairs": 12, "tests": 3, "differences": []
    }))
    .unwrap();
    for of in &mut comparison.metrics[..2] {
        of.verdict = Verdict::NotComparable;
        of.reason = Some(said.to_owned());
        of.ratio = None;
    }
}

/// A claim with an answer, with more.
pub(crate) fn claim(answer: &str, more: Value) -> Value {
    let mut claim = json!({"id": "ipv6-faster", "text": "IPv6 is faster", "source": null,
        "kind": "higher", "measure": "goodput", "method": "Student's t", "printed": null,
        "published": null, "said": null, "measured": evidence(answer, json!({}))});
    claim.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    claim
}

/// Evidence with an answer, with more.
pub(crate) fn evidence(answer: &str, more: Value) -> Value {
    let estimate = json!({"of": "ratio", "value": 1.1, "low": 1.05, "high": 1.15});
    let mut evidence = json!({"answer": answer, "why": null, "figures": "2 MB/s against 1.8 MB/s",
        "blocks": 5, "estimate": estimate, "count": null, "p": 0.01, "p_adjusted": 0.02,
        "agrees": true});
    evidence.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    evidence
}

/// One that is not decided, for a reason, after this number of repetitions.
pub(crate) fn undecided(why: &str, blocks: u32, more: Value) -> Value {
    let undecided = json!({"why": why, "blocks": blocks, "estimate": null});
    let mut claim = claim("cannot_tell", json!({"measured": evidence("cannot_tell", undecided)}));
    claim.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    claim
}

/// One whose sides do not give the same.
pub(crate) fn unlike_claim() -> Value {
    let unlike = json!({"estimate": null, "p": null, "p_adjusted": null, "why": "statuses differ"});
    claim("not_comparable", json!({"measured": evidence("not_comparable", unlike)}))
}

/// What is said first of the study with other claims, and its notes.
pub(crate) fn headline(study: &StudyResult, claims: &[Value]) -> String {
    let claims = serde_json::from_value(claims.into()).unwrap();
    let study = StudyResult { claims, ..study.clone() };
    let text = sixmark_study::sheet::study_text(&study);
    let end = text.find("\nWHAT MAKES THE FIGURES").unwrap();
    let (_, last) = text[..end].trim_end().rsplit_once("\n\n").unwrap();
    last.replace('\n', " ")
}

/// The study with claims of each answer, published figures that say something else, and cells missing.
pub(crate) fn turned(study: StudyResult) -> StudyResult {
    let mut study = serde_json::to_value(study).unwrap();
    study["cells_planned"] = json!(20);
    study["ended"] = Value::Null;
    study["programs"] = json!({"nginx": "1.22.1"});
    study["differences"] =
        json!(["Today's server stands for that of 2003.", "Not varied here: system (A, B)."]);
    study["warnings"] = json!([{"code": "few_repetitions", "message": "there are few"}]);
    let count = json!({"count": {"counted": 0, "sent": 1_200}, "estimate": null, "p": null,
        "p_adjusted": null, "figures": "0 of 1,200"});
    let count = json!({"kind": "none", "measure": "NORMAL", "measured": evidence("holds", count)});
    let contradicted = json!({"id": "ipv6-lower", "text": "IPv6 is slower", "kind": "lower",
        "source": "table 2", "printed": "2 against 3 MB/s",
        "published": evidence("does_not_hold", json!({}))});
    study["claims"] = json!([
        claim("holds", json!({"said": "IPv6 carries 10 % more"})),
        claim("does_not_hold", json!({"text": "Sizes do not matter"})),
        claim("holds", count),
        claim("does_not_hold", contradicted),
        undecided("--quick omits size 7", 5, json!({"source": "figure 1", "id": "size"})),
        unlike_claim(),
    ]);
    let of = |label: &str, finding: &str, [low, high]: [f64; 2]| {
        json!({"label": label, "pairs": 3, "higher": 0, "finding": finding, "sentence": "it says so",
            "ratio": {"value": (low * high).sqrt(), "low": low, "high": high}})
    };
    study["comparisons"][0]["entries"] = json!([
        of("kept", "lower", [0.5, 0.6]),
        of("one a request", "equivalent", [0.99, 1.01]),
        of("other", "not_comparable", [0.9, 1.1]),
    ]);
    study["comparisons"][0]["published"] = json!([of("", "higher", [1.1, 1.2])]);
    study["comparisons"][0]["interaction"] = json!({"factor": "size", "of": "1", "over": "2"});
    let table = &mut study["tables"][0];
    table["remarks"] = json!(["A remark | with a bar."]);
    table["at"] = json!([{"factor": "server", "level": "nginx"}]);
    let value = |n: f64| {
        json!({"measured": n, "low": n - 1.0, "high": n + 1.0, "n": 3,
            "published": [{"printed": "-4.00", "value": -4.0}]})
    };
    table["improvement"] = json!({"factor": "connections", "of": "kept", "over": "one a request",
        "rows": [{"levels": ["kept", "1000"], "values": [value(5.0), value(-3.0)]}],
        "unlike": "statuses differ"});
    study["published"]["analyses"][0]["shares"] = json!([{"label": "loss", "a": 0.1, "b": 0.2,
        "difference": {"value": -0.1, "low": -0.2, "high": 0.0}, "differs": true}]);
    serde_json::from_value(study).unwrap()
}
