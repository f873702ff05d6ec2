//! Bytes that the kernel may read after the call that submitted them has returned.

use std::collections::HashMap;
use std::ptr::NonNull;

use crate::driver::Message;
use crate::driver::own::OwnBytes;

/// Messages longer than this many bytes may not fit into a socket's send buffer, so that their
/// completion is requested.
pub(super) const SHORT: usize = 8 * 1024;
/// The maximum number of short messages that are kept permanently. A plan has few and sends them
/// repeatedly.
const KEPT: usize = 4_096;

/// Owns the bytes that the kernel may still read.
#[derive(Default)]
pub(super) struct KernelOwnedBytes {
    /// Short messages by their address, kept as long as the ring exists, because the kernel does
    /// not report when it has finished with them.
    kept: HashMap<usize, Message>,
    /// Other bytes by the mark of their submission, kept until its completion.
    until_told: HashMap<u64, KernelOwnedPart>,
    /// Other bytes by the mark of their submission, kept until the kernel has consumed it. By then
    /// the kernel has either finished with the bytes or reported a failure.
    until_seen: Vec<(u64, Vec<u8>)>,
}

/// Bytes of which the first `sent` have been sent.
pub(super) struct KernelOwnedPart {
    bytes: OwnBytes,
    sent: usize,
    /// The message header of the remainder, if it has two parts. The kernel reads it when the entry
    /// is submitted.
    message: Option<PinnedMessage>,
}

/// The remainder of a message in the form of sendmsg(2).
struct ScatterMessage {
    pieces: [libc::iovec; 2],
    header: libc::msghdr,
}

/// The bytes of a part that are still to be sent.
pub(super) enum Rest<'a> {
    /// One contiguous slice.
    Piece(&'a [u8]),
    /// Two slices, to be sent by sendmsg(2).
    ScatterMessage(*const libc::msghdr),
}

// SAFETY: the pointers in a message point into itself and into a message that is never written to.
unsafe impl Send for KernelOwnedPart {}

impl KernelOwnedPart {
    fn new(bytes: OwnBytes) -> KernelOwnedPart {
        KernelOwnedPart { bytes, sent: 0, message: None }
    }

    /// Records that `count` more bytes were sent. Returns true if all bytes have been sent.
    pub(super) fn advance(&mut self, count: usize) -> bool {
        self.sent += count;
        self.sent >= self.bytes.length()
    }

    /// Returns the bytes that are still to be sent. The kernel may read them as long as this part
    /// is held.
    pub(super) fn rest(&mut self) -> Rest<'_> {
        match self.bytes.rest(self.sent) {
            [piece, []] => Rest::Piece(piece),
            pieces => Rest::ScatterMessage(
                self.message.get_or_insert_with(PinnedMessage::new).write(pieces),
            ),
        }
    }
}

/// A message that stays where it is while its owner moves: it points into itself, and a box promises that
/// nothing else points to what it owns.
struct PinnedMessage(NonNull<ScatterMessage>);

impl PinnedMessage {
    fn new() -> PinnedMessage {
        let nothing = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        // SAFETY: msghdr is a struct of integers and pointers, for which all zeros is a valid
        // value.
        let header = unsafe { std::mem::zeroed() };
        let message = Box::new(ScatterMessage { pieces: [nothing; 2], header });
        PinnedMessage(NonNull::from(Box::leak(message)))
    }

    /// Writes a message with these pieces. The result is valid as long as `self` and the pieces are.
    fn write(&mut self, pieces: [&[u8]; 2]) -> *const libc::msghdr {
        // SAFETY: the message is allocated, and only `self` refers to it. The kernel, which reads it
        // through the pointers made here, has done so before `self` writes the next one.
        let message = unsafe { self.0.as_mut() };
        message.pieces = pieces.map(|piece| libc::iovec {
            iov_base: piece.as_ptr().cast_mut().cast(),
            iov_len: piece.len(),
        });
        message.header.msg_iov = message.pieces.as_mut_ptr();
        message.header.msg_iovlen = pieces.len() as _;
        &raw const message.header
    }
}

impl Drop for PinnedMessage {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it as a box, and it is freed here alone.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

impl KernelOwnedBytes {
    /// Returns true if `message` is kept permanently. A repeated call costs a look-up and does not
    /// touch the reference count, which all workers would write to.
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

    /// Holds `bytes` until [`KernelOwnedBytes::release`] is called with this mark.
    pub(super) fn hold(&mut self, mark: u64, bytes: OwnBytes) -> &mut KernelOwnedPart {
        self.until_told.entry(mark).insert_entry(KernelOwnedPart::new(bytes)).into_mut()
    }

    /// Returns the bytes that are held for this mark.
    pub(super) fn held(&mut self, mark: u64) -> Option<&mut KernelOwnedPart> {
        self.until_told.get_mut(&mark)
    }

    /// Returns the bytes that were held for this mark. The submissions with this mark must have
    /// completed.
    pub(super) fn release(&mut self, mark: u64) -> Option<OwnBytes> {
        self.until_told.remove(&mark).map(|part| part.bytes)
    }

    /// Holds `bytes` until [`KernelOwnedBytes::seen`].
    pub(super) fn hold_until_seen(&mut self, mark: u64, bytes: Vec<u8>) -> &[u8] {
        self.until_seen.push((mark, bytes));
        self.until_seen.last().map_or(&[], |(_, bytes)| bytes)
    }

    /// Returns true if bytes are held until the kernel has consumed their submission.
    pub(super) fn holds_unseen(&self) -> bool {
        !self.until_seen.is_empty()
    }

    /// Removes and returns one of the entries held until the kernel consumed their submission. The
    /// kernel must have consumed all submissions.
    pub(super) fn seen(&mut self) -> Option<(u64, Vec<u8>)> {
        self.until_seen.pop()
    }
}
