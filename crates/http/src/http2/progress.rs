//! How far the reading of frames has come.

use super::frame::{Frame, HEAD};
use crate::semantics::known::EncodedHead;

/// What is known of the frame that is being read.
#[derive(Debug, Default)]
pub(super) struct Receiving {
    pub(super) place: FramePart,
    /// A frame's head, as far as it came.
    pub(super) head: [u8; HEAD],
    pub(super) head_length: usize,
    /// The payload of a frame that is needed as a whole, as far as it came.
    pub(super) held: Vec<u8>,
    /// Fields that another frame goes on with.
    pub(super) block: Option<Block>,
    pub(super) known: EncodedHead,
    /// Answers since the one that begins at `answered_at`, which is not sent yet.
    pub(super) answers: u32,
    pub(super) answered_at: u64,
    /// Frames since the last that carried something.
    pub(super) empty: u32,
}

/// How the bytes that come next are to be read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum FramePart {
    #[default]
    Head,
    /// A frame that is needed as a whole.
    Whole(Frame),
    Data(Data),
    /// So many bytes that mean nothing.
    Skip(u32),
}

/// What is left of a DATA frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    pub(super) id: u32,
    /// The length of the padding comes first.
    pub(super) padded: bool,
    pub(super) content: u32,
    pub(super) padding: u32,
    pub(super) ends: bool,
}

/// Fields that another frame goes on with.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) id: u32,
    pub(super) ends: bool,
    pub(super) pieces: u32,
    pub(super) bytes: Vec<u8>,
}

/// The place in front of `length` bytes that mean nothing.
pub(super) fn skip(length: u32) -> FramePart {
    if length == 0 { FramePart::Head } else { FramePart::Skip(length) }
}

/// Takes up to `length` bytes from the front of `rest`.
pub(super) fn take<'a>(rest: &mut &'a [u8], length: u32) -> &'a [u8] {
    let (taken, after) = rest.split_at(rest.len().min(length as usize));
    *rest = after;
    taken
}
