//! What is kept of a connection: little, since there may be a hundred thousand.

use std::collections::VecDeque;

use super::part::RepeatedBytes;

/// A place in the ring's table, vacant or with a connection.
#[derive(Debug, Default)]
pub(super) struct TurboSlot<M> {
    /// What the talk remembers.
    pub(super) memory: M,
    /// What was handed over and may have to be sent again from where the kernel stopped.
    pub(super) last: Option<RepeatedBytes>,
    /// What is to be said after what is under way.
    queue: VecDeque<RepeatedBytes>,
    /// The turn in which `last` was sent, unless it was long ago.
    pub(super) turn: u32,
    /// Tells this connection from the one that had the place before.
    pub(super) age: u16,
    pub(super) stage: Stage,
    /// A receive is under way.
    pub(super) hearing: bool,
    /// A send is under way that will be told of.
    pub(super) sending: bool,
    /// Bytes came before.
    pub(super) heard: bool,
}

/// How far a connection has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// There is none.
    #[default]
    Vacant,
    /// It goes on.
    Open,
    /// It is closed when all has been said.
    Ending,
    /// When all has been said, the peer is told so, and waited for.
    Refusing,
    /// That has been done.
    Waiting,
    /// The last send closes it, if it goes well.
    Leaving,
    /// Nothing more is said or heard.
    Broken,
}

impl<M: Default> TurboSlot<M> {
    /// Takes the place for a new connection.
    pub(super) fn open(&mut self) {
        let age = self.age.wrapping_add(1);
        *self = TurboSlot { age, stage: Stage::Open, ..TurboSlot::default() };
    }

    /// Frees the place and what it held.
    pub(super) fn vacate(&mut self) {
        *self = TurboSlot { age: self.age, ..TurboSlot::default() };
    }

    pub(super) fn enqueue(&mut self, parts: impl Iterator<Item = RepeatedBytes>) {
        self.queue.extend(parts);
    }

    pub(super) fn put_first(&mut self, part: RepeatedBytes) {
        self.queue.push_front(part);
    }

    /// What is to be sent next.
    pub(super) fn next(&mut self) -> Option<RepeatedBytes> {
        let next = self.queue.pop_front();
        if next.is_none() {
            self.forget_queue();
        }
        next
    }

    pub(super) fn forget_queue(&mut self) {
        self.queue = VecDeque::new();
    }

    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_takes_little_memory_beside_what_the_talk_remembers() {
        assert!(size_of::<TurboSlot<()>>() <= 104, "{}", size_of::<TurboSlot<()>>());
    }
}
