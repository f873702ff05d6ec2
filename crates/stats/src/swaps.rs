//! Randomisation tests: exchange the sides within pairs. If the sides are equal, each exchange is
//! as likely as the observed order.

use sixmark_units::random::Random;

/// Up to this number of pairs, all 2^n exchanges are enumerated.
const ENUMERATED: usize = 12;

/// The position of the observed statistic among those of the exchanged sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwapTest {
    /// The share of exchanges whose statistic is at most as large.
    pub less: f64,
    /// The share of exchanges whose statistic is at least as large.
    pub greater: f64,
    /// The share of exchanges whose statistic is at least as far from 0.
    pub two_sided: f64,
}

/// Tests several statistics by exchanging the sides, or not, within each pair: a randomisation test
/// (Fisher 1935, section 21; Edgington: Randomization Tests). It is exact if the order within each
/// pair was random, whatever the noise. With up to 12 pairs all exchanges are enumerated; otherwise
/// `swaps` exchanges are drawn, and the observed order is counted with them (Phipson, Smyth:
/// Permutation p-values should never be zero, 2010).
///
/// `statistics` receives which pairs are exchanged and writes the values of all statistics. Each
/// statistic must change its sign if all pairs are exchanged.
pub fn swap_test(
    pairs: usize,
    swaps: u32,
    random: &mut Random,
    count: usize,
    mut statistics: impl FnMut(&[bool], &mut [f64]),
) -> Vec<SwapTest> {
    let mut swapped = vec![false; pairs];
    let mut here = vec![0.0; count];
    statistics(&swapped, &mut here);
    let mut tails = Tails { at: here.clone(), counts: vec![[1; 3]; count], ways: 1 };
    let all = pairs <= ENUMERATED;
    let more = if all { (1 << pairs) - 1 } else { swaps };
    for way in 1..=more {
        if all {
            choose(&mut swapped, way)
        } else {
            toss(&mut swapped, random)
        }
        statistics(&swapped, &mut here);
        tails.add(&here);
    }
    tails.tests()
}

fn choose(swapped: &mut [bool], way: u32) {
    swapped.iter_mut().enumerate().for_each(|(pair, swap)| *swap = way >> pair & 1 == 1);
}

fn toss(swapped: &mut [bool], random: &mut Random) {
    for pairs in swapped.chunks_mut(64) {
        let bits = random.bits();
        pairs.iter_mut().enumerate().for_each(|(pair, swap)| *swap = bits >> pair & 1 == 1);
    }
}

struct Tails {
    at: Vec<f64>,
    counts: Vec<[u32; 3]>,
    ways: u32,
}

impl Tails {
    fn add(&mut self, found: &[f64]) {
        self.ways += 1;
        for ((at, counts), found) in self.at.iter().zip(&mut self.counts).zip(found) {
            // Statistics that differ only by rounding count as equal.
            let slack = 1e-12 * at.abs().max(1e-6);
            counts[0] += u32::from(*found <= at + slack);
            counts[1] += u32::from(*found >= at - slack);
            counts[2] += u32::from(found.abs() >= at.abs() - slack);
        }
    }

    fn tests(&self) -> Vec<SwapTest> {
        let share = |count: u32| f64::from(count) / f64::from(self.ways);
        let test = |counts: &[u32; 3]| SwapTest {
            less: share(counts[0]),
            greater: share(counts[1]),
            two_sided: share(counts[2]),
        };
        self.counts.iter().map(test).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: &[f64], swaps: u32) -> SwapTest {
        let mut random = Random::new(1, 0);
        let signed = |(value, &swap): (&f64, &bool)| if swap { -value } else { *value };
        swap_test(values.len(), swaps, &mut random, 1, |swapped, out| {
            out[0] = values.iter().zip(swapped).map(signed).sum();
        })[0]
    }

    /// Fisher's fifteen pairs of Darwin's plants (1935, section 21): 863 of 32,768 ways on one side.
    #[test]
    fn matches_fishers_result_for_darwins_plants() {
        let eighths = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48];
        let values = eighths.map(f64::from);
        let found = sum(&values, 200_000);
        let exact = 863.0 / 32_768.0;
        assert!((found.greater - exact).abs() < 5.0 * (exact / 2e5_f64).sqrt(), "{found:?}");
        assert!((found.two_sided - 2.0 * exact).abs() < 5.0 * (2.0 * exact / 2e5_f64).sqrt());
    }

    #[test]
    fn enumerates_all_exchanges_of_few_pairs() {
        let found = sum(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0);
        assert_eq!((found.greater, found.two_sided, found.less), (1.0 / 64.0, 2.0 / 64.0, 1.0));
        assert_eq!(sum(&[0.0; 6], 0).two_sided, 1.0);
        assert_eq!(sum(&[], 0).two_sided, 1.0);
    }

    #[test]
    fn sampled_exchanges_never_give_a_p_of_zero() {
        let found = sum(&[1.0; 100], 999);
        assert_eq!((found.greater, found.two_sided), (0.001, 0.001));
        assert_eq!(sum(&[1.0; 100], 0).two_sided, 1.0);
    }
}
