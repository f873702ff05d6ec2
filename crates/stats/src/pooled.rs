//! Quantiles of all blocks of a side together, and of blocks drawn anew or exchanged between sides.
//!
//! Each block is kept as the counts up to each value that occurs anywhere, the blocks' counts of one
//! value beside each other. A quantile of any choice of blocks is then found by halving: some twelve
//! steps, each a sum over the blocks, whatever the number of samples.

use super::Refused;
use super::bootstrap::draw;
use super::swaps::{SwapTest, swap_test};
use sixmark_units::random::Random;

/// Samples that must lie beyond a quantile on each side, or a few of them decide.
const TAIL: u64 = 100;

/// A block's values in ascending order, with how often each occurs.
pub type Counted = Vec<(f64, u64)>;

/// Pairs of blocks.
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
    /// Of side A.
    pub a: f64,
    /// Of side B.
    pub b: f64,
}

/// Where to look for a quantile.
struct QuantileBracket {
    q: f64,
    low: usize,
    high: usize,
}

impl Pool {
    /// Of pairs of a block of side A and one of side B, with all of A's values times `factor`.
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

    /// Samples of each side.
    pub fn samples(&self) -> [u64; 2] {
        let last = self.values.len().saturating_sub(1) * self.pairs;
        let all = |side: &[u64]| side.get(last..).map_or(0, |counts| counts.iter().sum());
        [all(&self.a), all(&self.b)]
    }

    /// Refuses a quantile beyond which too few samples lie.
    ///
    /// # Errors
    /// Fewer than 100 on either side.
    pub fn tail(&self, q: f64) -> Result<(), Refused> {
        let fewest = self.samples().into_iter().min().unwrap_or(0);
        let have = (fewest as f64 * (1.0 - q) + 1e-6).floor() as u64;
        if have < TAIL { Err(Refused::ThinTail { have, need: TAIL }) } else { Ok(()) }
    }

    /// The quantile of each side as it was measured.
    pub fn quantile(&self, q: f64) -> Drawn {
        let times = vec![1; self.pairs];
        self.drawn(&times, &self.range(q))
    }

    /// The quantiles of `resamples` draws of the pairs with replacement: for each of `qs` its draws.
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

    /// How far apart the quantiles are (logarithm of their ratio) among those of all exchanges of
    /// the sides within pairs: a test for each of `qs`.
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

    /// A quantile of blocks together lies between the least and the largest of their own.
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
        // A nanosecond is what nothing at all is taken for, so that there is a ratio to it.
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

    /// Where the least value is up to which a share `q` of the chosen samples lies.
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

/// For each value the counts of each block up to it.
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

    /// Whole numbers below `below`, as a block has them.
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
    fn halving_finds_what_putting_all_blocks_together_finds() {
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
    fn draws_are_of_whole_pairs() {
        // Both blocks of a pair are alike, so that every draw has equal sides.
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
    fn a_factor_moves_side_a() {
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
