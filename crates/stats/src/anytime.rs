//! Tests over randomised pairs that stay valid however often one looks.
//!
//! If the order of two sides is drawn for each pair and the sides do not differ, the sign of each
//! effect is that of a fair coin, whatever its size and whatever came before. Evidence is the money
//! of a player who bets on these signs: a fair game multiplies it by more than 1/α with a
//! probability of at most α, at any time (Ville 1939; Ramdas et al.: Game-theoretic statistics and
//! safe anytime-valid inference, Statistical Science 2023, 38: 576). The stake on one sign is
//! tanh(k x), where x is the effect's size over the median size so far: of normal effects this is
//! the bet that grows fastest (de la Peña's exp(k x) / cosh(k x), Annals of Probability 1999, 27:
//! 537), and one outlier cannot win more than any other pair. The money is divided among several k,
//! since the size of the difference is not known.
//!
//! Effects minus a bound are such signs too if the sides differ by exactly that bound. If they
//! differ by more, bets on less lose on average, because stakes rise with the size: the game is
//! unfavourable, and the bound on the probability remains.

use super::{Interval, Refused, check_share, check_values};

/// The k among which the money is divided, in equal parts: good for differences of a third of the
/// scatter, one, and more than two.
const STAKES: [f64; 3] = [0.3, 0.8, 2.0];

/// The largest share of its money that a player stakes, so that it is never lost.
const MOST: f64 = 0.99;

/// Money beyond this is not counted, so that it never becomes infinite.
const RICH: f64 = 1e290;

/// Steps of the search for an end of an interval: the distance is halved with each.
const HALVINGS: u32 = 40;

/// Which signs a player bets on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BetOn {
    /// Effects above the bound.
    Above,
    /// Effects below the bound.
    Below,
}

/// The evidence of a series of randomised effects that they lie above a bound, or below it: the
/// money of a player who began with 1.
#[derive(Clone, Debug)]
pub struct Wager {
    on: BetOn,
    bound: f64,
    /// The sizes so far that are not 0, in ascending order.
    sizes: Vec<f64>,
    money: [f64; STAKES.len()],
    peak: f64,
}

impl Wager {
    /// Begins to gather evidence that effects lie on this side of `bound`.
    pub fn new(on: BetOn, bound: f64) -> Wager {
        Wager { on, bound, sizes: Vec::new(), money: [1.0; STAKES.len()], peak: 1.0 }
    }

    /// Adds the effect of the next pair. One that equals the bound, or is no number, changes
    /// nothing.
    pub fn add(&mut self, effect: f64) {
        let off = effect - self.bound;
        if !off.is_finite() || off == 0.0 {
            return;
        }
        let size = off.abs();
        let at = self.sizes.partition_point(|known| *known < size);
        self.sizes.insert(at, size);
        let times = size / self.median_size();
        let wins = (off > 0.0) == (self.on == BetOn::Above);
        for (money, k) in self.money.iter_mut().zip(STAKES) {
            let stake = (k * times).tanh().min(MOST);
            *money = (*money * if wins { 1.0 + stake } else { 1.0 - stake }).min(RICH);
        }
        self.peak = self.peak.max(self.evidence());
    }

    /// Returns the evidence now: an e-value. Its expectation is at most 1 unless the effects lie on
    /// the side that is bet on.
    pub fn evidence(&self) -> f64 {
        self.money.iter().sum::<f64>() / STAKES.len() as f64
    }

    /// Returns the most evidence so far. Unless the effects lie on that side, it ever reaches 1/α
    /// with a probability of at most α.
    pub fn peak(&self) -> f64 {
        self.peak
    }

    fn median_size(&self) -> f64 {
        let last = self.sizes.len() - 1;
        f64::midpoint(self.sizes[last / 2], self.sizes[last - last / 2])
    }
}

/// Returns the most evidence that a series ever gave that it lies on this side of `bound`: with a
/// probability of at most α it ever reaches 1/α unless it does.
///
/// # Errors
/// No value, or one that is not finite.
pub fn peak_evidence(values: &[f64], on: BetOn, bound: f64) -> Result<f64, Refused> {
    check_values(values)?;
    if !bound.is_finite() {
        return Err(Refused::NotFinite);
    }
    let mut wager = Wager::new(on, bound);
    values.iter().for_each(|value| wager.add(*value));
    Ok(wager.peak())
}

/// Returns the interval of the bounds that the series never gave much evidence against: a
/// confidence sequence, which excludes the true one on either side, at any time, with a
/// probability of at most `alpha` (Robbins 1970; Howard et al., Annals of Statistics 2021, 49:
/// 1055).
///
/// # Errors
/// Values that are not finite, fewer than can exclude anything, an `alpha` that is not between 0
/// and 1, or a series that excludes every bound, because it did not stay at one level.
pub fn confidence_sequence(values: &[f64], alpha: f64) -> Result<Interval, Refused> {
    check_share(alpha)?;
    check_values(values)?;
    let need = fewest_to_exclude(alpha);
    if values.len() < need {
        return Err(Refused::TooFew { have: values.len(), need });
    }
    let turned: Vec<f64> = values.iter().map(|value| -value).collect();
    let (low, high) = (-end_of_interval(&turned, alpha), end_of_interval(values, alpha));
    if low <= high { Ok(Interval { low, high }) } else { Err(Refused::Moved) }
}

/// Returns the least number of effects that can give evidence of 1/`alpha`.
pub fn fewest_to_exclude(alpha: f64) -> usize {
    let mut wager = Wager::new(BetOn::Above, 0.0);
    let wins = (1..=1_000).find(|_| {
        wager.add(1.0);
        wager.peak() >= 1.0 / alpha
    });
    wins.unwrap_or(1_000)
}

/// Returns the upper end: the bound above which every bound is excluded, since the series lies
/// below.
fn end_of_interval(values: &[f64], alpha: f64) -> f64 {
    let excludes = |bound: f64| {
        let mut wager = Wager::new(BetOn::Below, bound);
        values.iter().any(|value| {
            wager.add(*value);
            wager.peak() >= 1.0 / alpha
        })
    };
    let (least, most) = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
    if least == most {
        return most;
    }
    let width = (most - least).max(most.abs().max(least.abs()) * 1e-9).max(f64::MIN_POSITIVE);
    // Far above all values every pair is a win of about the same size: more evidence than there is
    // at any lower bound. As a bound comes down, the first that is not excluded is the end.
    let (mut out, mut step) = (most + 1e3 * width, 1e3 * width);
    let mut inside = loop {
        step /= 1.3;
        let next = if step > width * 1e-3 { most + step } else { out - width / 64.0 };
        if next < least - width {
            return least;
        }
        if !excludes(next) {
            break next;
        }
        out = next;
    };
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(inside, out);
        if excludes(middle) { out = middle } else { inside = middle }
    }
    out
}

/// Merges e-values of several hypotheses so that the probability of ever finding any of them false
/// that is true stays below α if those of at least 1/α are found false: by closed testing, where a
/// set of hypotheses has the average of its e-values, which needs no assumption about how they
/// depend on each other (Vovk and Wang: E-values: calibration, combination and applications, Annals
/// of Statistics 2021, 49: 1736). The merged value is the least average of a set that includes the
/// hypothesis.
pub fn merge_by_averages(values: &[f64]) -> Vec<f64> {
    let mut ascending = values.to_vec();
    ascending.sort_by(f64::total_cmp);
    let merged = |&own: &f64| {
        let (mut sum, mut least) = (own, own);
        let mut skipped = false;
        for (before, other) in ascending.iter().enumerate() {
            if !skipped && *other == own {
                skipped = true;
                continue;
            }
            sum += other;
            least = least.min(sum / (before + 2 - usize::from(skipped)) as f64);
        }
        least
    };
    values.iter().map(merged).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With sizes that are all equal, the stakes are tanh k: money can be computed by hand.
    #[test]
    fn evidence_multiplies_by_the_stake_on_each_pair() {
        let mut wager = Wager::new(BetOn::Above, 0.0);
        [1.0, 1.0, -1.0].into_iter().for_each(|effect| wager.add(effect));
        let player = |k: f64| (1.0 + k.tanh()).powi(2) * (1.0 - k.tanh());
        let all = STAKES.iter().map(|&k| player(k)).sum::<f64>() / 3.0;
        assert!((wager.evidence() - all).abs() < 1e-12, "{wager:?}");
        let best = STAKES.iter().map(|k| (1.0 + k.tanh()).powi(2)).sum::<f64>() / 3.0;
        assert!((wager.peak() - best).abs() < 1e-12, "{wager:?}");
    }

    /// Over all 2^n ways in which coins can fall the mean of the money is 1.
    #[test]
    fn mean_evidence_under_the_null_hypothesis_is_one() {
        let sizes = [0.3, 2.0, 0.1, 0.7, 9.0, 0.2, 0.5, 0.4];
        let played = |coins: u32| {
            let mut wager = Wager::new(BetOn::Below, 0.0);
            for (at, size) in sizes.iter().enumerate() {
                wager.add(if coins >> at & 1 == 1 { *size } else { -size });
            }
            (wager.evidence(), wager.peak())
        };
        let all: Vec<(f64, f64)> = (0..256).map(played).collect();
        let mean = all.iter().map(|(now, _)| now).sum::<f64>() / 256.0;
        assert!((mean - 1.0).abs() < 1e-12, "{mean}");
        for limit in [2.0, 5.0, 10.0, 20.0] {
            let reached = all.iter().filter(|(_, peak)| *peak >= limit).count() as f64 / 256.0;
            assert!(reached <= 1.0 / limit, "{limit}: {reached}");
        }
    }

    #[test]
    fn evidence_stays_finite_for_zeros_outliers_and_long_series() {
        let mut wager = Wager::new(BetOn::Above, 0.0);
        wager.add(0.0);
        wager.add(f64::NAN);
        assert_eq!((wager.evidence(), wager.peak()), (1.0, 1.0));
        (0..5_000).for_each(|_| wager.add(1.0));
        assert!(wager.evidence().is_finite() && wager.evidence() > 1e200);
        wager.add(-1e300);
        assert!(wager.evidence() > 0.0);
        let mut outlier = Wager::new(BetOn::Above, 0.0);
        [1e-3, -1e-3, 1e-3, -1e-3, 1e9].into_iter().for_each(|effect| outlier.add(effect));
        assert!(outlier.evidence() < 2.0, "one pair is worth at most a factor of two");
    }

    #[test]
    fn the_interval_contains_exactly_the_values_not_rejected() {
        let values: Vec<f64> = (0..40).map(|i| 0.05 + 0.01 * (f64::from(i) * 2.3).sin()).collect();
        let found = confidence_sequence(&values, 0.025).unwrap();
        assert!(found.holds(0.05) && found.low > 0.04 && found.high < 0.06, "{found:?}");
        let at = |on, bound| peak_evidence(&values, on, bound).unwrap();
        assert!(at(BetOn::Below, found.high + 1e-6) >= 40.0);
        assert!(at(BetOn::Below, found.high - 1e-6) < 40.0);
        assert!(at(BetOn::Above, found.low - 1e-6) >= 40.0);
        let turned: Vec<f64> = values.iter().map(|value| -value).collect();
        let other = confidence_sequence(&turned, 0.025).unwrap();
        assert!((other.low + found.high).abs() < 1e-9 && (other.high + found.low).abs() < 1e-9);
    }

    #[test]
    fn rejects_too_few_values_and_narrows_to_a_point_for_equal_values() {
        let few = confidence_sequence(&[0.1; 6], 0.025);
        assert_eq!(few, Err(Refused::TooFew { have: 6, need: 7 }));
        let equal = confidence_sequence(&[0.1; 12], 0.025).unwrap();
        assert!((equal.low - 0.1).abs() < 1e-6 && (equal.high - 0.1).abs() < 1e-6, "{equal:?}");
        let zeros = confidence_sequence(&[0.0; 12], 0.025).unwrap();
        assert!(zeros.low.abs() < 1e-6 && zeros.high.abs() < 1e-6, "{zeros:?}");
        assert_eq!(confidence_sequence(&[], 0.025), Err(Refused::Empty));
        assert_eq!(confidence_sequence(&[f64::NAN], 0.025), Err(Refused::NotFinite));
        assert_eq!(confidence_sequence(&[1.0], 1.0), Err(Refused::NoShare));
    }

    #[test]
    fn rejects_a_series_whose_level_shifts() {
        let moved: Vec<f64> =
            (0..60).map(|i| if i < 30 { 0.0 } else { 1.0 } + 1e-3 * f64::from(i % 7)).collect();
        assert_eq!(confidence_sequence(&moved, 0.025), Err(Refused::Moved));
    }

    /// By enumeration of all sets that include the hypothesis.
    #[test]
    fn merged_evidence_is_the_smallest_mean_of_any_set_of_hypotheses() {
        let values = [60.0, 3.0, 0.2, 60.0, 25.0];
        let merged = merge_by_averages(&values);
        for (own, found) in merged.iter().enumerate() {
            let averages = (0_u32..32).filter(|set| set >> own & 1 == 1).map(|set| {
                let of = values.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
                of.map(|(_, value)| value).sum::<f64>() / f64::from(set.count_ones())
            });
            let least = averages.fold(f64::INFINITY, f64::min);
            assert!((found - least).abs() < 1e-9, "{own}: {found} {least}");
        }
        assert_eq!(merge_by_averages(&[20.0]), [20.0]);
        assert!(merge_by_averages(&[]).is_empty());
    }
}
