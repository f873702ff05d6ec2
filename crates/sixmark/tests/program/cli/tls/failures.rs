//! Servers whose handshake goes wrong, and what is no TLS.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json as value};
use sixmark_testkit::times::assert_with_enough_time;
use sixmark_testkit::{Origin, Raw};

use super::{both, json};

const DRIVERS: [&str; 2] = ["uring", "epoll"];

/// How both families failed, eight exchanges together.
fn fails(urls: &[String; 2], expected: &Value, failed: u64) {
    for driver in DRIVERS {
        let load = ["-n", "8", "-c", "2", "-k", "--timeout", "1h", "--driver", driver];
        let result = json(&[&load[..], &[&urls[0], &urls[1]]].concat());
        for figures in both(&result) {
            assert_eq!(&figures["failures"], expected, "{driver}");
            assert_eq!(figures["tls"]["handshakes"]["failed"], failed, "{driver}");
            assert_eq!(figures["tls"]["tls_us"]["count"], 0);
        }
    }
}

fn failure(outcome: &str, errno: Option<i32>, code: Option<u64>) -> Value {
    value!([{"outcome": outcome, "phase": "tls", "errno": errno, "code": code, "count": 4}])
}

/// Both families fail by a timeout in tls.
fn times_out(urls: &[String; 2]) {
    for driver in DRIVERS {
        let load = ["-n", "8", "-c", "8", "-k", "--driver", driver, "--timeout"];
        let expected = [(); 2].map(|()| failure("TIMEOUT", None, None));
        assert_with_enough_time(&expected, driver, |timeout| {
            let result = json(&[&load[..], &[timeout, &urls[0], &urls[1]]].concat());
            for figures in both(&result) {
                assert_eq!(figures["tls"]["tls_us"]["count"], 0);
            }
            both(&result).map(|figures| figures["failures"].clone())
        });
    }
}

/// Waits for the client's first words.
fn greeted(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0; 16_384]);
}

#[test]
fn an_https_run_against_a_plain_http_server_fails_in_tls() {
    let origin = Origin::start();
    let urls = origin.urls("/").map(|url| url.replace("http://", "https://"));
    for driver in DRIVERS {
        let result = json(&["-n", "8", "-c", "2", "--driver", driver, "-k", &urls[0], &urls[1]]);
        for figures in both(&result) {
            let failures = &figures["failures"][0];
            assert_eq!([&failures["outcome"], &failures["phase"]], ["TLS", "tls"], "{driver}");
            assert_eq!(failures["count"], 4);
        }
    }
}

#[test]
fn an_http_answer_to_the_client_hello_is_a_tls_protocol_failure() {
    let server = Raw::start(|mut stream| {
        greeted(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        let _ = stream.read(&mut [0; 1]);
    });
    let urls = server.urls("https");
    let result = json(&["-n", "8", "-c", "2", "-k", &urls[0], &urls[1]]);
    for figures in both(&result) {
        let cause = &figures["tls"]["failures"][0];
        assert_eq!([&cause["reason"], &cause["count"]], [&value!("protocol"), &value!(4)]);
        assert_eq!(figures["outcomes"]["TLS"], 4);
        assert_eq!(figures["tls"]["handshakes"]["failed"], 4);
    }
}

#[test]
fn a_connection_closed_during_the_handshake_fails_in_tls() {
    let server = Raw::start(|mut stream| greeted(&mut stream));
    fails(&server.urls("https"), &failure("TLS", None, None), 4);
}

#[test]
fn counts_a_reset_during_the_handshake_in_the_tls_phase() {
    let server = Raw::start(|mut stream| {
        greeted(&mut stream);
        socket2::SockRef::from(&stream).set_linger(Some(std::time::Duration::ZERO)).unwrap();
    });
    fails(&server.urls("https"), &failure("RESET", Some(104), None), 4);
}

#[test]
fn an_unanswered_client_hello_times_out_in_tls() {
    let silent = Raw::start(|mut stream| while stream.read(&mut [0; 1]).is_ok_and(|n| n > 0) {});
    times_out(&silent.urls("https"));
}

/// A ServerHello that is announced and comes in part.
#[test]
fn a_partial_server_hello_times_out_in_tls() {
    let half = Raw::start(|mut stream| {
        greeted(&mut stream);
        let _ = stream.write_all(b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03");
        while stream.read(&mut [0; 1_024]).is_ok_and(|n| n > 0) {}
    });
    times_out(&half.urls("https"));
}

/// Records of a handshake message that never ends.
#[test]
fn a_handshake_message_that_is_too_long_fails_in_tls() {
    let endless = Raw::start(|mut stream| {
        greeted(&mut stream);
        let mut first = b"\x16\x03\x03\x40\x00\x02\xff\xff\xff".to_vec();
        first.resize(5 + 16_384, 0);
        let mut next = b"\x16\x03\x03\x40\x00".to_vec();
        next.resize(5 + 16_384, 0);
        let _ = stream.write_all(&first);
        while stream.write_all(&next).is_ok() {}
    });
    let urls = endless.urls("https");
    for driver in DRIVERS {
        let load = ["-n", "8", "-c", "2", "-k", "--timeout", "60s", "--driver", driver];
        let result = json(&[&load[..], &[&urls[0], &urls[1]]].concat());
        for figures in both(&result) {
            assert_eq!(figures["outcomes"], value!({"NORMAL": 0, "TLS": 4}), "{driver}");
        }
    }
}
