//! Bytes that the kernel may read after the call that handed them over has returned.

use std::collections::HashMap;

use crate::driver::Message;

/// Messages longer than this may not fit a socket's buffer at once: the kernel tells of their end.
const SHORT: usize = 8 * 1024;
/// Short messages kept for good. A plan has few, sent again and again.
const KEPT: usize = 4_096;

/// Holds what is lent to the kernel, so that it can't go away.
#[derive(Default)]
pub(super) struct Lent {
    /// Short messages by their address, as long as the ring lives: the kernel does not say when it
    /// is done with one.
    kept: HashMap<usize, Message>,
    /// Others by the mark of their submissions, until those are told of.
    until_told: HashMap<u64, Part>,
}

/// A message of which so many bytes are sent.
pub(super) struct Part {
    pub(super) message: Message,
    pub(super) sent: usize,
}

impl Lent {
    /// True where `message` is kept for good. Asking twice costs a look-up, no reference count: that
    /// would be written to by all workers at once.
    pub(super) fn keep(&mut self, message: &Message) -> bool {
        let address = message.head().as_ptr() as usize;
        if message.length() > SHORT {
            return false;
        }
        let known = self.kept.contains_key(&address);
        if !known && self.kept.len() < KEPT {
            self.kept.insert(address, message.clone());
            return true;
        }
        known
    }

    /// Holds `message` until the submissions with this mark are told of.
    pub(super) fn hold(&mut self, mark: u64, message: &Message) {
        self.until_told.insert(mark, Part { message: message.clone(), sent: 0 });
    }

    /// The message that is held for this mark.
    pub(super) fn held(&mut self, mark: u64) -> Option<&mut Part> {
        self.until_told.get_mut(&mark)
    }

    /// The submissions with this mark are over.
    pub(super) fn release(&mut self, mark: u64) {
        self.until_told.remove(&mark);
    }
}
