//! The open streams of a connection, found by their identifier.

use std::sync::Arc;

use super::credit::Credit;
use crate::observer::Token;
use crate::semantics::response::Response;

/// An open stream.
#[derive(Debug)]
pub(super) struct OpenStream {
    pub(super) id: u32,
    pub(super) token: Token,
    pub(super) observed: bool,
    /// Whether any byte of the final response's head, or of an interim one that is not complete,
    /// was read.
    pub(super) begun: bool,
    pub(super) response: Response,
    pub(super) credit: Credit,
    /// The peer's window for the request body in bytes; below 0 if the peer has shrunk it.
    pub(super) window: i64,
    pub(super) body: Option<Body>,
    /// Whether the stream waits for its turn to send.
    pub(super) queued: bool,
}

/// The unsent part of a request body.
#[derive(Debug)]
pub(super) struct Body {
    pub(super) bytes: Arc<Vec<u8>>,
    pub(super) sent: usize,
}

impl Body {
    pub(super) fn left(&self) -> &[u8] {
        self.bytes.get(self.sent..).unwrap_or_default()
    }
}

const FIRST_SLOTS: usize = 8;

/// A hash table that is at most half full. Stream identifiers rise by a constant step, so that they
/// rarely collide modulo the table's size, however long one of them stays open.
#[derive(Debug)]
pub(super) struct Streams {
    /// The slots, whose number is a power of two.
    slots: Vec<Option<OpenStream>>,
    /// The mask that reduces an identifier modulo the number of slots.
    mask: usize,
    open: usize,
    /// The number of streams outside their home slot. While it is 0, a gap need not be closed.
    strayed: usize,
}

impl Streams {
    pub(super) fn new() -> Streams {
        Streams { slots: empty(FIRST_SLOTS), mask: FIRST_SLOTS - 1, open: 0, strayed: 0 }
    }

    pub(super) fn open(&self) -> usize {
        self.open
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &OpenStream> {
        self.slots.iter().flatten()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut OpenStream> {
        self.slots.iter_mut().flatten()
    }

    pub(super) fn find(&mut self, id: u32) -> Option<&mut OpenStream> {
        let at = self.place(id);
        self.slots[at].as_mut()
    }

    pub(super) fn has(&self, id: u32) -> bool {
        self.slots[self.place(id)].is_some()
    }

    /// Adds a stream whose identifier is not in the table yet.
    pub(super) fn add(&mut self, stream: OpenStream) {
        if (self.open + 1) * 2 > self.slots.len() {
            self.grow();
        }
        self.put(stream);
        self.open += 1;
    }

    pub(super) fn remove(&mut self, id: u32) -> Option<OpenStream> {
        let at = self.place(id);
        let stream = self.slots[at].take()?;
        self.open -= 1;
        self.strayed -= usize::from(at != self.home(id));
        if self.strayed > 0 {
            self.close_gap(at);
        }
        Some(stream)
    }

    fn put(&mut self, stream: OpenStream) {
        let at = self.place(stream.id);
        self.strayed += usize::from(at != self.home(stream.id));
        self.slots[at] = Some(stream);
    }

    /// Returns the slot of `id`, or the free slot where it would be put.
    fn place(&self, id: u32) -> usize {
        let mut at = self.home(id);
        while self.slots[at].as_ref().is_some_and(|stream| stream.id != id) {
            at = self.after(at);
        }
        at
    }

    fn home(&self, id: u32) -> usize {
        (id >> 1) as usize & self.mask
    }

    fn after(&self, at: usize) -> usize {
        (at + 1) & self.mask
    }

    /// Moves streams that had to make way for the one removed from `gap` nearer to their home
    /// slots.
    fn close_gap(&mut self, mut gap: usize) {
        let mut at = self.after(gap);
        while let Some(stream) = &self.slots[at] {
            let home = self.home(stream.id);
            let strayed = at.wrapping_sub(home) & self.mask;
            if strayed >= at.wrapping_sub(gap) & self.mask {
                self.slots.swap(gap, at);
                self.strayed -= usize::from(gap == home);
                gap = at;
            }
            at = self.after(at);
        }
    }

    fn grow(&mut self) {
        let twice = empty(self.slots.len() * 2);
        let old = std::mem::replace(&mut self.slots, twice);
        self.mask = self.slots.len() - 1;
        self.strayed = 0;
        old.into_iter().flatten().for_each(|stream| self.put(stream));
    }
}

fn empty(slots: usize) -> Vec<Option<OpenStream>> {
    (0..slots).map(|_| None).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(id: u32) -> OpenStream {
        OpenStream {
            id,
            token: 0,
            observed: false,
            begun: false,
            response: Response::new(false),
            credit: Credit::new(1),
            window: 0,
            body: None,
            queued: false,
        }
    }

    #[test]
    fn streams_are_found_whatever_order_they_end_in() {
        let mut streams = Streams::new();
        let (mut open, mut dice) = (Vec::new(), 1u32);
        for id in (1..20_000).step_by(2) {
            streams.add(stream(id));
            open.push(id);
            while open.len() > 20 {
                dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // The first stream stays open, so that later ones collide with it repeatedly.
                let ended = open.remove(1 + (dice >> 16) as usize % (open.len() - 1));
                assert_eq!(streams.remove(ended).map(|stream| stream.id), Some(ended));
                assert!(!streams.has(ended));
            }
            assert!(open.iter().all(|&id| streams.has(id)));
            let strays = |at: usize, stream: &OpenStream| at != streams.home(stream.id);
            let slots = streams.slots.iter().enumerate();
            let astray =
                slots.filter(|(at, slot)| slot.as_ref().is_some_and(|one| strays(*at, one)));
            assert_eq!(streams.strayed, astray.count());
        }
    }
}
