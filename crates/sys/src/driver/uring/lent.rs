//! Bytes that the kernel may read after the call that handed them over has returned.

use std::collections::HashMap;
use std::sync::Arc;

/// Requests longer than this may not fit a socket's buffer at once: the kernel tells of their end.
const SHORT: usize = 8 * 1024;
/// Short requests kept for good. A plan has few, sent again and again.
const KEPT: usize = 4_096;

/// Holds what is lent to the kernel, so that it can't go away.
#[derive(Default)]
pub(super) struct Lent {
    /// Short requests by their address, as long as the ring lives: the kernel does not say when it
    /// is done with one.
    kept: HashMap<usize, Arc<[u8]>>,
    /// Others by the mark of their submission, until its completion.
    until_told: HashMap<u64, Arc<[u8]>>,
}

impl Lent {
    /// True where `bytes` are kept for good. Asking twice costs a look-up, no reference count: that
    /// would be written to by all workers at once.
    pub(super) fn keep(&mut self, bytes: &Arc<[u8]>) -> bool {
        let address = bytes.as_ptr() as usize;
        if bytes.len() > SHORT {
            return false;
        }
        let known = self.kept.contains_key(&address);
        if !known && self.kept.len() < KEPT {
            self.kept.insert(address, Arc::clone(bytes));
            return true;
        }
        known
    }

    /// Holds `bytes` until the submission with this mark is told of.
    pub(super) fn hold(&mut self, mark: u64, bytes: &Arc<[u8]>) {
        self.until_told.insert(mark, Arc::clone(bytes));
    }

    /// The submission with this mark is over: the length of what it had.
    pub(super) fn release(&mut self, mark: u64) -> Option<usize> {
        self.until_told.remove(&mark).map(|bytes| bytes.len())
    }
}
