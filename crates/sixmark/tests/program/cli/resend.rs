//! Kept connections that a server closes unannounced, just as the next request is on its way.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json as value};
use sixmark_testkit::{Raw, json, sixmark};
use socket2::SockRef;

const DRIVERS: [&str; 2] = ["uring", "epoll"];

fn hears(stream: &mut TcpStream) -> bool {
    stream.read(&mut [0; 4_096]).is_ok_and(|length| length > 0)
}

/// Answers one request on each connection and closes when another comes: with a FIN, or with a
/// reset.
fn closes(reset: bool) -> Raw {
    Raw::start(move |mut stream| {
        if hears(&mut stream)
            && stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_ok()
            && hears(&mut stream)
            && reset
        {
            SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
        }
    })
}

fn run(options: &[&str], url: &str) -> Value {
    json(&[&["-n", "40", "-c", "1"], options, &[url]].concat())["total"].take()
}

#[test]
fn resends_requests_lost_on_closed_connections_and_counts_them_once() {
    for reset in [false, true] {
        let server = closes(reset);
        for url in server.urls("http") {
            for driver in DRIVERS {
                for more in [&[][..], &["--cookies"], &["--expect", "body~ok"], &["-X", "DELETE"]] {
                    let total = run(&[&["--driver", driver], more].concat(), &url);
                    let requests = &total["requests"];
                    let found = [&requests["sent"], &requests["completed"], &requests["resent"]];
                    assert_eq!(found, [40, 40, 39], "{driver} {more:?} {reset}: {total}");
                    assert_eq!(total["connections"]["opened"], 40, "{driver} {more:?} {reset}");
                    assert_eq!(total["response_us"]["count"], 40, "{driver} {more:?} {reset}");
                }
            }
        }
    }
}

#[test]
fn resends_do_not_change_the_number_of_requests_at_a_rate() {
    let server = closes(false);
    for url in server.urls("http") {
        let load = ["-n", "40", "-c", "4", "--rate", "400/s", &url];
        let result = json(&load);
        let requests = &result["total"]["requests"];
        assert_eq!([&requests["sent"], &requests["completed"]], [40, 40], "{requests}");
        assert!(requests["resent"].as_u64().unwrap() > 0, "{requests}");
    }
}

/// Every other exchange meets a closed connection.
#[test]
fn no_resend_counts_a_lost_request_as_a_failure() {
    for (reset, outcome, errno) in [(false, "TRUNCATED", Value::Null), (true, "RESET", value!(104))]
    {
        let server = closes(reset);
        for url in server.urls("http") {
            for driver in DRIVERS {
                let total = run(&["--no-resend", "--driver", driver], &url);
                let failure = value!([{
                    "outcome": outcome, "phase": "wait", "errno": errno, "code": null, "count": 20
                }]);
                assert_eq!(total["failures"], failure, "{driver}");
                assert_eq!(total["requests"]["resent"], 0, "{driver}");
                assert_eq!(total["requests"]["completed"], 20, "{driver}");
            }
        }
    }
}

#[test]
fn a_method_that_is_not_idempotent_is_not_repeated() {
    let server = closes(false);
    let [v6, _] = server.urls("http");
    let total = run(&["-X", "POST"], &v6);
    assert_eq!(total["outcomes"], value!({"NORMAL": 20, "TRUNCATED": 20}));
    assert_eq!(total["requests"]["resent"], 0);
}

#[test]
fn the_table_shows_the_number_of_resent_requests() {
    let server = closes(false);
    let [v6, _] = server.urls("http");
    for more in [&[][..], &["--full"]] {
        let output = sixmark(&[&["run", "-n", "40", "-c", "1"], more, &[&v6]].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let row = text.lines().find(|line| line.trim_start().starts_with("requests resent"));
        assert!(row.is_some_and(|row| row.ends_with(" 39")), "{text}");
    }
}
