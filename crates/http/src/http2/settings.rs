//! The settings of both sides (RFC 9113, 6.5).

use super::Http2Violation;
use super::frame::{MAX_31, MAX_PAYLOAD};
use crate::semantics::MAX_HEAD;

const ENABLE_PUSH: u16 = 2;
const HEADER_TABLE_SIZE: u16 = 1;
const MAX_CONCURRENT_STREAMS: u16 = 3;
const INITIAL_WINDOW_SIZE: u16 = 4;
const MAX_FRAME_SIZE: u16 = 5;
const MAX_HEADER_LIST_SIZE: u16 = 6;

/// The initial window of a stream and of the connection (RFC 9113, 6.9.2).
pub(super) const FIRST_WINDOW: u32 = 65_535;
/// The default size of the field table, in bytes. This side announces no other size.
pub(super) const TABLE_SIZE: u32 = 4_096;
/// The largest field section, in bytes: that of an HTTP/1.1 head.
pub(super) const LIST_SIZE: u32 = MAX_HEAD as u32;
/// The number of streams assumed before the peer's SETTINGS arrive: RFC 9113, 6.5.2 recommends that
/// a peer allow no fewer.
const FIRST_STREAMS: u32 = 100;

/// Returns the payload of this side's SETTINGS.
pub(super) fn own(window: u32) -> Vec<u8> {
    [(ENABLE_PUSH, 0), (INITIAL_WINDOW_SIZE, window), (MAX_HEADER_LIST_SIZE, LIST_SIZE)]
        .iter()
        .flat_map(|(name, value)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat())
        .collect()
}

/// The settings of the peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) known: bool,
    pub(super) streams: u32,
    pub(super) window: u32,
    pub(super) frame: u32,
    pub(super) table: u32,
}

impl Settings {
    pub(super) fn new() -> Settings {
        let (streams, window, frame) = (FIRST_STREAMS, FIRST_WINDOW, MAX_PAYLOAD);
        Settings { known: false, streams, window, frame, table: TABLE_SIZE }
    }

    /// Applies the payload of a SETTINGS frame, in its order.
    pub(super) fn read(&mut self, payload: &[u8]) -> Result<(), Http2Violation> {
        if !self.known {
            (self.known, self.streams) = (true, u32::MAX);
        }
        let (settings, rest) = payload.as_chunks::<6>();
        if !rest.is_empty() {
            return Err(Http2Violation::FrameLength);
        }
        settings.iter().try_for_each(|&[a, b, value @ ..]| {
            self.set(u16::from_be_bytes([a, b]), u32::from_be_bytes(value))
        })
    }

    fn set(&mut self, name: u16, value: u32) -> Result<(), Http2Violation> {
        match (name, value) {
            // The smallest value counts, because the table must have been that small in between.
            (HEADER_TABLE_SIZE, _) => self.table = self.table.min(value),
            (MAX_CONCURRENT_STREAMS, _) => self.streams = value,
            (INITIAL_WINDOW_SIZE, 0..=MAX_31) => self.window = value,
            (INITIAL_WINDOW_SIZE, _) => return Err(Http2Violation::WindowOverflow),
            (MAX_FRAME_SIZE, MAX_PAYLOAD..0x100_0000) => self.frame = value,
            // RFC 9113, 6.5.2: a server must not enable push either.
            (MAX_FRAME_SIZE, _) | (ENABLE_PUSH, 1..) => return Err(Http2Violation::Setting),
            _ => {}
        }
        Ok(())
    }
}
