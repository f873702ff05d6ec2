//! Bytes that the kernel may read after the call that handed them over has returned.

use std::collections::HashMap;

use crate::driver::Message;
use crate::driver::own::OwnBytes;

/// Longer than this, bytes may not fit a socket's buffer at once: the kernel tells of their end.
pub(super) const SHORT: usize = 8 * 1024;
/// Short messages kept for good. A plan has few, sent again and again.
const KEPT: usize = 4_096;

/// Holds what is lent to the kernel, so that it can't go away.
#[derive(Default)]
pub(super) struct Lent {
    /// Short messages by their address, as long as the ring lives: the kernel does not say when it
    /// is done with one.
    kept: HashMap<usize, Message>,
    /// Others by the mark of their submissions, until those are told of.
    until_told: HashMap<u64, LentPart>,
    /// Others by the mark of submissions that the kernel is done with, or tells of, as soon as it has
    /// seen them.
    until_seen: Vec<(u64, Vec<u8>)>,
}

/// Bytes of which so many are sent.
pub(super) struct LentPart {
    bytes: OwnBytes,
    sent: usize,
    /// What the kernel is told of the rest, where that has several pieces; it reads this when the
    /// submission is made.
    letter: Option<Box<Letter>>,
}

/// The rest of a message in the form of sendmsg(2).
struct Letter {
    pieces: [libc::iovec; 2],
    header: libc::msghdr,
}

/// What is left of a part.
pub(super) enum Rest<'a> {
    /// One piece.
    Piece(&'a [u8]),
    /// Two.
    Letter(*const libc::msghdr),
}

// SAFETY: the pointers in a letter are into itself and into a message that nobody writes to.
unsafe impl Send for LentPart {}

impl LentPart {
    fn new(bytes: OwnBytes) -> LentPart {
        LentPart { bytes, sent: 0, letter: None }
    }

    /// Notes that `count` bytes more are sent: true where that is all.
    pub(super) fn advance(&mut self, count: usize) -> bool {
        self.sent += count;
        self.sent >= self.bytes.length()
    }

    /// What is left to be sent, for as long as this part is held.
    pub(super) fn rest(&mut self) -> Rest<'_> {
        match self.bytes.rest(self.sent) {
            [piece, []] => Rest::Piece(piece),
            pieces => {
                let letter = self.letter.get_or_insert_with(Letter::new);
                letter.name(pieces);
                Rest::Letter(&raw const letter.header)
            }
        }
    }
}

impl Letter {
    fn new() -> Box<Letter> {
        let nothing = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        // SAFETY: msghdr is a struct of integers and pointers, for which all zeros is a valid value.
        let header = unsafe { std::mem::zeroed() };
        Box::new(Letter { pieces: [nothing; 2], header })
    }

    fn name(&mut self, pieces: [&[u8]; 2]) {
        self.pieces = pieces.map(|piece| libc::iovec {
            iov_base: piece.as_ptr().cast_mut().cast(),
            iov_len: piece.len(),
        });
        self.header.msg_iov = self.pieces.as_mut_ptr();
        self.header.msg_iovlen = self.pieces.len();
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

    /// Holds `bytes` until the submissions with this mark are told of.
    pub(super) fn hold(&mut self, mark: u64, bytes: OwnBytes) -> &mut LentPart {
        self.until_told.entry(mark).insert_entry(LentPart::new(bytes)).into_mut()
    }

    /// What is held for this mark.
    pub(super) fn held(&mut self, mark: u64) -> Option<&mut LentPart> {
        self.until_told.get_mut(&mark)
    }

    /// The submissions with this mark are over: what was held for them.
    pub(super) fn release(&mut self, mark: u64) -> Option<OwnBytes> {
        self.until_told.remove(&mark).map(|part| part.bytes)
    }

    /// Holds `bytes` until [`Lent::seen`].
    pub(super) fn hold_until_seen(&mut self, mark: u64, bytes: Vec<u8>) -> &[u8] {
        self.until_seen.push((mark, bytes));
        self.until_seen.last().map_or(&[], |(_, bytes)| bytes)
    }

    /// True where something is held until the kernel has seen it.
    pub(super) fn holds_unseen(&self) -> bool {
        !self.until_seen.is_empty()
    }

    /// The kernel has seen all submissions: what was held for one of those that were held until then.
    pub(super) fn seen(&mut self) -> Option<(u64, Vec<u8>)> {
        self.until_seen.pop()
    }
}
