//! `--http1.0`: what goes out, and what becomes of connections.

use std::io::{Read as _, Write as _};

use serde_json::json as value;
use sixmark_testkit::{Origin, Raw, Server, complaint, json, sixmark};
use sixmark_units::family::Family;

#[test]
fn sends_http10_request_lines_and_asks_for_keep_alive() {
    let server = Server::start();
    for (more, asks) in [(&[][..], true), (&["--no-keep-alive"][..], false)] {
        let [v6, v4] = server.urls("/");
        let load = ["--http1.0", "-n", "4", "-c", "2"];
        let result = json(&[&load[..], more, &[&v6, &v4]].concat());
        assert_eq!(result["total"]["outcomes"]["NORMAL"], 4);
        assert_eq!(result["plan"]["http"]["version"], "1.0");
        for seen in server.seen() {
            assert!(seen.head.starts_with("GET / HTTP/1.0\r\n"), "{}", seen.head);
            assert_eq!(seen.head.contains("\r\nConnection: keep-alive\r\n"), asks, "{}", seen.head);
            assert!(!seen.head.contains("close"), "{}", seen.head);
        }
    }
}

#[test]
fn keeps_connections_when_the_server_agrees_unless_disabled() {
    let origin = Origin::start();
    for family in Family::BOTH {
        let url = origin.url(family, "/bytes/100");
        let opened = |more: &[&str]| {
            let result = json(&[&["--http1.0", "-n", "20", "-c", "1"], more, &[&url[..]]].concat());
            assert_eq!(result["total"]["outcomes"]["NORMAL"], 20, "{family}");
            result["total"]["connections"]["opened"].as_u64().unwrap()
        };
        assert_eq!(opened(&[]), 1, "{family}");
        assert_eq!(opened(&["--no-keep-alive"]), 20, "{family}");
    }
}

/// A server that answers in HTTP/1.1 and, having been asked in HTTP/1.0, closes: it never said that it
/// keeps the connection. One that is sent another request there loses it.
#[test]
fn a_connection_that_the_server_did_not_agree_to_keep_is_closed() {
    for (says, opened) in [("", 20), ("Connection: keep-alive\r\n", 1)] {
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n{says}\r\nhi");
        let keeps = !says.is_empty();
        let server = Raw::start(move |mut stream| {
            while stream.read(&mut [0; 4_096]).is_ok_and(|length| length > 0)
                && stream.write_all(answer.as_bytes()).is_ok()
            {
                if !keeps {
                    // What comes now is not answered.
                    let _ = stream.read(&mut [0; 4_096]);
                    return;
                }
            }
        });
        for url in server.urls("http") {
            let result = json(&["--http1.0", "-n", "20", "-c", "1", &url]);
            assert_eq!(result["total"]["outcomes"], value!({"NORMAL": 20}), "{says}");
            assert_eq!(result["total"]["connections"]["opened"], opened, "{says}");
        }
    }
}

#[test]
fn templated_requests_use_http10_too() {
    let server = Server::start();
    let [v6, _] = server.urls("/");
    let dir = tempfile::tempdir().unwrap();
    let mix = dir.path().join("mix.toml");
    std::fs::write(&mix, "[[request]]\npath = '/{{seq}}'\n").unwrap();
    let load = ["--http1.0", "-n", "2", "-c", "1", "--cookies"];
    json(&[&load[..], &["--requests", mix.to_str().unwrap(), &v6]].concat());
    let seen = server.seen();
    assert!(seen.len() == 2 && seen.iter().all(|seen| seen.head.contains(" HTTP/1.0\r\n")));
}

#[test]
fn rejects_other_http_versions_and_streams_beside_http10() {
    for other in ["--http2", "--http3", "--http2-prior-knowledge"] {
        let output = sixmark(&["run", "--http1.0", other, "https://[::1]:1/"]);
        assert!(complaint(&output, 2).contains("cannot be used with"));
    }
    let output = sixmark(&["run", "--http1.0", "--streams", "2", "http://[::1]:1/"]);
    assert!(complaint(&output, 2).contains("--streams"));
}
