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
    message: Message,
    sent: usize,
    /// What the kernel is told of the rest; it reads this when the submission is made.
    letter: Box<Letter>,
}

/// The rest of a message in the form of sendmsg(2).
struct Letter {
    pieces: [libc::iovec; 2],
    header: libc::msghdr,
}

// SAFETY: the pointers in a letter are into itself and into a message that nobody writes to.
unsafe impl Send for Part {}

impl Part {
    fn new(message: Message) -> Part {
        let nothing = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        // SAFETY: msghdr is a struct of integers and pointers, for which all zeros is a valid value.
        let header = unsafe { std::mem::zeroed() };
        Part { message, sent: 0, letter: Box::new(Letter { pieces: [nothing; 2], header }) }
    }

    /// Notes that `count` bytes more are sent: true where that is all.
    pub(super) fn advance(&mut self, count: usize) -> bool {
        self.sent += count;
        self.sent >= self.message.length()
    }

    /// What is left to be sent, for as long as this part is held.
    pub(super) fn letter(&mut self) -> *const libc::msghdr {
        let rest = self.message.rest(self.sent);
        self.letter.pieces = rest.map(|piece| libc::iovec {
            iov_base: piece.as_ptr().cast_mut().cast(),
            iov_len: piece.len(),
        });
        self.letter.header.msg_iov = self.letter.pieces.as_mut_ptr();
        self.letter.header.msg_iovlen = self.letter.pieces.len();
        &raw const self.letter.header
    }
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
    pub(super) fn hold(&mut self, mark: u64, message: &Message) -> &mut Part {
        self.until_told.entry(mark).insert_entry(Part::new(message.clone())).into_mut()
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
