//! Selection of endpoints and requests in turns, in proportion to their weights.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sixmark_units::random::Random;

/// Separates these random numbers from others with the same seed.
const TURNS: u64 = 0x7475_726e_7300_0001;

/// Selects indices in proportion to weights. An entry of weight w has one turn in each interval of
/// 1/w of the deal's time, at a random moment in it. Entries of equal weight thus have one turn
/// each in every round, in a different order each time.
#[derive(Clone, Debug)]
pub struct Deal {
    due: BinaryHeap<Reverse<EntryTurn>>,
    random: Random,
    /// The offset of all turns within their intervals, from 0 to below 1.
    shift: f64,
}

/// One entry's next turn.
#[derive(Clone, Copy, Debug)]
struct EntryTurn {
    due: f64,
    turns: u64,
    weight: f64,
    index: usize,
}

impl Ord for EntryTurn {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.due.total_cmp(&other.due).then(self.index.cmp(&other.index))
    }
}

impl PartialOrd for EntryTurn {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for EntryTurn {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for EntryTurn {}

impl Deal {
    /// Creates deal number `number` with `weights`, all above zero, in an order that depends on
    /// `seed`. The `shift` (from 0 to below 1) moves the start within the first round; workers use
    /// different ones, so that even a short run includes all entries.
    pub fn new(weights: &[f64], seed: u64, number: u64, shift: f64) -> Deal {
        let random = Random::new(seed ^ TURNS, number);
        let mut deal = Deal { due: BinaryHeap::new(), random, shift };
        let turns: Vec<_> =
            weights.iter().enumerate().map(|(index, &w)| deal.turn(0, w, index)).collect();
        deal.due = turns.into_iter().map(Reverse).collect();
        deal
    }

    /// Returns turn number `turns` of an entry.
    fn turn(&mut self, turns: u64, weight: f64, index: usize) -> EntryTurn {
        let moment = (self.random.unit() + self.shift).fract();
        EntryTurn { due: (turns as f64 + moment) / weight, turns, weight, index }
    }

    /// Returns the next index; 0 if there is no choice.
    #[inline]
    pub fn draw(&mut self) -> usize {
        if self.due.len() < 2 {
            return 0;
        }
        let Some(&Reverse(EntryTurn { turns, weight, index, .. })) = self.due.peek() else {
            return 0;
        };
        let next = self.turn(turns + 1, weight, index);
        if let Some(mut first) = self.due.peek_mut() {
            first.0 = next;
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deals_the_exact_weights_in_a_random_order_in_each_round() {
        let rounds = |weights: &[f64], length: usize, seed| {
            let mut deal = Deal::new(weights, seed, 0, 0.0);
            let mut round = || (0..length).map(|_| deal.draw()).collect::<Vec<_>>();
            (0..1_000).map(|_| round()).collect::<Vec<_>>()
        };
        for seed in 0..5 {
            let three = rounds(&[1.0; 3], 3, seed);
            let mut orders: Vec<_> = three.clone();
            orders.sort_unstable();
            orders.dedup();
            assert_eq!(orders.len(), 6, "all orders of three");
            for mut round in three {
                round.sort_unstable();
                assert_eq!(round, [0, 1, 2]);
            }
            let ones = rounds(&[3.0, 1.0], 4, seed);
            let mut at = [0; 4];
            for round in &ones {
                assert_eq!(round.iter().filter(|&&index| index == 1).count(), 1, "{round:?}");
                at[round.iter().position(|&index| index == 1).unwrap()] += 1;
            }
            assert!(at.iter().all(|&count| (100..420).contains(&count)), "{at:?}");
        }
        assert_ne!(rounds(&[1.0; 3], 3, 1), rounds(&[1.0; 3], 3, 2));
        assert_eq!(rounds(&[1.0; 3], 3, 7), rounds(&[1.0; 3], 3, 7));
    }

    #[test]
    fn workers_with_the_same_deal_start_at_different_entries() {
        for seed in 0..20 {
            let first = |worker| Deal::new(&[1.0; 64], seed, 0, f64::from(worker) / 8.0).draw();
            let mut firsts: Vec<_> = (0..8).map(first).collect();
            firsts.sort_unstable();
            firsts.dedup();
            assert!(firsts.len() >= 7, "{firsts:?}");
        }
    }
}
