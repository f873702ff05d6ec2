//! A request, encoded once before a run and begun many times.

use std::sync::Arc;

use super::frame::{Frame, HEAD, MAX_PAYLOAD, flag, kind};
use crate::hpack;
use crate::semantics::request::Parts;

/// One byte less than the largest frame, so that a table size update can be inserted.
const PIECE: usize = MAX_PAYLOAD as usize - 1;

/// A request that can be sent on any stream of any connection.
#[derive(Clone, Debug)]
pub struct Http2Request {
    /// A HEADERS frame and the CONTINUATION frames that it needs, without a stream identifier.
    pub(super) frames: Vec<u8>,
    /// The start of each frame in `frames`.
    pub(super) heads: Vec<usize>,
    pub(super) body: Option<Arc<Vec<u8>>>,
    pub(super) is_head: bool,
    pub(super) observed: bool,
}

impl Http2Request {
    /// Encodes a request with or without a body. If it is `observed`, the fields and the content of
    /// its response are reported, otherwise only its result.
    ///
    /// # Errors
    /// Which header cannot be sent, and why.
    pub fn new(
        parts: &Parts<'_>,
        body: Option<Arc<Vec<u8>>>,
        observed: bool,
    ) -> Result<Http2Request, String> {
        let mut block = Vec::new();
        for (name, value) in parts.fields(body.as_ref().map(|body| body.len() as u64))? {
            hpack::write_field(&mut block, &name, &value);
        }
        let body = body.filter(|body| !body.is_empty());
        let (frames, heads) = framed(&block, body.is_none());
        Ok(Http2Request { frames, heads, body, is_head: parts.is_head(), observed })
    }
}

fn framed(block: &[u8], ends: bool) -> (Vec<u8>, Vec<usize>) {
    let (mut frames, mut heads) = (Vec::new(), Vec::new());
    let last = block.len().div_ceil(PIECE).saturating_sub(1);
    for (number, piece) in block.chunks(PIECE).enumerate() {
        let kind = if number == 0 { kind::HEADERS } else { kind::CONTINUATION };
        let mut flags = if number == last { flag::END_HEADERS } else { 0 };
        flags |= if number == 0 && ends { flag::END_STREAM } else { 0 };
        heads.push(frames.len());
        frames.extend(Frame { length: piece.len() as u32, kind, flags, id: 0 }.bytes());
        frames.extend_from_slice(piece);
    }
    (frames, heads)
}

impl Http2Request {
    /// Returns the frames with `prefix` inserted before the fields.
    pub(super) fn prefixed(&self, prefix: u8) -> (Vec<u8>, Vec<usize>) {
        let mut frames = self.frames.clone();
        frames.insert(HEAD, prefix);
        if let Some(head) = frames.first_chunk_mut::<HEAD>() {
            let first = Frame::read(head);
            *head = Frame { length: first.length + 1, ..first }.bytes();
        }
        let heads = self.heads.iter().map(|&at| if at == 0 { 0 } else { at + 1 }).collect();
        (frames, heads)
    }
}
