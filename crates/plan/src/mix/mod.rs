//! Selection of the next family, endpoint and request: exact counts in a random order.
//!
//! A fixed order may stay in phase with something periodic on the path (a timer's ticks, the
//! previous exchange) for as long as a run lasts, and no statistics of that run can detect it. An
//! independent draw for each exchange would avoid that, but the counts would not be the ones
//! requested.
//!
//! Poisson arrivals are the exception: exact counts in every short stretch would make each family,
//! endpoint and request more regular than a Poisson process is, so their queues would be too short.
//! They are drawn independently ([`WeightedDraw`]; families in `dues`).

mod choice;
mod deal;
mod draw;
mod part;

pub use choice::{Choice, Turns};
pub use deal::Deal;
pub use draw::{WeightedDraw, divide_by_weights};
pub use part::{EvenShare, ShareTurns};

use crate::plan::ratio::PlanRatio;
use sixmark_units::family::Family;
use sixmark_units::random::Random;

/// The number of draws whose order is determined at once, one bit for each.
const STRETCH: u64 = 64;
/// Every other bit, including the first one.
const EVEN: u64 = 0x5555_5555_5555_5555;
/// Separates these random numbers from others with the same seed.
const ORDER: u64 = 0x6f72_6465_7200_0001;
const OFFSET: u64 = 0x6f72_6465_7200_0002;

/// A schedule of families with a given ratio. A period is as long as the sum of the ratio in lowest
/// terms; each one has exactly that ratio, in an order that depends on the seed and the period's
/// number.
///
/// Any draw can be computed from its number, so that workers that share one schedule together make
/// the same draws as a single worker would.
#[derive(Clone, Debug)]
pub struct FamilyMix {
    seed: u64,
    /// The number of IPv6 draws in a period, and the length of a period.
    v6: u64,
    period: u64,
    /// The total number of draws, if it is known.
    total: Option<u64>,
    /// The current stretch: the number of its first draw, its families with the first in the lowest
    /// bit (1 is IPv6), its length, and the position of the next draw.
    first: u64,
    families: u64,
    length: u64,
    next: u64,
}

/// Consecutive draws with the given ratio.
#[derive(Clone, Copy)]
struct Period {
    number: u64,
    first: u64,
    length: u64,
    v6: u64,
}

impl FamilyMix {
    /// Creates a schedule that begins with the first draw. If `total` draws are not a whole number
    /// of periods, the remainder has the ratio rounded to the nearest, half up.
    pub fn new(ratio: PlanRatio, seed: u64, total: Option<u64>) -> FamilyMix {
        let (v6, period) = ratio.lowest();
        FamilyMix { seed, v6, period, total, first: 0, families: 0, length: 0, next: 0 }
    }

    /// Continues from draw number `position`.
    pub fn starting_at(mut self, position: u64) -> FamilyMix {
        self.turn_to(position);
        self
    }

    /// Returns the family of draw number `position`, and continues from there.
    #[inline]
    pub fn family_at(&mut self, position: u64) -> Family {
        let place = position.wrapping_sub(self.first);
        if place < self.length {
            self.next = place
        } else {
            self.turn_to(position)
        }
        self.draw()
    }

    /// Returns the next family.
    #[inline]
    pub fn draw(&mut self) -> Family {
        if self.next >= self.length {
            self.turn_to(self.first + self.length);
        }
        let bit = self.families >> self.next & 1;
        self.next += 1;
        if bit == 1 { Family::Ipv6 } else { Family::Ipv4 }
    }

    /// Makes the stretch that contains draw number `position` the current one.
    fn turn_to(&mut self, position: u64) {
        match self.period {
            1 => self.same(position),
            2..=STRETCH => self.several_periods(position),
            _ => self.part_of_period(position),
        }
        self.next = position - self.first;
    }

    /// Sets up a stretch of one family only.
    fn same(&mut self, position: u64) {
        self.first = position - position % STRETCH;
        (self.families, self.length) = (if self.v6 == 0 { 0 } else { u64::MAX }, STRETCH);
    }

    /// Sets up a stretch of as many whole periods as fit into the bits.
    fn several_periods(&mut self, position: u64) {
        let count = STRETCH / self.period;
        self.length = count * self.period;
        self.first = position - position % self.length;
        let mut random = Random::new(self.seed ^ ORDER, self.first / self.length);
        let whole = self.total.is_none_or(|total| self.first + self.length <= total);
        if self.period == 2 && whole {
            // A random family for the first of each pair, and the other one for the second.
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

    /// Sets up a part of a long period with a proportional part of its IPv6 draws. The proportion
    /// follows a line through the whole period with a random offset, so that every draw is equally
    /// likely to be IPv6.
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

    /// Returns the period that contains draw number `position`; the last one may be shorter.
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

/// Returns `length` bits of which `ones` are set, with every combination equally likely (selection
/// sampling: Knuth, The Art of Computer Programming, 3.4.2, algorithm S).
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

/// Returns the first position and the number of the things that worker number `worker` of `workers`
/// takes. They are divided evenly; the first workers take one more each if there is a remainder.
pub fn share_of_worker(total: u64, workers: u64, worker: u64) -> (u64, u64) {
    let (each, over) = (total / workers, total % workers);
    (worker * each + worker.min(over), each + u64::from(worker < over))
}

#[cfg(test)]
mod tests;
