//! Which family goes next, and which of its endpoints: low-discrepancy schedules, never a coin toss.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::family::Family;
use crate::pace::Random;
use crate::plan::ratio::Ratio;
use crate::plan::tls::Share;

/// A schedule of families at a ratio: after any `k` draws the number of IPv6 ones is less than one
/// away from `k` times IPv6's part (Bresenham's line, rounded at the half).
#[derive(Clone, Debug)]
pub struct Mix {
    ratio: Ratio,
    /// The line's error in units of one part of the ratio, below the ratio's sum.
    error: u64,
}

impl Mix {
    /// The schedule that begins at draw number `position` of the run's one long schedule. Workers
    /// that take adjoining stretches of it draw, together, exactly what a single one would.
    pub fn at(ratio: Ratio, position: u64) -> Mix {
        let sum = ratio.sum();
        let walked = u128::from(position) * u128::from(ratio.v6()) + u128::from(sum / 2);
        Mix { ratio, error: (walked % u128::from(sum)) as u64 }
    }

    /// The family at draw number `position` of the one long schedule, for those who don't draw in
    /// a row.
    pub fn family_at(ratio: Ratio, position: u64) -> Family {
        Mix::at(ratio, position).draw()
    }

    /// The family of entry number `position` of a timetable, whose requests are what they are: each
    /// stretch as long as the ratio's sum has the ratio exactly, but begins where `seed` says. With
    /// the plain schedule a recording that goes back and forth between two requests would have, at
    /// 1:1, all of the one go over IPv6.
    pub fn family_of_entry(ratio: Ratio, position: u64, seed: u64) -> Family {
        let sum = ratio.sum();
        let stretch = position / sum;
        let turn = Random::new(seed, stretch).bits() % sum;
        Mix::family_at(ratio, stretch * sum + (position % sum + turn) % sum)
    }

    /// The next family.
    pub fn draw(&mut self) -> Family {
        self.error += self.ratio.v6();
        if self.error >= self.ratio.sum() {
            self.error -= self.ratio.sum();
            return Family::Ipv6;
        }
        Family::Ipv4
    }
}

/// Draws a share of all, as evenly spaced as can be: after any `k` draws the number of those drawn
/// is at most a half away from `k` times the share.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    share: u32,
    error: u32,
}

impl Part {
    /// Begins.
    pub fn new(share: Share) -> Part {
        Part { share: share.millionths(), error: Share::WHOLE / 2 }
    }

    /// Whether the next one is of the share.
    pub fn draw(&mut self) -> bool {
        self.error += self.share;
        let drawn = self.error >= Share::WHOLE;
        self.error -= if drawn { Share::WHOLE } else { 0 };
        drawn
    }
}

/// How many of `total` things each of `workers` takes, so that the first ones take one more where it
/// does not come out even: (position of the first, how many) of worker number `worker`.
pub fn share(total: u64, workers: u64, worker: u64) -> (u64, u64) {
    let (each, over) = (total / workers, total % workers);
    (worker * each + worker.min(over), each + u64::from(worker < over))
}

/// Deals out indices in proportion to weights, each as evenly spaced as can be (a stride scheduler:
/// the k-th turn of an entry of weight w is due at (k + 1/2) / w).
#[derive(Clone, Debug)]
pub struct Deal {
    due: BinaryHeap<Reverse<Turn>>,
}

/// One entry's next turn.
#[derive(Clone, Copy, Debug)]
struct Turn {
    turns: u64,
    weight: f64,
    index: usize,
}

impl Turn {
    fn due(&self) -> f64 {
        (self.turns as f64 + 0.5) / self.weight
    }
}

impl Ord for Turn {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.due().total_cmp(&other.due()).then(self.index.cmp(&other.index))
    }
}

impl PartialOrd for Turn {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Turn {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Turn {}

impl Deal {
    /// Deals by `weights`, all above zero, having already dealt `skip` times.
    pub fn new(weights: &[f64], skip: u64) -> Deal {
        let turn = |(index, &weight)| Reverse(Turn { turns: 0, weight, index });
        let mut deal = Deal { due: weights.iter().enumerate().map(turn).collect() };
        for _ in 0..skip {
            deal.draw();
        }
        deal
    }

    /// The next index; 0 where there are no weights.
    pub fn draw(&mut self) -> usize {
        let Some(mut next) = self.due.peek_mut() else { return 0 };
        next.0.turns += 1;
        next.0.index
    }
}

/// Which request goes next, for one worker.
///
/// Each endpoint has a deal of its own: with one for all, two requests and two endpoints that take
/// turns would never be mixed, and the families would not be sent the same.
#[derive(Clone, Debug)]
pub struct Choice {
    deals: Vec<Deal>,
}

impl Choice {
    /// Requests by `weights`, all above zero, for each of `endpoints`. Workers and endpoints begin
    /// spread over one round of the mix, so that a short run has all of it too.
    pub fn new(weights: &[f64], endpoints: usize, worker: u32, workers: u32) -> Choice {
        if weights.len() < 2 {
            return Choice { deals: Vec::new() };
        }
        let (worker, all) = (worker as usize, workers as usize * endpoints);
        let skip = |endpoint| weights.len() * (worker * endpoints + endpoint) / all.max(1);
        let deal = |endpoint| Deal::new(weights, skip(endpoint) as u64);
        Choice { deals: (0..endpoints).map(deal).collect() }
    }

    /// The number of the request that goes to endpoint number `endpoint` next.
    pub fn draw(&mut self, endpoint: usize) -> usize {
        self.deals.get_mut(endpoint).map_or(0, Deal::draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(mix: &mut Mix, draws: u64) -> u64 {
        (0..draws).filter(|_| mix.draw() == Family::Ipv6).count() as u64
    }

    #[test]
    fn every_prefix_is_within_one_request_of_the_ratio_wherever_a_worker_begins() {
        for (v6, v4) in [(1, 1), (4, 1), (1, 4), (1, 0), (0, 1), (3, 7), (997, 13), (1, 1_000_000)]
        {
            let ratio = Ratio::new(v6, v4).unwrap();
            for position in [0, 1, 7, 5_000, u64::MAX / 3] {
                let (mut mix, mut drawn) = (Mix::at(ratio, position), 0u64);
                for k in 1..=3_000u64 {
                    drawn += u64::from(mix.draw() == Family::Ipv6);
                    let exact = k as f64 * v6 as f64 / (v6 + v4) as f64;
                    assert!((drawn as f64 - exact).abs() < 1.0, "{v6}:{v4} at {position}+{k}");
                }
            }
        }
    }

    #[test]
    fn the_total_is_exact_whatever_the_number_of_workers() {
        for (v6, v4, expected) in [(4, 1, 8_000), (1, 1, 5_000), (1, 4, 2_000), (2, 1, 6_667)] {
            for workers in [1, 2, 3, 7, 64, 1_000] {
                let drawn: u64 = (0..workers)
                    .map(|worker| share(10_000, workers, worker))
                    .map(|(at, n)| count(&mut Mix::at(Ratio::new(v6, v4).unwrap(), at), n))
                    .sum();
                assert_eq!(drawn, expected, "{v6}:{v4} over {workers}");
            }
        }
    }

    #[test]
    fn a_part_is_within_a_half_of_its_share_at_any_time() {
        for share in [0.0, 0.000_001, 0.2, 0.5, 0.8, 0.999_999, 1.0] {
            let (mut part, mut drawn) = (Part::new(Share::try_from(share).unwrap()), 0u32);
            for k in 1..=5_000u32 {
                drawn += u32::from(part.draw());
                let off = f64::from(drawn) - f64::from(k) * share;
                assert!(off.abs() <= 0.5 + 1e-9, "{share}: {drawn} of {k}");
            }
        }
    }

    #[test]
    fn shares_adjoin_and_add_up() {
        for (total, workers) in [(0, 3), (1, 3), (10, 3), (10_000, 7), (u64::MAX, 2)] {
            let mut next = 0;
            for worker in 0..workers {
                let (at, n) = share(total, workers, worker);
                assert_eq!(at, next);
                next = at + n;
            }
            assert_eq!(next, total);
        }
    }

    #[test]
    fn a_deal_spreads_entries_evenly_by_weight() {
        let mut deal = Deal::new(&[3.0, 1.0], 0);
        let dealt: Vec<_> = (0..8).map(|_| deal.draw()).collect();
        assert_eq!(dealt, [0, 0, 1, 0, 0, 0, 1, 0]);
        let mut equal = Deal::new(&[1.0; 3], 1);
        assert_eq!((0..4).map(|_| equal.draw()).collect::<Vec<_>>(), [1, 2, 0, 1]);
    }

    #[test]
    fn every_endpoint_gets_the_mix_whatever_the_order_of_the_endpoints() {
        let weights = [3.0, 1.0, 1.0];
        for workers in [1, 2, 5] {
            let mut sent = [[0u32; 3]; 2];
            for worker in 0..workers {
                let mut choice = Choice::new(&weights, 2, worker, workers);
                for k in 0..1_000 {
                    sent[k % 2][choice.draw(k % 2)] += 1;
                }
            }
            let each = 100 * workers;
            for of in sent {
                let expected = [3 * each, each, each];
                let fits = of.iter().zip(expected).all(|(&a, b)| a.abs_diff(b) <= workers);
                assert!(fits, "{workers}: {of:?}");
            }
        }
        let mut one = Choice::new(&[2.0], 4, 0, 1);
        assert_eq!((one.draw(0), one.draw(3)), (0, 0));
    }

    #[test]
    fn a_recording_has_the_ratio_and_each_of_its_requests_both_families() {
        for (v6, v4) in [(1, 1), (4, 1), (1, 3), (1, 0)] {
            let ratio = Ratio::new(v6, v4).unwrap();
            let sum = u64::from(v6 + v4);
            let is_v6 = |&k: &u64| Mix::family_of_entry(ratio, k, 9) == Family::Ipv6;
            assert_eq!((0..100 * sum).filter(is_v6).count() as u64, 100 * u64::from(v6));
            let part = f64::from(v6) / f64::from(v6 + v4);
            for request in 0..2 {
                let of = (0..20_000).filter(|k| k % 2 == request).filter(is_v6).count();
                assert!((of as f64 / 10_000.0 - part).abs() < 0.03, "{ratio} {request}: {of}");
            }
        }
    }
}
