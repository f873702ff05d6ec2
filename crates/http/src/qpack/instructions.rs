//! The two streams on which the ends tell each other about dynamic tables (RFC 9204, 4.2), where
//! nobody has one.

/// What the peer's compressor says. Its table may have no room, so that it can say nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EncoderStream;

impl EncoderStream {
    /// Reads instructions. Returns false if one of them needs a table (RFC 9204, 3.2.3 and 4.3).
    pub(crate) fn feed(self, bytes: &[u8]) -> bool {
        const CAPACITY_0: u8 = 0x20;
        bytes.iter().all(|&byte| byte == CAPACITY_0)
    }
}

/// What the peer's decompressor says of sections that needed no table: at most that it gave one up.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DecoderStream {
    /// Bytes of the current instruction's integer.
    begun: u8,
}

/// As many as a stream's number of 62 bits takes.
const MOST: u8 = 10;

impl DecoderStream {
    /// Reads instructions. Returns false if one of them needs a table (RFC 9204, 4.4).
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> bool {
        bytes.iter().all(|&byte| self.step(byte))
    }

    fn step(&mut self, byte: u8) -> bool {
        const CANCELLATION: u8 = 0x40;
        match (self.begun, byte) {
            (0, 0x7f) => self.begun = 1,
            (0, _) => return byte & 0xc0 == CANCELLATION,
            (MOST.., _) => return false,
            (_, 0x80..) => self.begun += 1,
            _ => self.begun = 0,
        }
        true
    }
}
