//! `sixmark compare` against real servers.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use sixmark_compare::comparison_result::ComparisonResult;
use sixmark_testkit::forms::COMPARISON;
use sixmark_testkit::{Origin, Raw, Server, command, finish, signal, sixmark};
use sixmark_units::family::Family;
use socket2::SockRef;

/// Small blocks: what is tested is what becomes of them. In a short time a busy machine answers nothing.
const SMALL: [&str; 6] = ["-c", "2", "-n", "60", "--warmup", "5ms"];

/// The document of a comparison with these arguments.
fn compared(arguments: &[&str]) -> Value {
    let all = [&["compare", "--quiet", "--json", "-"], arguments].concat();
    let output = sixmark(&all);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{:?}: {said}", output.status);
    let document = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("no document ({error}): {said}"));
    check(&document);
    document
}

/// It has the published form, and each side's figures are the sum of its blocks that are compared.
fn check(document: &Value) {
    COMPARISON.check(document);
    let read: ComparisonResult = serde_json::from_value(document.clone()).unwrap();
    assert_eq!(&serde_json::to_value(read).unwrap(), document);
}

fn metric<'a>(document: &'a Value, name: &str) -> &'a Value {
    let metrics = document["comparison"]["metrics"].as_array().unwrap();
    metrics.iter().find(|metric| metric["metric"] == name).unwrap_or_else(|| panic!("no {name}"))
}

/// The sides of the blocks in the order in which they were measured.
fn order(document: &Value) -> String {
    let blocks = document["blocks"].as_array().unwrap();
    blocks.iter().map(|block| block["side"].as_str().unwrap()).collect()
}

#[test]
fn blocks_alternate_between_families_and_use_one_family_each() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/100");
    let order_of_turns = ["--blocks", "4", "--order", "abba"];
    let document = compared(&[&SMALL[..], &order_of_turns, &[&v6, &v4]].concat());
    assert_eq!(order(&document), "ab".to_owned() + "abba" + "baab");
    for block in document["blocks"].as_array().unwrap() {
        let expected = if block["side"] == "a" { "[::1]:" } else { "127.0.0.1:" };
        let addresses = block["figures"]["addresses"].as_array().unwrap();
        assert_eq!(addresses.len(), 1);
        assert!(addresses[0].as_str().unwrap().starts_with(expected), "{addresses:?}");
    }
    for side in ["a", "b"] {
        let of = |block: &&Value| block["side"] == side && !block["pair"].is_null();
        let blocks = document["blocks"].as_array().unwrap().iter().filter(of);
        let sent: u64 = blocks.map(|b| b["figures"]["requests"]["sent"].as_u64().unwrap()).sum();
        assert_eq!(document["sides"][side]["figures"]["requests"]["sent"], sent);
        assert!(sent > 0);
    }
    assert_eq!(document["comparison"]["pairs"], 4);
    assert_eq!(document["comparison"]["kind"], "isolated");
}

/// Takes each field of each object away, and adds one.
#[test]
fn the_schema_knows_every_field() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/100000");
    let more = ["--blocks", "6", "--calibrate", "--fail-if", "a.failures > 50%", &v6, &v4];
    let good = compared(&[&SMALL[..], &more].concat());
    assert!(jsonschema::meta::is_valid(&COMPARISON.schema()));
    // What a run's own form says of these is tested there.
    let of_runs = ["/environment", "/generator", "/figures", "/plan", "/dns", "/warnings"];
    COMPARISON.knows_every_field(&good, |path| of_runs.iter().any(|part| path.contains(part)));
}

#[test]
fn the_seed_determines_the_random_order() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/1");
    let drawn = |seed| {
        let load = ["-c", "1", "-n", "5", "--blocks", "12", "--warmup", "0"];
        order(&compared(&[&load[..], &["--seed", seed, &v6, &v4]].concat()))
    };
    let first = drawn("7");
    assert_eq!(first, drawn("7"));
    assert_ne!(first, drawn("8"));
    assert!(first.as_bytes().chunks(2).all(|pair| pair[0] != pair[1]), "{first}");
}

#[test]
fn blocks_can_end_after_a_number_of_requests() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/1");
    let document = compared(&["-n", "50", "-c", "2", "--warmup", "0", "--blocks", "2", &v6, &v4]);
    for block in document["blocks"].as_array().unwrap() {
        assert_eq!(block["figures"]["requests"]["sent"], 50);
    }
    assert_eq!(document["schedule"]["block_requests"], 50);
    assert!(document["schedule"]["block_s"].is_null());
}

#[test]
fn sides_may_be_urls_or_have_options_of_their_own() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let (a, b) = (format!("{v6} -c 1"), format!("{v4} -H 'X: a b' --no-keep-alive"));
    let load = ["--blocks", "2", "--block", "30ms", "-c", "3", "--a", &a, "--b", &b];
    let document = compared(&[&load[..], &["--name-b", "new"]].concat());
    let sides = &document["sides"];
    assert_eq!([&sides["a"]["name"], &sides["b"]["name"]], [a.as_str(), "new"]);
    assert_eq!(sides["b"]["options"], b.as_str());
    assert_eq!(sides["a"]["plan"]["load"]["connections"], 1);
    assert_eq!(sides["b"]["plan"]["load"]["connections"], 3);
    assert_eq!(sides["b"]["plan"]["connection"]["keep_alive"], false);
    assert_eq!(sides["b"]["plan"]["targets"].as_array().unwrap().len(), 1);
}

/// There is no other family to compare with: each URL is a side.
#[test]
fn two_urls_of_one_family_are_the_sides() {
    let origin = Origin::start();
    for (family, option) in [(Family::Ipv6, "-6"), (Family::Ipv4, "-4")] {
        let urls = ["/bytes/10", "/bytes/20"].map(|path| origin.url(family, path));
        let [a, b] = &urls;
        for asked in [&[][..], &[option]] {
            let more = [asked, &["--blocks", "2", "--name-b", "old", a, b]].concat();
            let document = compared(&[&SMALL[..], &more].concat());
            let sides = &document["sides"];
            assert_eq!([&sides["a"]["name"], &sides["b"]["name"]], [a.as_str(), "old"]);
            for (side, url) in ["a", "b"].into_iter().zip(&urls) {
                let targets = sides[side]["plan"]["targets"].as_array().unwrap();
                assert_eq!((targets.len(), &targets[0]["url"]), (1, &Value::from(url.as_str())));
            }
            let of = |side: &str| {
                let figures = &sides[side]["figures"];
                let bytes = figures["bytes"]["body"].as_u64().unwrap();
                bytes / figures["requests"]["completed"].as_u64().unwrap()
            };
            assert_eq!((of("a"), of("b")), (10, 20));
        }
    }
}

#[test]
fn one_family_alone_needs_two_urls_or_sides_that_are_named() {
    for (url, family, other) in
        [("http://127.0.0.1:9/", "IPv4", "IPv6"), ("http://[::1]:9/", "IPv6", "IPv4")]
    {
        for (urls, expected) in [
            (
                &[url][..],
                format!(
                    "over {family} alone has no second side; give a second URL, name the sides (--a, \
                     --b), or add an {other} address"
                ),
            ),
            (&[url, url, url], format!("3 URLs over {family} alone don't make two sides")),
        ] {
            let output = sixmark(&[&["compare"], urls].concat());
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{said}");
            assert!(said.contains(&expected), "{said}");
        }
    }
}

/// Whose times are longer is for `make verdicts` to find, and for made-up blocks (`compare::course`): here
/// what each side gets is counted, not timed.
#[test]
fn a_side_that_fails_more_often_has_a_worse_failures_verdict() {
    let server = Raw::start(every_tenth_over_ipv6_is_reset());
    let [v6, v4] = server.urls("http");
    let load = ["-c", "1", "-n", "100", "--no-keep-alive", "--warmup", "0", "--blocks", "9"];
    let document = compared(&[&load[..], &[&v6, &v4]].concat());
    let share = metric(&document, "failures");
    assert_eq!([&share["a"], &share["b"]], [0.1, 0.0], "{share:#}");
    assert_eq!(share["verdict"], "worse", "{share:#}");
    let swapped = ["--a", "ipv4", "--b", "ipv6", &v6, &v4];
    let document = compared(&[&load[..], &swapped].concat());
    assert_eq!(metric(&document, "failures")["verdict"], "better");
}

/// Answers one request on each connection, but resets each tenth connection over IPv6.
fn every_tenth_over_ipv6_is_reset() -> impl Fn(TcpStream) + Send + Sync {
    let connections = AtomicUsize::new(0);
    move |mut stream| {
        let mut byte = [0];
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
            head.push(byte[0]);
        }
        let is_v6 = stream.local_addr().is_ok_and(|own| own.is_ipv6());
        if is_v6 && connections.fetch_add(1, Ordering::SeqCst) % 10 == 9 {
            let _ = SockRef::from(&stream).set_linger(Some(Duration::ZERO));
            return;
        }
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }
}

#[test]
fn the_metric_that_is_asked_for_comes_first() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/10");
    let more = ["--blocks", "2", "--metric", "wait.p50", &v6, &v4];
    let document = compared(&[&SMALL[..], &more].concat());
    assert_eq!(document["comparison"]["metrics"][0]["metric"], "wait.p50");
}

#[test]
fn sides_with_the_same_name_get_distinct_suffixes() {
    let origin = Origin::start();
    let [v6, _] = origin.urls("/bytes/10");
    let more = ["--blocks", "2", "--a", &v6, "--b", &v6];
    let document = compared(&[&SMALL[..], &more].concat());
    assert_eq!(document["sides"]["a"]["name"], format!("{v6} (a)"));
    assert_eq!(document["sides"]["b"]["name"], format!("{v6} (b)"));
}

#[test]
fn calibration_compares_the_first_side_with_itself() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/100");
    let document = compared(&[&SMALL[..], &["--blocks", "6", "--calibrate", &v6, &v4]].concat());
    let noise = &document["noise"];
    assert_eq!([&noise["a"], &noise["b"]], ["ipv6", "ipv6"]);
    assert_eq!(noise["pairs"], 6);
    assert!(metric(&document, "response.p50")["noise_floor"].as_f64().unwrap() > 0.0);
}

/// The server answers the blocks of the warm-up, three pairs and two requests more.
#[test]
fn compares_the_pairs_measured_before_a_signal() {
    let answers = 10 + 3 * 10 + 2;
    let server = Server::answering(answers);
    let [v6, v4] = server.urls("/");
    let load = ["compare", "--json", "-", "--blocks", "1000", "-n", "5", "-c", "1"];
    let more = ["--warmup", "0", "--timeout", "1h", &v6, &v4];
    let child = command(&[&load[..], &more].concat()).spawn().unwrap();
    server.next(answers + 1);
    signal(child.id(), "INT");
    let output = finish(child);
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    check(&document);
    assert_eq!(document["ended"], "interrupted");
    assert_eq!(document["comparison"]["pairs"], 3);
    let warnings = document["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["code"] == "interrupted"), "{warnings:?}");
}

/// A side that fails in each block is clearly worse: seven pairs show it.
#[test]
fn until_decided_ends_the_comparison_with_the_verdict() {
    let server = Raw::start(every_tenth_over_ipv6_is_reset());
    let [v6, v4] = server.urls("http");
    let until = ["--until", "decided:failures", "--blocks", "40", &v6, &v4];
    let document = compared(&[&SMALL[..], &until].concat());
    let pairs = document["comparison"]["pairs"].as_u64().unwrap();
    assert!((7..40).contains(&pairs), "{pairs}");
    assert_eq!(document["ended"], "complete");
    let failures = metric(&document, "failures");
    assert_eq!(failures["verdict"], "worse", "{failures}");
    assert_eq!(document["comparison"]["metrics"][0]["metric"], "failures");
    let settings = &document["comparison"]["settings"]["until"];
    assert_eq!(settings, &serde_json::json!({ "metrics": ["failures"], "at_most_s": 1800.0 }));
    let blocks = document["blocks"].as_array().unwrap().len() as u64;
    assert_eq!(blocks, 2 * (pairs + 1), "a pair is never left half measured");
}

/// The options of a comparison that its time ends, and which can be continued.
const UNDECIDED: [&str; 6] = ["--until", "decided:response.p999", "--seed", "5", "--blocks", "3"];

#[test]
fn pairs_are_added_to_a_stored_comparison() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/100");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("first.json");
    let file = file.to_str().unwrap();
    let first = compared(&[&SMALL[..], &UNDECIDED, &[&v6, &v4]].concat());
    assert_eq!(first["comparison"]["pairs"], 3);
    std::fs::write(file, first.to_string()).unwrap();
    let more = ["--until", "decided:response.p999", "--blocks", "2", "--continue", file];
    let second = compared(&[&SMALL[..], &more, &[&v6, &v4]].concat());
    assert_eq!(
        (&second["comparison"]["pairs"], &second["seed"]),
        (&Value::from(5), &first["seed"])
    );
    assert_eq!(second["started"], first["started"]);
    let blocks = |of: &Value| of["blocks"].as_array().unwrap().clone();
    assert_eq!(blocks(&second)[..8], blocks(&first)[..], "what was measured is kept");
    assert_eq!(blocks(&second).len(), 8 + 2 + 4, "a warm-up precedes the new pairs");
    let sent = |side: &str| second["sides"][side]["figures"]["requests"]["sent"].as_u64().unwrap();
    assert_eq!((sent("a"), sent("b")), (5 * 60, 5 * 60));
}

#[test]
fn rejects_continuing_an_unsuitable_comparison_in_one_line() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/100");
    let folder = tempfile::tempdir().unwrap();
    let stored = compared(&[&SMALL[..], &UNDECIDED, &[&v6, &v4]].concat());
    let fixed = compared(&[&SMALL[..], &["--blocks", "1", &v6, &v4]].concat());
    let kept = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let changed = |name: &str, change: fn(&mut Value)| {
        let mut document = stored.clone();
        change(&mut document);
        kept(name, document.to_string())
    };
    let as_it_was = kept("stored", stored.to_string());
    let half = stored.to_string();
    let cases: Vec<(String, &[&str], &str)> = vec![
        (kept("fixed", fixed.to_string()), &[], "it has a fixed number of pairs"),
        (kept("half", half[..half.len() / 2].to_owned()), &[], "is not a document of sixmark"),
        (as_it_was.clone(), &["-c", "3"], "the load of side A is another one: connection."),
        (as_it_was.clone(), &["--margin", "2%"], "--margin is not what it was"),
        (as_it_was.clone(), &["--seed", "6"], "--seed is not what it was"),
        (as_it_was, &["--a", "-6", "--name-a", "new"], "side A was 'ipv6' and is 'new'"),
        (
            changed("machine", |of| of["environment"]["cores"] = 4_000.into()),
            &[],
            "it was measured on another machine",
        ),
        (
            changed("counts", |of| of["blocks"][3]["counts"] = "{}".into()),
            &[],
            "the counts of a block can't be read",
        ),
        ("nowhere.json".to_owned(), &[], "nowhere.json"),
    ];
    for (file, more, why) in cases {
        let small = ["-n", "60", "--warmup", "5ms", "--until", "decided:response.p999", "-q"];
        let connections: &[&str] = if more.contains(&"-c") { &[] } else { &["-c", "2"] };
        let urls = [v6.as_str(), v4.as_str()];
        let arguments =
            [&["compare"], &small[..], connections, &["--continue", &file], more, &urls].concat();
        let output = sixmark(&arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(why) && said.lines().count() == 1, "{arguments:?}: {said}");
    }
}

#[test]
fn a_comparison_whose_time_is_up_ends_between_two_pairs() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/bytes/100");
    let until = ["--until", "decided:cpu_per_request", "--at-most", "1ms", &v6, &v4];
    let document = compared(&[&SMALL[..], &until].concat());
    assert_eq!(document["ended"], "complete");
    assert_eq!(document["blocks"].as_array().unwrap().len(), 2, "only the warm-up was measured");
}

#[test]
fn exits_with_3_when_a_side_does_not_answer() {
    let origin = Origin::start();
    let [v6, _] = origin.urls("/bytes/100");
    let closed = "http://127.0.0.1:1/";
    let load = ["compare", "-q", "-n", "5", "-c", "1", "--blocks", "2", "--b", closed, "--a", &v6];
    let output = sixmark(&load);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        said.contains("no answer from http://127.0.0.1:1/ (127.0.0.1:1): connection refused"),
        "{said}"
    );
}

#[test]
fn rejects_invalid_comparison_options_in_one_line() {
    let url = "http://[::1]:1/";
    for (arguments, why) in [
        (&["-d", "3s", url][..], "-d is for `sixmark run`; --block sets"),
        (&["--find-max", "failures < 1%", url], "--find-max is for `sixmark run`"),
        (&["--ramp", "1:2:3s", url], "--ramp is for `sixmark run`"),
        (&["--a", "--blocks 3", url], "--a '--blocks 3': unexpected argument"),
        (&["--a", "-H 'A: b", url], "--a '-H 'A: b': the opening ' has no closing one"),
        (
            &["--b", "--json x", url],
            "--b '--json x': --json applies to the whole comparison, not to one side",
        ),
        (&["--a", "-6 --seed 3", url], "--seed applies to the whole comparison"),
        (&["--a", "-6 --label x", url], "--store, --label or --keep-secrets applies to the whole"),
        (&["--a", "ipv6"], "no URL: give one"),
        (&["--margin", "0.05", url], "may mean 0.05% or 5%"),
        (&["--metric", "response.p98", url], "no metric is called 'response.p98'"),
        (&["--blocks", "0", url], "not a whole number of 1 or more"),
        (&["--until", "certain", url], "expected decided, or decided:METRIC"),
        (&["--until", "decided:response.p98", url], "no metric is called 'response.p98'"),
        (&["--until", "decided", "--order", "abba", url], "--until needs blocks in random order"),
        (&["--until", "decided", "--calibrate", url], "cannot be used with '--calibrate'"),
        (&["--until", "decided:failures", "--metric", "goodput", url], "does not name the metric"),
        (&["--at-most", "5s", url], "required arguments were not provided: --until"),
        (&["-4", url], "over IPv4 alone has no second side; give a second URL"),
        (&[], "required"),
    ] {
        let output = sixmark(&[&["compare"], arguments].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(why) && said.lines().count() == 1, "{arguments:?}: {said}");
    }
}
