//! Tests of the response on a request stream.

use super::super::code;
use super::super::frame::{kind, write_head};
use super::super::{Heads, Http3Request, Http3Violation, StreamReader};
use super::{Log, cuts, read, request};
use crate::hpack::HpackError;
use crate::qpack;

fn frame(kind: u64, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let mut frame = Vec::new();
    write_head(&mut frame, kind, payload.as_ref().len() as u64);
    frame.extend_from_slice(payload.as_ref());
    frame
}

fn head(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut section = Vec::new();
    qpack::write_prefix(&mut section);
    fields.iter().for_each(|(name, value)| qpack::write_field(&mut section, name, value));
    frame(kind::HEADERS, section)
}

fn ok() -> Vec<u8> {
    head(&[(":status", "200")])
}

fn data(content: &str) -> Vec<u8> {
    frame(kind::DATA, content)
}

fn assert_reads(
    name: &str,
    request: &Http3Request,
    frames: &[Vec<u8>],
    told: &str,
    result: Result<(), Http3Violation>,
) {
    let bytes = frames.concat();
    let mut heads = Heads::default();
    for cuts in cuts(bytes.len()) {
        let read = read(request, &bytes, &cuts, &mut heads);
        assert_eq!((read.0.as_str(), read.1), (told, result), "{name}, cut at {cuts:?}");
    }
}

const LOST: &str = "begun\nlost Malformed(270)\n";

#[test]
fn a_legal_response_is_read_whatever_the_packet_boundaries() {
    let get = request("GET", None, true);
    let reads = |name, frames: &[Vec<u8>], told| assert_reads(name, &get, frames, told, Ok(()));
    reads("empty", &[ok()], "begun\ncomplete 200 0\n");
    reads("empty content", &[ok(), data("")], "begun\ncomplete 200 0\n");
    reads(
        "content",
        &[ok(), data("hel"), data(""), data("lo")],
        "begun\ncontent hello\ncomplete 200 5\n",
    );
    reads(
        "fields",
        &[head(&[(":status", "404"), ("a", "b"), ("content-length", "2")]), data("hi")],
        "begun\nfield a: b\nfield content-length: 2\ncontent hi\ncomplete 404 2\n",
    );
    reads(
        "interim",
        &[head(&[(":status", "100")]), head(&[(":status", "103"), ("a", "b")]), ok(), data("x")],
        "begun\ninterim\nbegun\ninterim\nbegun\ncontent x\ncomplete 200 1\n",
    );
    reads(
        "trailers",
        &[ok(), data("x"), head(&[("a", "b")])],
        "begun\ncontent x\ncomplete 200 1\n",
    );
    reads(
        "unknown frames everywhere",
        &[
            frame(0x21, "x"),
            ok(),
            frame(0x1f * 1_000_003 + 0x21, ""),
            data("x"),
            frame(0x40, "yz"),
            head(&[]),
            frame(0x21, "end"),
        ],
        "begun\ncontent x\ncomplete 200 1\n",
    );
}

#[test]
fn counts_an_unobserved_response_and_recognizes_a_repeated_head() {
    let get = request("GET", None, false);
    let frames = [head(&[(":status", "200"), ("content-length", "2")]), data("hi")];
    assert_reads("counted", &get, &frames, "begun\ncomplete 200 2\n", Ok(()));
    let mut heads = Heads::default();
    for status in ["200", "404", "404", "200"] {
        let expected = format!("begun\ncomplete {status} 0\n");
        let bytes = head(&[(":status", status)]);
        assert_eq!(read(&get, &bytes, &[], &mut heads), (expected, Ok(())));
        let trailers = [ok(), bytes].concat();
        assert_eq!(read(&get, &trailers, &[], &mut heads).0, LOST, "a head is no trailer");
    }
}

#[test]
fn responses_without_content_may_declare_a_content_length() {
    let promise = |status| head(&[(":status", status), ("content-length", "5")]);
    let (get, head) = (request("GET", None, false), request("HEAD", None, false));
    assert_reads("HEAD", &head, &[promise("200")], "begun\ncomplete 200 0\n", Ok(()));
    assert_reads("304", &get, &[promise("304")], "begun\ncomplete 304 0\n", Ok(()));
    assert_reads("204", &get, &[promise("204")], "begun\ncomplete 204 0\n", Ok(()));
    assert_reads("content of HEAD", &head, &[ok(), data("x")], LOST, Ok(()));
}

#[test]
fn a_malformed_response_fails_only_its_own_exchange() {
    let get = request("GET", None, false);
    let lost = |name, frames: &[Vec<u8>]| assert_reads(name, &get, frames, LOST, Ok(()));
    lost("no status", &[head(&[("a", "b")]), data("x")]);
    lost("no fields", &[head(&[])]);
    lost("a wrong status", &[head(&[(":status", "20")])]);
    lost("101", &[head(&[(":status", "101")])]);
    lost("capitals", &[head(&[(":status", "200"), ("A", "b")])]);
    lost("connection", &[head(&[(":status", "200"), ("connection", "close")])]);
    lost("a wrong length", &[head(&[(":status", "200"), ("content-length", "x")])]);
    lost("too much", &[head(&[(":status", "200"), ("content-length", "1")]), data("ab")]);
    lost("too little", &[head(&[(":status", "200"), ("content-length", "3")]), data("ab")]);
    let interim = || head(&[(":status", "100")]);
    let only = "begun\ninterim\nlost Malformed(270)\n";
    assert_reads("only an interim response", &get, &[interim()], only, Ok(()));
    let many = "begun\ninterim\n".repeat(64) + LOST;
    assert_reads("very many of them", &get, &[interim().repeat(65)], &many, Ok(()));
    lost("a status in the trailers", &[ok(), ok()]);
    assert_reads("nothing", &get, &[], "lost Malformed(270)\n", Ok(()));
    assert_reads("nothing known", &get, &[frame(33, "x")], "lost Malformed(270)\n", Ok(()));
}

/// A name, the frames, and the violation with its code.
type Case = (&'static str, Vec<Vec<u8>>, (Http3Violation, u64));

#[test]
fn illegal_frames_on_a_request_stream_break_the_connection() {
    let get = request("GET", None, false);
    let mut long = Vec::new();
    write_head(&mut long, kind::HEADERS, 262_145);
    let section = |bytes: &[u8]| frame(kind::HEADERS, bytes);
    let unexpected = (Http3Violation::UnexpectedFrame, code::FRAME_UNEXPECTED);
    let compression =
        |error| (Http3Violation::Compression(error), code::QPACK_DECOMPRESSION_FAILED);
    let trailers = head(&[("a", "b")]);
    let cases: Vec<Case> = vec![
        ("content first", vec![data("x")], unexpected),
        ("content behind 100", vec![head(&[(":status", "100")]), data("")], unexpected),
        ("content behind trailers", vec![ok(), trailers.clone(), data("")], unexpected),
        ("two trailers", vec![ok(), trailers.clone(), trailers], unexpected),
        ("SETTINGS", vec![frame(kind::SETTINGS, "")], unexpected),
        ("GOAWAY", vec![ok(), frame(kind::GOAWAY, "\0")], unexpected),
        ("CANCEL_PUSH", vec![frame(kind::CANCEL_PUSH, "\0")], unexpected),
        ("MAX_PUSH_ID", vec![frame(kind::MAX_PUSH_ID, "\0")], unexpected),
        ("PING of HTTP/2", vec![frame(6, "12345678")], unexpected),
        ("a push", vec![frame(kind::PUSH_PROMISE, "\0\0\0")], (Http3Violation::Push, code::ID)),
        ("long fields", vec![long], (Http3Violation::FieldsTooLong, code::EXCESSIVE_LOAD)),
        ("no prefix", vec![section(b"")], compression(HpackError::Truncated)),
        ("a table", vec![section(b"\x02\0\x80")], compression(HpackError::Index)),
        ("half a field", vec![section(b"\0\0\x51\x05a")], compression(HpackError::Truncated)),
        (
            "a flood",
            vec![ok(), data("").repeat(100_001)],
            (Http3Violation::Flood, code::EXCESSIVE_LOAD),
        ),
    ];
    for (name, frames, (violation, code)) in cases {
        let bytes = frames.concat();
        let mut heads = Heads::default();
        let (told, result) = read(&get, &bytes, &[], &mut heads);
        assert_eq!((result, violation.code()), (Err(violation), code), "{name}");
        if bytes.len() < 2000 {
            assert_reads(name, &get, &frames, &told, Err(violation));
        }
    }
}

#[test]
fn a_stream_that_ends_within_a_frame_breaks_the_connection() {
    let get = request("GET", None, false);
    let mut heads = Heads::default();
    let whole = [ok(), data("hello"), frame(0x40, "ab")];
    let ends: Vec<usize> = (0..=3).map(|count| whole[..count].iter().map(Vec::len).sum()).collect();
    let bytes = whole.concat();
    for end in 1..=bytes.len() {
        let (_, result) = read(&get, &bytes[..end], &[], &mut heads);
        let expected = if ends.contains(&end) { Ok(()) } else { Err(Http3Violation::FrameLength) };
        assert_eq!(result, expected, "{end}");
    }
}

#[test]
fn reports_the_loss_of_an_exchange_once() {
    let get = request("GET", None, false);
    let mut log = Log::default();
    let mut reader = StreamReader::new(0, &get);
    reader.feed(&ok(), &mut Heads::default(), &mut log).unwrap();
    reader.reset(code::REQUEST_REJECTED, &mut log);
    reader.disown(&mut log);
    assert_eq!(reader.finish(&mut log), Ok(()));
    assert_eq!(log.text, "begun\nlost Reset(267)\n");
    let mut reader = StreamReader::new(0, &get);
    reader.disown(&mut log);
    assert!(log.text.ends_with("lost Unprocessed\n"));
}

#[test]
fn encodes_a_request_as_fields_followed_by_the_body() {
    let get = request("GET", None, false);
    assert_eq!(get.body(), None);
    let bytes = get.head();
    assert_eq!((u64::from(bytes[0]), usize::from(bytes[1])), (kind::HEADERS, bytes.len() - 2));
    let mut fields = Vec::new();
    let mut scratch = qpack::Scratch::default();
    qpack::decode_section(&bytes[2..], 65_536, &mut scratch, |name, value| {
        fields.push(String::from_utf8([name, b": ", value].concat()).unwrap());
    })
    .unwrap();
    let agent = concat!("user-agent: sixmark/", env!("CARGO_PKG_VERSION"));
    let start = [":method: GET", ":scheme: https", ":authority: [::1]", ":path: /a"];
    assert_eq!(fields, [&start[..], &[agent, "accept: */*"]].concat());
    let post = request("POST", Some(vec![b'x'; 100]), false);
    assert!(post.head().ends_with(b"\x00\x40\x64"), "DATA, 100 bytes");
    assert_eq!(post.body().map(|body| body.len()), Some(100));
    assert_eq!(request("POST", Some(vec![]), false).body(), None);
}
