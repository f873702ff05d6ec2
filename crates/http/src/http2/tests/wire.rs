//! Builds bytes as a server sends them.

pub(super) use super::super::frame::{flag, kind};

use super::super::frame::Frame;
use crate::hpack;

pub(super) fn frame(kind: u8, flags: u8, id: u32, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    let head = Frame { length: payload.len() as u32, kind, flags, id };
    [&head.bytes()[..], payload].concat()
}

pub(super) fn settings(settings: &[(u16, u32)]) -> Vec<u8> {
    let payload: Vec<u8> = settings
        .iter()
        .flat_map(|(name, value)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat())
        .collect();
    frame(kind::SETTINGS, 0, 0, payload)
}

pub(super) fn fields(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    fields.iter().for_each(|(name, value)| hpack::write_field(&mut block, name, value));
    block
}

/// A complete HEADERS frame without the end of the stream.
pub(super) fn head(id: u32, list: &[(&str, &str)]) -> Vec<u8> {
    frame(kind::HEADERS, flag::END_HEADERS, id, fields(list))
}

/// A complete HEADERS frame with the end of the stream.
pub(super) fn last(id: u32, list: &[(&str, &str)]) -> Vec<u8> {
    frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, id, fields(list))
}

pub(super) fn ok(id: u32) -> Vec<u8> {
    head(id, &[(":status", "200")])
}

pub(super) fn data(id: u32, content: &str) -> Vec<u8> {
    frame(kind::DATA, 0, id, content)
}

pub(super) fn end(id: u32, content: &str) -> Vec<u8> {
    frame(kind::DATA, flag::END_STREAM, id, content)
}

/// A complete response without content.
pub(super) fn answer(id: u32) -> Vec<u8> {
    last(id, &[(":status", "204")])
}

pub(super) fn number(kind: u8, id: u32, number: u32) -> Vec<u8> {
    frame(kind, 0, id, number.to_be_bytes())
}

pub(super) fn goaway(last: u32, code: u32) -> Vec<u8> {
    frame(kind::GOAWAY, 0, 0, [last.to_be_bytes(), code.to_be_bytes()].concat())
}

/// Splits `bytes` into frames and the remaining bytes.
pub(super) fn frames(bytes: &[u8]) -> (Vec<(Frame, &[u8])>, &[u8]) {
    let (mut frames, mut rest) = (Vec::new(), bytes);
    while let Some((head, after)) = rest.split_first_chunk() {
        let frame = Frame::read(head);
        let Some((payload, after)) = after.split_at_checked(frame.length as usize) else { break };
        frames.push((frame, payload));
        rest = after;
    }
    (frames, rest)
}
