//! Requests, content and connections over TLS and HTTP/2, as they are over plain text.

use std::cell::Cell;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json as value};
use sixmark_testkit::times::assert_with_enough_time;
use sixmark_testkit::{
    DEADLINE, Origin, Raw, command, complaint, document, finish, json, signal, sixmark,
};
use sixmark_units::family::Family;

use super::{assert_normal, both, trusting};

/// What is spoken over TLS; plain HTTP/2 comes beside it. The last one has no TCP below it.
const SPOKEN: [&[&str]; 3] = [&[], &["--http2"], &["--http3"]];

/// Runs over TLS by HTTP/1.1 to HTTP/3 and in plain text by HTTP/2.
fn everywhere(path: &str, options: &[&str], check: impl Fn(&Value, &str)) {
    over(&SPOKEN, path, options, check);
}

fn over(spoken: &[&[&str]], path: &str, options: &[&str], check: impl Fn(&Value, &str)) {
    let [secure, plain] = [Origin::secure(), Origin::start()];
    for &spoken in spoken {
        let result = trusting(&secure, path, &[options, spoken].concat());
        check(&result, &format!("{path} {options:?} {spoken:?}"));
    }
    let [v6, v4] = plain.urls(path);
    let known = ["--http2-prior-knowledge"];
    let result = json(&[options, &known, &[&v6, &v4]].concat());
    check(&result, &format!("{path} {options:?} prior knowledge"));
}

#[test]
fn counts_complete_responses_of_any_framing_and_status() {
    for (path, method, status, body) in [
        ("/bytes/5000", "GET", "200", 5_000),
        ("/bytes/0", "GET", "200", 0),
        ("/chunked/70000", "GET", "200", 70_000),
        ("/bytes/5000", "HEAD", "200", 0),
        ("/status/204", "GET", "204", 0),
        ("/status/304", "GET", "304", 0),
        ("/status/404", "GET", "404", 0),
    ] {
        everywhere(path, &["-n", "40", "-c", "4", "-X", method], |result, what| {
            assert_normal(result, 20);
            for figures in both(result) {
                assert_eq!(figures["status"], value!({status: 20}), "{what}");
                if status != "404" {
                    assert_eq!(figures["bytes"]["body"], 20 * body, "{what}");
                }
            }
        });
    }
}

/// The failures of each family are these, four of each.
fn are_of(result: &Value, outcomes: &[&str], phase: &str) -> bool {
    both(result).into_iter().all(|figures| {
        let failures = figures["failures"].as_array().unwrap();
        let found = |failure: &Value| {
            outcomes.iter().any(|of| failure["outcome"] == *of)
                && failure["phase"] == phase
                && failure["count"] == 4
        };
        failures.len() == 1 && found(&failures[0])
    })
}

#[test]
fn assigns_truncations_and_resets_to_the_transfer_phase() {
    for (path, outcomes) in
        [("/truncate/100000", &["TRUNCATED", "PROTOCOL", "RESET"][..]), ("/reset", &["RESET"])]
    {
        everywhere(path, &["-n", "8", "-c", "8", "--timeout", "1h"], |result, what| {
            assert!(are_of(result, outcomes, "transfer"), "{what}: {:#}", result["families"]);
        });
    }
}

#[test]
fn assigns_a_timeout_to_the_wait_or_transfer_phase() {
    let [secure, plain] = [Origin::secure(), Origin::start()];
    let runs: [(&Origin, &[&str]); 4] = [
        (&secure, &["-k"]),
        (&secure, &["-k", "--http2"]),
        (&secure, &["-k", "--http3"]),
        (&plain, &["--http2-prior-knowledge"]),
    ];
    for (path, phase) in [("/stall", "wait"), ("/stall/1000", "transfer")] {
        for (origin, spoken) in runs {
            let load = ["-n", "8", "-c", "8", "--timeout"];
            let [v6, v4] = origin.urls(path);
            assert_with_enough_time(&true, &format!("{path} {spoken:?}"), |timeout| {
                let result = json(&[&load[..], &[timeout], spoken, &[&v6, &v4]].concat());
                are_of(&result, &["TIMEOUT"], phase)
            });
        }
    }
}

#[test]
fn uploads_request_bodies_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("body");
    for size in [1, 16_384, 16_385, 300_000_usize] {
        std::fs::write(&file, vec![0xff; size]).unwrap();
        let options = ["-n", "20", "-c", "4", "--body-file", file.to_str().unwrap()];
        let answer = format!("{{\"received\":{size}}}").len() as u64;
        everywhere("/sink", &options, |result, what| {
            assert_normal(result, 10);
            for figures in both(result) {
                assert_eq!(figures["status"], value!({"200": 10}), "{what}");
                let body = figures["bytes"]["body"].as_u64().unwrap() / 10;
                assert!((answer..=answer + 1).contains(&body), "{what}: {body}");
                assert!(figures["bytes"]["sent"].as_u64().unwrap() > 10 * size as u64, "{what}");
            }
        });
    }
}

/// The content of each request, in bytes, and how many requests are in flight.
const CONTENT: u64 = 20_000_000;
const IN_FLIGHT: u64 = 4;

fn peak(result: &Value) -> u64 {
    result["generator"]["peak_rss_bytes"].as_u64().unwrap()
}

/// Held against a run with hardly any content: what the program takes for itself depends on the build.
#[test]
fn much_content_takes_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("body");
    std::fs::write(&file, vec![b'x'; CONTENT as usize]).unwrap();
    let load = ["-n", "8", "-c", "4", "-t", "1", "--timeout", "1h"];
    let least = Cell::new(u64::MAX);
    everywhere("/bytes/10", &load, |result, _| least.set(least.get().min(peak(result))));
    let up = [&load[..], &["--body-file", file.to_str().unwrap()]].concat();
    let within = |result: &Value, what: &str| {
        assert_normal(result, 4);
        let least = least.get();
        // One of the contents may be held, not that of each.
        assert!(peak(result) < least + IN_FLIGHT * CONTENT, "{what}: {least}, {}", peak(result));
    };
    everywhere("/sink", &up, |result, what| {
        within(result, what);
        for figures in both(result) {
            let sent = figures["bytes"]["sent"].as_u64().unwrap();
            assert!((4 * CONTENT..4 * CONTENT + CONTENT / 10).contains(&sent), "{what}: {sent}");
        }
    });
    everywhere("/bytes/40000000", &load, |result, what| {
        within(result, what);
        for figures in both(result) {
            assert_eq!(figures["bytes"]["body"], 160_000_000, "{what}");
        }
    });
}

fn connections(figures: &Value, which: &str) -> u64 {
    figures["connections"][which].as_u64().unwrap()
}

#[test]
fn reuses_and_closes_connections_as_configured() {
    // QUIC has one way to close.
    for (close, spoken) in [("fin", &SPOKEN[..]), ("rst", &SPOKEN[..2])] {
        for (options, least, most) in [
            (&[][..], 1, 4),
            (&["--no-keep-alive"], 40, 40),
            (&["--requests-per-connection", "10"], 4, 8),
            (&["--preopen"], 1, 4),
        ] {
            let load = ["-n", "80", "-c", "4", "-t", "1", "--close", close];
            over(spoken, "/bytes/100", &[&load, options].concat(), |result, what| {
                assert_normal(result, 40);
                for figures in both(result) {
                    let opened = connections(figures, "opened");
                    // One that had to go for the other family's sake is opened again when its own wants it.
                    let displaced = connections(figures, "displaced");
                    let bounds = least..=most + displaced;
                    assert!(bounds.contains(&opened), "{what}: {opened}, displaced {displaced}");
                    assert_eq!(connections(figures, "closed"), opened, "{what}");
                    let reset = if close == "rst" { opened } else { 0 };
                    assert_eq!(connections(figures, "reset_sent"), reset, "{what}");
                    if !figures["tls"].is_null() {
                        assert_eq!(figures["tls"]["handshakes"]["full"], opened, "{what}");
                    }
                }
            });
        }
    }
}

#[test]
fn drains_a_connection_after_goaway_and_opens_another() {
    let limits = sixmark_origin::Limits { goaway_after: Some(5), ..Default::default() };
    let options = sixmark_origin::Options { limits, ..Default::default() };
    let origin = Origin::secure_with(options);
    let cases = ["--http2", "--http3"].map(|spoken| [(spoken, "1"), (spoken, "4")]);
    for (spoken, streams) in cases.concat() {
        let load = ["-n", "200", "-c", "4", "-t", "1", spoken, "--streams", streams];
        let result = trusting(&origin, "/bytes/100", &load);
        assert_normal(&result, 100);
        for figures in both(&result) {
            let [opened, drained, displaced] =
                ["opened", "drained", "displaced"].map(|name| connections(figures, name));
            // What is under way when the server says so is answered too.
            let bounds = 100 / (5 + 4)..=100 / 4 + displaced;
            assert!(
                bounds.contains(&opened),
                "{spoken} {streams}: {opened}, displaced {displaced}"
            );
            // The others were open at the end, or closed before for want of a place for the other family.
            assert!(
                drained <= opened && drained + displaced + 4 >= opened,
                "{spoken} {streams}: {drained} {displaced} {opened}"
            );
        }
    }
}

/// Stands before an origin, both families, and tells when this many bytes have come from it.
fn relay(origin: &Origin, bytes: usize) -> (Raw, Receiver<()>) {
    let targets = Family::BOTH.map(|family| origin.address(family));
    let (sender, enough) = channel();
    let passed = Arc::new(AtomicUsize::new(0));
    let server = Raw::start(move |stream| {
        let is_v6 = stream.local_addr().unwrap().is_ipv6();
        let back = TcpStream::connect(targets[usize::from(!is_v6)]).unwrap();
        let (from, to) = (stream.try_clone().unwrap(), back.try_clone().unwrap());
        std::thread::spawn(move || pipe(from, to, |_| ()));
        pipe(back, stream, |count| {
            if passed.fetch_add(count, Ordering::SeqCst) + count >= bytes {
                let _ = sender.send(());
            }
        });
    });
    (server, enough)
}

fn pipe(mut from: TcpStream, mut to: TcpStream, passed: impl Fn(usize)) {
    let mut piece = [0; 16_384];
    while let Ok(count @ 1..) = from.read(&mut piece) {
        if to.write_all(&piece[..count]).is_err() {
            break;
        }
        passed(count);
    }
    let _ = to.shutdown(Shutdown::Both);
}

#[test]
fn an_interrupted_run_has_only_normal_and_abandoned_exchanges() {
    let [secure, plain] = [Origin::secure(), Origin::start()];
    let known: &[&str] = &["--http2-prior-knowledge", "--streams", "3"];
    let trust = ["--cacert", secure.authority()];
    let streams: &[&str] = &["--http2", "--streams", "3"];
    for (origin, scheme, options) in [
        (&secure, "https", trust.to_vec()),
        (&secure, "https", [&trust[..], streams].concat()),
        (&plain, "http", known.to_vec()),
    ] {
        let (server, enough) = relay(origin, 200_000);
        let [v6, v4] = server.urls(scheme).map(|url| url + "bytes/1000");
        let load = ["run", "-q", "--json", "-", "-d", "1h", "-c", "4"];
        let child = command(&[&load[..], &options, &[&v6, &v4]].concat()).spawn().unwrap();
        enough.recv_timeout(DEADLINE).unwrap();
        signal(child.id(), "INT");
        let result = document(&finish(child));
        assert_eq!(result["ended"], "interrupted");
        let outcomes = &result["total"]["outcomes"];
        assert!(outcomes["NORMAL"].as_u64().unwrap() > 0, "{outcomes}");
        let others = outcomes.as_object().unwrap().keys();
        let others: Vec<_> =
            others.filter(|name| !["NORMAL", "ABANDONED"].contains(&&name[..])).collect();
        assert!(others.is_empty(), "{outcomes}");
    }
}

#[test]
fn rejects_connection_specific_headers_over_http2_and_http3() {
    for header in ["Connection: close", "Keep-Alive: x", "Upgrade: x", "TE: gzip"] {
        for (spoken, url) in [
            ("--http2-prior-knowledge", "http://127.0.0.1:1/"),
            ("--http3", "https://127.0.0.1:1/"),
        ] {
            let line = complaint(&sixmark(&["run", spoken, "-H", header, url]), 2);
            let name = header.split(':').next().unwrap().to_lowercase();
            assert!(line.contains(&name), "{line}");
        }
    }
}

/// A server that resets in the middle of everything: whatever was in flight is RESET, on each
/// stream.
#[test]
fn a_reset_ends_every_stream_of_its_connection() {
    let server = Raw::start(|mut stream| {
        let _ = stream.read(&mut [0; 16_384]);
        socket2::SockRef::from(&stream).set_linger(Some(std::time::Duration::ZERO)).unwrap();
    });
    let [v6, v4] = server.urls("http");
    for driver in ["uring", "epoll"] {
        let load = ["-n", "8", "-c", "2", "-t", "1", "--streams", "2", "--driver", driver];
        let result = json(&[&load[..], &["--http2-prior-knowledge", &v6, &v4]].concat());
        for figures in both(&result) {
            assert_eq!(figures["outcomes"], value!({"NORMAL": 0, "RESET": 4}), "{driver}");
        }
    }
}
