//! Division of a sequence of arrivals among equal parts, each of which keeps the ratio of families.

use sixmark_units::family::Family;
use sixmark_units::random::Random;

/// Separates these random numbers from others with the same seed.
const DEAL: u64 = 0x6465_616c_0000_0001;

/// An arrival that is divided: its number among those of all workers, and its family.
pub(super) type NumberedFamily = (u64, Family);

/// Divides arrivals among parts: of each row of as many consecutive ones as there are parts, each
/// part gets one.
///
/// Those over IPv6 are dealt in rounds, like cards: each part gets one before any gets another. So
/// after any number of rows the parts' counts of IPv6 differ by at most one, and those of IPv4 too,
/// and every part has the ratio as exactly as the whole has. Who is first in a round, and who gets
/// which of the arrivals of a family in a row, is drawn.
#[derive(Clone, Debug)]
pub(super) struct Dealer {
    /// The part whose arrivals are wanted.
    part: u32,
    random: Random,
    /// All parts; those that have not had their arrival over IPv6 in this round come first.
    deck: Vec<u32>,
    undealt: usize,
    row: Vec<NumberedFamily>,
    /// The parts that get arrivals over IPv6 in the row, or over IPv4.
    takers: Vec<u32>,
}

impl Dealer {
    /// Creates a division into `parts`, of which number `part` is wanted. Dealers that are to agree
    /// have the same `seed` and `stream`.
    pub(super) fn new(parts: u32, part: u32, seed: u64, stream: u64) -> Dealer {
        let undealt = parts as usize;
        Dealer {
            part,
            random: Random::new(seed ^ DEAL, stream),
            deck: (0..parts).collect(),
            undealt,
            row: Vec::with_capacity(undealt),
            takers: Vec::with_capacity(undealt),
        }
    }

    /// Returns the part's arrival of the next row, whose arrivals `next` returns.
    pub(super) fn take(&mut self, mut next: impl FnMut() -> NumberedFamily) -> NumberedFamily {
        let parts = self.deck.len();
        if parts < 2 {
            return next();
        }
        self.row.clear();
        self.row.extend(std::iter::repeat_with(&mut next).take(parts));
        let of_v6 = self.row.iter().filter(|(_, family)| *family == Family::Ipv6).count();
        self.deal(of_v6);
        let (v6, v4) = self.takers.split_at(of_v6);
        let (mut v6, mut v4) = (v6.iter(), v4.iter());
        let takes = |&&(_, family): &&NumberedFamily| {
            let taker = if family == Family::Ipv6 { v6.next() } else { v4.next() };
            taker == Some(&self.part)
        };
        // Every part is among the takers, so there is one.
        self.row.iter().find(takes).copied().unwrap_or(self.row[0])
    }

    /// Lists the parts that get the next `of_v6` arrivals over IPv6 in `takers`, followed by the
    /// others, both in random order. They are the parts that have not had theirs in this round, or
    /// all of those and some for the next round.
    fn deal(&mut self, of_v6: usize) {
        let parts = self.deck.len();
        self.takers.clear();
        let (rest, from) =
            if of_v6 <= self.undealt { (of_v6, 0) } else { (of_v6 - self.undealt, self.undealt) };
        let end = if from == 0 { self.undealt } else { parts };
        // A part of a shuffle (Knuth, The Art of Computer Programming, 3.4.2, algorithm P): `rest`
        // of those between `from` and `end` are moved to the end.
        for drawn in 0..rest {
            let last = end - 1 - drawn;
            let place = from + self.random.below((last - from + 1) as u64) as usize;
            self.deck.swap(place, last);
        }
        let dealt = end - rest;
        self.takers.extend_from_slice(&self.deck[..from]);
        self.takers.extend_from_slice(&self.deck[dealt..end]);
        self.takers.extend_from_slice(&self.deck[from..dealt]);
        self.takers.extend_from_slice(&self.deck[end..]);
        self.undealt = if dealt == 0 { parts } else { dealt };
        let (v6, v4) = self.takers.split_at_mut(of_v6);
        for takers in [v6, v4] {
            for place in (1..takers.len()).rev() {
                takers.swap(place, self.random.below(place as u64 + 1) as usize);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deals arrivals whose families are drawn with this share of IPv6. Returns those of each part.
    fn dealt(parts: u32, share: f64, rows: usize, seed: u64) -> Vec<Vec<NumberedFamily>> {
        let part = |part| {
            let mut dealer = Dealer::new(parts, part, seed, 7);
            let (mut random, mut number) = (Random::new(seed, 1), 0);
            let mut next = || {
                let family = if random.unit() < share { Family::Ipv6 } else { Family::Ipv4 };
                number += 1;
                (number - 1, family)
            };
            (0..rows).map(|_| dealer.take(&mut next)).collect()
        };
        (0..parts).map(part).collect()
    }

    #[test]
    fn deals_one_arrival_of_each_row_to_each_part() {
        for (parts, share) in [(1, 0.5), (2, 0.5), (3, 0.8), (7, 0.01), (16, 1.0), (5, 0.0)] {
            let of_parts = dealt(parts, share, 500, 3);
            for row in 0..500 {
                let mut numbers: Vec<u64> = of_parts.iter().map(|part| part[row].0).collect();
                numbers.sort_unstable();
                let first = row as u64 * u64::from(parts);
                assert!(numbers.into_iter().eq(first..first + u64::from(parts)), "{parts} {row}");
            }
        }
    }

    #[test]
    fn keeps_family_counts_of_the_parts_within_one_after_each_row() {
        for (parts, share) in [(2, 0.5), (3, 0.8), (7, 0.01), (16, 0.99), (4, 0.75)] {
            for seed in 0..20 {
                let of_parts = dealt(parts, share, 500, seed);
                let mut counts = vec![0u32; parts as usize];
                for row in 0..500 {
                    for (count, part) in counts.iter_mut().zip(&of_parts) {
                        *count += u32::from(part[row].1 == Family::Ipv6);
                    }
                    let (least, most) = (counts.iter().min(), counts.iter().max());
                    assert!(most <= least.map(|least| least + 1).as_ref(), "{parts}: {counts:?}");
                }
            }
        }
    }

    /// A part at a fixed place of its rows would be in phase with whatever else is periodic.
    #[test]
    fn gives_each_part_every_position_and_family_equally_often() {
        let (parts, rows) = (4u32, 40_000usize);
        for part in dealt(parts, 0.5, rows, 11) {
            let mut at = [[0u32; 2]; 4];
            for (number, family) in part {
                at[number as usize % 4][usize::from(family == Family::Ipv6)] += 1;
            }
            // Each place and family is an eighth; five standard deviations.
            let expected = rows as f64 / 8.0;
            let error = 5.0 * (expected * 7.0 / 8.0).sqrt();
            let near = |&count: &u32| (f64::from(count) - expected).abs() < error;
            assert!(at.as_flattened().iter().all(near), "{at:?}");
        }
    }
}
