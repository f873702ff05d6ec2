//! The nine bytes at the start of every frame (RFC 9113, 4.1), and the numbers of types, flags and
//! errors.

/// The length of a frame's head.
pub(super) const HEAD: usize = 9;
/// The longest payload unless another is agreed, in bytes (RFC 9113, 6.5.2).
pub(super) const MAX_PAYLOAD: u32 = 16_384;
/// The highest stream identifier of a client, and the largest window.
pub(super) const MAX_31: u32 = (1 << 31) - 1;

/// Frame types (RFC 9113, 6).
pub(super) mod kind {
    pub(in super::super) const DATA: u8 = 0;
    pub(in super::super) const HEADERS: u8 = 1;
    pub(in super::super) const PRIORITY: u8 = 2;
    pub(in super::super) const RST_STREAM: u8 = 3;
    pub(in super::super) const SETTINGS: u8 = 4;
    pub(in super::super) const PUSH_PROMISE: u8 = 5;
    pub(in super::super) const PING: u8 = 6;
    pub(in super::super) const GOAWAY: u8 = 7;
    pub(in super::super) const WINDOW_UPDATE: u8 = 8;
    pub(in super::super) const CONTINUATION: u8 = 9;
}

/// Flags of frames (RFC 9113, 6).
pub(super) mod flag {
    pub(in super::super) const ACK: u8 = 0x1;
    pub(in super::super) const END_STREAM: u8 = 0x1;
    pub(in super::super) const END_HEADERS: u8 = 0x4;
    pub(in super::super) const PADDED: u8 = 0x8;
    pub(in super::super) const PRIORITY: u8 = 0x20;
}

/// Error codes (RFC 9113, 7).
pub(super) mod code {
    pub(in super::super) const PROTOCOL: u32 = 1;
    pub(in super::super) const FLOW_CONTROL: u32 = 3;
    pub(in super::super) const STREAM_CLOSED: u32 = 5;
    pub(in super::super) const FRAME_SIZE: u32 = 6;
    pub(in super::super) const REFUSED_STREAM: u32 = 7;
    pub(in super::super) const CANCEL: u32 = 8;
    pub(in super::super) const COMPRESSION: u32 = 9;
    pub(in super::super) const ENHANCE_YOUR_CALM: u32 = 11;
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) length: u32,
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) id: u32,
}

impl Frame {
    pub(super) fn read(head: &[u8; HEAD]) -> Frame {
        let &[a, b, c, kind, flags, id @ ..] = head;
        let length = u32::from_be_bytes([0, a, b, c]);
        // RFC 9113, 4.1: the reserved bit is ignored.
        Frame { length, kind, flags, id: u32::from_be_bytes(id) & MAX_31 }
    }

    pub(super) fn bytes(self) -> [u8; HEAD] {
        let [_, a, b, c] = self.length.to_be_bytes();
        let [d, e, f, g] = self.id.to_be_bytes();
        [a, b, c, self.kind, self.flags, d, e, f, g]
    }

    pub(super) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Returns the number at the start of a payload, without the reserved bit.
pub(super) fn number_31(payload: &[u8]) -> Option<u32> {
    payload.first_chunk().map(|&bytes| u32::from_be_bytes(bytes) & MAX_31)
}
