//! The seconds of a run over both families at once, as pairs of blocks.

use super::{Pair, Stretch};
use crate::family::PerFamily;
use crate::tally::SliceTally;

/// As many pairs are never kept: neighbours are joined before, and blocks are twice as long from
/// then on. So memory does not grow with time, and 60 blocks tell as much as 3,600.
const MOST: usize = 120;

/// Slices shorter than this part of a second are left out: the run's first and last may be.
const WHOLE_NS: u64 = 900_000_000;

/// Pairs in the making: side A is IPv6, side B IPv4.
#[derive(Debug)]
pub struct Slices {
    pairs: Vec<Pair>,
    /// Slices that the last pair has, and that each gets.
    last: usize,
    each: usize,
    left_out: usize,
}

/// The pairs of a whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sliced {
    /// As many slices in each, in their order.
    pub pairs: Vec<Pair>,
    /// Slices that are in none.
    pub left_out: usize,
}

impl Default for Slices {
    fn default() -> Self {
        Slices { pairs: Vec::new(), last: 0, each: 1, left_out: 0 }
    }
}

impl Slices {
    /// Takes in what both families did in the next `length_ns` nanoseconds.
    pub fn add(&mut self, length_ns: u64, families: &PerFamily<SliceTally>) {
        if length_ns < WHOLE_NS {
            self.left_out += 1;
            return;
        }
        let of = |slice| stretch(slice, length_ns);
        let pair = Pair { a: of(&families.ipv6), b: of(&families.ipv4) };
        match self.pairs.last_mut().filter(|_| self.last < self.each) {
            Some(open) => open.join(&pair),
            None => {
                self.make_room();
                self.pairs.push(pair);
                self.last = 0;
            }
        }
        self.last += 1;
    }

    /// All pairs. The last one is left out where the run ended before it had its share.
    pub fn end(mut self) -> Sliced {
        if self.last < self.each && self.pairs.pop().is_some() {
            self.left_out += self.last;
        }
        Sliced { pairs: self.pairs, left_out: self.left_out }
    }

    fn make_room(&mut self) {
        if self.pairs.len() < MOST {
            return;
        }
        let joined = |two: &[Pair]| {
            let mut one = two[0].clone();
            two[1..].iter().for_each(|pair| one.join(pair));
            one
        };
        self.pairs = self.pairs.chunks(2).map(joined).collect();
        self.each *= 2;
    }
}

fn stretch(slice: &SliceTally, length_ns: u64) -> Stretch {
    let mut of = Stretch {
        elapsed_s: length_ns as f64 / 1e9,
        sent: slice.sent,
        completed: slice.completed,
        failed: slice.failed,
        body_bytes: slice.body,
        tls: slice.tls.clone(),
        ..Stretch::default()
    };
    of.phases.connect = slice.connect.clone();
    of.phases.wait = slice.wait.clone();
    of.phases.response = slice.response.clone();
    of
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn second(number: u64) -> PerFamily<SliceTally> {
        let mut families = PerFamily::<SliceTally>::default();
        (families.ipv6.sent, families.ipv4.sent) = (number, 2 * number);
        families.ipv6.wait.record(number);
        families
    }

    fn sent(pairs: &[Pair]) -> Vec<u64> {
        pairs.iter().map(|pair| pair.a.sent).collect()
    }

    #[test]
    fn each_whole_second_is_a_pair() {
        let mut slices = Slices::default();
        for (number, length) in [(1, SECOND), (2, SECOND), (3, SECOND / 2)] {
            slices.add(length, &second(number));
        }
        let Sliced { pairs, left_out } = slices.end();
        assert_eq!((sent(&pairs), pairs[1].b.sent, left_out), (vec![1, 2], 4, 1));
        assert_eq!((pairs[0].a.phases.wait.count(), pairs[0].a.elapsed_s), (1, 1.0));
    }

    #[test]
    fn a_long_run_has_as_many_longer_ones() {
        let mut slices = Slices::default();
        (0..1_000).for_each(|_| slices.add(SECOND, &second(1)));
        let Sliced { pairs, left_out } = slices.end();
        assert_eq!(left_out, 8);
        // 120 and 240 and 480 and 960 seconds fill it; 16 to a pair then.
        assert_eq!(sent(&pairs), vec![16; 62]);
        assert!((pairs[0].b.elapsed_s - 16.0).abs() < 1e-9);
        assert_eq!(pairs[61].a.phases.wait.count(), 16);
    }
}
