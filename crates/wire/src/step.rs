//! What comes next in a file of packets, of whichever kind.

use super::Link;

/// A packet of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// What it begins with; none: of a kind that can't be read.
    pub link: Option<Link>,
    /// When it was seen, in nanoseconds since 1970.
    pub at_ns: u64,
    /// How long it was on the wire.
    pub length: u32,
    /// Its first bytes.
    pub bytes: &'a [u8],
}

/// What comes next in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadStep<'a> {
    /// A packet, and how many bytes it takes with all that is around it.
    Packet(Packet<'a>, usize),
    /// So many bytes that hold none; they may be more than are there by now.
    Nothing(usize),
    /// So many bytes have to be there to go on; a file without them was cut.
    More(usize),
    /// The file may end here.
    End,
    /// No file of packets has this; nothing behind it can be read. In words that follow where.
    Broken(&'static str),
}
