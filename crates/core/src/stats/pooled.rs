//! Quantiles of all blocks of a side together, and of blocks drawn anew or exchanged between sides.
//!
//! Each block is kept as the counts up to each value that occurs anywhere, the blocks' counts of one
//! value beside each other. A quantile of any choice of blocks is then found by halving: some twelve
//! steps, each a sum over the blocks, whatever the number of samples.

use super::Refused;
use super::bootstrap::draw;
use super::swaps::{SwapTest, swap_test};
use crate::pace::Random;

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
        self.drawn(&times, q)
    }

    /// The quantiles of `resamples` draws of the pairs with replacement: for each of `qs` its draws.
    pub fn bootstrap(&self, qs: &[f64], resamples: u32, random: &mut Random) -> Vec<Vec<Drawn>> {
        let mut times = vec![0; self.pairs];
        let mut all = vec![Vec::with_capacity(resamples as usize); qs.len()];
        for _ in 0..resamples {
            draw(&mut times, random);
            for (found, &q) in all.iter_mut().zip(qs) {
                found.push(self.drawn(&times, q));
            }
        }
        all
    }

    /// How far apart the quantiles are (logarithm of their ratio) among those of all exchanges of
    /// the sides within pairs: a test for each of `qs`.
    pub fn swaps(&self, qs: &[f64], swaps: u32, random: &mut Random) -> Vec<SwapTest> {
        swap_test(self.pairs, swaps, random, qs.len(), |swapped, out| {
            for (out, &q) in out.iter_mut().zip(qs) {
                *out = self.effect(swapped, q);
            }
        })
    }

    fn effect(&self, swapped: &[bool], q: f64) -> f64 {
        let straight = |row: usize| chosen(self.row(&self.a, row), self.row(&self.b, row), swapped);
        let crossed = |row: usize| chosen(self.row(&self.b, row), self.row(&self.a, row), swapped);
        // A nanosecond is what nothing at all is taken for, so that there is a ratio to it.
        let a = self.find(straight, q).max(1.0);
        (a / self.find(crossed, q).max(1.0)).ln()
    }

    fn drawn(&self, times: &[u32], q: f64) -> Drawn {
        let of = |side| self.find(|row| weighted(self.row(side, row), times), q);
        Drawn { a: of(&self.a), b: of(&self.b) }
    }

    fn row<'a>(&self, side: &'a [u64], row: usize) -> &'a [u64] {
        &side[row * self.pairs..(row + 1) * self.pairs]
    }

    /// The least value up to which a share `q` of the chosen samples lies.
    fn find(&self, count: impl Fn(usize) -> u64, q: f64) -> f64 {
        let wanted = ((q * count(self.values.len() - 1) as f64).ceil() as u64).max(1);
        let (mut low, mut high) = (0, self.values.len() - 1);
        while low < high {
            let middle = (low + high) / 2;
            if count(middle) >= wanted { high = middle } else { low = middle + 1 }
        }
        self.values[low]
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
    super::checked(&values)?;
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
