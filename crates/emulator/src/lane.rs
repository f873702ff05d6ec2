//! Frames on their way, in the order in which they arrive: their bytes in one ring that grows to what
//! is under way and then stays, so that a frame costs a copy and no allocation.

use std::collections::VecDeque;

use super::frame::Traffic;

/// One behind the other.
#[derive(Debug)]
pub(super) struct Lane {
    ring: Vec<u8>,
    frames: VecDeque<Held>,
    largest: usize,
}

/// A frame on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// When it arrives.
    pub(super) due_ns: u64,
    /// Which one of the line's it is.
    pub(super) number: u64,
    pub(super) traffic: Traffic,
    start: usize,
    length: usize,
}

const FIRST: usize = 64 << 10;

impl Lane {
    /// One whose ring has at most so many bytes.
    pub(super) fn new(largest: usize) -> Lane {
        Lane { ring: Vec::new(), frames: VecDeque::new(), largest }
    }

    /// The first one.
    pub(super) fn first(&self) -> Option<&Held> {
        self.frames.front()
    }

    /// When the last one arrives.
    pub(super) fn last_due_ns(&self) -> u64 {
        self.frames.back().map_or(0, |held| held.due_ns)
    }

    /// Adds one behind the others, which it must not arrive before. False where there is no room.
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

    /// Takes the first one.
    pub(super) fn pop(&mut self) -> Option<(Held, &[u8])> {
        let held = self.frames.pop_front()?;
        Some((held, &self.ring[held.start..held.start + held.length]))
    }

    /// Where so many bytes in a row are free.
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

    /// Twice as large, the frames in their order at its beginning.
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
    fn frames_come_out_as_they_went_in_whatever_the_ring_does() {
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
    fn a_full_one_takes_no_more_until_one_has_gone() {
        let mut lane = Lane::new(4_000);
        let push = |lane: &mut Lane| lane.push(0, 0, Traffic::Other, &[7; 1_500]);
        assert_eq!([push(&mut lane), push(&mut lane), push(&mut lane)], [true, true, false]);
        lane.pop().unwrap();
        assert!(push(&mut lane));
        assert!(!lane.push(0, 0, Traffic::Other, &[0; 4_001]));
    }

    #[test]
    fn what_was_once_enough_is_not_allocated_again() {
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
