//! Tests the reader with tables of legal and illegal responses, split in every way a network might.

mod corpus;
mod illegal;
mod legal;

use std::cell::RefCell;

use super::{Complete, Early, Fed, Http1Violation, KnownHead, RequestKind, ResponseReader};

/// How a response ended, and the number of bytes it took.
type Outcome = Result<(usize, Result<Complete, Early>), Http1Violation>;

/// Feeds `bytes` in pieces that end at `cuts`, then closes the connection if the response is not
/// complete. With `discard`, bodies are dropped unread where permitted.
fn read(bytes: &[u8], kind: RequestKind, cuts: &[usize], discard: bool) -> Outcome {
    let mut reader = ResponseReader::new();
    reader.begin(kind);
    read_on(&mut reader, bytes, cuts, discard)
}

fn read_on(reader: &mut ResponseReader, bytes: &[u8], cuts: &[usize], discard: bool) -> Outcome {
    let mut at = 0;
    for &end in cuts.iter().chain([&bytes.len()]) {
        while at < end {
            let Fed { consumed, complete } = read_piece(reader, &bytes[at..end], discard)?;
            at += consumed;
            if let Some(complete) = complete {
                return Ok((at, Ok(complete)));
            }
        }
    }
    Ok((at, reader.finish()))
}

fn read_piece(
    reader: &mut ResponseReader,
    piece: &[u8],
    discard: bool,
) -> Result<Fed, Http1Violation> {
    let droppable = reader.discardable().min(piece.len() as u64);
    if discard && droppable > 0 {
        let complete = reader.discarded(droppable);
        return Ok(Fed { consumed: droppable as usize, complete });
    }
    let fed = if discard { read_knowing(reader, piece)? } else { reader.feed(piece)? };
    assert!(fed.consumed == piece.len() || fed.complete.is_some(), "bytes left behind");
    Ok(fed)
}

/// Reads with a cache of the head read before, which must make no difference.
fn read_knowing(reader: &mut ResponseReader, piece: &[u8]) -> Result<Fed, Http1Violation> {
    thread_local! {
        static KNOWN: RefCell<KnownHead> = RefCell::default();
    }
    KNOWN.with_borrow_mut(|known| reader.feed_knowing(piece, known))
}

/// Asserts that `bytes` are read as `expected`, however they are split.
fn assert_reads(name: &str, bytes: &[u8], kind: RequestKind, expected: Outcome) {
    for discard in [false, true] {
        let reads = |cuts: &[usize]| {
            let outcome = read(bytes, kind, cuts, discard);
            assert_eq!(outcome, expected, "{name}, cut at {cuts:?}, discard {discard}");
        };
        reads(&[]);
        if bytes.len() > LONG {
            random_cuts(bytes.len()).iter().for_each(|cuts| reads(cuts));
            continue;
        }
        reads(&(1..bytes.len()).collect::<Vec<_>>());
        (1..bytes.len()).for_each(|cut| reads(&[cut]));
        if bytes.len() <= SHORT {
            every_pair(bytes.len()).for_each(|(first, second)| reads(&[first, second]));
        } else {
            random_cuts(bytes.len()).iter().for_each(|cuts| reads(cuts));
        }
    }
}

/// Up to this length every split into three is tested.
const SHORT: usize = 120;
/// From this length on only random splits are tested.
const LONG: usize = 2000;

fn every_pair(length: usize) -> impl Iterator<Item = (usize, usize)> {
    (1..length).flat_map(move |first| (first + 1..length).map(move |second| (first, second)))
}

/// Returns sorted cuts from a fixed seed, few and many.
fn random_cuts(length: usize) -> Vec<Vec<usize>> {
    let mut seed = 0x9e37_79b9_7f4a_7c15;
    (1..40)
        .map(|count| {
            let mut cuts: Vec<_> =
                (0..count).map(|_| xorshift(&mut seed) as usize % length).collect();
            cuts.sort_unstable();
            cuts
        })
        .collect()
}

fn xorshift(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

#[test]
fn a_legal_response_is_read_whatever_the_packet_boundaries() {
    for case in legal::cases() {
        let expected = Ok((case.bytes.len(), case.expected()));
        assert_reads(case.name, &case.bytes, case.kind, expected);
    }
}

#[test]
fn an_illegal_response_is_refused_whatever_the_packet_boundaries() {
    for case in illegal::cases() {
        assert_reads(case.name, &case.bytes, RequestKind::Ordinary, Err(case.violation));
    }
}

/// Each line comes in a separate piece: parsing all previous lines for each would take minutes.
#[test]
fn reports_very_many_fields_in_order_at_any_packet_boundaries() {
    let fields: String = (0..30_000).map(|number| format!("{number}:\r\n")).collect();
    let bytes = corpus::ok(&format!("{fields}Content-Length: 0\r\n"), "");
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    for pieces in [vec![&bytes[..]], lines] {
        let (mut reader, mut seen) = (ResponseReader::new(), Seen::default());
        let mut known = KnownHead::default();
        let mut complete = None;
        for piece in pieces {
            complete = reader.feed_seeing(piece, &mut known, &mut seen).unwrap().complete;
        }
        assert_eq!(complete, Some(Complete { status: 200, body: 0, keep_alive: true }));
        assert_eq!(seen.0.len(), 30_001);
        let in_order = |(at, (name, _)): (usize, &(String, String))| *name == at.to_string();
        assert!(seen.0.iter().take(30_000).enumerate().all(in_order));
    }
}

/// RFC 9112, 9.3 and C.2.2: a server that answers an HTTP/1.0 request in HTTP/1.1 still closes the
/// connection unless it says otherwise.
#[test]
fn keeps_an_http_1_0_connection_only_if_the_peer_sends_keep_alive() {
    for (version, fields, kept) in [
        ("1.1", "", false),
        ("1.1", "Connection: foo\r\n", false),
        ("1.1", "Connection: Keep-Alive\r\n", true),
        ("1.1", "Connection: keep-alive, close\r\n", false),
        ("1.0", "", false),
        ("1.0", "Connection: keep-alive\r\n", true),
    ] {
        let head = format!("HTTP/{version} 200 OK\r\nContent-Length: 0\r\n{fields}\r\n");
        let mut reader = ResponseReader::of_http10();
        for _ in 0..2 {
            reader.begin(RequestKind::Ordinary);
            let complete = reader.feed(head.as_bytes()).unwrap().complete.unwrap();
            assert_eq!(complete.keep_alive, kept, "{head:?}");
        }
    }
}

#[test]
fn only_head_and_trailer_length_are_limits_of_the_client() {
    for case in illegal::cases() {
        let long =
            matches!(case.violation, Http1Violation::HeadTooLong | Http1Violation::TrailersTooLong);
        assert_eq!(case.violation.is_own_limit(), long, "{}", case.name);
    }
}

#[test]
fn has_at_least_40_legal_and_40_illegal_cases() {
    assert!(legal::cases().len() >= 40, "{}", legal::cases().len());
    assert!(illegal::cases().len() >= 40, "{}", illegal::cases().len());
}

#[test]
fn reports_a_truncated_response_wherever_it_is_cut() {
    for case in legal::cases().into_iter().filter(|case| case.bytes.len() <= LONG) {
        for end in 0..case.bytes.len() {
            let (taken, result) = read(&case.bytes[..end], case.kind, &[], false).unwrap();
            assert_eq!(taken, end, "{}", case.name);
            let begun = case.bytes[..end].iter().any(|byte| !b"\r\n".contains(byte));
            if !case.until_close || result.is_err() {
                assert_eq!(result, Err(Early { begun }), "{} cut at {end}", case.name);
            }
        }
    }
}

#[test]
fn does_not_consume_bytes_after_a_response() {
    for case in legal::cases().into_iter().filter(|case| !case.until_close) {
        for next in [&b"HTTP/1.1 200 OK\r\n\r\n"[..], b"\r\n", b"\0", b"0\r\n\r\n"] {
            let bytes = [&case.bytes, next].concat();
            let expected = Ok((case.bytes.len(), case.expected()));
            assert_eq!(read(&bytes, case.kind, &[], false), expected, "{}", case.name);
            let cuts: Vec<_> = (1..bytes.len()).collect();
            assert_eq!(read(&bytes, case.kind, &cuts, false), expected, "{}", case.name);
        }
    }
}

#[test]
fn one_reader_reads_all_the_responses_of_a_connection() {
    let mut reader = ResponseReader::new();
    for size in [1, 2, 3, 7, 64, 1000, usize::MAX] {
        for case in legal::cases() {
            reader.begin(case.kind);
            let cuts: Vec<_> = (0..case.bytes.len()).step_by(size).skip(1).collect();
            let outcome = read_on(&mut reader, &case.bytes, &cuts, false);
            assert_eq!(outcome, Ok((case.bytes.len(), case.expected())), "{}", case.name);
        }
    }
}

#[test]
fn pipelined_responses_are_read_one_at_a_time_from_one_buffer() {
    let first = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let bytes = [&first[..], b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"].concat();
    let mut reader = ResponseReader::new();
    let fed = reader.feed(&bytes).unwrap();
    assert_eq!((fed.consumed, fed.complete.unwrap().status), (first.len(), 200));
    assert_eq!(reader.feed(&bytes[first.len()..]), Ok(Fed { consumed: 0, complete: None }));
    reader.begin(RequestKind::Ordinary);
    let fed = reader.feed(&bytes[first.len()..]).unwrap();
    assert_eq!((fed.consumed, fed.complete.unwrap().status), (bytes.len() - first.len(), 404));
}

#[test]
fn a_broken_reader_stays_broken_until_the_next_response() {
    let mut reader = ResponseReader::new();
    assert_eq!(reader.feed(b"SSH-2.0-"), Err(Http1Violation::NotHttp));
    assert_eq!(reader.feed(b"HTTP/1.1 200 OK\r\n\r\n"), Err(Http1Violation::NotHttp));
    assert_eq!(reader.finish(), Err(Early { begun: true }));
    reader.begin(RequestKind::Ordinary);
    assert!(reader.feed(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap().complete.is_some());
}

#[test]
fn rejects_another_protocol_at_its_first_wrong_byte() {
    for (greeting, violation) in [
        ("S", Http1Violation::NotHttp),
        ("h", Http1Violation::NotHttp),
        ("\0", Http1Violation::NotHttp),
        ("HTTQ", Http1Violation::NotHttp),
        ("\r\nS", Http1Violation::NotHttp),
        ("\rH", Http1Violation::NotHttp),
        ("HTTP/2", Http1Violation::Version),
        ("HTTP/1,", Http1Violation::Version),
        ("HTTP/1.x", Http1Violation::Version),
        ("HTTP/1.1\r", Http1Violation::StatusLine),
        ("HTTP/1.10", Http1Violation::StatusLine),
        ("HTTP/1.1 0", Http1Violation::Status),
        ("HTTP/1.1 2x", Http1Violation::StatusLine),
        ("HTTP/1.1 200O", Http1Violation::StatusLine),
    ] {
        let (last, before) = greeting.as_bytes().split_last().unwrap();
        let mut reader = ResponseReader::new();
        assert!(reader.feed(before).is_ok(), "{greeting:?}");
        assert_eq!(reader.feed(&[*last]), Err(violation), "{greeting:?}");
    }
}

#[test]
fn a_response_begins_with_its_first_byte_but_not_with_an_empty_line() {
    let mut reader = ResponseReader::new();
    for (piece, begun) in [("", false), ("\r", false), ("\n", false), ("H", true), ("TTP", true)] {
        reader.feed(piece.as_bytes()).unwrap();
        assert_eq!(reader.has_begun(), begun, "{piece:?}");
    }
    reader.begin(RequestKind::Ordinary);
    assert!(!reader.has_begun());
    reader.feed(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
    assert!(reader.has_begun());
}

#[test]
fn interim_responses_are_counted_and_the_final_one_begins_after_them() {
    let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\n\r\nHTTP/1.1 204 No\r\n\r\n";
    let ends: Vec<_> = text.match_indices("\r\n\r\n").map(|(at, end)| at + end.len()).collect();
    for size in [1, 3, 7, usize::MAX] {
        let mut reader = ResponseReader::new();
        let mut read = 0;
        for piece in text.as_bytes().chunks(size) {
            reader.feed(piece).unwrap();
            read += piece.len();
            let whole = ends.iter().take(2).filter(|&&end| end <= read).count();
            assert_eq!(usize::from(reader.interim()), whole, "{read} bytes");
            let after = &text[whole.checked_sub(1).map_or(0, |last| ends[last])..read];
            assert_eq!(reader.goes_on(), !after.trim_start().is_empty(), "{read} bytes");
        }
        reader.begin(RequestKind::Ordinary);
        assert_eq!((reader.interim(), reader.goes_on()), (0, false));
    }
}

#[test]
fn discards_only_unchunked_bodies_and_never_past_their_end() {
    let mut reader = ResponseReader::new();
    assert_eq!((reader.discardable(), reader.discarded(9)), (0, None));
    reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc").unwrap();
    assert_eq!((reader.discardable(), reader.discarded(6)), (7, None));
    let complete = Complete { status: 200, body: 10, keep_alive: true };
    assert_eq!(reader.discarded(u64::MAX), Some(complete));
    assert_eq!((reader.discardable(), reader.discarded(1)), (0, None));

    reader.begin(RequestKind::Ordinary);
    reader.feed(b"HTTP/1.1 200 OK\r\n\r\nabc").unwrap();
    assert_eq!((reader.discardable(), reader.discarded(2)), (u64::MAX, None));
    assert_eq!(reader.finish().map(|complete| complete.body), Ok(5));

    reader.begin(RequestKind::Ordinary);
    reader.feed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab").unwrap();
    assert_eq!((reader.discardable(), reader.discarded(3)), (0, None));
}

#[test]
fn counts_a_body_of_the_maximum_content_length() {
    let mut reader = ResponseReader::new();
    reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n").unwrap();
    assert_eq!(reader.discardable(), u64::MAX);
    assert_eq!(reader.discarded(u64::MAX).map(|complete| complete.body), Some(u64::MAX));
}

#[test]
fn a_closed_connection_completes_a_response_only_once() {
    let mut reader = ResponseReader::new();
    assert_eq!(reader.finish(), Err(Early { begun: false }));
    reader.feed(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
    assert!(reader.finish().is_ok());
    assert_eq!(reader.finish(), Err(Early { begun: true }));
}

#[test]
fn an_idle_connection_costs_little_memory() {
    assert!(size_of::<ResponseReader>() < 128, "{}", size_of::<ResponseReader>());
    let mut reader = ResponseReader::new();
    for byte in b"HTTP/1.1 204 No Content\r\nA: b\r\n\r\n" {
        reader.feed(&[*byte]).unwrap();
    }
    assert_eq!(reader.held_memory(), 0);
    reader.begin(RequestKind::Ordinary);
    reader.feed(b"HTTP/1.1 ").unwrap();
    reader.begin(RequestKind::Ordinary);
    assert_eq!(reader.held_memory(), 0);
}

/// Bytes that have a meaning somewhere in a response.
const TELLING: &[u8] = b"\r\n\0 ,;:\"\\019afHx\x7f\xff";

#[test]
fn corrupted_bytes_give_the_same_result_at_any_packet_boundaries() {
    let mut seed = 7;
    for case in legal::cases().iter().filter(|case| case.bytes.len() <= LONG) {
        for _ in 0..50 {
            let mut bytes = case.bytes.clone();
            let at = xorshift(&mut seed) as usize % bytes.len();
            bytes[at] = TELLING[xorshift(&mut seed) as usize % TELLING.len()];
            let whole = read(&bytes, case.kind, &[], false);
            let single: Vec<_> = (1..bytes.len()).collect();
            assert_eq!(read(&bytes, case.kind, &single, false), whole, "{bytes:?}");
            assert_eq!(read(&bytes, case.kind, &single, true), whole, "{bytes:?}");
        }
    }
}

#[test]
fn describes_every_violation_briefly() {
    for case in illegal::cases() {
        let text = case.violation.to_string();
        assert!((10..60).contains(&text.len()) && text != "malformed response", "{text}");
    }
}

/// The fields and the content observed in a response.
#[derive(Debug, Default, PartialEq)]
struct Seen(Vec<(String, String)>, Vec<u8>);

impl super::ResponseVisitor for Seen {
    fn field(&mut self, name: &[u8], value: &[u8]) {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        self.0.push((text(name), text(value)));
    }

    fn content(&mut self, bytes: &[u8]) {
        self.1.extend_from_slice(bytes);
    }
}

#[test]
fn reports_fields_and_content_at_any_packet_boundaries() {
    for (framing, body) in [
        ("Content-Length: 5", "hello"),
        ("Transfer-Encoding: chunked", "2;x\r\nhe\r\n3\r\nllo\r\n0\r\nT: u\r\n\r\n"),
        ("A: b", "hello"),
    ] {
        let text = format!(
            "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nX:  y \r\n{framing}\r\n\r\n{body}"
        );
        let mut known = super::KnownHead::default();
        for size in [usize::MAX, usize::MAX, 1, 7] {
            let (mut reader, mut seen) = (ResponseReader::new(), Seen::default());
            for piece in text.as_bytes().chunks(size) {
                reader.feed_seeing(piece, &mut known, &mut seen).unwrap();
            }
            let (name, value) = framing.split_once(": ").unwrap();
            let fields = [("X", "y"), (name, value)].map(|(n, v)| (n.to_owned(), v.to_owned()));
            assert_eq!(seen, Seen(fields.to_vec(), b"hello".to_vec()), "{framing} by {size}");
        }
    }
}
