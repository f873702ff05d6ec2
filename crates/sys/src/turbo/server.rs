//! The loop: what was told, what follows from it.

use std::io;
use std::net::TcpListener;
use std::os::fd::AsFd as _;

use super::part::RepeatedBytes;
use super::ring::{Told, TurboRing};
use super::slot::{Stage, TurboSlot};
use super::{Talk, Then};

/// Answers that a peer may leave unread before it is cut off, in parts.
const PATIENCE: usize = 1 << 16;

/// A thread's server. It belongs to the thread that made it.
pub struct Server<T: Talk> {
    ring: TurboRing,
    talk: T,
    listeners: Vec<TcpListener>,
    slots: Vec<TurboSlot<T::Memory>>,
    /// Listeners that were told to stop accepting, for want of room.
    full: Vec<u32>,
    /// A connection was closed in the last turn.
    freed: bool,
    /// Connections to look at again in the next turn.
    later: Vec<u32>,
    say: Vec<RepeatedBytes>,
    turn: u32,
}

/// What an entry was asked for.
#[derive(Clone, Copy)]
enum Asked {
    Accept = 1,
    Receive,
    /// Told only where it failed.
    SendNow,
    Send,
    /// Of no consequence: shutting, closing.
    Nothing,
    Stop,
}

impl<T: Talk> Server<T> {
    /// A server for up to `room` connections at once, which must not be above the limit of open
    /// files. They are accepted once it runs.
    ///
    /// # Errors
    /// Where the kernel has no io_uring, an older one than Linux 6.13, or doesn't allow it.
    pub fn new(talk: T, listeners: Vec<TcpListener>, room: u32) -> io::Result<Server<T>> {
        let ring = TurboRing::new(room)?;
        let slots = (0..room).map(|_| TurboSlot::default()).collect();
        let (full, later, say) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Server { ring, talk, listeners, slots, full, freed: false, later, say, turn: 1 })
    }

    /// Serves until the other end of `stop` is dropped.
    ///
    /// # Errors
    /// Where the ring itself fails; connections that fail are only closed.
    pub fn run(&mut self, stop: &io::PipeReader) -> io::Result<()> {
        self.ring.watch(stop.as_fd(), token(Asked::Stop, 0, 0));
        (0..self.listeners.len() as u32).for_each(|listener| self.accept(listener));
        let mut told = Vec::new();
        loop {
            self.ring.turn(self.later.is_empty(), &mut told)?;
            self.turn = self.turn.wrapping_add(1).max(1);
            self.accept_again();
            let later = std::mem::take(&mut self.later);
            for told in told.drain(..) {
                if told.token == token(Asked::Stop, 0, 0) {
                    return Ok(());
                }
                self.deal_with(told);
            }
            later.into_iter().for_each(|index| self.settle(index));
        }
    }

    fn deal_with(&mut self, told: Told) {
        let index = told.token as u32;
        match (told.token >> 56) as u8 {
            kind if kind == Asked::Accept as u8 => self.accepted(index, told),
            kind if kind == Asked::Receive as u8 => self.received(index, told),
            kind if kind == Asked::SendNow as u8 => self.not_sent(index, told),
            kind if kind == Asked::Send as u8 => self.sent(index, told),
            _ => {}
        }
    }

    fn accept(&mut self, listener: u32) {
        if let Some(socket) = self.listeners.get(listener as usize) {
            self.ring.accept(socket, token(Asked::Accept, 0, listener));
        }
    }

    fn accepted(&mut self, listener: u32, told: Told) {
        if let Some(slot) = usize::try_from(told.result).ok().and_then(|i| self.slots.get_mut(i)) {
            slot.open();
            self.listen(told.result as u32);
        }
        if told.more {
            return;
        }
        // Without room, accepting at once would only turn the next ones away.
        match -told.result {
            libc::ENFILE | libc::EMFILE | libc::ENOMEM | libc::ENOBUFS => self.full.push(listener),
            _ => self.accept(listener),
        }
    }

    /// Receives once at first: a connection for one request is then closed without a cancellation.
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

    fn received(&mut self, index: u32, told: Told) {
        if !self.is_current(index, told) {
            told.buffer.into_iter().for_each(|buffer| self.ring.give(buffer));
            return;
        }
        self.slots[index as usize].hearing = told.more;
        match (told.result, told.buffer) {
            (1.., Some(buffer)) => self.heard(index, buffer, told.result as usize),
            (error, buffer) => {
                buffer.into_iter().for_each(|buffer| self.ring.give(buffer));
                match -error {
                    // The peer's end.
                    0 => self.gone(index),
                    // All buffers are in use; this turn gives them back.
                    libc::ENOBUFS => self.listen(index),
                    _ => self.break_off(index),
                }
            }
        }
    }

    fn heard(&mut self, index: u32, buffer: u16, length: usize) {
        let slot = &mut self.slots[index as usize];
        slot.heard = true;
        if slot.stage == Stage::Open {
            let bytes = self.ring.read(buffer, length);
            let then = self.talk.hear(&mut slot.memory, bytes, &mut self.say);
            slot.stage = match then {
                Then::Listen => Stage::Open,
                Then::End => Stage::Ending,
                Then::Refuse => Stage::Refusing,
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

    /// The usual case: nothing else is under way, and the kernel has room.
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

    /// The kernel had not room for all: the rest is sent as it finds room. Nothing was sent after
    /// it, since sends are told of before anything that is received in the same turn.
    fn not_sent(&mut self, index: u32, told: Told) {
        if !self.is_current(index, told) {
            return;
        }
        let slot = &mut self.slots[index as usize];
        if slot.stage == Stage::Leaving {
            // The close that was to follow did not.
            slot.stage = Stage::Ending;
        }
        match (slot.last.take(), told.result) {
            (Some(mut part), result) if result >= 0 || result == -libc::EAGAIN => {
                part.advance(u64::try_from(result).unwrap_or(0));
                slot.put_first(part);
                self.settle(index);
            }
            _ => self.break_off(index),
        }
    }

    fn sent(&mut self, index: u32, told: Told) {
        if !self.is_current(index, told) {
            return;
        }
        let slot = &mut self.slots[index as usize];
        slot.sending = false;
        let Ok(count) = u64::try_from(told.result) else { return self.break_off(index) };
        if let Some(mut part) = slot.last.take() {
            part.advance(count);
            if !part.next().is_empty() {
                slot.put_first(part);
            }
        }
        self.settle(index);
    }

    /// Sends what is next, or does what follows when all is said.
    fn settle(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        if slot.sending || matches!(slot.stage, Stage::Vacant | Stage::Leaving) {
            return;
        }
        if slot.turn == self.turn {
            // Whether the last send went well is known after the next turn.
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

    /// The peer ended: what it asked for is still said.
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

    /// Closing may take until the next turn.
    fn accept_again(&mut self) {
        if std::mem::take(&mut self.freed) {
            std::mem::take(&mut self.full).into_iter().for_each(|listener| self.accept(listener));
        }
    }

    fn is_current(&self, index: u32, told: Told) -> bool {
        let slot = self.slots.get(index as usize);
        slot.is_some_and(|slot| {
            slot.stage != Stage::Vacant && u64::from(slot.age) == age_in(told.token)
        })
    }
}

/// What was asked, of which connection, at which index.
fn token(asked: Asked, age: u16, index: u32) -> u64 {
    (asked as u64) << 56 | u64::from(age) << 32 | u64::from(index)
}

fn age_in(token: u64) -> u64 {
    token >> 32 & 0xffff
}
