//! Quantiles of all blocks of a side together, of resampled blocks, and of blocks exchanged between
//! the sides.
//!
//! A block is stored as cumulative counts, one for each value that occurs in any block; the counts
//! of all blocks for one value are adjacent. Bisection then finds a quantile of any choice of
//! blocks in about twelve steps, each of which is a sum over the blocks, whatever the number of
//! samples.

use super::Refused;
use super::bootstrap::draw;
use super::swaps::{SwapTest, swap_test};
use sixmark_units::random::Random;

/// The number of samples that must lie beyond a quantile on each side. With fewer, a few samples
/// would decide the result.
pub const TAIL_SAMPLES: u64 = 100;

/// The values of a block in ascending order, with the number of times that each occurs.
pub type Counted = Vec<(f64, u64)>;

/// Pairs of blocks, prepared for the computation of quantiles.
#[derive(Clone, Debug)]
pub struct Pool {
    pairs: usize,
    values: Vec<f64>,
    a: Vec<u64>,
    b: Vec<u64>,
}

/// A quantile of both sides in one draw.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drawn {
    /// The quantile of side A.
    pub a: f64,
    /// The quantile of side B.
    pub b: f64,
}

/// A quantile and the range of rows in which to search for it.
struct QuantileBracket {
    q: f64,
    low: usize,
    high: usize,
}

impl Pool {
    /// Creates a pool from pairs of a block of side A and a block of side B. All values of A are
    /// multiplied by `factor`.
    ///
    /// # Errors
    /// No pair; a side without a sample; a value that is not finite.
    pub fn new(pairs: &[(Counted, Counted)], factor: f64) -> Result<Pool, Refused> {
        let scaled = |(value, count): &(f64, u64)| (value * factor, *count);
        let a: Vec<Counted> = pairs.iter().map(|(a, _)| a.iter().map(scaled).collect()).collect();
        let b: Vec<&Counted> = pairs.iter().map(|(_, b)| b).collect();
        let values = axis(a.iter().chain(b.iter().copied()))?;
        let cumulated = |of: &mut dyn Iterator<Item = &Counted>| cumulate(&values, pairs.len(), of);
        let (of_a, of_b) = (cumulated(&mut a.iter()), cumulated(&mut b.iter().copied()));
        let pool = Pool { pairs: pairs.len(), a: of_a, b: of_b, values };
        if pool.samples().contains(&0) { Err(Refused::Empty) } else { Ok(pool) }
    }

    /// Returns the number of samples of each side.
    pub fn samples(&self) -> [u64; 2] {
        let last = self.values.len().saturating_sub(1) * self.pairs;
        let all = |side: &[u64]| side.get(last..).map_or(0, |counts| counts.iter().sum());
        [all(&self.a), all(&self.b)]
    }

    /// Returns an error if too few samples lie beyond a quantile.
    ///
    /// # Errors
    /// Fewer than 100 samples on either side.
    pub fn tail(&self, q: f64) -> Result<(), Refused> {
        let fewest = self.samples().into_iter().min().unwrap_or(0);
        let have = (fewest as f64 * (1.0 - q) + 1e-6).floor() as u64;
        if have < TAIL_SAMPLES {
            Err(Refused::ThinTail { have, need: TAIL_SAMPLES })
        } else {
            Ok(())
        }
    }

    /// Returns the measured quantile of each side.
    pub fn quantile(&self, q: f64) -> Drawn {
        let times = vec![1; self.pairs];
        self.drawn(&times, &self.range(q))
    }

    /// Returns the quantiles of `resamples` draws of the pairs with replacement: one list of draws
    /// for each of `qs`.
    pub fn bootstrap(&self, qs: &[f64], resamples: u32, random: &mut Random) -> Vec<Vec<Drawn>> {
        let mut times = vec![0; self.pairs];
        let mut all = vec![Vec::with_capacity(resamples as usize); qs.len()];
        let ranges = self.ranges(qs);
        for _ in 0..resamples {
            draw(&mut times, random);
            for (found, range) in all.iter_mut().zip(&ranges) {
                found.push(self.drawn(&times, range));
            }
        }
        all
    }

    /// Tests the distance of the quantiles (the logarithm of their ratio) against its distribution
    /// under exchanges of the sides within pairs. Returns one test for each of `qs`.
    pub fn swaps(&self, qs: &[f64], swaps: u32, random: &mut Random) -> Vec<SwapTest> {
        let ranges = self.ranges(qs);
        swap_test(self.pairs, swaps, random, qs.len(), |swapped, out| {
            for (out, range) in out.iter_mut().zip(&ranges) {
                *out = self.effect(swapped, range);
            }
        })
    }

    fn ranges(&self, qs: &[f64]) -> Vec<QuantileBracket> {
        qs.iter().map(|&q| self.range(q)).collect()
    }

    /// Returns the range to search: a quantile of several blocks together lies between the smallest
    /// and the largest quantile of a single block.
    fn range(&self, q: f64) -> QuantileBracket {
        let whole = QuantileBracket { q, low: 0, high: self.values.len() - 1 };
        let of = |side: &[u64], pair: usize| {
            let count = |row: usize| self.row(side, row)[pair];
            (count(whole.high) > 0).then(|| self.place(count, &whole))
        };
        let all = (0..self.pairs).flat_map(|pair| [of(&self.a, pair), of(&self.b, pair)]).flatten();
        let (low, high) = all.fold((whole.high, 0), |(low, high), at| (low.min(at), high.max(at)));
        QuantileBracket { q, low, high }
    }

    fn effect(&self, swapped: &[bool], range: &QuantileBracket) -> f64 {
        let straight = |row: usize| chosen(self.row(&self.a, row), self.row(&self.b, row), swapped);
        let crossed = |row: usize| chosen(self.row(&self.b, row), self.row(&self.a, row), swapped);
        // Values below one nanosecond count as one, so that the ratio exists.
        let a = self.find(straight, range).max(1.0);
        (a / self.find(crossed, range).max(1.0)).ln()
    }

    fn drawn(&self, times: &[u32], range: &QuantileBracket) -> Drawn {
        let of = |side| self.find(|row| weighted(self.row(side, row), times), range);
        Drawn { a: of(&self.a), b: of(&self.b) }
    }

    fn row<'a>(&self, side: &'a [u64], row: usize) -> &'a [u64] {
        &side[row * self.pairs..(row + 1) * self.pairs]
    }

    fn find(&self, count: impl Fn(usize) -> u64, range: &QuantileBracket) -> f64 {
        self.values[self.place(count, range)]
    }

    /// Returns the row of the smallest value that a share `q` of the chosen samples does not
    /// exceed.
    fn place(&self, count: impl Fn(usize) -> u64, range: &QuantileBracket) -> usize {
        let wanted = ((range.q * count(self.values.len() - 1) as f64).ceil() as u64).max(1);
        let (mut low, mut high) = (range.low, range.high);
        while low < high {
            let middle = (low + high) / 2;
            if count(middle) >= wanted { high = middle } else { low = middle + 1 }
        }
        low
    }
}

fn weighted(counts: &[u64], times: &[u32]) -> u64 {
    counts.iter().zip(times).map(|(count, &times)| count * u64::from(times)).sum()
}

fn chosen(own: &[u64], other: &[u64], swapped: &[bool]) -> u64 {
    own.iter()
        .zip(other)
        .zip(swapped)
        .map(|((own, other), &swap)| if swap { *other } else { *own })
        .sum()
}

fn axis<'a>(blocks: impl Iterator<Item = &'a Counted>) -> Result<Vec<f64>, Refused> {
    let mut values: Vec<f64> = blocks.flatten().map(|(value, _)| *value).collect();
    super::check_values(&values)?;
    values.sort_by(f64::total_cmp);
    values.dedup();
    Ok(values)
}

/// Returns, for each value, the number of samples of each block that do not exceed it.
fn cumulate(values: &[f64], pairs: usize, blocks: &mut dyn Iterator<Item = &Counted>) -> Vec<u64> {
    let mut counts = vec![0; values.len() * pairs];
    for (pair, block) in blocks.enumerate() {
        let mut next = block.iter().peekable();
        let mut reached = 0;
        for (row, value) in values.iter().enumerate() {
            while let Some((_, count)) = next.next_if(|(here, _)| here <= value) {
                reached += count;
            }
            counts[row * pairs + pair] = reached;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a block of `n` integers from 1 to `below`.
    fn block(random: &mut Random, n: usize, below: u64) -> Counted {
        let mut values: Vec<u64> = (0..n).map(|_| 1 + random.below(below)).collect();
        values.sort_unstable();
        values.chunk_by(|a, b| a == b).map(|same| (same[0] as f64, same.len() as u64)).collect()
    }

    fn made(seed: u64) -> Vec<(Counted, Counted)> {
        let mut random = Random::new(seed, 0);
        let mut one = || {
            let (n, below) = (random.below(90) as usize + 10, 2 + random.below(80));
            block(&mut random, n, below)
        };
        (0..7).map(|_| (one(), one())).collect()
    }

    fn plainly<'a>(blocks: impl Iterator<Item = &'a Counted>, q: f64) -> f64 {
        let mut all: Vec<(f64, u64)> = blocks.flatten().copied().collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        super::super::quantile(&all, q).unwrap()
    }

    #[test]
    fn bisection_matches_the_quantiles_of_concatenated_blocks() {
        for seed in 0..50 {
            let pairs = made(seed);
            let pool = Pool::new(&pairs, 1.0).unwrap();
            for q in [0.01, 0.5, 0.9, 0.99] {
                let of_a = plainly(pairs.iter().map(|pair| &pair.0), q);
                let of_b = plainly(pairs.iter().map(|pair| &pair.1), q);
                assert_eq!(pool.quantile(q), Drawn { a: of_a, b: of_b }, "{seed} {q}");
                let swapped = [true, false, true, true, false, false, true];
                let sides = |own: bool| {
                    let all = pairs.iter().zip(swapped);
                    plainly(all.map(|(pair, swap)| if swap == own { &pair.1 } else { &pair.0 }), q)
                };
                let effect = pool.effect(&swapped, &pool.range(q));
                assert!((effect - (sides(true) / sides(false)).ln()).abs() < 1e-12, "{seed} {q}");
            }
        }
    }

    #[test]
    fn resamples_whole_pairs() {
        // Both blocks of a pair are equal, so every draw has equal sides.
        let pairs: Vec<(Counted, Counted)> =
            made(3).into_iter().map(|(a, _)| (a.clone(), a)).collect();
        let pool = Pool::new(&pairs, 1.0).unwrap();
        let drawn = pool.bootstrap(&[0.5, 0.9], 500, &mut Random::new(1, 0));
        assert_eq!((drawn.len(), drawn[1].len()), (2, 500));
        assert!(drawn.iter().flatten().all(|one| one.a == one.b));
        assert!(drawn[0].iter().any(|one| one.a != drawn[0][0].a), "draws differ");
        let tests = pool.swaps(&[0.5, 0.9], 100, &mut Random::new(1, 0));
        assert!(tests.iter().all(|test| test.two_sided == 1.0));
    }

    #[test]
    fn a_factor_scales_only_side_a() {
        let pairs = made(4);
        let (plain, moved) = (Pool::new(&pairs, 1.0).unwrap(), Pool::new(&pairs, 2.0).unwrap());
        let (plain, moved) = (plain.quantile(0.9), moved.quantile(0.9));
        assert_eq!((moved.a, moved.b), (2.0 * plain.a, plain.b));
    }

    #[test]
    fn thin_tails_and_empty_sides_are_refused() {
        let some: Counted = vec![(5.0, 10_000)];
        let pool = Pool::new(&[(some.clone(), some.clone())], 1.0).unwrap();
        assert_eq!(pool.tail(0.99), Ok(()));
        assert_eq!(pool.tail(0.999), Err(Refused::ThinTail { have: 10, need: 100 }));
        assert_eq!(Pool::new(&[], 1.0).err(), Some(Refused::Empty));
        assert_eq!(Pool::new(&[(some.clone(), vec![])], 1.0).err(), Some(Refused::Empty));
        let wrong = Pool::new(&[(some.clone(), some)], f64::NAN).err();
        assert_eq!(wrong, Some(Refused::NotFinite));
    }
}
