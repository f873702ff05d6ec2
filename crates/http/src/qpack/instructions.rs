//! The two streams for instructions about dynamic tables (RFC 9204, 4.2), if neither side has a
//! table.

/// The peer's encoder stream. Because the table has a capacity of 0, the only valid instruction
/// sets that capacity.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EncoderStream;

impl EncoderStream {
    /// Reads instructions. Returns false if one of them needs a table (RFC 9204, 3.2.3 and 4.3).
    pub(crate) fn feed(self, bytes: &[u8]) -> bool {
        const CAPACITY_0: u8 = 0x20;
        bytes.iter().all(|&byte| byte == CAPACITY_0)
    }
}

/// The peer's decoder stream. Because no section needs a table, the only valid instruction cancels
/// a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DecoderStream {
    /// The number of bytes read of the current instruction's integer.
    begun: u8,
}

/// The most bytes that a stream identifier of 62 bits occupies.
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
