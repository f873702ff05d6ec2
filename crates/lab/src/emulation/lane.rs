//! A queue of frames on their way, in order of arrival. Their bytes are in one ring that grows to
//! the amount under way and then keeps its size, so that a frame costs one copy and no allocation.

use std::collections::VecDeque;

use super::frame::Traffic;

/// A first-in, first-out queue of frames.
#[derive(Debug)]
pub(super) struct Lane {
    ring: Vec<u8>,
    frames: VecDeque<Held>,
    largest: usize,
}

/// A frame in the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// When the frame arrives.
    pub(super) due_ns: u64,
    /// The number of the frame on its line, in the order of offering.
    pub(super) number: u64,
    pub(super) traffic: Traffic,
    start: usize,
    length: usize,
}

const FIRST: usize = 64 << 10;

impl Lane {
    /// Creates a queue whose ring has at most `largest` bytes.
    pub(super) fn new(largest: usize) -> Lane {
        Lane { ring: Vec::new(), frames: VecDeque::new(), largest }
    }

    /// Returns the first frame.
    pub(super) fn first(&self) -> Option<&Held> {
        self.frames.front()
    }

    /// Returns when the last frame arrives, or 0 if the queue is empty.
    pub(super) fn last_due_ns(&self) -> u64 {
        self.frames.back().map_or(0, |held| held.due_ns)
    }

    /// Appends a frame, which must not be due before those already queued. Returns false if there
    /// is no room for it.
    pub(super) fn push(
        &mut self,
        due_ns: u64,
        number: u64,
        traffic: Traffic,
        frame: &[u8],
    ) -> bool {
        let length = frame.len();
        let Some(start) = self.room(length) else { return false };
        self.ring[start..start + length].copy_from_slice(frame);
        self.frames.push_back(Held { due_ns, number, traffic, start, length });
        true
    }

    /// Removes the first frame and returns it with its bytes.
    pub(super) fn pop(&mut self) -> Option<(Held, &[u8])> {
        let held = self.frames.pop_front()?;
        Some((held, &self.ring[held.start..held.start + held.length]))
    }

    /// Returns the start of `length` consecutive free bytes; grows the ring if necessary and
    /// possible.
    fn room(&mut self, length: usize) -> Option<usize> {
        loop {
            if let Some(start) = self.free(length) {
                return Some(start);
            }
            if self.ring.len() >= self.largest {
                return None;
            }
            self.grow();
        }
    }

    fn free(&self, length: usize) -> Option<usize> {
        let (Some(first), Some(last)) = (self.frames.front(), self.frames.back()) else {
            return (length <= self.ring.len()).then_some(0);
        };
        let end = last.start + last.length;
        if last.start < first.start {
            return (end + length <= first.start).then_some(end);
        }
        let behind = end + length <= self.ring.len();
        let before = || (length <= first.start).then_some(0);
        if behind { Some(end) } else { before() }
    }

    /// Doubles the ring and moves the frames to its beginning, in their order.
    fn grow(&mut self) {
        let size = (self.ring.len() * 2).clamp(FIRST.min(self.largest), self.largest);
        let mut ring = vec![0; size];
        let mut at = 0;
        for held in &mut self.frames {
            let old = held.start..held.start + held.length;
            ring[at..at + held.length].copy_from_slice(&self.ring[old]);
            held.start = at;
            at += held.length;
        }
        self.ring = ring;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_units::random::Random;

    #[test]
    fn returns_frames_unchanged_and_in_order() {
        for seed in 0..50 {
            let mut random = Random::new(seed, 0);
            let mut lane = Lane::new(1 << 20);
            let mut expected = VecDeque::new();
            for number in 0..5_000_u64 {
                let length = random.below(1_600) as usize + 1;
                let frame = vec![number as u8; length];
                assert!(lane.push(number, number, Traffic::Other, &frame));
                expected.push_back(frame);
                let keep = random.below(200) as usize;
                while expected.len() > keep {
                    let (held, bytes) = lane.pop().unwrap();
                    assert_eq!(bytes, expected.pop_front().unwrap());
                    assert_eq!(held.due_ns, held.number);
                }
            }
        }
    }

    #[test]
    fn a_full_lane_refuses_frames_until_one_leaves() {
        let mut lane = Lane::new(4_000);
        let push = |lane: &mut Lane| lane.push(0, 0, Traffic::Other, &[7; 1_500]);
        assert_eq!([push(&mut lane), push(&mut lane), push(&mut lane)], [true, true, false]);
        lane.pop().unwrap();
        assert!(push(&mut lane));
        assert!(!lane.push(0, 0, Traffic::Other, &[0; 4_001]));
    }

    #[test]
    fn does_not_grow_the_ring_while_frames_fit() {
        let mut lane = Lane::new(1 << 20);
        for number in 0..10_000 {
            assert!(lane.push(number, number, Traffic::Other, &[0; 1_500]));
            if number >= 30 {
                lane.pop().unwrap();
            }
        }
        assert_eq!(lane.ring.len(), FIRST);
    }
}
