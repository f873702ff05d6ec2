//! Random draws of endpoints and requests, for Poisson arrivals.

use std::sync::Arc;

use sixmark_units::random::Random;

/// Draws indices at random in proportion to weights, each independently of those before it.
///
/// A part of a Poisson process that is selected this way is a Poisson process itself. The turns of a
/// [`Deal`](super::Deal) would make each part more regular than that: an address or a request that
/// has exactly one of every two exchanges has gaps that vary by a quarter less.
#[derive(Clone, Debug)]
pub struct WeightedDraw {
    /// For each index the sum of the weights up to it, itself included.
    sums: Arc<[f64]>,
    random: Random,
    urn: Option<Urn>,
}

impl WeightedDraw {
    /// Creates a draw in proportion to `weights`, all above zero.
    pub fn new(weights: &[f64], random: Random) -> WeightedDraw {
        WeightedDraw::of_sums(sums_of(weights), random)
    }

    pub(super) fn of_sums(sums: Arc<[f64]>, random: Random) -> WeightedDraw {
        WeightedDraw { sums, random, urn: None }
    }

    /// Returns the same draw, whose first draws have exactly these counts, by index. Every order of
    /// them is equally likely.
    pub fn with_counts(self, counts: &[u64]) -> WeightedDraw {
        WeightedDraw { urn: Some(Urn::new(counts)), ..self }
    }

    /// Returns the next index; 0 if there is no choice.
    #[inline]
    pub fn draw(&mut self) -> usize {
        if self.sums.len() < 2 {
            return 0;
        }
        if let Some(urn) = self.urn.as_mut().filter(|urn| urn.left > 0) {
            return urn.take(self.random.below(urn.left));
        }
        let at = self.random.unit() * self.sums.last().copied().unwrap_or(0.0);
        self.sums.partition_point(|&sum| sum <= at).min(self.sums.len() - 1)
    }
}

pub(super) fn sums_of(weights: &[f64]) -> Arc<[f64]> {
    let add = |sum: &mut f64, &weight: &f64| {
        *sum += weight;
        Some(*sum)
    };
    weights.iter().scan(0.0, add).collect()
}

/// Divides `total` in proportion to `weights`, all above zero. Each part is rounded up or down, as a
/// draw from `random` decides, and their sum is `total`.
pub fn divide_by_weights(total: u64, weights: &[f64], random: &mut Random) -> Vec<u64> {
    let (offset, sums) = (random.unit(), sums_of(weights));
    let whole = sums.last().copied().unwrap_or(1.0);
    let mut before = 0;
    let part = |(index, sum): (usize, &f64)| {
        let up_to = if index + 1 == weights.len() {
            total
        } else {
            ((sum / whole * total as f64 + offset) as u64).clamp(before, total)
        };
        let part = up_to - before;
        before = up_to;
        part
    };
    sums.iter().enumerate().map(part).collect()
}

/// Indices in given numbers, taken one by one.
///
/// A binary indexed tree (Fenwick: A New Data Structure for Cumulative Frequency Tables, 1994) finds
/// the one at a given place in a number of steps that is the logarithm of their count.
#[derive(Clone, Debug)]
struct Urn {
    left: u64,
    tree: Vec<u64>,
}

impl Urn {
    fn new(counts: &[u64]) -> Urn {
        let mut tree = counts.to_vec();
        for place in 1..=tree.len() {
            let above = place + (place & place.wrapping_neg());
            if above <= tree.len() {
                tree[above - 1] += tree[place - 1];
            }
        }
        Urn { left: counts.iter().sum(), tree }
    }

    /// Takes the one at `place`, which is below the number left, and returns its index.
    fn take(&mut self, mut place: u64) -> usize {
        self.left -= 1;
        let mut index = 0;
        let mut step = self.tree.len().next_power_of_two();
        while step > 0 {
            let next = index + step;
            match self.tree.get(next - 1) {
                Some(&below) if below <= place => {
                    place -= below;
                    index = next;
                }
                Some(_) => self.tree[next - 1] -= 1,
                None => {}
            }
            step /= 2;
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHTS: [f64; 4] = [3.0, 1.0, 0.5, 0.5];

    fn counts(draw: &mut WeightedDraw, draws: u64) -> [u64; 4] {
        let mut counts = [0; 4];
        (0..draws).for_each(|_| counts[draw.draw()] += 1);
        counts
    }

    /// The gaps of an index that has the share p of independent draws are geometric, with a
    /// coefficient of variation of sqrt(1 - p).
    #[test]
    fn draws_have_their_weights_and_do_not_depend_on_each_other() {
        let mut draw = WeightedDraw::new(&WEIGHTS, Random::new(3, 0));
        let all: Vec<usize> = (0..100_000).map(|_| draw.draw()).collect();
        for (index, share) in [0.6, 0.2, 0.1, 0.1].into_iter().enumerate() {
            let places = || (0..all.len()).filter(|&place| all[place] == index);
            let found = places().count() as f64 / 1e5;
            assert!((found - share).abs() < 5.0 * (share * (1.0 - share) / 1e5).sqrt(), "{found}");
            let gaps: Vec<f64> =
                places().zip(places().skip(1)).map(|(a, b)| (b - a) as f64).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let squares = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>();
            let variation = (squares / gaps.len() as f64).sqrt() / mean;
            assert!((variation - (1.0 - share).sqrt()).abs() < 0.03, "{index}: {variation}");
        }
    }

    #[test]
    fn draws_the_exact_counts_in_random_order() {
        for (total, expected) in [(400, [240, 80, 40, 40]), (10, [6, 2, 1, 1])] {
            for seed in 0..50 {
                let mut random = Random::new(seed, 0);
                let parts = divide_by_weights(total, &WEIGHTS, &mut random);
                assert_eq!(parts, expected);
                let mut draw = WeightedDraw::new(&WEIGHTS, random).with_counts(&parts);
                assert_eq!(counts(&mut draw, total), expected);
                // Afterwards it goes on without an end.
                assert_eq!(counts(&mut draw, 1_000).iter().sum::<u64>(), 1_000);
            }
        }
        // Every place is as likely to be that of the rarest.
        let mut at = [0u32; 10];
        for seed in 0..20_000 {
            let draw = WeightedDraw::new(&WEIGHTS, Random::new(seed, 9));
            let mut draw = draw.with_counts(&[6, 2, 1, 1]);
            at[(0..10).position(|_| draw.draw() == 3).unwrap()] += 1;
        }
        assert!(at.iter().all(|count| count.abs_diff(2_000) < 215), "{at:?}");
    }

    #[test]
    fn divides_a_total_into_parts_within_one_of_their_share() {
        for length in [1, 2, 3, 7, 64, 1_000] {
            let weights: Vec<f64> = (0..length).map(|k| f64::from(1 + k % 5)).collect();
            let whole: f64 = weights.iter().sum();
            for total in [0, 1, 5, 999, 1_000_000_007] {
                let parts = divide_by_weights(total, &weights, &mut Random::new(total, 1));
                assert_eq!(parts.iter().sum::<u64>(), total);
                for (part, weight) in parts.iter().zip(&weights) {
                    let off = *part as f64 - weight / whole * total as f64;
                    assert!(off.abs() <= 1.0 + 1e-3, "{length} {total}: {off}");
                }
                let mut urn = Urn::new(&parts);
                let mut taken = vec![0; parts.len()];
                let some = total.min(500);
                (0..some).for_each(|_| taken[urn.take(urn.left - 1)] += 1);
                assert_eq!((taken.iter().sum::<u64>(), urn.left), (some, total - some));
            }
        }
    }
}
