//! Memory for contents that are checked as a whole, shared by all responses of a worker.

/// The most content, in bytes, that the whole process keeps for checks: 256 MiB, divided equally
/// among the workers. No share is smaller than what one response may need.
pub const MOST_KEPT: usize = 256 << 20;

/// The largest buffer, in bytes, that is kept for the next response.
const READY: usize = 1 << 20;

/// One worker's share of that, with a buffer for reuse. Workers use their shares without
/// synchronization.
#[derive(Clone, Debug)]
pub struct KeptContent {
    left: usize,
    ready: Vec<u8>,
}

impl KeptContent {
    /// Returns the share of one of `workers` workers.
    pub fn of_worker(workers: u32) -> KeptContent {
        let part = MOST_KEPT / workers.max(1) as usize;
        KeptContent { left: part.max(super::MOST_CONTENT), ready: Vec::new() }
    }

    /// Appends `bytes` to `content`, whose memory is charged to the share as it grows. Returns
    /// false, and keeps nothing of the content, if the share is exhausted.
    pub(super) fn append(&mut self, content: &mut Vec<u8>, bytes: &[u8]) -> bool {
        let needed = content.len() + bytes.len();
        if needed > content.capacity() && !self.make_room(content, needed) {
            self.take_back(content);
            return false;
        }
        content.extend_from_slice(bytes);
        true
    }

    /// Makes room for `needed` bytes: doubles the capacity, or takes what is left of the share.
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

    /// Takes back the memory of a response that has been checked.
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
