//! The state of a connection. It is small because there may be a hundred thousand.

use std::collections::VecDeque;

use super::part::RepeatedBytes;

/// An entry for a place in the ring's file table, vacant or with a connection.
#[derive(Debug, Default)]
pub(super) struct TurboSlot<M> {
    /// The state of the [`Handler`](super::Handler).
    pub(super) memory: M,
    /// The part that was last submitted. If the kernel accepted only some of it, the rest is sent
    /// again.
    pub(super) last: Option<RepeatedBytes>,
    /// The parts to be sent after `last`.
    queue: VecDeque<RepeatedBytes>,
    /// The turn in which `last` was submitted. It may be an old one.
    pub(super) turn: u32,
    /// A number that distinguishes this connection from earlier ones in the same place.
    pub(super) age: u16,
    pub(super) stage: Stage,
    /// A receive is in progress.
    pub(super) hearing: bool,
    /// A send is in progress whose completion will be reported.
    pub(super) sending: bool,
    /// Bytes were received before.
    pub(super) heard: bool,
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// There is no connection.
    #[default]
    Vacant,
    /// The connection is open.
    Open,
    /// To be closed when everything has been sent.
    Ending,
    /// To be shut down for sending when everything has been sent. The peer is then awaited.
    Refusing,
    /// Shut down for sending. The end of the peer's data is awaited.
    Waiting,
    /// The send in progress closes the connection if it succeeds.
    Leaving,
    /// Nothing more is sent or received.
    Broken,
}

impl<M: Default> TurboSlot<M> {
    /// Initialises the place for a new connection.
    pub(super) fn open(&mut self) {
        let age = self.age.wrapping_add(1);
        *self = TurboSlot { age, stage: Stage::Open, ..TurboSlot::default() };
    }

    /// Frees the place and its memory.
    pub(super) fn vacate(&mut self) {
        *self = TurboSlot { age: self.age, ..TurboSlot::default() };
    }

    pub(super) fn enqueue(&mut self, parts: impl Iterator<Item = RepeatedBytes>) {
        self.queue.extend(parts);
    }

    pub(super) fn put_first(&mut self, part: RepeatedBytes) {
        self.queue.push_front(part);
    }

    /// Returns the next part to send.
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
    fn a_slot_takes_at_most_104_bytes() {
        assert!(size_of::<TurboSlot<()>>() <= 104, "{}", size_of::<TurboSlot<()>>());
    }
}
