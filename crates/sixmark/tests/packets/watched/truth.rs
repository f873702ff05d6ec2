//! `run --truth`: what packets say beside a run's clock.

use serde_json::Value;
use sixmark_result::result::RunResult;
use sixmark_testkit::nginx::NGINX;
use sixmark_testkit::web_server::{ServerSettings, WebServer};
use sixmark_testkit::{complaint, document, json, sixmark, skipped};
use sixmark_units::family::Family;

fn run(words: &[&str], urls: &[String]) -> RunResult {
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    serde_json::from_value(json(&[&["--truth"], words, &urls].concat())).unwrap()
}

/// How often a run is repeated of which the kernel did not show every packet.
const TRIES: usize = 20;

fn warns_of(result: &RunResult, code: &str) -> bool {
    result.warnings.iter().any(|warning| warning.code == code)
}

/// A run of which every packet was seen. Where a machine is so busy that the kernel drops some, or the
/// server closes its connections late, the result says so, and that run is no evidence.
fn run_seen_whole(words: &[&str], urls: &[String]) -> RunResult {
    let runs = (0..TRIES).map(|_| run(words, urls));
    let mut whole = runs.filter(|result| {
        let truth = result.truth.as_ref().unwrap();
        let is_whole = truth.dropped == 0 && truth.settled;
        assert!(is_whole || warns_of(result, "truth_incomplete"), "{:?}", result.warnings);
        is_whole
    });
    whole.next().expect("a run of which every packet was seen")
}

#[test]
fn each_exchange_of_a_run_is_found_among_the_packets() {
    if skipped("nginx") || skipped("netns") {
        return;
    }
    let nginx = WebServer::start(&NGINX, &ServerSettings::default());
    for driver in ["epoll", "uring"] {
        for clock in ["user", "kernel"].into_iter().take(if driver == "epoll" { 2 } else { 1 }) {
            let words =
                ["-n", "400", "-c", "4", "--requests-per-connection", "5", "--driver", driver];
            let words = [&words[..], &["--timestamps", clock]].concat();
            let result = run_seen_whole(&words, &nginx.urls("/4k"));
            let truth = result.truth.unwrap();
            assert_eq!((truth.interfaces.as_slice(), truth.dropped), (&["lo".to_owned()][..], 0));
            assert!(truth.settled && truth.packets > 400);
            for family in Family::BOTH {
                let (figures, found) =
                    (result.families.of(family).unwrap(), truth.families.of(family).unwrap());
                let opened = figures.connections.opened;
                let of = |counts: sixmark_result::truth::TruthCounts| {
                    [counts.client, counts.packets, counts.matched, counts.untold]
                };
                assert_eq!(of(found.connections), [opened, opened, opened, 0], "{driver} {family}");
                assert_eq!(of(found.exchanges), [200, 200, 200, 0], "{driver} {family}");
                for beside in [found.wait, found.transfer, found.service] {
                    let counts = [beside.client_us.count, beside.packets_us.count];
                    assert_eq!((counts, beside.difference_us.count), ([200; 2], 200));
                    assert!(beside.packets_us.p50.is_some() && beside.medians_apart_us.is_some());
                }
                assert_eq!(found.connect.difference_us.count, opened);
                // Before the packet leaves and after it has come, at the client; the kernel's time of
                // the handshake is in whole microseconds.
                let least = if clock == "kernel" { -1.0 } else { 0.0 };
                assert!(found.connect.difference_us.p1 > Some(least), "{:?}", found.connect);
            }
            let codes: Vec<&str> = result.warnings.iter().map(|w| w.code.as_str()).collect();
            // How far the times are apart is this machine's.
            let lacks = |code: &&str| code.starts_with("truth_") && *code != "truth_apart";
            assert!(!codes.iter().any(lacks), "{codes:?}");
        }
    }
}

#[test]
fn over_tls_and_http2_connect_alone_is_compared() {
    if skipped("nginx") || skipped("netns") {
        return;
    }
    let nginx = WebServer::start(&NGINX, &ServerSettings::default());
    let authority = nginx.authority();
    let trust = ["--cacert", authority.to_str().unwrap()];
    for version in [&[][..], &["--http2"]] {
        let words = [&["-n", "40", "-c", "4"], &trust[..], version].concat();
        let result = run_seen_whole(&words, &nginx.secure_urls("/4k"));
        let truth = result.truth.as_ref().unwrap();
        for (family, found) in truth.families.iter() {
            let opened = result.families.of(family).unwrap().connections.opened;
            assert_eq!(found.connections.matched, opened, "{family}");
            assert_eq!((found.exchanges.client, found.exchanges.matched), (0, 0), "{family}");
            assert_eq!(found.wait.difference_us.count, 0);
        }
        assert!(warns_of(&result, "truth_connect_only"));
    }
}

#[test]
fn rejects_truth_with_http3_and_with_compare() {
    let url = "https://[::1]:1/";
    let said = complaint(&sixmark(&["run", "--truth", "--http3", "-n", "1", url]), 2);
    assert!(said.contains("--truth can't be used with HTTP/3"), "{said}");
    let url = "http://[::1]:1/";
    let said = complaint(&sixmark(&["compare", "--truth", "--a", "ipv6", "--b", "ipv4", url]), 2);
    assert!(said.contains("--truth is for `sixmark run`"), "{said}");
}

#[test]
fn omits_truth_figures_without_the_option() {
    let origin = sixmark_testkit::Origin::start();
    let found: Value = json(&["-n", "10", &origin.urls("/bytes/1")[0]]);
    assert_eq!(found["truth"], Value::Null);
    let shown = document(&sixmark(&["run", "-q", "--json", "-", "-n", "1", &origin.urls("/")[1]]));
    assert_eq!(shown["truth"], Value::Null);
}
