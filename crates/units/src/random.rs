//! Pseudorandom numbers that a seed reproduces.

/// A SplitMix64 generator (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
/// 2014).
#[derive(Clone, Debug)]
pub struct Random(u64);

/// The step of the sequence: 2^64 divided by the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// Creates stream number `stream` of `seed`. Streams begin at unrelated places of one long
    /// sequence.
    pub fn new(seed: u64, stream: u64) -> Random {
        Random(mix(mix(seed) ^ stream.wrapping_add(1).wrapping_mul(STEP)))
    }

    /// Returns the next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// Returns an integer below `bound`, or 0 if `bound` is 0. It is the high half of a product
    /// (Lemire: Fast Random Integer Generation in an Interval, 2019) without Lemire's correction:
    /// the bias towards any number is at most `bound` in 2^64.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number from 0 (inclusive) to 1 (exclusive), in steps of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns an exponential variate of mean 1, between 0 and 37.
    pub fn exponential(&mut self) -> f64 {
        // Above 0 and up to 1, in steps of 2^-53, so that the logarithm is finite.
        let uniform = ((self.bits() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        -uniform.ln()
    }
}

fn mix(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the mean, the variance and the share above each of several integers, for several
    /// seeds and streams.
    #[test]
    fn exponential_numbers_match_mean_variance_and_tail() {
        for (seed, stream) in [(0, 0), (0, 1), (1, 0), (u64::MAX, 63)] {
            let mut random = Random::new(seed, stream);
            let n = 1_000_000;
            let drawn: Vec<f64> = (0..n).map(|_| random.exponential()).collect();
            let mean = drawn.iter().sum::<f64>() / f64::from(n);
            let squares = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
            let variance = squares / f64::from(n - 1);
            // Five standard errors: that of the mean is 1/sqrt(n), that of the variance sqrt(8/n).
            assert!((mean - 1.0).abs() < 0.005, "{seed} {stream}: mean {mean}");
            assert!((variance - 1.0).abs() < 0.015, "{seed} {stream}: variance {variance}");
            for above in 1..6 {
                let share = drawn.iter().filter(|&&x| x > f64::from(above)).count() as f64;
                let exact = (-f64::from(above)).exp();
                let error = (exact / f64::from(n)).sqrt();
                let found = share / f64::from(n);
                assert!((found - exact).abs() < 5.0 * error, "{above}: {found} is not {exact}");
            }
        }
    }

    #[test]
    fn numbers_below_a_bound_are_equally_frequent() {
        let mut random = Random::new(2, 0);
        let mut counts = [0_u32; 12];
        (0..120_000).for_each(|_| counts[random.below(12) as usize] += 1);
        assert!(counts.iter().all(|&n| n.abs_diff(10_000) < 500), "{counts:?}");
        assert_eq!((random.below(0), random.below(1)), (0, 0));
        assert!(random.below(u64::MAX) > 0);
    }

    #[test]
    fn a_seed_repeats_and_streams_differ() {
        let first = |seed, stream| Random::new(seed, stream).bits();
        assert_eq!(first(7, 3), first(7, 3));
        let mut all: Vec<u64> =
            (0..100).flat_map(|seed| (0..100).map(move |stream| first(seed, stream))).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 10_000);
    }
}
