//! The event loop: completions and the actions that follow from them.

use std::io;
use std::net::TcpListener;
use std::os::fd::AsFd as _;

use super::part::RepeatedBytes;
use super::ring::{TurboCompletion, TurboRing};
use super::slot::{Stage, TurboSlot};
use super::{Handler, NextStep};
use crate::buffers::FilledBuffer;

/// The maximum number of queued response parts of a peer that does not read. Beyond it the
/// connection is aborted.
const PATIENCE: usize = 1 << 16;

/// The server of one thread. It belongs to the thread that created it.
pub struct Server<T: Handler> {
    ring: TurboRing,
    handler: T,
    listeners: Vec<TcpListener>,
    slots: Vec<TurboSlot<T::Memory>>,
    /// Listeners that stopped accepting because the file table or the memory was full.
    full: Vec<u32>,
    /// The ring will report that they are due, whether or not a connection is closed before.
    reminded: bool,
    /// A connection was closed since the last attempt to accept again.
    freed: bool,
    /// Connections to be processed again in the next turn.
    later: Vec<u32>,
    say: Vec<RepeatedBytes>,
    turn: u32,
}

/// The operation of a submission.
#[derive(Clone, Copy)]
enum Asked {
    Accept = 1,
    Receive,
    /// A send that posts a completion only on failure.
    SendNow,
    Send,
    /// An operation whose outcome is ignored: shutdown, close.
    Nothing,
    Stop,
    /// A time after which listeners accept again.
    Remind,
}

impl<T: Handler> Server<T> {
    /// Creates a server for up to `room` concurrent connections, which must not exceed the limit on
    /// open files. [`Server::run`] accepts them.
    ///
    /// # Errors
    /// Returns an error if the kernel does not support or permit io_uring, or is older than Linux
    /// 6.13.
    pub fn new(handler: T, listeners: Vec<TcpListener>, room: u32) -> io::Result<Server<T>> {
        let ring = TurboRing::new(room)?;
        let slots = (0..room).map(|_| TurboSlot::default()).collect();
        let (full, later, say) = (Vec::new(), Vec::new(), Vec::new());
        let (reminded, freed, turn) = (false, false, 1);
        Ok(Server { ring, handler, listeners, slots, full, reminded, freed, later, say, turn })
    }

    /// Serves until the other end of `stop` is dropped.
    ///
    /// # Errors
    /// Returns an error if the ring itself fails. A connection that fails is closed.
    pub fn run(&mut self, stop: &io::PipeReader) -> io::Result<()> {
        self.ring.watch(stop.as_fd(), token(Asked::Stop, 0, 0));
        (0..self.listeners.len() as u32).for_each(|listener| self.accept(listener));
        let mut completions = Vec::new();
        loop {
            // A close reports nothing, so that it must not be waited for.
            let due = self.freed && !self.full.is_empty();
            self.ring.turn(self.later.is_empty() && !due, &mut completions)?;
            self.turn = self.turn.wrapping_add(1).max(1);
            self.accept_again();
            let later = std::mem::take(&mut self.later);
            for completion in completions.drain(..) {
                if completion.token == token(Asked::Stop, 0, 0) {
                    return Ok(());
                }
                self.deal_with(completion);
            }
            later.into_iter().for_each(|index| self.settle(index));
        }
    }

    fn deal_with(&mut self, completion: TurboCompletion) {
        let index = completion.token as u32;
        match (completion.token >> 56) as u8 {
            kind if kind == Asked::Accept as u8 => self.accepted(index, completion),
            kind if kind == Asked::Receive as u8 => self.received(index, completion),
            kind if kind == Asked::SendNow as u8 => self.not_sent(index, completion),
            kind if kind == Asked::Send as u8 => self.sent(index, completion),
            kind if kind == Asked::Remind as u8 => {
                self.reminded = false;
                self.accept_all_again();
            }
            _ => {}
        }
    }

    fn accept(&mut self, listener: u32) {
        if let Some(socket) = self.listeners.get(listener as usize) {
            self.ring.accept(socket, token(Asked::Accept, 0, listener));
        }
    }

    fn accepted(&mut self, listener: u32, completion: TurboCompletion) {
        if let Some(slot) =
            usize::try_from(completion.result).ok().and_then(|i| self.slots.get_mut(i))
        {
            slot.open();
            self.listen(completion.result as u32);
        }
        if completion.more {
            return;
        }
        // If the table is full, accepting at once would only reject the next connections.
        match -completion.result {
            libc::ENFILE | libc::EMFILE | libc::ENOMEM | libc::ENOBUFS => self.pause(listener),
            _ => self.accept(listener),
        }
    }

    /// Lets a listener rest. The connection whose end makes room may have ended before this is
    /// known, and the limit may be that of the whole system: it accepts again after a time too.
    fn pause(&mut self, listener: u32) {
        self.full.push(listener);
        if !std::mem::replace(&mut self.reminded, true) {
            self.ring.remind(token(Asked::Remind, 0, 0));
        }
    }

    /// Submits a receive. The first one is a single receive, so that a connection with one request
    /// can be closed without a cancellation.
    fn listen(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        slot.hearing = true;
        let token = token(Asked::Receive, slot.age, index);
        if slot.heard {
            self.ring.receive_on(index, token);
        } else {
            self.ring.receive(index, token);
        }
    }

    fn received(&mut self, index: u32, completion: TurboCompletion) {
        if !self.is_current(index, &completion) {
            completion.buffer.into_iter().for_each(|buffer| self.ring.give(buffer));
            return;
        }
        self.slots[index as usize].hearing = completion.more;
        match (completion.result, completion.buffer) {
            (1.., Some(buffer)) => self.heard(index, buffer, completion.result as usize),
            (error, buffer) => {
                buffer.into_iter().for_each(|buffer| self.ring.give(buffer));
                match -error {
                    // The peer has ended the connection.
                    0 => self.gone(index),
                    // All buffers are in use. This turn returns them.
                    libc::ENOBUFS => self.listen(index),
                    _ => self.break_off(index),
                }
            }
        }
    }

    fn heard(&mut self, index: u32, buffer: FilledBuffer, length: usize) {
        let slot = &mut self.slots[index as usize];
        slot.heard = true;
        if slot.stage == Stage::Open {
            let bytes = self.ring.read(&buffer, length);
            let next = self.handler.on_bytes(&mut slot.memory, bytes, &mut self.say);
            slot.stage = match next {
                NextStep::Listen => Stage::Open,
                NextStep::End => Stage::Ending,
                NextStep::Refuse => Stage::Refusing,
            };
        }
        self.ring.give(buffer);
        self.answer(index);
        let slot = &self.slots[index as usize];
        if !slot.hearing && matches!(slot.stage, Stage::Open | Stage::Refusing | Stage::Waiting) {
            self.listen(index);
        }
    }

    fn answer(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        let busy = slot.sending || slot.turn == self.turn || slot.queued() > 0;
        match self.say[..] {
            [] if slot.stage == Stage::Open => return,
            [part] if !busy && part.is_one_piece() && slot.stage != Stage::Refusing => {
                self.say.clear();
                return self.send_now(index, part);
            }
            _ => slot.enqueue(self.say.drain(..)),
        }
        if slot.queued() > PATIENCE {
            return self.break_off(index);
        }
        self.settle(index);
    }

    /// Sends a response in the usual case: no other send is in progress and the kernel has room.
    fn send_now(&mut self, index: u32, part: RepeatedBytes) {
        let slot = &mut self.slots[index as usize];
        slot.last = Some(part);
        slot.turn = self.turn;
        let sending = token(Asked::SendNow, slot.age, index);
        if slot.stage == Stage::Ending && !slot.hearing {
            let closing = token(Asked::Nothing, slot.age, index);
            slot.stage = Stage::Leaving;
            self.ring.send_now_and_close(index, part.next(), sending, closing);
            self.freed = true;
        } else {
            self.ring.send_now(index, part.next(), sending);
            if slot.stage == Stage::Ending {
                self.later.push(index);
            }
        }
    }

    /// Handles a send that the kernel did not fully accept. The rest is sent when there is room.
    /// Nothing was sent after it, because the completions of sends precede those of receives in the
    /// same turn.
    fn not_sent(&mut self, index: u32, completion: TurboCompletion) {
        if !self.is_current(index, &completion) {
            return;
        }
        let slot = &mut self.slots[index as usize];
        if slot.stage == Stage::Leaving {
            // The linked close was not executed.
            slot.stage = Stage::Ending;
        }
        match (slot.last.take(), completion.result) {
            (Some(mut part), result) if result >= 0 || result == -libc::EAGAIN => {
                part.advance(u64::try_from(result).unwrap_or(0));
                slot.put_first(part);
                self.settle(index);
            }
            _ => self.break_off(index),
        }
    }

    fn sent(&mut self, index: u32, completion: TurboCompletion) {
        if !self.is_current(index, &completion) {
            return;
        }
        let slot = &mut self.slots[index as usize];
        slot.sending = false;
        let Ok(count) = u64::try_from(completion.result) else { return self.break_off(index) };
        if let Some(mut part) = slot.last.take() {
            part.advance(count);
            if !part.next().is_empty() {
                slot.put_first(part);
            }
        }
        self.settle(index);
    }

    /// Sends the next part, or finishes the response if everything has been sent.
    fn settle(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        if slot.sending || matches!(slot.stage, Stage::Vacant | Stage::Leaving) {
            return;
        }
        if slot.turn == self.turn {
            // The outcome of the last send is known after the next turn.
            return self.later.push(index);
        }
        match slot.next() {
            Some(part) if part.next().is_empty() => self.settle(index),
            Some(part) => {
                slot.last = Some(part);
                slot.sending = true;
                self.ring.send(index, part.next(), token(Asked::Send, slot.age, index));
            }
            None => self.finish(index),
        }
    }

    fn finish(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        match slot.stage {
            Stage::Vacant | Stage::Leaving | Stage::Open | Stage::Waiting => {}
            Stage::Ending | Stage::Broken if !slot.hearing => self.close(index),
            Stage::Broken => {}
            Stage::Ending | Stage::Refusing => {
                slot.stage = Stage::Waiting;
                let token = token(Asked::Nothing, slot.age, index);
                self.ring.shut(index, libc::SHUT_WR, token);
            }
        }
    }

    /// Handles the end of the peer's data. Responses to its requests are still sent.
    fn gone(&mut self, index: u32) {
        self.slots[index as usize].stage = Stage::Ending;
        self.settle(index);
    }

    fn break_off(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        slot.forget_queue();
        slot.stage = Stage::Broken;
        if slot.hearing || slot.sending {
            let token = token(Asked::Nothing, slot.age, index);
            self.ring.shut(index, libc::SHUT_RDWR, token);
        }
        self.settle(index);
    }

    fn close(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        let token = token(Asked::Nothing, slot.age, index);
        slot.vacate();
        self.ring.close(index, token);
        self.freed = true;
    }

    /// Resumes accepting after a connection was closed. The close may take until the next turn.
    fn accept_again(&mut self) {
        if std::mem::take(&mut self.freed) {
            self.accept_all_again();
        }
    }

    fn accept_all_again(&mut self) {
        std::mem::take(&mut self.full).into_iter().for_each(|listener| self.accept(listener));
    }

    fn is_current(&self, index: u32, completion: &TurboCompletion) -> bool {
        let slot = self.slots.get(index as usize);
        slot.is_some_and(|slot| {
            slot.stage != Stage::Vacant && u64::from(slot.age) == age_in(completion.token)
        })
    }
}

/// Builds the user data of a submission from its operation, the age of the connection and its
/// index.
fn token(asked: Asked, age: u16, index: u32) -> u64 {
    (asked as u64) << 56 | u64::from(age) << 32 | u64::from(index)
}

fn age_in(token: u64) -> u64 {
    token >> 32 & 0xffff
}
