//! The output buffer, and the positions in it where requests end.

use std::collections::VecDeque;

use super::frame::{Frame, HEAD, kind};

/// The bytes to send. The caller removes them from the front.
#[derive(Debug, Default)]
pub(super) struct FrameOutput {
    pub(super) bytes: Vec<u8>,
    put: u64,
    /// The positions where the requests end, with their streams.
    ends: VecDeque<(u64, u32)>,
}

impl FrameOutput {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.put += bytes.len() as u64;
    }

    /// Appends a whole frame. Frames of this side are never long.
    pub(super) fn frame(&mut self, kind: u8, flags: u8, id: u32, payload: &[u8]) {
        let length = payload.len() as u32;
        self.push(&Frame { length, kind, flags, id }.bytes());
        self.push(payload);
    }

    pub(super) fn number(&mut self, kind: u8, id: u32, number: u32) {
        self.frame(kind, 0, id, &number.to_be_bytes());
    }

    pub(super) fn reset(&mut self, id: u32, code: u32) {
        self.number(kind::RST_STREAM, id, code);
    }

    /// Appends the frames of a request's fields and writes the stream identifier into their heads.
    pub(super) fn fields(&mut self, frames: &[u8], heads: &[usize], id: u32) {
        let start = self.bytes.len();
        self.push(frames);
        for at in heads {
            let place = start + at + HEAD - 4;
            if let Some(number) = self.bytes.get_mut(place..place + 4) {
                number.copy_from_slice(&id.to_be_bytes());
            }
        }
    }

    /// Records that the request of stream `id` ends here.
    pub(super) fn end(&mut self, id: u32) {
        self.ends.push_back((self.put, id));
    }

    /// Returns the number of bytes ever appended.
    pub(super) fn put_to(&self) -> u64 {
        self.put
    }

    /// Returns the number of bytes ever removed by the caller.
    pub(super) fn taken_to(&self) -> u64 {
        self.put - self.bytes.len() as u64
    }

    /// Returns the stream of the next request that the caller has removed completely.
    pub(super) fn taken(&mut self) -> Option<u32> {
        let taken = self.taken_to();
        self.ends.pop_front_if(|&mut (end, _)| end <= taken).map(|(_, id)| id)
    }

    pub(super) fn marks(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn retain_marks(&mut self, keep: impl Fn(u32) -> bool) {
        self.ends.retain(|&(_, id)| keep(id));
    }
}
