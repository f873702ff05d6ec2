//! The bytes of a stream that have been seen.

use std::ops::Range;

/// The ranges of stream positions that have been seen, sorted and disjoint.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(Vec<Range<i64>>);

/// The maximum number of ranges. More gaps than this indicate an attack; the oldest gap is then
/// treated as filled.
const MOST: usize = 64;

impl Seen {
    /// Adds a range and returns how many of its bytes are new.
    pub(super) fn add(&mut self, new: Range<i64>) -> u64 {
        if new.is_empty() {
            return 0;
        }
        // The usual case: the range continues the last one.
        if let Some(last) = self.0.last_mut().filter(|last| last.end == new.start) {
            last.end = new.end;
            return (new.end - new.start) as u64;
        }
        // The ranges that overlap or touch it are `first..last`.
        let first = self.0.partition_point(|range| range.end < new.start);
        let last = self.0.partition_point(|range| range.start <= new.end);
        let touched = &self.0[first..last];
        let known: i64 = touched.iter().map(|range| overlap(range, &new)).sum();
        let start = touched.first().map_or(new.start, |range| range.start.min(new.start));
        let end = touched.last().map_or(new.end, |range| range.end.max(new.end));
        let length = new.end - new.start;
        self.0.splice(first..last, std::iter::once(start..end));
        if self.0.len() > MOST {
            let forgotten = self.0.remove(0);
            self.0[0].start = forgotten.start;
        }
        (length - known) as u64
    }

    /// Returns the position of the first byte seen.
    pub(super) fn start(&self) -> Option<i64> {
        self.0.first().map(|range| range.start)
    }

    /// Returns whether all bytes of a range have been seen.
    pub(super) fn has(&self, all: Range<i64>) -> bool {
        all.is_empty() || self.0.iter().any(|range| overlap(range, &all) == all.end - all.start)
    }
}

fn overlap(a: &Range<i64>, b: &Range<i64>) -> i64 {
    (a.end.min(b.end) - a.start.max(b.start)).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_units::random::Random;

    #[test]
    fn counts_each_byte_as_new_once_in_any_order() {
        let mut random = Random::new(7, 0);
        for _ in 0..2_000 {
            let (mut seen, mut naive) = (Seen::default(), [false; 300]);
            for _ in 0..50 {
                let start = random.below(280) as i64;
                let range = start..start + random.below(20) as i64;
                let places = &mut naive[range.start as usize..range.end as usize];
                let expected = places.iter().filter(|known| !**known).count() as u64;
                places.fill(true);
                assert_eq!(seen.add(range), expected);
            }
            let (a, b) = (random.below(300) as i64, random.below(300) as i64);
            let all = naive.get(a as usize..b as usize).is_none_or(|part| part.iter().all(|x| *x));
            assert_eq!(seen.has(a..b), all);
        }
    }

    #[test]
    fn limits_the_number_of_remembered_ranges() {
        let mut seen = Seen::default();
        for n in 0..100_000 {
            assert_eq!(seen.add(n * 2..n * 2 + 1), 1);
        }
        assert_eq!(seen.0.len(), MOST);
    }
}
