//! Bytes that are sent once and not reused.
//!
//! When the call that submits a non-waiting send returns, the kernel has copied the bytes or
//! rejected them. Thus a few buffers serve all connections, and a completion is needed only for a
//! failure. What did not fit is then sent like a long message, without reporting this to the
//! caller. Bytes that the caller passes meanwhile follow it.

use super::Uring;
use super::entry;
use super::mark::{Mark, Operation};
use super::ring::Completion;
use super::socket::UringSocket;
use crate::driver::Slot;
use crate::driver::own::OwnBytes;

impl Uring {
    /// Sends bytes for which the kernel posts a completion only if it does not accept all of them.
    pub(super) fn pass_quietly(&mut self, slot: Slot, bytes: Vec<u8>) {
        let socket = &mut self.sockets[slot as usize];
        let Some(file) = &socket.file else { return };
        let mark = socket.mark(slot, Operation::Pass);
        let entry = entry::pass(socket, slot, file, self.kernel_owned.hold_until_seen(mark, bytes));
        socket.passed = true;
        self.push(&entry);
    }

    /// Submits the bytes that were passed in this slot before. If two sends were queued, the second
    /// might find room that the first did not find, and be sent before the first one's remainder.
    pub(super) fn make_way(&mut self, slot: Slot) {
        if self.sockets[slot as usize].passed {
            self.flush();
        }
        while self.sockets[slot as usize].passed && self.broken.is_none() {
            let done = self.ring.submit_and_look();
            self.take_note(done);
        }
    }

    /// Releases the passed bytes after a call into the kernel at the time `at`, except those that
    /// it did not accept.
    pub(super) fn see_to_passes(&mut self, at: u64) {
        if self.ring.queued() > 0 || self.ring.holds_back() {
            return;
        }
        while let Some((mark, bytes)) = self.kernel_owned.seen() {
            let Mark { slot, generation, .. } = Mark::unpack(mark);
            let current = self.sockets.get_mut(slot as usize);
            let open = |s: &&mut UringSocket| s.generation == generation && s.file.is_some();
            let current = current.filter(open);
            let gone = current.map(|socket| socket.passed = false).is_none();
            let unsent = self.unsent.iter().position(|completion| completion.mark == mark);
            match unsent.map(|at| self.unsent.swap_remove(at)) {
                Some(unsent) if !gone => self.pass_the_rest(slot, bytes, unsent, at),
                _ => self.spare.give(bytes),
            }
        }
        self.unsent.clear();
    }

    fn pass_the_rest(&mut self, slot: Slot, bytes: Vec<u8>, unsent: Completion, at: u64) {
        let sent = match unsent.result {
            count @ 0.. => count as usize,
            error if -error == libc::EAGAIN => 0,
            _ => {
                self.spare.give(bytes);
                // This precedes all other completions. The kernel reports a socket error only once,
                // so that a receive after a send that met a reset looks like an orderly end.
                return self.told.push_front((unsent, at));
            }
        };
        let mark = self.sockets[slot as usize].mark(slot, Operation::Send);
        self.kernel_owned.hold(mark, OwnBytes::Own(bytes));
        self.sockets[slot as usize].sending = true;
        self.go_on_sending(slot, mark, sent);
    }
}
