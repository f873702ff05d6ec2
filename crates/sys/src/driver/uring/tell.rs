//! The translation of completions into events.

use super::mark::{Mark, Operation};
use super::ring::{Completion, Pool};
use super::socket::ReceiveState;
use super::{Filled, Holder, Uring, ring};
use crate::driver::begin::outcome_with_handshake;
use crate::driver::{EventKind, Slot};

impl Uring {
    /// Returns the event of a completion, or `None` if the caller need not be informed.
    pub(super) fn tell(&mut self, completion: Completion) -> Option<(Slot, EventKind)> {
        let Mark { slot, generation, operation } = Mark::unpack(completion.mark);
        let known = self.sockets.get(slot as usize);
        if known.is_none_or(|s| s.file.is_none() || s.generation != generation) {
            completion.buffer.into_iter().for_each(|buffer| self.ring.give_back(buffer));
            match operation {
                Operation::Send => self.let_go(completion.mark),
                Operation::Install => drop(ring::installed(completion.result)),
                _ => {}
            }
            return None;
        }
        let kind = match operation {
            Operation::Connect => self.connected(slot),
            Operation::Receive | Operation::ReceiveStamped => self.received(slot, completion),
            Operation::Readable => self.readable(slot, completion.result),
            Operation::Discard => self.discarded(slot, completion.result),
            Operation::Send => self.sent(slot, completion),
            // A partial send is not a failure: the next receive shows what happened to the
            // connection.
            Operation::SendKept if completion.result >= 0 => None,
            Operation::SendKept => self.refused(slot, -completion.result),
            Operation::Hear => self.heard(slot, completion),
            Operation::Room => self.go_on_casting(slot),
            Operation::Pass => self.refused(slot, -completion.result),
            Operation::Watch => {
                self.sockets[slot as usize].watched = false;
                self.hang_up(slot);
                None
            }
            Operation::Install => {
                drop(ring::installed(completion.result));
                None
            }
            Operation::Quiet => None,
        };
        kind.map(|kind| (slot, kind))
    }

    fn connected(&mut self, slot: Slot) -> Option<EventKind> {
        let socket = &mut self.sockets[slot as usize];
        socket.connecting = false;
        let asked = socket.ask_handshake;
        let told = self.ask(slot, |fd| outcome_with_handshake(fd, asked));
        self.sockets[slot as usize].handshake = told.as_ref().and_then(|(_, handshake)| *handshake);
        match told.map(|(outcome, _)| outcome) {
            Some(Ok(peer)) => Some(EventKind::Connected(peer)),
            Some(Err(errno)) => self.failed(slot, errno),
            // No descriptor is available.
            None => self.failed(slot, libc::EMFILE),
        }
    }

    fn received(&mut self, slot: Slot, completion: Completion) -> Option<EventKind> {
        let socket = &mut self.sockets[slot as usize];
        if !completion.more {
            socket.receive_state = ReceiveState::Closed;
        }
        let stamped = completion.is_of(Operation::ReceiveStamped);
        match (completion.result, completion.buffer) {
            (count @ 1.., Some(buffer)) => {
                let range = if stamped {
                    self.opened_stamped(&buffer, count as usize)
                } else {
                    0..count as usize
                };
                let count = range.len();
                self.received = Some(Filled { holder: Holder::Pool(buffer), range });
                if count == 0 {
                    return self.no_bytes(slot, 0);
                }
                let socket = &mut self.sockets[slot as usize];
                socket.droppable = socket.droppable.saturating_sub(count as u64);
                Some(EventKind::Received(count))
            }
            (error, _) => self.no_bytes(slot, error),
        }
    }

    fn discarded(&mut self, slot: Slot, result: i32) -> Option<EventKind> {
        let socket = &mut self.sockets[slot as usize];
        socket.receive_state = ReceiveState::Closed;
        match result {
            count @ 1.. => {
                socket.droppable = socket.droppable.saturating_sub(count as u64);
                Some(EventKind::Dropped(count as u64))
            }
            error => self.no_bytes(slot, error),
        }
    }

    /// Returns true if a completion will report the next bytes or the end.
    fn listens(&self, slot: Slot) -> bool {
        self.sockets[slot as usize].receive_state != ReceiveState::Closed
    }

    /// Handles a receive that completed without bytes.
    pub(super) fn no_bytes(&mut self, slot: Slot, result: i32) -> Option<EventKind> {
        let refused = self.sockets[slot as usize].refused;
        match -result {
            0 if refused.is_some() => self.failed(slot, refused?),
            0 => {
                self.sockets[slot as usize].over = true;
                Some(EventKind::Ended)
            }
            // No buffer was available or the receive was cancelled: submit it again.
            errno @ (libc::ENOBUFS | libc::ECANCELED | libc::EINTR | libc::EAGAIN) => {
                if errno == libc::ENOBUFS {
                    self.ring.give_more(Pool::Bytes);
                }
                self.listen(slot);
                None
            }
            errno => self.failed(slot, refused.unwrap_or(errno)),
        }
    }

    /// Handles the completion of a send whose bytes are held.
    fn sent(
        &mut self,
        slot: Slot,
        Completion { mark, result, .. }: Completion,
    ) -> Option<EventKind> {
        if result >= 0 && !self.go_on_sending(slot, mark, result as usize) {
            return None;
        }
        self.let_go(mark);
        let socket = &mut self.sockets[slot as usize];
        socket.sending = false;
        if result < 0 {
            return self.refused(slot, -result);
        }
        if let Some(bytes) = socket.waiting.take() {
            self.send_owned(slot, bytes);
            return None;
        }
        std::mem::take(&mut socket.awaited).then_some(EventKind::Sent)
    }

    /// Handles a failed send.
    fn refused(&mut self, slot: Slot, errno: i32) -> Option<EventKind> {
        match errno {
            // The peer has closed the connection, perhaps after a response that is still to be
            // received.
            libc::EPIPE | libc::ECONNRESET if self.listens(slot) => {
                self.sockets[slot as usize].refused = Some(errno);
                self.hang_up(slot);
                None
            }
            _ => self.failed(slot, errno),
        }
    }

    /// Releases the bytes of the submissions with this mark, which have completed.
    fn let_go(&mut self, mark: u64) {
        if let Some(bytes) = self.kernel_owned.release(mark) {
            self.spare.give_all(bytes);
        }
    }

    /// Returns the event of a failure. Each connection reports one failure, that of the operation
    /// that met it first.
    pub(super) fn failed(&mut self, slot: Slot, errno: i32) -> Option<EventKind> {
        let socket = &mut self.sockets[slot as usize];
        (!std::mem::replace(&mut socket.over, true)).then_some(EventKind::Failed(errno))
    }
}
