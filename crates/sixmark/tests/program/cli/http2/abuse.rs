//! Servers that misuse HTTP/2: every run ends, every exchange has its outcome and its number.

use std::net::TcpStream;

use serde_json::{Value, json as value};
use sixmark_testkit::times::assert_with_enough_time;
use sixmark_testkit::{Raw, json};

use super::peer::*;

const DRIVERS: [&str; 2] = ["uring", "epoll"];
/// Nothing here lasts as long.
const PATIENT: &str = "1h";
const FOUR: [&str; 2] = ["-n", "4"];

/// The result of exchanges with a server of this manner, of each family two at once, which share
/// their connection.
fn loaded(driver: &str, manner: fn(&mut Peer), timeout: &str, more: &[&str]) -> Value {
    let server = Raw::start(move |stream: TcpStream| manner(&mut Peer::new(stream)));
    let [v6, v4] = server.urls("http");
    let load = ["--http2-prior-knowledge", "-t", "1", "-c", "2", "--streams", "2"];
    let options = ["--driver", driver, "--timeout", timeout];
    json(&[&load[..], &options, more, &[&v6, &v4]].concat())
}

/// How both families failed, over both drivers.
fn fails(manner: fn(&mut Peer), expected: &Value) {
    for driver in DRIVERS {
        let result = loaded(driver, manner, PATIENT, &FOUR);
        for family in ["ipv6", "ipv4"] {
            let failures = &result["families"][family]["failures"];
            assert_eq!(failures, expected, "{driver} {family}");
        }
    }
}

/// Both families fail by a timeout, over both drivers.
fn times_out(manner: fn(&mut Peer), phase: &str, more: &[&str]) {
    for driver in DRIVERS {
        let expected = [(); 2].map(|()| failure("TIMEOUT", phase, None, 2));
        assert_with_enough_time(&expected, driver, |timeout| {
            let result = loaded(driver, manner, timeout, &[&FOUR, more].concat());
            ["ipv6", "ipv4"].map(|family| result["families"][family]["failures"].clone())
        });
    }
}

fn failure(outcome: &str, phase: &str, code: Option<u64>, count: u64) -> Value {
    value!([{
        "outcome": outcome, "phase": phase, "errno": null, "code": code, "count": count
    }])
}

/// The connection is broken before any response began: PROTOCOL with the code that the server is
/// told.
fn violates(manner: fn(&mut Peer), code: u64) {
    fails(manner, &failure("PROTOCOL", "wait", Some(code), 2));
}

/// The same while the response to the first of both requests is under way.
fn violates_amid(manner: fn(&mut Peer), code: u64) {
    let one = |phase| failure("PROTOCOL", phase, Some(code), 1)[0].clone();
    fails(manner, &value!([one("wait"), one("transfer")]));
}

/// As [`violates_amid`], where it is a limit of sixmark's that was exceeded, not a rule of HTTP.
fn exceeds_amid(manner: fn(&mut Peer), code: u64) {
    let one = |phase| {
        let mut failure = failure("LOCAL", phase, Some(code), 1)[0].clone();
        failure["cause"] = value!("head_limit");
        failure
    };
    fails(manner, &value!([one("wait"), one("transfer")]));
}

/// Reads both requests, so that what follows finds them in flight.
fn both(peer: &mut Peer) {
    peer.greet();
    let requests = (peer.request(), peer.request());
    assert!(requests.1.is_some_and(|last| last > 1) || requests.1.is_none());
}

#[test]
fn garbage_instead_of_frames_is_a_protocol_error() {
    violates(
        |peer| {
            peer.preface();
            peer.say(b"\x00\xff\xfe\xfd\xfc garbage");
            peer.listen();
        },
        1,
    );
}

#[test]
fn an_http1_response_is_a_protocol_error() {
    violates(
        |peer| {
            peer.preface();
            peer.say(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
            peer.listen();
        },
        1,
    );
}

#[test]
fn a_first_frame_must_be_settings() {
    violates(
        |peer| {
            peer.preface();
            peer.say(&frame(PING, 0, 0, &[0; 8]));
            peer.listen();
        },
        1,
    );
}

#[test]
fn a_silent_server_causes_a_timeout() {
    times_out(Peer::preface_and_listen, "wait", &[]);
    times_out(both_then_listen, "wait", &[]);
}

fn both_then_listen(peer: &mut Peer) {
    both(peer);
    peer.listen();
}

impl Peer {
    fn preface_and_listen(&mut self) {
        self.preface();
        self.listen();
    }
}

#[test]
fn a_server_that_closes_early_truncates_the_responses() {
    let close = |peer: &mut Peer| {
        both(peer);
        peer.end();
    };
    fails(close, &failure("TRUNCATED", "wait", None, 2));
}

#[test]
fn a_closed_flow_control_window_causes_a_send_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("body");
    std::fs::write(&file, vec![b'x'; 100_000]).unwrap();
    let body = ["--body-file", file.to_str().unwrap()];
    let shut = |peer: &mut Peer| {
        peer.preface();
        peer.say(&frame(SETTINGS, 0, 0, &setting(4, 0)));
        peer.listen();
    };
    times_out(shut, "send", &body);
    // The first windows are used up and never opened again.
    times_out(both_then_listen, "send", &body);
}

#[test]
fn a_stalled_response_causes_a_transfer_timeout() {
    let stop = |peer: &mut Peer| {
        both(peer);
        for stream in [1, 3] {
            peer.say(&frame(HEADERS, END_HEADERS, stream, OK));
            peer.say(&frame(DATA, 0, stream, b"some"));
        }
        peer.listen();
    };
    times_out(stop, "transfer", &[]);
}

#[test]
fn endless_header_fields_exceed_the_head_limit() {
    exceeds_amid(
        |peer| {
            both(peer);
            peer.say(&frame(HEADERS, 0, 1, OK));
            peer.repeat(&frame(CONTINUATION, 0, 1, &[0x88; 16_384]));
        },
        11,
    );
}

/// 200 KiB in the fields of each response.
#[test]
fn reads_very_long_header_fields() {
    let answer = |peer: &mut Peer| {
        peer.greet();
        while let Some(stream) = peer.request() {
            let field = [&b"\x00\x01a\x7f\x81\x7c"[..], &[b'b'; 16_000]].concat();
            peer.say(&frame(HEADERS, 0, stream, OK));
            let more = frame(CONTINUATION, 0, stream, &field).repeat(12);
            peer.say(&more);
            peer.say(&frame(CONTINUATION, END_HEADERS, stream, &[]));
            peer.say(&frame(DATA, END_STREAM, stream, b""));
        }
    };
    for driver in DRIVERS {
        let result = loaded(driver, answer, PATIENT, &FOUR);
        assert_eq!(result["total"]["outcomes"], value!({"NORMAL": 4}), "{driver}");
    }
}

#[test]
fn a_flood_of_empty_continuations_breaks_the_connection() {
    violates_amid(
        |peer| {
            both(peer);
            peer.say(&frame(HEADERS, 0, 1, OK));
            peer.repeat(&frame(CONTINUATION, 0, 1, &[]));
        },
        11,
    );
}

/// A field of 4,000 bytes put into the table, then named again and again by one byte.
#[test]
fn a_header_decompression_bomb_exceeds_the_head_limit() {
    exceeds_amid(
        |peer| {
            both(peer);
            let name = b"\x40\x01a\x7f\xa1\x1e".to_vec();
            let mut block = [OK, &name, &vec![b'b'; 4_000]].concat();
            block.extend([0xbe; 1_000]);
            peer.say(&frame(HEADERS, END_HEADERS, 1, &block));
            peer.listen();
        },
        11,
    );
}

#[test]
fn invalid_hpack_breaks_the_connection() {
    violates_amid(
        |peer| {
            both(peer);
            peer.say(&frame(HEADERS, END_HEADERS, 1, &[0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]));
            peer.listen();
        },
        9,
    );
}

/// Stream 1 is answered; what comes for it afterwards ends stream 3.
fn after_its_end(peer: &mut Peer, what: &[u8]) {
    both(peer);
    peer.answer(1);
    peer.say(what);
    peer.listen();
}

#[test]
fn a_frame_on_a_closed_stream_fails_the_other_streams() {
    let closed = |code| failure("PROTOCOL", "wait", Some(code), 1);
    fails(|peer| after_its_end(peer, &frame(DATA, 0, 1, b"x")), &closed(5));
    let again = |peer: &mut Peer| after_its_end(peer, &frame(HEADERS, END_HEADERS, 1, OK));
    fails(again, &closed(5));
    // These two may come late and mean nothing.
    let late = |peer: &mut Peer| {
        both(peer);
        peer.answer(1);
        peer.say(&frame(WINDOW_UPDATE, 0, 1, &1_u32.to_be_bytes()));
        peer.say(&frame(RST_STREAM, 0, 1, &[0; 4]));
        peer.answer(3);
        peer.listen();
    };
    fails(late, &value!([]));
}

#[test]
fn a_frame_on_a_stream_that_nobody_opened_breaks_the_connection() {
    violates(
        |peer| {
            both(peer);
            peer.say(&frame(DATA, 0, 99, b"x"));
            peer.listen();
        },
        1,
    );
}

#[test]
fn a_push_breaks_the_connection() {
    violates(
        |peer| {
            both(peer);
            let payload = [&2_u32.to_be_bytes(), OK].concat();
            peer.say(&frame(PUSH_PROMISE, END_HEADERS, 1, &payload));
            peer.listen();
        },
        1,
    );
}

#[test]
fn a_frame_that_is_too_long_breaks_the_connection() {
    violates(
        |peer| {
            both(peer);
            peer.say(&frame(DATA, 0, 1, &[0; 16_385]));
            peer.listen();
        },
        6,
    );
}

#[test]
fn a_flow_control_window_overflow_breaks_the_connection() {
    violates(
        |peer| {
            both(peer);
            peer.say(&frame(WINDOW_UPDATE, 0, 0, &0x7fff_ffff_u32.to_be_bytes()));
            peer.listen();
        },
        3,
    );
}

#[test]
fn floods_of_settings_or_pings_break_the_connection() {
    violates(|peer| flood(peer, &frame(SETTINGS, 0, 0, &[])), 11);
    violates(|peer| flood(peer, &frame(PING, 0, 0, &[0; 8])), 11);
}

#[test]
fn a_ping_flood_with_unread_replies_breaks_the_connection() {
    violates(
        |peer| {
            both(peer);
            let many = frame(PING, 0, 0, &[0; 8]).repeat(100);
            while peer.say(&many) {}
        },
        11,
    );
}

#[test]
fn floods_of_ignored_frames_break_the_connection() {
    violates(|peer| flood(peer, &frame(0xee, 0, 0, &[])), 11);
    violates(|peer| flood(peer, &frame(WINDOW_UPDATE, 0, 1, &1_u32.to_be_bytes())), 11);
}

fn flood(peer: &mut Peer, what: &[u8]) {
    both(peer);
    peer.repeat(what);
}

#[test]
fn stream_resets_leave_the_connection_open() {
    for driver in DRIVERS {
        let result = loaded(driver, reset_streams, PATIENT, &FOUR);
        for family in ["ipv6", "ipv4"] {
            let figures = &result["families"][family];
            assert_eq!(figures["failures"], failure("RESET", "wait", Some(2), 2));
            assert_eq!(figures["connections"]["opened"], 1);
            assert_eq!(figures["connections"]["reset_sent"], 0);
        }
    }
}

fn reset_streams(peer: &mut Peer) {
    peer.greet();
    while let Some(stream) = peer.request() {
        peer.say(&frame(RST_STREAM, 0, stream, &2_u32.to_be_bytes()));
    }
}

#[test]
fn a_content_length_mismatch_fails_only_its_stream() {
    let contradict = |peer: &mut Peer| {
        peer.greet();
        // content-length: 3, and four bytes of content.
        let fields = [OK, b"\x0f\x0d\x013"].concat();
        while let Some(stream) = peer.request() {
            peer.say(&frame(HEADERS, END_HEADERS, stream, &fields));
            peer.say(&frame(DATA, END_STREAM, stream, b"four"));
        }
    };
    fails(contradict, &failure("PROTOCOL", "transfer", Some(1), 2));
}

#[test]
fn resends_requests_that_a_goaway_leaves_unanswered() {
    for driver in DRIVERS {
        let result = loaded(driver, one_each, PATIENT, &["-n", "40"]);
        for family in ["ipv6", "ipv4"] {
            let figures = &result["families"][family];
            let requests = &figures["requests"];
            assert_eq!(requests["sent"], 20);
            assert!(requests["resent"].as_u64().unwrap() > 0, "{requests}");
            let connections = &figures["connections"];
            assert!(connections["drained"].as_u64().unwrap() > 0, "{connections}");
            // Some were sent elsewhere so often that they were given up.
            for failure in figures["failures"].as_array().unwrap() {
                assert_eq!([&failure["outcome"], &failure["code"]], [&value!("RESET"), &value!(0)]);
            }
            assert!(figures["outcomes"]["NORMAL"].as_u64().unwrap() >= 10, "{figures}");
        }
    }
}

/// Answers the first request of a connection and says that it is the last.
fn one_each(peer: &mut Peer) {
    peer.greet();
    if let Some(stream) = peer.request() {
        peer.answer(stream);
        peer.say(&frame(GOAWAY, 0, 0, &goaway(stream, 0)));
    }
    peer.listen();
}

#[test]
fn gives_up_on_a_server_whose_goaway_refuses_every_request() {
    let never = |peer: &mut Peer| {
        peer.greet();
        peer.request();
        peer.say(&frame(GOAWAY, 0, 0, &goaway(0, 11)));
        peer.listen();
    };
    for driver in DRIVERS {
        let result = loaded(driver, never, PATIENT, &FOUR);
        for family in ["ipv6", "ipv4"] {
            let figures = &result["families"][family];
            assert_eq!(figures["outcomes"], value!({"NORMAL": 0, "RESET": 2}), "{driver}");
            for failure in figures["failures"].as_array().unwrap() {
                assert_eq!(failure["code"], 11, "{driver} {failure}");
            }
        }
    }
}

#[test]
fn a_goaway_followed_by_a_close_truncates_the_responses() {
    let leave = |peer: &mut Peer| {
        both(peer);
        peer.say(&frame(GOAWAY, 0, 0, &goaway(3, 2)));
        peer.end();
    };
    fails(leave, &failure("TRUNCATED", "wait", None, 2));
}

/// Whatever comes in the middle of whatever: the account closes, which `json` checks.
#[test]
fn a_run_ends_despite_endless_interim_responses() {
    let early = |peer: &mut Peer| {
        both(peer);
        // 100 (Continue), without end.
        peer.repeat(&frame(HEADERS, END_HEADERS, 1, b"\x08\x03100"));
    };
    for driver in DRIVERS {
        let result = loaded(driver, early, "2s", &FOUR);
        for family in ["ipv6", "ipv4"] {
            assert_eq!(result["families"][family]["outcomes"]["NORMAL"], 0);
        }
    }
}
