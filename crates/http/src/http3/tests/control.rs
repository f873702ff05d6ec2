//! Tests of the unidirectional streams.

use super::super::{Control, Http3Violation, code};
use super::cuts;

const CONTROL: u64 = 3;

/// Feeds the streams, each in pieces that end at the `cuts` chosen for the first.
fn feed(streams: &[(u64, &[u8])], cuts: &[usize]) -> (Result<bool, Http3Violation>, Control) {
    let mut control = Control::new();
    let mut result = Ok(true);
    for (number, (id, bytes)) in streams.iter().enumerate() {
        let mut at = 0;
        let cuts = if number == 0 { cuts } else { &[] };
        for &end in cuts.iter().chain([&bytes.len()]) {
            result = result.and_then(|_| control.feed(*id, &bytes[at..end]));
            at = end;
        }
    }
    (result, control)
}

#[test]
fn sends_settings_without_a_dynamic_table() {
    assert_eq!(Control::opening(), b"\x00\x04\x09\x01\x00\x06\x80\x04\x00\x00\x07\x00");
}

#[test]
fn legal_streams_are_read_whatever_the_packet_boundaries() {
    for (name, id, bytes, goaway) in [
        ("settings", CONTROL, &b"\0\x04\0"[..], None),
        ("a setting", CONTROL, b"\0\x04\x03\x01\x50\0", None),
        ("unknown settings", CONTROL, b"\0\x04\x05\x21\x01\x40\x40\x02", None),
        ("the stream's number in two bytes", CONTROL, b"\x40\0\x04\0", None),
        ("unknown frames", CONTROL, b"\0\x04\0\x21\x03abc\x40\x21\0\x07\x01\x08", Some(8)),
        ("GOAWAY", CONTROL, b"\0\x04\0\x07\x01\0", Some(0)),
        ("GOAWAY twice", CONTROL, b"\0\x04\0\x07\x04\x80\0\x01\0\x07\x01\x04", Some(4)),
        ("compressor", 7, b"\x02\x20", None),
        ("decompressor", 11, b"\x03\x44\x7f\x80\x01", None),
    ] {
        for cuts in cuts(bytes.len()) {
            let (result, control) = feed(&[(id, bytes)], &cuts);
            assert_eq!(result, Ok(true), "{name}, cut at {cuts:?}");
            assert_eq!((control.is_greeted(), control.goaway()), (id == CONTROL, goaway), "{name}");
        }
    }
}

#[test]
fn a_stream_of_an_unknown_type_may_be_stopped_and_may_end() {
    let (result, mut control) = feed(&[(15, b"\x21whatever")], &[]);
    assert_eq!(result, Ok(false));
    assert_eq!(control.finish(15), Ok(()));
    assert_eq!(control.feed(19, b"\x40"), Ok(true), "half a type");
    assert_eq!(control.finish(19), Ok(()));
    assert_eq!(control.finish(23), Ok(()));
}

#[test]
fn keeps_no_state_for_streams_of_unknown_types() {
    let mut control = Control::new();
    for id in (15..40_000).step_by(4) {
        assert_eq!(control.feed(id, b"\x40"), Ok(true), "half a type");
        assert_eq!(control.kept(), 1);
        assert_eq!(control.feed(id, b"\x21whatever"), Ok(false));
        assert_eq!(control.kept(), 0);
    }
}

#[test]
fn illegal_streams_are_refused_whatever_the_packet_boundaries() {
    let not = Http3Violation::UnexpectedFrame;
    for (name, bytes, violation) in [
        ("no settings", &b"\0\x07\x01\0"[..], Http3Violation::NoSettings),
        ("an unknown frame first", b"\0\x21\0", Http3Violation::NoSettings),
        ("settings twice", b"\0\x04\0\x04\0", not),
        ("DATA", b"\0\x04\0\0\0", not),
        ("HEADERS", b"\0\x04\0\x01\0", not),
        ("MAX_PUSH_ID", b"\0\x04\0\x0d\x01\0", not),
        ("PUSH_PROMISE", b"\0\x04\0\x05\x01\0", not),
        ("PING of HTTP/2", b"\0\x04\0\x06\0", not),
        ("CANCEL_PUSH", b"\0\x04\0\x03\x01\0", Http3Violation::Push),
        ("half a setting", b"\0\x04\x01\x01", Http3Violation::FrameLength),
        ("half a number", b"\0\x04\x02\x01\x40", Http3Violation::FrameLength),
        ("a setting of HTTP/2", b"\0\x04\x02\x03\x01", Http3Violation::Setting),
        ("a setting twice", b"\0\x04\x06\x01\0\x06\0\x01\0", Http3Violation::Setting),
        ("very long settings", b"\0\x04\x60\0", Http3Violation::Flood),
        ("empty GOAWAY", b"\0\x04\0\x07\0", Http3Violation::FrameLength),
        ("long GOAWAY", b"\0\x04\0\x07\x02\0\0", Http3Violation::FrameLength),
        ("GOAWAY of a server's stream", b"\0\x04\0\x07\x01\x01", Http3Violation::Goaway),
        ("a rising GOAWAY", b"\0\x04\0\x07\x01\x04\x07\x01\x08", Http3Violation::Goaway),
        ("a push", b"\x01\0", Http3Violation::Push),
        ("a compressor with a table", b"\x02\x3f\x01", Http3Violation::EncoderStream),
        ("an acknowledgement", b"\x03\x80", Http3Violation::DecoderStream),
    ] {
        for cuts in cuts(bytes.len()) {
            assert_eq!(feed(&[(CONTROL, bytes)], &cuts).0, Err(violation), "{name}, {cuts:?}");
        }
    }
}

#[test]
fn rejects_second_or_closed_critical_streams() {
    for bytes in [&b"\0\x04\0"[..], b"\x02", b"\x03"] {
        let (result, mut control) = feed(&[(3, bytes), (7, bytes)], &[]);
        assert_eq!(result, Err(Http3Violation::SecondStream));
        assert_eq!(control.finish(3), Err(Http3Violation::CriticalStream));
    }
    assert_eq!(Control::new().feed(1, b"x"), Err(Http3Violation::ServerRequest));
}

#[test]
fn reports_each_violation_with_its_code_and_description() {
    for (violation, code, text) in [
        (Http3Violation::NoSettings, code::MISSING_SETTINGS, "control stream without settings"),
        (
            Http3Violation::CriticalStream,
            code::CLOSED_CRITICAL_STREAM,
            "end of a stream that the connection cannot do without",
        ),
        (
            Http3Violation::SecondStream,
            code::STREAM_CREATION,
            "second stream of a type that must be unique",
        ),
        (
            Http3Violation::EncoderStream,
            code::QPACK_ENCODER_STREAM,
            "instruction to fill a dynamic table that does not exist",
        ),
    ] {
        assert_eq!((violation.code(), violation.to_string().as_str()), (code, text));
    }
}
