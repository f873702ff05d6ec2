//! Which family goes next, and which of its endpoints and requests: exact counts in a drawn order.
//!
//! A fixed order keeps step with whatever is periodic on the way (a timer's ticks, the exchange
//! before), for as long as a run lasts, and no statistics of that run can see it. A coin for each
//! exchange would keep step with nothing, but the counts would not be those that were asked for.

mod deal;
mod part;

pub use deal::{Choice, Deal};
pub use part::EvenShare;

use crate::plan::ratio::PlanRatio;
use sixmark_units::family::Family;
use sixmark_units::random::Random;

/// Draws whose order is decided at once, one bit for each.
const STRETCH: u64 = 64;
/// Every other bit, the first one included.
const EVEN: u64 = 0x5555_5555_5555_5555;
/// Keep the numbers drawn here apart from others that come of the same seed.
const ORDER: u64 = 0x6f72_6465_7200_0001;
const OFFSET: u64 = 0x6f72_6465_7200_0002;

/// A schedule of families at a ratio: each of its periods, which are as long as the sum of the ratio
/// in lowest terms, has the ratio exactly, in an order that the seed and the period's number decide.
///
/// Any draw can be looked up by its number, so that workers that take parts of one schedule draw,
/// together, what a single one would.
#[derive(Clone, Debug)]
pub struct FamilyMix {
    seed: u64,
    /// IPv6 draws of a period, and all.
    v6: u64,
    period: u64,
    /// How many draws there are, where that is known.
    total: Option<u64>,
    /// The stretch at hand: the number of its first draw, its families with the first in the lowest
    /// bit (1 is IPv6), how many there are, and the next one's place.
    first: u64,
    families: u64,
    length: u64,
    next: u64,
}

/// Draws in a row that have the ratio.
#[derive(Clone, Copy)]
struct Period {
    number: u64,
    first: u64,
    length: u64,
    v6: u64,
}

impl FamilyMix {
    /// A schedule that begins at its first draw. Where there are `total` draws, and these are no
    /// whole number of periods, the rest has the ratio rounded to the nearest, up at the half.
    pub fn new(ratio: PlanRatio, seed: u64, total: Option<u64>) -> FamilyMix {
        let (v6, period) = ratio.lowest();
        FamilyMix { seed, v6, period, total, first: 0, families: 0, length: 0, next: 0 }
    }

    /// The same from draw number `position` on.
    pub fn starting_at(mut self, position: u64) -> FamilyMix {
        self.turn_to(position);
        self
    }

    /// The family of draw number `position`; draws go on from there.
    #[inline]
    pub fn family_at(&mut self, position: u64) -> Family {
        let place = position.wrapping_sub(self.first);
        match place < self.length {
            true => self.next = place,
            false => self.turn_to(position),
        }
        self.draw()
    }

    /// The next family.
    #[inline]
    pub fn draw(&mut self) -> Family {
        if self.next >= self.length {
            self.turn_to(self.first + self.length);
        }
        let bit = self.families >> self.next & 1;
        self.next += 1;
        if bit == 1 { Family::Ipv6 } else { Family::Ipv4 }
    }

    /// Makes the stretch with draw number `position` the one at hand.
    fn turn_to(&mut self, position: u64) {
        match self.period {
            1 => self.same(position),
            2..=STRETCH => self.several_periods(position),
            _ => self.part_of_period(position),
        }
        self.next = position - self.first;
    }

    /// One family alone.
    fn same(&mut self, position: u64) {
        self.first = position - position % STRETCH;
        (self.families, self.length) = (if self.v6 == 0 { 0 } else { u64::MAX }, STRETCH);
    }

    /// As many whole periods as there are bits for.
    fn several_periods(&mut self, position: u64) {
        let count = STRETCH / self.period;
        self.length = count * self.period;
        self.first = position - position % self.length;
        let mut random = Random::new(self.seed ^ ORDER, self.first / self.length);
        let whole = self.total.is_none_or(|total| self.first + self.length <= total);
        if self.period == 2 && whole {
            // The first of each pair, and what is left for the second.
            let first = random.bits() & EVEN;
            self.families = first | (!first & EVEN) << 1;
            return;
        }
        self.families = 0;
        for number in 0..count {
            let period = self.period_with(self.first + number * self.period);
            let families = order(&mut random, period.length, period.v6);
            self.families |= families << (number * self.period);
        }
    }

    /// A part of a long period, with a part of its IPv6 draws: those that lie on a line through the
    /// whole, which is moved by a drawn offset so that every draw is as likely as any to be IPv6.
    fn part_of_period(&mut self, position: u64) {
        let period = self.period_with(position);
        let length = u128::from(period.length.max(1));
        let offset = Random::new(self.seed ^ OFFSET, period.number).below(period.length);
        let line = |k: u64| (u128::from(k) * u128::from(period.v6) + u128::from(offset)) / length;
        let into = position - period.first;
        let begin = into - into % STRETCH;
        let end = period.length.min(begin + STRETCH).max(into + 1);
        (self.first, self.length) = (period.first + begin, end - begin);
        let mut random = Random::new(self.seed ^ ORDER, self.first);
        let v6 = (line(end) - line(begin)) as u64;
        self.families = order(&mut random, self.length, v6);
    }

    /// The period with draw number `position`; of the last one only what there is.
    fn period_with(&self, position: u64) -> Period {
        let number = position / self.period;
        let first = number * self.period;
        let left = self.total.map_or(self.period, |total| total.saturating_sub(first));
        if left >= self.period {
            return Period { number, first, length: self.period, v6: self.v6 };
        }
        let twice = u128::from(left) * u128::from(self.v6) * 2 + u128::from(self.period);
        let v6 = (twice / (u128::from(self.period) * 2)) as u64;
        Period { number, first, length: left, v6 }
    }
}

/// `ones` of `length` bits, every choice of them equally likely (selection sampling: Knuth, The Art
/// of Computer Programming, 3.4.2, algorithm S).
fn order(random: &mut Random, length: u64, ones: u64) -> u64 {
    let (mut bits, mut left) = (0, ones);
    for place in 0..length {
        if random.below(length - place) < left {
            bits |= 1 << place;
            left -= 1;
        }
    }
    bits
}

/// How many of `total` things each of `workers` takes, so that the first ones take one more where it
/// does not come out even: (position of the first, how many) of worker number `worker`.
pub fn share_of_worker(total: u64, workers: u64, worker: u64) -> (u64, u64) {
    let (each, over) = (total / workers, total % workers);
    (worker * each + worker.min(over), each + u64::from(worker < over))
}

#[cfg(test)]
mod tests;
