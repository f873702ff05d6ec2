//! Room for contents that checks look at whole, over all responses of a worker.

/// The most content, in bytes, that is kept for checks over the whole process: 256 MiB, in parts of the
/// same size for each worker. No part is smaller than what one response may need.
pub const MOST_KEPT: usize = 256 << 20;

/// A buffer that lies ready for the next response is no larger, in bytes.
const READY: usize = 1 << 20;

/// One worker's part of that, and a buffer that lies ready. A worker needs nobody's leave to use it.
#[derive(Clone, Debug)]
pub struct KeptContent {
    left: usize,
    ready: Vec<u8>,
}

impl KeptContent {
    /// The part of one of so many workers.
    pub fn of_worker(workers: u32) -> KeptContent {
        let part = MOST_KEPT / workers.max(1) as usize;
        KeptContent { left: part.max(super::MOST_CONTENT), ready: Vec::new() }
    }

    /// Appends to a content, whose room is charged as it grows; false where there is none left, and
    /// nothing of the content is kept then.
    pub(super) fn append(&mut self, content: &mut Vec<u8>, bytes: &[u8]) -> bool {
        let needed = content.len() + bytes.len();
        if needed > content.capacity() && !self.make_room(content, needed) {
            self.take_back(content);
            return false;
        }
        content.extend_from_slice(bytes);
        true
    }

    /// Room for `needed` bytes: twice of what there was, or as much as there is left.
    fn make_room(&mut self, content: &mut Vec<u8>, needed: usize) -> bool {
        if content.capacity() == 0 && self.ready.capacity() >= needed && self.left >= READY {
            std::mem::swap(content, &mut self.ready);
            self.left -= content.capacity();
            return true;
        }
        let had = content.capacity();
        let wanted = needed.max(2 * had).min(had + self.left);
        if wanted < needed {
            return false;
        }
        content.reserve_exact(wanted - content.len());
        self.left = self.left.saturating_sub(content.capacity() - had);
        true
    }

    /// A response is done with: its room is for others.
    pub(super) fn take_back(&mut self, content: &mut Vec<u8>) {
        let mut content = std::mem::take(content);
        self.left += content.capacity();
        if (self.ready.capacity()..=READY).contains(&content.capacity()) {
            content.clear();
            self.ready = content;
        }
    }

    #[cfg(test)]
    pub(super) fn left(&self) -> usize {
        self.left
    }
}
