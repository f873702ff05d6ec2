//! Wilcoxon's signed-rank test: are values as often and as far above zero as below it?

use super::special::{normal_cdf, normal_quantile};
use super::{Refused, check_share, check_values};

/// Up to this number of values the distribution is computed exactly. Above it, the normal
/// distribution is accurate to three digits.
const EXACT: usize = 200;

/// The result of the test. The hypothesis is that the distribution of the values is symmetric about
/// zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRank {
    /// The sum of the ranks of the values above zero.
    pub positive: f64,
    /// The probability of a sum this small or smaller.
    pub less: f64,
    /// The probability of a sum this large or larger.
    pub greater: f64,
    /// Twice the smaller of both, at most 1.
    pub two_sided: f64,
}

/// Performs Wilcoxon's signed-rank test. Absolute values are ranked. Equal values share the mean of
/// their ranks, and the distribution is that of these shared ranks, so that the test remains exact
/// with ties. Zeros are ranked and then discarded (Pratt: Remarks on zeros and ties in the Wilcoxon
/// signed rank procedures, 1959). Wilcoxon's own procedure discards them first; it can call a
/// sample significant that becomes less so when a value is added on the same side. Above 200 values
/// the normal approximation is used, with the variance for ties and a continuity correction of half
/// a rank (Hollander, Wolfe, 3.1).
///
/// # Errors
/// No value, or a value that is not finite.
pub fn signed_rank(values: &[f64]) -> Result<SignedRank, Refused> {
    check_values(values)?;
    let signed = doubled_ranks(values);
    let positive: u64 = signed.iter().filter(|(_, above)| *above).map(|(rank, _)| rank).sum();
    let ranks: Vec<u64> = signed.iter().map(|(rank, _)| *rank).collect();
    let (less, greater) =
        if ranks.len() <= EXACT { exact(&ranks, positive) } else { normal(&ranks, positive) };
    let two_sided = (2.0 * less.min(greater)).min(1.0);
    Ok(SignedRank { positive: positive as f64 / 2.0, less, greater, two_sided })
}

/// Returns the smallest number of values for which the two-sided test can reach `p`: if all values
/// lie on one side, the p-value is 2/2^n.
pub fn fewest(p: f64) -> usize {
    let halvings = (2.0 / p.clamp(f64::MIN_POSITIVE, 1.0)).log2();
    // Rounding must not raise the result for a `p` that is exactly a power of two.
    (halvings - 1e-9).ceil().max(1.0) as usize
}

/// Returns c, the number of rank sums 0, 1, 2, ... whose probabilities add up to at most
/// (1 - `confidence`) / 2. The ends of the interval are the c-th smallest and the c-th largest
/// Walsh average.
pub(super) fn lower_critical(n: usize, confidence: f64) -> Result<u64, Refused> {
    check_share(confidence)?;
    let side = (1.0 - confidence) / 2.0;
    let c = if n <= EXACT { counted_critical(n, side) } else { normal_critical(n, side) };
    if c == 0 { Err(Refused::TooFew { have: n, need: fewest(2.0 * side) }) } else { Ok(c) }
}

/// Returns the ranks of all values except zeros, doubled so that they are integers, and whether
/// each value is positive.
fn doubled_ranks(values: &[f64]) -> Vec<(u64, bool)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let mut ranks = Vec::with_capacity(sorted.len());
    let mut before = 0;
    for tied in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        let rank = 2 * before + tied.len() as u64 + 1;
        let signs = tied.iter().filter(|value| **value != 0.0).map(|value| (rank, *value > 0.0));
        ranks.extend(signs);
        before += tied.len() as u64;
    }
    ranks
}

/// Returns both tails of the sum's distribution if the sign of each rank is a fair coin.
fn exact(ranks: &[u64], positive: u64) -> (f64, f64) {
    let chances = distribution(ranks);
    let at = positive as usize;
    (chances[..=at].iter().sum::<f64>().min(1.0), chances[at..].iter().sum::<f64>().min(1.0))
}

/// Returns the probability of each sum from 0 on. The ranks are included one after another, each
/// with probability one half.
fn distribution(ranks: &[u64]) -> Vec<f64> {
    let most: u64 = ranks.iter().sum();
    let mut chances = vec![0.0; most as usize + 1];
    chances[0] = 1.0;
    let mut reached = 0;
    for &rank in ranks {
        let rank = rank as usize;
        reached += rank;
        for sum in (0..=reached).rev() {
            let with = if sum >= rank { chances[sum - rank] } else { 0.0 };
            chances[sum] = (chances[sum] + with) / 2.0;
        }
    }
    chances
}

fn normal(ranks: &[u64], positive: u64) -> (f64, f64) {
    let mean = ranks.iter().sum::<u64>() as f64 / 2.0;
    let squares: f64 = ranks.iter().map(|&rank| (rank as f64) * (rank as f64)).sum();
    let deviation = squares.sqrt() / 2.0;
    let off = positive as f64 - mean;
    // Ranks are doubled here: half a rank is 1.
    (normal_cdf((off + 1.0) / deviation), normal_cdf((1.0 - off) / deviation))
}

fn counted_critical(n: usize, side: f64) -> u64 {
    let ranks: Vec<u64> = (1..=n as u64).collect();
    let mut below = 0.0;
    let mut within = |chance: &f64| {
        below += chance;
        below <= side * (1.0 + 1e-12)
    };
    distribution(&ranks).iter().map_while(|chance| within(chance).then_some(())).count() as u64
}

fn normal_critical(n: usize, side: f64) -> u64 {
    let n = n as f64;
    let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    let c = n * (n + 1.0) / 4.0 + 0.5 + normal_quantile(side) * deviation;
    c.floor().max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1e-3), "{found} {expected}");
    }

    /// Hollander and Wolfe, table A.4: P(T+ >= x) of n values, at the printed x.
    #[test]
    fn tail_probabilities_match_the_table_of_hollander_and_wolfe() {
        for (n, x, printed) in [
            (3, 6, 0.125),
            (5, 15, 0.031),
            (6, 21, 0.016),
            (6, 19, 0.047),
            (8, 30, 0.055),
            (8, 31, 0.039),
            (9, 40, 0.020),
            (10, 44, 0.053),
            (10, 47, 0.024),
            (12, 61, 0.046),
            (15, 90, 0.047),
        ] {
            let ranks: Vec<u64> = (1..=n).collect();
            let tail: f64 = distribution(&ranks)[x..].iter().sum();
            assert!((tail - printed).abs() <= 5e-4, "{n} {x}: {tail} is not {printed}");
        }
    }

    /// The largest T that is still significant at the two-sided 5 % in Wilcoxon's own table
    /// (Wilcoxon, Wilcox: Some Rapid Approximate Statistical Procedures, 1964).
    #[test]
    fn critical_values_match_wilcoxons_table() {
        let table = [
            (6, 0),
            (7, 2),
            (8, 3),
            (9, 5),
            (10, 8),
            (11, 10),
            (12, 13),
            (13, 17),
            (14, 21),
            (15, 25),
            (16, 29),
            (17, 34),
            (18, 40),
            (19, 46),
            (20, 52),
            (21, 58),
            (22, 65),
            (23, 73),
            (24, 81),
            (25, 89),
        ];
        for (n, largest) in table {
            assert_eq!(lower_critical(n, 0.95), Ok(largest + 1), "{n}");
        }
    }

    #[test]
    fn matches_the_depression_scores_of_hollander_and_wolfe() {
        let scores = [-0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010];
        let test = signed_rank(&scores).unwrap();
        assert_eq!(test.positive, 5.0);
        assert!((test.less - 0.020).abs() < 5e-4, "{test:?}");
    }

    /// The expected values are counted over all combinations of signs.
    #[test]
    fn ties_and_zeros_leave_the_distribution_exact() {
        let values = [0.0, 0.0, 1.0, -1.0, 1.0, 2.0, 2.0, -3.0, 4.0, 4.0, 4.0];
        let ranks = doubled_ranks(&values);
        let sums: Vec<u64> = (0..1_u32 << ranks.len())
            .map(|signs| {
                let positive = |(i, (rank, _)): (usize, &(u64, bool))| {
                    if signs >> i & 1 == 1 { *rank } else { 0 }
                };
                ranks.iter().enumerate().map(positive).sum()
            })
            .collect();
        let test = signed_rank(&values).unwrap();
        let share = |of: &dyn Fn(f64) -> bool| {
            sums.iter().filter(|&&sum| of(sum as f64 / 2.0)).count() as f64 / sums.len() as f64
        };
        near(test.greater, share(&|sum| sum >= test.positive));
        near(test.less, share(&|sum| sum <= test.positive));
    }

    #[test]
    fn the_exact_count_and_the_normal_approximation_agree() {
        let ranks: Vec<u64> = (1..=EXACT as u64).map(|rank| 2 * rank).collect();
        for positive in [16_000, 18_000, 20_000, 22_000, 24_000] {
            let ((a, b), (c, d)) = (exact(&ranks, positive), normal(&ranks, positive));
            assert!((a - c).abs() < 5e-4 && (b - d).abs() < 5e-4, "{positive}: {a} {c} {b} {d}");
        }
        let exactly = counted_critical(EXACT, 0.025);
        assert!(exactly.abs_diff(normal_critical(EXACT, 0.025)) <= 4);
    }

    #[test]
    fn handles_values_that_are_all_zero_or_all_equal() {
        assert_eq!(signed_rank(&[0.0; 20]).unwrap().two_sided, 1.0);
        assert_eq!(signed_rank(&[-0.0]).unwrap().two_sided, 1.0);
        near(signed_rank(&[0.3; 12]).unwrap().two_sided, 2.0 / 4096.0);
        near(signed_rank(&[1e300; 6]).unwrap().greater, 1.0 / 64.0);
        assert!(signed_rank(&[0.3; 10_000]).unwrap().two_sided < 1e-300);
    }

    #[test]
    fn rejects_empty_and_non_finite_input_and_too_few_values() {
        assert_eq!(signed_rank(&[]), Err(Refused::Empty));
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(signed_rank(&[1.0, value]), Err(Refused::NotFinite));
        }
        for n in 0..6 {
            assert_eq!(lower_critical(n, 0.95), Err(Refused::TooFew { have: n, need: 6 }));
        }
    }

    #[test]
    fn computes_the_fewest_values_that_can_reach_a_level() {
        assert_eq!([fewest(0.05), fewest(0.0625), fewest(0.05 / 20.0), fewest(1.0)], [6, 5, 10, 1]);
        assert!(fewest(0.0) > 1000 && fewest(f64::NAN) >= 1);
    }
}
