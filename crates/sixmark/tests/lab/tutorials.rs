//! The labs of the tutorials (docs/tutorials) show what these say of them.

use std::io::{BufRead as _, BufReader};

use serde_json::Value;
use sixmark_testkit::forms::COMPARISON;
use sixmark_testkit::lab::{Lab, without};
use sixmark_testkit::{command, document, finish, signal, sixmark};

const SITE: &str = include_str!("../../../../docs/tutorials/measure-a-site.md");

fn run(lab: &Lab, words: &[&str], urls: &[&str]) -> Value {
    let begin = ["run", "--quiet", "--json", "-", "--in", "client", "--lab", lab.name()];
    document(&sixmark(&[&begin[..], words, urls].concat()))
}

/// The lab that the tutorial has its reader save.
fn site(name: &str) -> Lab {
    let file = SITE.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    Lab::up(name, file, &[])
}

#[test]
fn the_tutorial_site_responds_more_slowly_over_ipv6() {
    if without(&[]) {
        return;
    }
    let lab = site("shop");
    let result = run(&lab, &["-n", "100", "-c", "10"], &["http://www.test/bytes/4096"]);
    for (family, least_us) in [("ipv6", 40_000.0), ("ipv4", 30_000.0)] {
        let figures = &result["families"][family];
        assert_eq!(figures["outcomes"]["NORMAL"], 50);
        assert!(figures["response_us"]["min"].as_f64().unwrap() >= least_us, "{figures}");
    }
}

#[test]
fn a_watch_in_the_server_of_the_site_sees_its_requests() {
    if without(&[]) {
        return;
    }
    let lab = site("watched-shop");
    let words = ["watch", "--in", "server", "--lab", lab.name(), "--port", "80", "--json", "-"];
    let mut watch = command(&words).spawn().unwrap();
    let mut errors = BufReader::new(watch.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("watching") {
        line.clear();
        assert_ne!(errors.read_line(&mut line).unwrap(), 0, "the watch ended");
    }
    run(&lab, &["-n", "20", "-c", "2"], &["http://www.test/bytes/4096"]);
    signal(watch.id(), "INT");
    let seen = document(&finish(watch));
    for family in ["ipv6", "ipv4"] {
        assert_eq!(seen["families"][family]["requests"]["completed"], 10, "{family}");
    }
}

/// The paths differ by 10 ms, and nothing else does: the comparison says so, whichever family is judged.
#[test]
fn a_comparison_names_the_round_trip_as_the_cause_of_the_slower_family() {
    if without(&[]) {
        return;
    }
    let lab = site("explained-shop");
    let begin = ["compare", "--quiet", "--json", "-", "--in", "client", "--lab", lab.name()];
    for (connections, round_trips) in [(&[][..], 1.0), (&["--no-keep-alive"], 2.0)] {
        let load = ["-c", "4", "--blocks", "12", "--block", "500ms", "http://www.test/bytes/4096"];
        let output = sixmark(&[&begin[..], connections, &load].concat());
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        COMPARISON.check(&document);
        let why = &document["comparison"]["why"];
        let parts = why["parts"].as_array().unwrap_or_else(|| panic!("{document:#}"));
        let causes: Vec<&Value> = parts.iter().filter(|part| part["is_cause"] == true).collect();
        assert_eq!(causes.first().map(|of| &of["part"]), Some(&"round_trips".into()), "{why:#}");
        let us = |of: &Value| of["difference_us"]["value"].as_f64().unwrap();
        let named: f64 = causes.iter().map(|of| us(of)).sum();
        assert!((named / (round_trips * 10_000.0) - 1.0).abs() < 0.2, "{why:#}");
        let sum: f64 = parts.iter().map(us).sum();
        let whole = us(why);
        assert!(
            (sum + why["unexplained_us"].as_f64().unwrap() - whole).abs() < 1e-3 * whole,
            "{why:#}"
        );
    }
}

/// The same over TLS and QUIC, with responses of several records and flights: whatever the larger round
/// trip makes longer, the server does not.
#[test]
fn a_longer_path_is_not_blamed_on_the_server_in_any_version_of_http() {
    if without(&[]) {
        return;
    }
    let file = SITE.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let text = file.replace("}]:80", "}]:443").replace("}:80", "}:443");
    let text = text.replace(":443\"]", ":443\", \"--tls\", \"--http3\"]")
        + "urls = [\"https://[{server.ipv6}]:443\"]\n";
    let lab = Lab::up("versions", &text, &[]);
    let begin = ["compare", "--quiet", "--json", "-", "-k", "--in", "client", "--lab", lab.name()];
    for options in [
        &[][..],
        &["--http2"],
        &["--http3"],
        &["--no-keep-alive"],
        &["--http2", "--no-keep-alive"],
        &["--http3", "--no-keep-alive"],
    ] {
        let load =
            ["-c", "4", "--blocks", "12", "--block", "500ms", "https://www.test/bytes/40000"];
        let output = sixmark(&[&begin[..], options, &load].concat());
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        COMPARISON.check(&document);
        let why = &document["comparison"]["why"];
        let parts = why["parts"].as_array().unwrap_or_else(|| panic!("{options:?} {document:#}"));
        let causes = parts.iter().filter(|part| part["is_cause"] == true);
        let mut causes: Vec<&Value> = causes.collect();
        causes
            .sort_by(|a, b| b["share"].as_f64().unwrap().total_cmp(&a["share"].as_f64().unwrap()));
        let named: Vec<&str> = causes.iter().map(|of| of["part"].as_str().unwrap()).collect();
        assert_eq!(named.first(), Some(&"round_trips"), "{options:?} {why:#}");
        assert!(!named.contains(&"server"), "{options:?} {why:#}");
    }
}
