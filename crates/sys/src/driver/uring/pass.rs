//! Bytes that are handed over once and never again.
//!
//! A send that may not wait has its bytes copied, or not, when the call that submits it returns: so
//! a few buffers serve all connections, and nothing needs to be told where all went well. What there
//! was no room for is sent like a long message, quietly, with what is passed next behind it.

use super::Uring;
use super::entry;
use super::mark::{Mark, Operation};
use super::ring::Completion;
use super::socket::UringSocket;
use crate::driver::Slot;
use crate::driver::own::OwnBytes;

impl Uring {
    /// Sends bytes that the kernel tells of only where it does not take all of them.
    pub(super) fn pass_quietly(&mut self, slot: Slot, bytes: Vec<u8>) {
        let socket = &mut self.sockets[slot as usize];
        let Some(file) = &socket.file else { return };
        let mark = socket.mark(slot, Operation::Pass);
        let entry = entry::pass(socket, slot, file, self.lent.hold_until_seen(mark, bytes));
        socket.passed = true;
        self.push(&entry);
    }

    /// Has the kernel see what was passed in this slot before. Were two queued, the second could find
    /// room that the first did not, and go before its rest.
    pub(super) fn make_way(&mut self, slot: Slot) {
        if self.sockets[slot as usize].passed {
            self.flush();
        }
        while self.sockets[slot as usize].passed && self.broken.is_none() {
            let done = self.ring.submit_and_look();
            self.take_note(done);
        }
    }

    /// The kernel was called, at this time: lets go of what was passed, but for what it did not take.
    pub(super) fn see_to_passes(&mut self, at: u64) {
        if self.ring.queued() > 0 || self.ring.holds_back() {
            return;
        }
        while let Some((mark, bytes)) = self.lent.seen() {
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
                // Before what else there is to tell: the kernel gives an error away once, so that a
                // receive behind a send that met a reset looks like an orderly end.
                return self.told.push_front((unsent, at));
            }
        };
        let mark = self.sockets[slot as usize].mark(slot, Operation::Send);
        self.lent.hold(mark, OwnBytes::Own(bytes));
        self.sockets[slot as usize].sending = true;
        self.go_on_sending(slot, mark, sent);
    }
}
