//! The state of reading frames.

use super::frame::{Frame, HEAD};
use crate::semantics::known::EncodedHead;

/// The state of the frame being read.
#[derive(Debug, Default)]
pub(super) struct Receiving {
    pub(super) place: FramePart,
    /// The bytes of a frame's head read so far.
    pub(super) head: [u8; HEAD],
    pub(super) head_length: usize,
    /// The bytes read so far of a payload that is processed as a whole.
    pub(super) held: Vec<u8>,
    /// A field block that another frame continues.
    pub(super) block: Option<Block>,
    pub(super) known: EncodedHead,
    /// The number of answers since the one that begins at `answered_at`, which has not been sent
    /// yet.
    pub(super) answers: u32,
    pub(super) answered_at: u64,
    /// The number of frames since the last one that carried something.
    pub(super) empty: u32,
}

/// How the next bytes are to be read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum FramePart {
    #[default]
    Head,
    /// The payload of a frame that is processed as a whole.
    Whole(Frame),
    Data(Data),
    /// This number of bytes to ignore.
    Skip(u32),
}

/// The remainder of a DATA frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    pub(super) id: u32,
    /// Whether the length of the padding comes next.
    pub(super) padded: bool,
    pub(super) content: u32,
    pub(super) padding: u32,
    pub(super) ends: bool,
}

/// A field block that another frame continues.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) id: u32,
    pub(super) ends: bool,
    pub(super) pieces: u32,
    pub(super) bytes: Vec<u8>,
}

/// Returns the state for `length` bytes to ignore.
pub(super) fn skip(length: u32) -> FramePart {
    if length == 0 { FramePart::Head } else { FramePart::Skip(length) }
}

/// Removes up to `length` bytes from the front of `rest` and returns them.
pub(super) fn take<'a>(rest: &mut &'a [u8], length: u32) -> &'a [u8] {
    let (taken, after) = rest.split_at(rest.len().min(length as usize));
    *rest = after;
    taken
}
