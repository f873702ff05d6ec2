//! The next item in a capture file of either format.

use super::Link;

/// A packet in a capture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The link type, or `None` if it is not supported.
    pub link: Option<Link>,
    /// The capture time, in nanoseconds since 1970.
    pub at_ns: u64,
    /// The length of the packet on the wire, in bytes.
    pub length: u32,
    /// The captured bytes, a prefix of the packet.
    pub bytes: &'a [u8],
}

/// The next item in a capture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadStep<'a> {
    /// A packet, and the number of bytes that its record or block occupies.
    Packet(Packet<'a>, usize),
    /// The number of bytes to skip because they contain no packet; may exceed the bytes available.
    Nothing(usize),
    /// The number of bytes required to continue. A file that ends before them is truncated.
    More(usize),
    /// The end of the data; the file may end here.
    End,
    /// The file is invalid, and nothing after this point can be read. The message follows the
    /// position in the error.
    Broken(&'static str),
}
