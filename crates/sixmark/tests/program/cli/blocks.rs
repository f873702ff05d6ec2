//! Blocks of a comparison: what belongs to them, and what is said of the sides.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};
use sixmark_testkit::forms::COMPARISON;
use sixmark_testkit::{Origin, Raw, sixmark};

/// Answers each request after `delay`, and counts those that came.
fn answer_slowly(mut stream: TcpStream, delay: Duration, requests: &AtomicU64) {
    let (mut bytes, mut buffer) = (Vec::<u8>::new(), [0; 4096]);
    while let Ok(1..) = stream.read(&mut buffer).inspect(|&read| bytes.extend(&buffer[..read])) {
        while let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            bytes.drain(..end + 4);
            requests.fetch_add(1, Ordering::Relaxed);
            thread::sleep(delay);
            if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                return;
            }
        }
    }
}

#[test]
fn lengthens_blocks_shorter_than_responses_and_counts_every_exchange() {
    let requests = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&requests);
    let delay = Duration::from_millis(200);
    let server = Raw::start(move |stream| answer_slowly(stream, delay, &counted));
    let [v6, v4] = server.urls("http");
    let load = ["compare", "-q", "--json", "-", "--block", "50ms", "--blocks", "2", "-c", "2"];
    let output = sixmark(&[&load[..], &["--warmup", "20ms", &v6, &v4]].concat());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    COMPARISON.check(&document);
    let schedule = &document["schedule"];
    assert_eq!(schedule["requested_block_s"], 0.05);
    assert!(schedule["block_s"].as_f64().unwrap() >= 0.8, "{schedule}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said.matches("blocks last ").count(), 1, "{said}");
    let mut booked = 0;
    for block in document["blocks"].as_array().unwrap() {
        let counts = &block["figures"]["requests"];
        let of = |name: &str| counts[name].as_u64().unwrap();
        booked += of("sent") + of("warm_up");
        assert!(block["pair"].is_null() || of("completed") > 0, "{block}");
    }
    assert_eq!(booked, requests.load(Ordering::Relaxed), "every exchange is in the books");
}

#[test]
fn reports_a_side_whose_exchanges_all_began_in_the_warm_up() {
    let (requests, delay) = (AtomicU64::new(0), Duration::from_secs(2));
    let server = Raw::start(move |stream| answer_slowly(stream, delay, &requests));
    let [v6, v4] = server.urls("http");
    // Without a block that is not compared none can show that blocks are too short.
    let load = ["compare", "-q", "--block", "1ms", "--blocks", "1", "--warm-up-blocks", "0"];
    let output = sixmark(&[&load[..], &["-c", "2", "--warmup", "500ms", &v6, &v4]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    for part in ["no exchange over IPv6 began within a block: 2 exchanges", "a longer --block"] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn warns_of_too_few_blocks_before_the_load() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/1");
    for (blocks, part) in [("5", "can't show a difference"), ("8", "can decide 6 metrics only")] {
        let load = ["compare", "-n", "4", "-c", "1", "--warmup", "0", "--blocks", blocks];
        let output = sixmark(&[&load[..], &[&v6, &v4]].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let first = said.lines().next().unwrap_or_default();
        assert!(first.contains(part), "{said}");
        assert_eq!(said.matches(part).count(), 1, "{said}");
    }
}

/// Each figure of a side, as it is written for people.
fn figures_of_side(document: &Value, side: &str) -> Vec<(&'static str, Metric, String)> {
    let time = |point| Metric::Time(TimedPhase::Response, point);
    let shown = [
        ("response median", time(TimePoint::P50)),
        ("response p99", time(TimePoint::P99)),
        ("requests/s", Metric::Quantity(Quantity::RequestsPerS)),
        ("goodput", Metric::Quantity(Quantity::Goodput)),
        ("failures", Metric::Quantity(Quantity::Failures)),
    ];
    let metrics = document["comparison"]["metrics"].as_array().unwrap();
    let value = |metric: Metric| {
        let found = metrics.iter().find(|of| of["metric"] == metric.to_string());
        metric.write_value(found.unwrap()[side].as_f64().unwrap())
    };
    shown.map(|(label, metric)| (label, metric, value(metric))).into()
}

#[test]
fn one_figure_has_one_value_on_screen_page_history_and_gates() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/2000");
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [json, html, store] = ["r.json", "r.html", "r.sq"].map(place);
    // Blocks by time: over all of them together each would count by its exchanges.
    let load = ["compare", "--block", "60ms", "--warmup", "5ms", "--blocks", "12", "-c", "3"];
    let outputs = ["--json", &json, "--html", &html, "--store", &store];
    let names = ["response.p50", "response.p99", "requests_per_s", "goodput", "failures"];
    // A gate that always fails says the value.
    let gates = ["a", "b"].map(|side| names.map(|name| format!("{side}.{name} >= 0")));
    let gates = gates.iter().flatten().flat_map(|gate| ["--fail-if", gate.as_str()]);
    let all = load.into_iter().chain(outputs).chain(gates).chain([v6.as_str(), v4.as_str()]);
    let output = sixmark(&all.collect::<Vec<_>>());
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{screen}{said}");
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    let (document, page) = (serde_json::from_str::<Value>(&read(&json)).unwrap(), read(&html));
    COMPARISON.check(&document);
    let history = sixmark(&["history", "list", "--store", &store, "--json"]);
    let list: Value = serde_json::from_slice(&history.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&history.stderr)));
    let plain = |text: &str| text.replace(['\u{a0}', '\u{202f}'], " ").replace("µs", "us");
    let (screen, page) = (plain(&screen), plain(&page));
    for (at, side) in ["a", "b"].into_iter().enumerate() {
        for (name, (label, metric, value)) in names.iter().zip(figures_of_side(&document, side)) {
            let row = screen.lines().find(|line| line.starts_with(label));
            // A row whose figures are as those of another is not repeated.
            assert!(row.is_none_or(|row| row.contains(&value)), "{side} {name} {value}: {screen}");
            let gates = document["gates"].as_array().unwrap();
            let gate = gates.iter().find(|gate| gate["fail_if"] == format!("{side}.{name} >= 0"));
            let because = gate.unwrap()["because"].as_str().unwrap();
            assert!(because.contains(&value), "{value}: {because}");
            assert!(page.contains(&value), "{side} {name} {value}");
            let of = &document["sides"][side]["figures"];
            let listed = &list["sides"][at];
            let pointers = match metric {
                Metric::Time(_, TimePoint::P50) => Some(("/response_us/p50", "response_p50_us")),
                Metric::Time(_, _) => Some(("/response_us/p99", "response_p99_us")),
                Metric::Quantity(Quantity::RequestsPerS) => {
                    Some(("/requests_per_s", "requests_per_s"))
                }
                _ => None,
            };
            if let Some((pointer, key)) = pointers {
                let figure = of.pointer(pointer).unwrap().as_f64().unwrap();
                assert_eq!(metric.write_value(figure), value, "{side} {pointer}");
                assert_eq!(metric.write_value(listed[key].as_f64().unwrap()), value, "{listed}");
            }
        }
    }
}
