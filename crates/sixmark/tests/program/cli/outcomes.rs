//! How exchanges end. That the account closes is checked of every result.

use std::io::{Read as _, Write as _};

use serde_json::{Value, json as value};
use sixmark_testkit::times::assert_with_enough_time;
use sixmark_testkit::{Origin, Raw, Server, complaint, document, json, sixmark};

const FAMILIES: [&str; 2] = ["ipv6", "ipv4"];

/// How exchanges with these URLs fail, of each family.
fn failures(options: &[&str], urls: &[String; 2]) -> [Value; 2] {
    let load = ["-n", "20", "-c", "20"];
    let result = json(&[&load[..], options, &[&urls[0], &urls[1]]].concat());
    FAMILIES.map(|family| result["families"][family]["failures"].clone())
}

/// All of both families fail so.
fn all(outcome: &str, phase: &str, errno: Value) -> [Value; 2] {
    let one = || value!([{"outcome": outcome, "phase": phase, "errno": errno, "code": null, "count": 10}]);
    [one(), one()]
}

#[test]
fn classifies_failures_by_outcome_and_phase() {
    let origin = Origin::start();
    for (path, outcome, phase, errno) in [
        ("/reset", "RESET", "transfer", value!(104)),
        ("/close", "TRUNCATED", "wait", Value::Null),
        ("/truncate/100000", "TRUNCATED", "transfer", Value::Null),
    ] {
        let found = failures(&["--timeout", "1h"], &origin.urls(path));
        assert_eq!(found, all(outcome, phase, errno), "{path}");
    }
    for (path, phase) in [("/stall", "wait"), ("/stall/1000", "transfer")] {
        assert_with_enough_time(&all("TIMEOUT", phase, Value::Null), path, |timeout| {
            failures(&["--timeout", timeout], &origin.urls(path))
        });
    }
}

#[test]
fn counts_a_non_http_answer_as_a_protocol_failure() {
    let server = Server::greeting(b"SSH-2.0-x\r\n");
    let [v6, v4] = server.urls("/");
    let result = json(&["-n", "20", "-c", "4", &v6, &v4]);
    for family in FAMILIES {
        let outcomes = &result["families"][family]["outcomes"];
        assert_eq!(outcomes, &value!({"NORMAL": 0, "PROTOCOL": 10}));
    }
}

/// The reason that the document has is on the screen as well.
#[test]
fn names_the_defect_of_a_malformed_response() {
    for (fields, what) in [
        ("Content-Length: x", "invalid Content-Length"),
        ("Content-Length: 1\r\nContent-Length: 2", "contradictory Content-Length values"),
        ("Transfer-Encoding: chunked\r\n\r\nx", "invalid chunk size"),
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n");
        let server = Raw::start(move |mut stream| {
            while stream.read(&mut [0; 4_096]).is_ok_and(|length| length > 0)
                && stream.write_all(answer.as_bytes()).is_ok()
            {}
        });
        let [v6, v4] = server.urls("http");
        let output = sixmark(&["run", "-q", "-n", "8", "-c", "2", "--json", "-", &v6, &v4]);
        let line = complaint(&output, 3);
        let expected = format!("the server's response is malformed: {what}");
        assert!(line.contains(&expected), "{line}");
        assert!(!line.contains("does not support"), "{line}");
        let result = document(&output);
        assert_eq!(result["total"]["breaches"], value!([{"what": what, "count": 8}]));
    }
    let server = Server::greeting(b"SSH-2.0-x\r\n");
    let [v6, v4] = server.urls("/");
    let line = complaint(&sixmark(&["run", "-q", "-n", "8", &v6, &v4]), 3);
    let part = "does not support the requested version of HTTP: the peer's answer is not HTTP";
    assert!(line.contains(part), "{line}");
}

/// RFC 2616 had it, and servers still send it.
#[test]
fn ignores_the_identity_transfer_coding() {
    for (answer, opened) in [
        ("Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok", 1),
        ("Content-Length: 2\r\nTransfer-Encoding: Identity\r\n\r\nok", 1),
        ("Transfer-Encoding: identity\r\nConnection: close\r\n\r\nok", 8),
    ] {
        let server = Raw::start(move |mut stream| {
            while stream.read(&mut [0; 4_096]).is_ok_and(|length| length > 0) {
                let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\n{answer}").as_bytes());
                if answer.contains("close") {
                    return;
                }
            }
        });
        for url in server.urls("http") {
            let result = json(&["-n", "8", "-c", "1", &url]);
            assert_eq!(result["total"]["outcomes"], value!({"NORMAL": 8}), "{answer}");
            assert_eq!(result["total"]["bytes"]["body"], 16, "{answer}");
            assert_eq!(result["total"]["connections"]["opened"], opened, "{answer}");
        }
    }
}

/// What came is legal: the limit is sixmark's, and it is said so.
#[test]
fn counts_an_oversized_response_head_as_a_local_failure() {
    let heads = [(4_000, 10, "NORMAL"), (10, 20_000, "NORMAL"), (4_000, 100, "LOCAL")];
    for (count, length, outcome) in heads {
        let field = format!("X-Field: {}\r\n", "v".repeat(length)).repeat(count);
        let answer = format!("HTTP/1.1 200 OK\r\n{field}Content-Length: 0\r\n\r\n");
        let server = Raw::start(move |mut stream| {
            while stream.read(&mut [0; 4_096]).is_ok_and(|length| length > 0)
                && stream.write_all(answer.as_bytes()).is_ok()
            {}
        });
        let [v6, v4] = server.urls("http");
        let output = sixmark(&["run", "-n", "8", "-c", "2", "--json", "-", &v6, &v4]);
        let result = document(&output);
        for family in FAMILIES {
            let figures = &result["families"][family];
            assert_eq!(figures["outcomes"][outcome], 4, "{count} fields of {length}");
            let cause = &figures["failures"][0]["cause"];
            assert_eq!(cause == "head_limit", outcome == "LOCAL", "{figures}");
        }
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.contains("256 KiB, the limit that sixmark sets"), outcome == "LOCAL");
        assert!(!said.contains("does not support"), "{said}");
    }
}

#[test]
fn counts_complete_responses_of_any_framing_and_status() {
    let origin = Origin::start();
    for (path, method, status, body) in [
        ("/bytes/5000", "GET", "200", 5_000),
        ("/bytes/0", "GET", "200", 0),
        ("/chunked/70000", "GET", "200", 70_000),
        ("/bytes/5000", "HEAD", "200", 0),
        ("/chunked/5000", "HEAD", "200", 0),
        ("/reset", "HEAD", "200", 0),
        ("/status/204", "GET", "204", 0),
        ("/status/304", "GET", "304", 0),
    ] {
        let [v6, v4] = origin.urls(path);
        let result = json(&["-n", "40", "-c", "4", "-X", method, &v6, &v4]);
        for family in FAMILIES {
            let figures = &result["families"][family];
            assert_eq!(figures["outcomes"], value!({"NORMAL": 20}), "{method} {path}");
            assert_eq!(figures["status"], value!({status: 20}), "{method} {path}");
            assert_eq!(figures["bytes"]["body"], 20 * body, "{method} {path}");
            assert_eq!(figures["response_us"]["count"], 20, "{method} {path}");
        }
    }
}

#[test]
fn counts_an_error_status_as_a_response_and_warns() {
    let origin = Origin::start();
    let [v6, v4] = origin.urls("/status/404");
    let result = json(&["-n", "20", "-c", "2", &v6, &v4]);
    let warnings = result["warnings"].as_array().unwrap().iter();
    let doubts: Vec<&Value> = warnings.filter(|warning| warning["code"] == "status").collect();
    assert_eq!(doubts.len(), 2, "{doubts:?}");
    for (family, doubt) in ["IPv6", "IPv4"].into_iter().zip(doubts) {
        let message = doubt["message"].as_str().unwrap();
        assert!(message.contains(family) && message.contains("404"), "{message}");
    }
    assert_eq!(result["total"]["status"], value!({"404": 20}));
    assert_eq!(result["total"]["outcomes"], value!({"NORMAL": 20}));
}
