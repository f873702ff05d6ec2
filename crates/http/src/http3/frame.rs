//! Types of frames and streams, and the two integers at the start of each frame (RFC 9114, 7.1).

use super::varint::{self, Varint};

/// Frame types (RFC 9114, 7.2).
pub(super) mod kind {
    pub(in super::super) const DATA: u64 = 0;
    pub(in super::super) const HEADERS: u64 = 1;
    pub(in super::super) const CANCEL_PUSH: u64 = 3;
    pub(in super::super) const SETTINGS: u64 = 4;
    pub(in super::super) const PUSH_PROMISE: u64 = 5;
    pub(in super::super) const GOAWAY: u64 = 7;
    pub(in super::super) const MAX_PUSH_ID: u64 = 0xd;
}

/// Types of unidirectional streams (RFC 9114, 6.2; RFC 9204, 4.2).
pub(super) mod stream {
    pub(in super::super) const CONTROL: u64 = 0;
    pub(in super::super) const PUSH: u64 = 1;
    pub(in super::super) const QPACK_ENCODER: u64 = 2;
    pub(in super::super) const QPACK_DECODER: u64 = 3;
}

/// Returns whether a type is one of HTTP/2 that HTTP/3 reserves and forbids (RFC 9114, 7.2.8).
pub(super) fn is_of_http2(kind: u64) -> bool {
    matches!(kind, 2 | 6 | 8 | 9)
}

/// The type and length of a frame, as far as they have been received.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrameHead {
    kind: Option<u64>,
    number: Varint,
}

impl FrameHead {
    /// Removes bytes from the front of `rest`. Returns the type and the length once they are
    /// complete.
    pub(super) fn read(&mut self, rest: &mut &[u8]) -> Option<(u64, u64)> {
        if self.kind.is_none() {
            self.kind = self.number.read(rest);
        }
        let kind = self.kind?;
        let length = self.number.read(rest)?;
        self.kind = None;
        Some((kind, length))
    }

    pub(super) fn is_begun(self) -> bool {
        self.kind.is_some() || self.number.is_begun()
    }
}

/// Appends the type and the length of a frame.
pub(super) fn write_head(out: &mut Vec<u8>, kind: u64, length: u64) {
    varint::write_varint(out, kind);
    varint::write_varint(out, length);
}

/// Removes up to `length` bytes from the front of `rest` and returns them.
pub(super) fn take<'a>(rest: &mut &'a [u8], length: u64) -> &'a [u8] {
    let length = usize::try_from(length).unwrap_or(usize::MAX).min(rest.len());
    let (taken, after) = rest.split_at(length);
    *rest = after;
    taken
}
