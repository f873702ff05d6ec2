//! What ends a connection, and with which code. Each case is followed by more bytes than needed, so
//! that nothing waits for more.

use super::super::Http2Violation;
use super::wire::{answer, data, end, flag, frame, goaway, kind, number, ok, settings};
use crate::hpack::HpackError;

pub(super) struct Illegal {
    pub(super) name: &'static str,
    pub(super) bytes: Vec<u8>,
    pub(super) violation: Http2Violation,
    pub(super) code: u32,
}

pub(super) fn cases() -> Vec<Illegal> {
    [greetings(), lengths(), streams(), blocks(), pieces(), windows(), floods()]
        .into_iter()
        .flatten()
        .collect()
}

fn raw(
    name: &'static str,
    bytes: impl AsRef<[u8]>,
    violation: Http2Violation,
    code: u32,
) -> Illegal {
    Illegal { name, bytes: bytes.as_ref().to_vec(), violation, code }
}

fn after(name: &'static str, frames: &[Vec<u8>], violation: Http2Violation, code: u32) -> Illegal {
    raw(name, [&[settings(&[])], frames].concat().concat(), violation, code)
}

fn greetings() -> Vec<Illegal> {
    let not = |name, bytes: &[u8]| raw(name, bytes, Http2Violation::NotHttp2, 1);
    vec![
        not("HTTP/1.1", b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        not("SSH", b"SSH-2.0-OpenSSH_9.9\r\n"),
        not("TLS alert", b"\x15\x03\x01\x00\x02\x02\x46"),
        not("PING first", &frame(kind::PING, 0, 0, [0; 8])),
        not("an acknowledgement first", &frame(kind::SETTINGS, flag::ACK, 0, [])),
        not("a response first", &answer(1)),
        not("settings of a stream first", &frame(kind::SETTINGS, 0, 1, [])),
    ]
}

fn lengths() -> Vec<Illegal> {
    let bad = |name, kind, flags, id, payload: &[u8]| {
        after(name, &[frame(kind, flags, id, payload)], Http2Violation::FrameLength, 6)
    };
    let long = vec![0; 16_385];
    vec![
        after("a long frame", &[frame(kind::DATA, 0, 1, &long)], Http2Violation::FrameTooLong, 6),
        after("a long unknown frame", &[frame(99, 0, 1, &long)], Http2Violation::FrameTooLong, 6),
        bad("short PING", kind::PING, 0, 0, &[0; 7]),
        bad("long PING", kind::PING, 0, 0, &[0; 9]),
        bad("half a setting", kind::SETTINGS, 0, 0, &[0; 3]),
        bad("an acknowledgement with settings", kind::SETTINGS, flag::ACK, 0, &[0; 6]),
        bad("short RST_STREAM", kind::RST_STREAM, 0, 1, &[0; 3]),
        bad("short WINDOW_UPDATE", kind::WINDOW_UPDATE, 0, 0, &[0; 3]),
        bad("long WINDOW_UPDATE", kind::WINDOW_UPDATE, 0, 1, &[0; 5]),
        bad("short GOAWAY", kind::GOAWAY, 0, 0, &[0; 7]),
        bad("short PRIORITY", kind::PRIORITY, 0, 1, &[0; 4]),
        bad("DATA without its padding's length", kind::DATA, flag::PADDED, 1, &[]),
        bad("HEADERS without its padding's length", kind::HEADERS, flag::PADDED, 1, &[]),
        bad("HEADERS without its priority", kind::HEADERS, flag::PRIORITY, 1, &[0; 4]),
    ]
}

fn streams() -> Vec<Illegal> {
    let wrong = |name, kind, id, payload: &[u8]| {
        after(name, &[frame(kind, 0, id, payload)], Http2Violation::WrongStream, 1)
    };
    let idle = |name, frame| after(name, &[frame], Http2Violation::IdleStream, 1);
    let closed = |name, frame| after(name, &[answer(7), frame], Http2Violation::ClosedStream, 5);
    vec![
        wrong("DATA of no stream", kind::DATA, 0, &[]),
        wrong("HEADERS of no stream", kind::HEADERS, 0, b"\x88"),
        wrong("RST_STREAM of no stream", kind::RST_STREAM, 0, &[0; 4]),
        wrong("PRIORITY of no stream", kind::PRIORITY, 0, &[0; 5]),
        wrong("SETTINGS of a stream", kind::SETTINGS, 1, &[]),
        wrong("PING of a stream", kind::PING, 1, &[0; 8]),
        wrong("GOAWAY of a stream", kind::GOAWAY, 1, &[0; 8]),
        wrong("DATA of a server's stream", kind::DATA, 2, b"x"),
        wrong("HEADERS of a server's stream", kind::HEADERS, 2, b"\x88"),
        idle("DATA", data(9, "x")),
        idle("HEADERS", answer(9)),
        idle("RST_STREAM", number(kind::RST_STREAM, 9, 0)),
        idle("WINDOW_UPDATE", number(kind::WINDOW_UPDATE, 9, 1)),
        closed("DATA behind the end", data(7, "x")),
        closed("a second response", answer(7)),
        after(
            "DATA behind a reset",
            &[number(kind::RST_STREAM, 7, 0), end(7, "x")],
            Http2Violation::ClosedStream,
            5,
        ),
        after(
            "a push",
            &[frame(kind::PUSH_PROMISE, flag::END_HEADERS, 1, b"\0\0\0\x02\x82")],
            Http2Violation::Push,
            1,
        ),
    ]
}

fn blocks() -> Vec<Illegal> {
    let block = |name, block: &[u8], error| {
        after(
            name,
            &[frame(kind::HEADERS, flag::END_HEADERS, 1, block)],
            Http2Violation::Compression(error),
            9,
        )
    };
    vec![
        block("an index beyond the table", b"\xbe", HpackError::Index),
        block("index 0", b"\x80", HpackError::Index),
        block("half a field", b"\x40\x01", HpackError::Truncated),
        block("a table too large", b"\x3f\xe2\x1f", HpackError::TableSize),
        block("bad Huffman code", b"\x40\x81\xff\x00", HpackError::Huffman),
        block("an endless integer", b"\xff\xff\xff\xff\xff\xff\xff\xff", HpackError::Integer),
    ]
}

fn pieces() -> Vec<Illegal> {
    let open = frame(kind::HEADERS, 0, 1, b"\x88");
    let interrupted = |name, by| after(name, &[open.clone(), by], Http2Violation::Continuation, 1);
    let go_on = |id, payload: &[u8]| frame(kind::CONTINUATION, 0, id, payload);
    let padding = |name, kind, flags, payload: &[u8]| {
        after(
            name,
            &[ok(1), frame(kind, flags | flag::PADDED, 1, payload)],
            Http2Violation::Padding,
            1,
        )
    };
    vec![
        after("CONTINUATION of nothing", &[go_on(1, b"\x88")], Http2Violation::Continuation, 1),
        interrupted("by another stream's", go_on(7, b"\x88")),
        interrupted("by HEADERS", answer(1)),
        interrupted("by DATA", data(1, "x")),
        interrupted("by PING", frame(kind::PING, 0, 0, [0; 8])),
        interrupted("by an unknown frame", frame(99, 0, 1, [])),
        padding("more padding than content", kind::DATA, 0, b"\x03hi"),
        padding("more padding than fields", kind::HEADERS, flag::END_HEADERS, b"\x02\x88"),
        padding(
            "with a priority",
            kind::HEADERS,
            flag::END_HEADERS | flag::PRIORITY,
            b"\x02\0\0\0\0\0\x88",
        ),
        after(
            "endless fields",
            &[open.clone(), go_on(1, &[0; 16_384]).repeat(16)],
            Http2Violation::FieldsTooLong,
            11,
        ),
        after(
            "endless frames of fields",
            &[open.clone(), go_on(1, &[]).repeat(64)],
            Http2Violation::Flood,
            11,
        ),
        after(
            "fields that unpack to very many",
            &[frame(kind::HEADERS, flag::END_HEADERS, 1, [0x88; 8000])],
            Http2Violation::FieldsTooLong,
            11,
        ),
    ]
}

fn windows() -> Vec<Illegal> {
    let setting = |name, setting, value, violation, code| {
        after(name, &[settings(&[(setting, value)])], violation, code)
    };
    let wide = number(kind::WINDOW_UPDATE, 5, 0x7fff_0000);
    vec![
        setting("pushes enabled", 2, 1, Http2Violation::Setting, 1),
        setting("small frames", 5, 16_383, Http2Violation::Setting, 1),
        setting("huge frames", 5, 1 << 24, Http2Violation::Setting, 1),
        setting("a huge window", 4, 1 << 31, Http2Violation::WindowOverflow, 3),
        after(
            "opened by nothing",
            &[number(kind::WINDOW_UPDATE, 0, 0)],
            Http2Violation::EmptyIncrement,
            1,
        ),
        after(
            "opened too far",
            &[number(kind::WINDOW_UPDATE, 0, 1 << 30).repeat(2)],
            Http2Violation::WindowOverflow,
            3,
        ),
        after(
            "opened too far by a setting",
            &[wide, settings(&[(4, 200_000)])],
            Http2Violation::WindowOverflow,
            3,
        ),
        after("code behind GOAWAY", &[goaway(7, 1), data(9, "x")], Http2Violation::IdleStream, 1),
    ]
}

fn floods() -> Vec<Illegal> {
    let flood = |name, frame: Vec<u8>, times| {
        after(name, &[ok(1), frame.repeat(times)], Http2Violation::Flood, 11)
    };
    vec![
        flood("PING", frame(kind::PING, 0, 0, [0; 8]), 10_001),
        flood("SETTINGS", settings(&[]), 10_001),
        flood("empty DATA", data(1, ""), 100_001),
        flood("unknown frames", frame(99, 0, 0, []), 100_001),
    ]
}
