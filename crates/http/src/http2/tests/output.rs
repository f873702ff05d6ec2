//! What is sent, and when.

use super::super::{Connection, Http2Request, Options, Parts};
use super::wire::{
    answer, data, end, flag, frame, frames, goaway, head, kind, number, ok, settings,
};
use super::{Log, connection, request};
use crate::hpack::Decoder;

fn taken(connection: &mut Connection) -> Vec<u8> {
    std::mem::take(connection.output())
}

/// Removes the frames from the output; returns the type, flags, stream and length of each.
fn shapes(connection: &mut Connection) -> Vec<(u8, u8, u32, u32)> {
    let mut all = Vec::new();
    loop {
        let bytes = taken(connection);
        let (found, rest) = frames(&bytes);
        assert_eq!(rest, b"");
        all.extend(
            found.iter().map(|(frame, _)| (frame.kind, frame.flags, frame.id, frame.length)),
        );
        if bytes.is_empty() {
            return all;
        }
    }
}

fn started(streams: u32) -> Connection {
    let mut connection = Connection::new(&Options { streams, ..Options::default() });
    connection.output().clear();
    connection.feed(&settings(&[]), &mut Log::default()).unwrap();
    connection.output().clear();
    connection
}

fn fed(connection: &mut Connection, frames: &[Vec<u8>]) -> String {
    let mut log = Log::default();
    connection.feed(&frames.concat(), &mut log).unwrap();
    log.text()
}

#[test]
fn sends_preface_settings_and_window_update_first() {
    let mut connection = Connection::new(&Options { streams: 1, window: 1 << 30 });
    let bytes = taken(&mut connection);
    let rest = bytes.strip_prefix(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap();
    let own = settings(&[(2, 0), (4, 1 << 30), (6, 262_144)]);
    assert_eq!(rest, [own, number(kind::WINDOW_UPDATE, 0, (1 << 30) - 65_535)].concat());
    assert!(!connection.is_greeted());
    fed(&mut connection, &[settings(&[])]);
    assert!(connection.is_greeted());
    assert_eq!(taken(&mut connection), frame(kind::SETTINGS, flag::ACK, 0, []));
}

#[test]
fn encodes_a_request_as_one_headers_frame_without_table_entries() {
    let mut connection = started(2);
    let headers = [("X-Own".to_owned(), "Ä".to_owned())];
    let (scheme, authority) = ("http", "[::1]:8080");
    let parts = Parts { method: "GET", scheme, authority, path: "", headers: &headers };
    let request = Http2Request::new(&parts, None, false).unwrap();
    assert!(connection.begin(0, &request) && connection.begin(1, &request));
    assert!(!connection.begin(2, &request), "no room");
    let bytes = taken(&mut connection);
    let (found, rest) = frames(&bytes);
    assert_eq!((found.len(), rest), (2, &[][..]));
    assert_eq!(found[0].1, found[1].1);
    let shape = (found[0].0.kind, found[0].0.flags, found[0].0.id, found[1].0.id);
    assert_eq!(shape, (kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, 1, 3));
    let mut text = String::new();
    Decoder::new(0, 65_536)
        .decode(found[0].1, |name, value| {
            let line = [name, b": ", value, b"\n"].concat();
            text.push_str(&String::from_utf8(line).unwrap());
        })
        .unwrap();
    let expected = concat!(
        ":method: GET\n:scheme: http\n:authority: [::1]:8080\n:path: /\nuser-agent: sixmark/",
        env!("CARGO_PKG_VERSION"),
        "\naccept: */*\nx-own: Ä\n"
    );
    assert_eq!(text, expected);
}

#[test]
fn sends_long_fields_in_continuation_frames() {
    let headers = [("x".to_owned(), "~".repeat(40_000))];
    let (scheme, authority) = ("http", "a");
    let parts = Parts { method: "GET", scheme, authority, path: "/", headers: &headers };
    let request = Http2Request::new(&parts, None, false).unwrap();
    for resized in [false, true] {
        let mut connection = started(2);
        let table = if resized { 0 } else { 4096 };
        fed(&mut connection, &[settings(&[(1, table)])]);
        connection.output().clear();
        assert!(connection.begin(0, &request));
        let shapes = shapes(&mut connection);
        let first = 16_383 + u32::from(resized);
        assert_eq!(shapes[0], (kind::HEADERS, flag::END_STREAM, 1, first));
        assert_eq!(shapes[1], (kind::CONTINUATION, 0, 1, 16_383));
        assert_eq!((shapes[2].0, shapes[2].1, shapes[2].2), (kind::CONTINUATION, 4, 1));
    }
}

/// nghttp2, which Apache uses, refuses the next block if this confirmation is missing.
#[test]
fn a_smaller_table_is_confirmed_once_in_the_next_request() {
    let mut connection = started(10);
    fed(&mut connection, &[settings(&[(1, 100), (1, 8192)])]);
    connection.output().clear();
    for (token, first) in [(0, 0x20), (1, 0x82)] {
        assert!(connection.begin(token, &request("GET", None, false)));
        let bytes = taken(&mut connection);
        let (found, _) = frames(&bytes);
        assert_eq!((found.len(), found[0].1[0]), (1, first));
    }
    fed(&mut connection, &[settings(&[(1, 8192)])]);
    connection.output().clear();
    assert!(connection.begin(2, &request("GET", None, false)));
    assert_eq!(taken(&mut connection)[9], 0x82, "growing needs no word");
}

#[test]
fn reports_when_the_last_byte_of_a_request_was_written() {
    let mut connection = started(10);
    assert!(connection.begin(4, &request("GET", None, false)));
    assert!(connection.begin(5, &request("POST", Some(vec![b'x'; 70_000]), false)));
    assert_eq!(connection.next_written(), None);
    let first = frames(connection.output()).0[0].0.length as usize + 9;
    connection.output().drain(..first - 1);
    assert_eq!(connection.next_written(), None);
    connection.output().drain(..1);
    assert_eq!(connection.next_written(), Some(4));
    assert_eq!(connection.next_written(), None);
    connection.output().clear();
    assert_eq!(connection.next_written(), None, "the windows are too small for all of the body");
    fed(&mut connection, &[number(kind::WINDOW_UPDATE, 5 - 2, 10_000)]);
    assert_eq!(taken(&mut connection), b"", "the connection's still is");
    fed(&mut connection, &[number(kind::WINDOW_UPDATE, 0, 10_000)]);
    assert_eq!(shapes(&mut connection), [(kind::DATA, flag::END_STREAM, 3, 70_000 - 65_535)]);
    assert_eq!(connection.next_written(), Some(5));
}

#[test]
fn does_not_report_a_cancelled_request_as_written() {
    let mut connection = started(10);
    assert!(connection.begin(0, &request("GET", None, false)));
    assert!(connection.begin(1, &request("GET", None, false)));
    connection.cancel(0);
    assert!(connection.begin(0, &request("GET", None, false)));
    connection.output().clear();
    assert_eq!(connection.next_written(), Some(1));
    assert_eq!(connection.next_written(), Some(0), "the second of that name");
    assert_eq!(connection.next_written(), None);
}

#[test]
fn bodies_take_turns_and_no_window_is_exceeded() {
    let mut connection = started(10);
    for token in 0..3 {
        assert!(connection.begin(token, &request("POST", Some(vec![b'x'; 40_000]), false)));
    }
    let data = |shapes: Vec<(u8, u8, u32, u32)>| -> Vec<(u32, u32)> {
        let data = shapes.into_iter().filter(|shape| shape.0 == kind::DATA);
        data.map(|(_, _, id, length)| (id, length)).collect()
    };
    let sent = data(shapes(&mut connection));
    assert_eq!(sent.iter().map(|(_, length)| length).sum::<u32>(), 65_535);
    fed(&mut connection, &[number(kind::WINDOW_UPDATE, 0, 1 << 20)]);
    let rest = data(shapes(&mut connection));
    assert!(rest.windows(2).any(|pair| pair[0].0 != pair[1].0), "{rest:?}");
    let all: u32 = sent.iter().chain(&rest).map(|(_, length)| length).sum();
    assert_eq!(all, 120_000);
}

#[test]
fn a_smaller_initial_window_reduces_the_windows_of_open_streams() {
    let mut connection = started(10);
    fed(&mut connection, &[number(kind::WINDOW_UPDATE, 0, 1 << 20), settings(&[(4, 30_000)])]);
    assert!(connection.begin(0, &request("POST", Some(vec![b'x'; 60_000]), false)));
    let sent = |connection: &mut Connection| -> u32 {
        shapes(connection).iter().filter(|shape| shape.0 == 0).map(|shape| shape.3).sum()
    };
    assert_eq!(sent(&mut connection), 30_000);
    fed(&mut connection, &[settings(&[(4, 10_000)]), number(kind::WINDOW_UPDATE, 1, 20_000)]);
    assert_eq!(sent(&mut connection), 0, "20,000 below 0, and up again");
    fed(&mut connection, &[settings(&[(4, 15_000)])]);
    assert_eq!(sent(&mut connection), 5_000);
    fed(&mut connection, &[settings(&[(4, 100_000)])]);
    assert_eq!(sent(&mut connection), 25_000);
}

#[test]
fn a_window_may_reach_but_not_exceed_its_maximum() {
    let mut connection = started(10);
    assert!(connection.begin(7, &request("POST", Some(vec![b'x'; 10_000]), false)));
    assert!(!taken(&mut connection).is_empty());
    let most = (1 << 31) - 1;
    let told = fed(&mut connection, &[number(kind::WINDOW_UPDATE, 1, most - 55_535)]);
    assert_eq!(told, "");
    let told = fed(&mut connection, &[number(kind::WINDOW_UPDATE, 1, 1)]);
    assert_eq!(told, "lost 7 Malformed(3)\n");
}

#[test]
fn a_refused_stream_is_unprocessed_if_the_limit_was_not_known() {
    let mut connection = Connection::new(&Options { streams: 2, ..Options::default() });
    let get = request("GET", None, false);
    assert!(connection.begin(1, &get) && connection.begin(2, &get));
    taken(&mut connection);
    let refused = |id| number(kind::RST_STREAM, id, 7);
    let told = fed(&mut connection, &[settings(&[(3, 1)]), refused(3)]);
    assert_eq!(told, "lost 2 Unprocessed\n");
    let told = fed(&mut connection, &[settings(&[(3, 2)])]);
    assert_eq!(told, "");
    assert!(connection.begin(3, &get));
    let told = fed(&mut connection, &[refused(5), refused(1)]);
    assert_eq!(told, "lost 3 Reset(7)\nlost 1 Unprocessed\n");
}

#[test]
fn a_body_whose_window_shrank_while_it_waited_sends_nothing() {
    let mut connection = started(10);
    for token in 0..2 {
        assert!(connection.begin(token, &request("POST", Some(vec![b'x'; 65_535]), false)));
    }
    connection.output().clear();
    fed(&mut connection, &[settings(&[(4, 0)]), number(kind::WINDOW_UPDATE, 0, 1000)]);
    assert_eq!(shapes(&mut connection), [(kind::SETTINGS, flag::ACK, 0, 0)]);
    fed(&mut connection, &[number(kind::WINDOW_UPDATE, 3, 600)]);
    assert_eq!(shapes(&mut connection), [(kind::DATA, 0, 3, 600)]);
}

#[test]
fn limits_the_output_buffer_of_a_long_body() {
    let mut connection = started(1);
    let wide = number(kind::WINDOW_UPDATE, 0, 1 << 30);
    fed(&mut connection, &[wide, settings(&[(4, 1 << 30)])]);
    assert!(connection.begin(0, &request("POST", Some(vec![b'x'; 10_000_000]), false)));
    let mut all = 0;
    while !connection.output().is_empty() {
        assert!(connection.output().len() < 200_000, "{}", connection.output().len());
        assert_eq!(connection.next_written(), None);
        all += taken(&mut connection).len();
    }
    assert!(all > 10_000_000);
    assert_eq!(connection.next_written(), Some(0));
}

#[test]
fn allows_as_many_streams_as_both_sides_permit() {
    let mut connection = Connection::new(&Options { streams: 1000, ..Options::default() });
    assert_eq!(connection.room(), 100, "before the peer said a word");
    fed(&mut connection, &[settings(&[])]);
    assert_eq!(connection.room(), 1000);
    fed(&mut connection, &[settings(&[(3, 2)])]);
    assert!(connection.begin(0, &request("GET", None, false)));
    assert_eq!((connection.room(), connection.in_flight()), (1, 1));
    fed(&mut connection, &[settings(&[(3, 0)])]);
    assert_eq!(connection.room(), 0);
    fed(&mut connection, &[settings(&[(3, 5)]), answer(1)]);
    assert_eq!((connection.room(), connection.is_draining()), (5, false));
    fed(&mut connection, &[goaway(1, 11)]);
    assert_eq!((connection.room(), connection.goaway()), (0, Some(11)));
    assert!(!connection.begin(0, &request("GET", None, false)));
}

#[test]
fn drains_a_connection_when_stream_ids_run_out() {
    let mut connection = started(10);
    connection.next_id = 0x7fff_ffff;
    assert!(connection.begin(0, &request("GET", None, false)));
    assert!(connection.is_draining() && connection.room() == 0);
    assert_eq!(fed(&mut connection, &[answer(0x7fff_ffff)]), "begun 0\ncomplete 0 204 0\n");
}

#[test]
fn late_frames_of_a_cancelled_exchange_only_update_the_table() {
    let mut connection = connection();
    fed(&mut connection, &[settings(&[]), ok(7), data(7, "abc")[..10].to_vec()]);
    connection.output().clear();
    connection.cancel(3);
    connection.cancel(3);
    assert_eq!(taken(&mut connection), number(kind::RST_STREAM, 7, 8));
    let rest = b"bc".to_vec();
    let trailers = frame(kind::HEADERS, 5, 7, b"\x40\x01a\x01b");
    let after = frame(kind::HEADERS, 5, 1, b"\x88\xbe");
    assert_eq!(
        fed(&mut connection, &[rest, data(7, "x"), trailers, after]),
        "begun 0\nfield 0 a: b\ncomplete 0 200 0\n"
    );
    assert_eq!(connection.in_flight(), 2);
}

#[test]
fn stops_sending_a_body_once_the_response_is_complete() {
    let mut connection = connection();
    fed(&mut connection, &[settings(&[]), head(5, &[(":status", "413")]), end(5, "")]);
    fed(&mut connection, &[number(kind::WINDOW_UPDATE, 0, 1 << 20)]);
    let ack = (kind::SETTINGS, flag::ACK, 0, 0);
    assert_eq!(shapes(&mut connection), [ack, (kind::RST_STREAM, 0, 5, 4)]);
}

#[test]
fn sends_window_updates_once_half_a_window_is_used() {
    let mut connection = Connection::new(&Options { streams: 2, window: 65_535 });
    connection.output().clear();
    assert!(connection.begin(0, &request("GET", None, false)));
    assert!(connection.begin(1, &request("GET", None, false)));
    fed(&mut connection, &[settings(&[]), ok(1), ok(3)]);
    connection.output().clear();
    let piece = "x".repeat(16_384);
    fed(&mut connection, &[data(1, &piece), data(3, &piece)]);
    assert_eq!(taken(&mut connection), number(kind::WINDOW_UPDATE, 0, 32_768));
    fed(&mut connection, &[data(1, &piece)]);
    assert_eq!(taken(&mut connection), number(kind::WINDOW_UPDATE, 1, 32_768));
    for _ in 0..100 {
        fed(&mut connection, &[data(1, &piece)]);
    }
    let updates = shapes(&mut connection);
    assert_eq!(updates.len(), 100, "each second piece, of both");
}

#[test]
fn rejects_data_beyond_the_flow_control_window() {
    let mut connection = Connection::new(&Options { streams: 2, window: 65_535 });
    assert!(connection.begin(0, &request("GET", None, false)));
    fed(&mut connection, &[settings(&[]), ok(1)]);
    connection.streams.find(1).unwrap().credit = super::super::credit::Credit::new(10);
    let violation = connection.feed(&data(1, "hello world"), &mut Log::default()).unwrap_err();
    assert_eq!(
        (violation.to_string().as_str(), violation.code()),
        ("more content than the window had room for", 3)
    );
}

#[test]
fn answers_a_ping_with_its_payload() {
    let mut connection = connection();
    fed(&mut connection, &[settings(&[]), frame(kind::PING, 0, 0, *b"abcdefgh")]);
    let ack = frame(kind::SETTINGS, flag::ACK, 0, []);
    let pong = frame(kind::PING, flag::ACK, 0, *b"abcdefgh");
    assert_eq!(taken(&mut connection), [ack, pong].concat());
}

#[test]
fn does_not_treat_answered_pings_as_a_flood() {
    let mut connection = connection();
    fed(&mut connection, &[settings(&[])]);
    for _ in 0..50_000 {
        fed(&mut connection, &[frame(kind::PING, 0, 0, [0; 8])]);
        let length = connection.output().len();
        connection.output().drain(..length.saturating_sub(20));
    }
}

#[test]
fn sends_goaway_once_with_its_code() {
    let mut connection = connection();
    connection.goodbye(11);
    connection.goodbye(1);
    assert_eq!(taken(&mut connection), goaway(0, 11));
    assert!(connection.is_draining());
    let mut tokens: Vec<_> = connection.tokens().collect();
    tokens.sort_unstable();
    assert_eq!(tokens, [0, 1, 2, 3]);
}
