//! Means, medians and geometric means, with confidence intervals.

use sixmark_design::study_result::{ComparisonEntry, MeanRatio, RatioFinding, Statistic};
use sixmark_sheet::write;
use sixmark_stats::t_quantile;
use sixmark_tally::metric::Bounds;

/// The confidence level of the intervals.
const CONFIDENCE: f64 = 0.95;

/// A mean or median with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Average {
    /// The mean or the median.
    pub value: f64,
    /// The ends of the interval; `None` if there are too few values.
    pub interval: Option<(f64, f64)>,
    /// The number of values.
    pub n: u32,
}

/// Returns the mean or median of `values`; `None` if there are none. The interval is clipped to
/// `bounds`, the possible values of the measure: Student's interval of a few scattered values may
/// include negative ones.
pub fn average(values: &[f64], statistic: Statistic, bounds: Bounds) -> Option<Average> {
    let found = match statistic {
        Statistic::Mean => mean(values),
        Statistic::Median => median(values),
    }?;
    let within = |(low, high): (f64, f64)| (low.max(bounds.least), high.min(bounds.most));
    Some(Average { interval: found.interval.map(within), ..found })
}

/// Returns the arithmetic mean, with Student's t interval if there are at least two values.
fn mean(values: &[f64]) -> Option<Average> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    let value = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - value).powi(2)).sum();
    let t = (n > 1.0).then(|| t_quantile(0.5 + CONFIDENCE / 2.0, n - 1.0));
    let half = t.map(|t| t * (squares / (n - 1.0) / n).sqrt());
    let interval = half.map(|half| (value - half, value + half));
    Some(Average { value, interval, n: values.len() as u32 })
}

/// Returns the median. Its interval is the narrowest one between two of the values that contains
/// the true median with a probability of at least 95 %; this needs at least six values.
fn median(values: &[f64]) -> Option<Average> {
    if values.is_empty() {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let value = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0;
    let interval = rank(n).map(|rank| (sorted[rank], sorted[n - 1 - rank]));
    Some(Average { value, interval, n: n as u32 })
}

/// Returns how many of the sorted values may be omitted at each end so that the rest spans the
/// interval of the median; `None` if there are too few values. The number of values below the true
/// median is binomially distributed.
fn rank(n: usize) -> Option<usize> {
    let mut term = 0.5_f64.powi(n.min(1_000) as i32);
    let (mut tail, mut found) = (0.0, None);
    if n > 1_000 {
        // The normal approximation; exact terms would be too small for their type.
        let rank = (n as f64 / 2.0 - 1.96 * (n as f64).sqrt() / 2.0 - 1.0).floor();
        return Some(rank as usize);
    }
    for rank in 0..n / 2 {
        tail += term;
        if tail > (1.0 - CONFIDENCE) / 2.0 {
            break;
        }
        found = Some(rank);
        term *= (n - rank) as f64 / (rank + 1) as f64;
    }
    found
}

/// Returns the geometric mean of the ratios A/B, with a t interval on their logarithms. Pairs
/// whose ratio has no finite logarithm, because a figure is 0, are omitted. Returns `None` if no
/// pair remains.
pub fn geometric(pairs: &[(f64, f64)]) -> Option<MeanRatio> {
    let logs: Vec<f64> =
        pairs.iter().map(|(a, b)| (a / b).ln()).filter(|x| x.is_finite()).collect();
    let Average { value, interval, .. } = mean(&logs)?;
    let [low, high] = [interval.map(|(low, _)| low.exp()), interval.map(|(_, high)| high.exp())];
    Some(MeanRatio { value: value.exp(), low, high })
}

/// Compares A and B by pairs of their figures. `better` is true if higher figures are better, false
/// if lower ones are, and `None` if neither applies. `margin` is the difference in percent that
/// does not matter.
pub fn entry(
    label: &str,
    [a, b]: [&str; 2],
    pairs: &[(f64, f64)],
    better: Option<bool>,
    margin: Option<f64>,
) -> ComparisonEntry {
    let pairs: Vec<(f64, f64)> =
        pairs.iter().copied().filter(|(a, b)| *a > 0.0 && *b > 0.0).collect();
    let higher = pairs.iter().filter(|(a, b)| a > b).count() as u32;
    let ratio = geometric(&pairs);
    let finding = ratio_finding(ratio, margin);
    let sentence = describe_average([a, b], ratio, finding, pairs.len(), (better, margin));
    ComparisonEntry {
        label: label.to_owned(),
        at: Vec::new(),
        pairs: pairs.len() as u32,
        higher,
        ratio,
        finding,
        sentence,
        why: None,
    }
}

/// Judges a ratio by its interval. `margin` is the difference in percent that does not matter.
pub fn ratio_finding(ratio: Option<MeanRatio>, margin: Option<f64>) -> RatioFinding {
    match ratio {
        Some(ratio) if margin.is_some_and(|margin| ratio.is_within(margin)) => {
            RatioFinding::Equivalent
        }
        Some(MeanRatio { low: Some(low), .. }) if low > 1.0 => RatioFinding::Higher,
        Some(MeanRatio { high: Some(high), .. }) if high < 1.0 => RatioFinding::Lower,
        _ => RatioFinding::Unshown,
    }
}

/// Describes how far a ratio is from 1, in percent or, from threefold or a third on, as a factor:
/// `12 %`, `a factor of 2,115`.
pub(super) fn distance(ratio: f64) -> String {
    match ratio {
        of if of >= 3.0 => format!("a factor of {}", write::times(of)),
        of if of > 0.0 && of <= 1.0 / 3.0 => format!("a factor of {}", write::times(of.recip())),
        _ => match (ratio - 1.0).abs() * 100.0 {
            percent if percent < 10.0 => format!("{percent:.1} %"),
            percent => format!("{percent:.0} %"),
        },
    }
}

/// Describes the result in words, without claiming more than the interval shows.
fn describe_average(
    [a, b]: [&str; 2],
    ratio: Option<MeanRatio>,
    finding: RatioFinding,
    pairs: usize,
    (better, margin): (Option<bool>, Option<f64>),
) -> String {
    let Some(ratio) = ratio else { return "there are no pairs of figures".to_owned() };
    let by = distance(ratio.value);
    let worth = |higher: bool| match better {
        Some(better) if better == higher => ", which is better",
        Some(_) => ", which is worse",
        None => "",
    };
    match finding {
        RatioFinding::Higher => format!("{a} is higher than {b} by {by}{}", worth(true)),
        RatioFinding::Lower => format!("{a} is lower than {b} by {by}{}", worth(false)),
        RatioFinding::Equivalent => {
            let margin = margin.unwrap_or_default();
            format!("{a} and {b} are equivalent, within {margin} %")
        }
        RatioFinding::Unshown if pairs < 2 => "one pair is too few for a result".to_owned(),
        RatioFinding::Unshown => format!("{a} vs {b} is inconclusive"),
        RatioFinding::NotComparable => format!("{a} and {b} are not comparable"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_the_student_t_interval_of_a_mean() {
        let Average { value, interval, n } =
            average(&[1.0, 2.0, 3.0, 4.0], Statistic::Mean, Bounds::NONE).unwrap();
        let (low, high) = interval.unwrap();
        // 2.5 +- 3.1824 * 1.29099 / 2
        assert_eq!((value, n), (2.5, 4));
        assert!((low - 0.44576).abs() < 1e-4 && (high - 4.55424).abs() < 1e-4, "{low} {high}");
        let one = average(&[5.0], Statistic::Mean, Bounds::NONE).unwrap();
        assert_eq!((one.value, one.interval), (5.0, None));
        assert_eq!(average(&[], Statistic::Mean, Bounds::NONE), None);
    }

    #[test]
    fn computes_the_binomial_interval_of_a_median() {
        for (n, left_out) in [(5, None), (6, Some(0)), (9, Some(1)), (10, Some(1)), (20, Some(5))] {
            assert_eq!(rank(n), left_out, "{n}");
        }
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let median = average(&values, Statistic::Median, Bounds::NONE).unwrap();
        assert_eq!((median.value, median.interval), (5.5, Some((2.0, 9.0))));
        assert_eq!(rank(1_000).unwrap(), 468);
        assert_eq!(rank(1_001).unwrap(), 468);
    }

    #[test]
    fn reports_a_side_as_higher_only_if_the_interval_shows_it() {
        let of = |pairs: &[(f64, f64)]| entry("", ["IPv6", "IPv4"], pairs, Some(true), None);
        let higher = of(&[(2.0, 1.0), (2.1, 1.0), (2.05, 1.0)]);
        assert_eq!((higher.finding, higher.higher), (RatioFinding::Higher, 3));
        assert!(higher.sentence.contains("IPv6 is higher than IPv4"), "{}", higher.sentence);
        assert_eq!(of(&[(2.0, 1.0), (1.0, 2.0), (1.0, 1.0)]).finding, RatioFinding::Unshown);
        assert_eq!(of(&[(2.0, 1.0)]).finding, RatioFinding::Unshown);
        assert_eq!(of(&[(0.0, 1.0), (1.0, 0.0)]).ratio, None);
        let lower = of(&[(1.0, 2.0), (1.01, 2.0)]);
        assert!(lower.sentence.contains("worse"), "{}", lower.sentence);
    }

    #[test]
    fn writes_a_large_ratio_as_a_factor_instead_of_a_percentage() {
        let of = |pairs: &[(f64, f64)]| {
            entry("", ["IPv6", "IPv4"], pairs, Some(false), Some(5.0)).sentence
        };
        let many = "IPv6 is higher than IPv4 by a factor of 2,115, which is worse";
        assert_eq!(of(&[(2_115.3, 1.0), (2_115.3, 1.0), (2_115.4, 1.0)]), many);
        let few = "IPv6 is lower than IPv4 by a factor of 4.0, which is better";
        assert_eq!(of(&[(1.0, 4.0), (1.0, 4.01), (1.0, 3.99)]), few);
        assert_eq!([2.99, 1.042, 0.5].map(distance), ["199 %", "4.2 %", "50 %"]);
    }

    #[test]
    fn calls_a_difference_within_the_margin_equivalent() {
        let of = |pairs: &[(f64, f64)]| entry("", ["IPv6", "IPv4"], pairs, Some(true), Some(5.0));
        let little = of(&[(997.0, 1_000.0), (996.0, 1_000.0), (997.5, 1_000.0)]);
        assert_eq!(little.finding, RatioFinding::Equivalent);
        assert_eq!(little.sentence, "IPv6 and IPv4 are equivalent, within 5 %");
        let more = of(&[(940.0, 1_000.0), (960.0, 1_000.0), (950.0, 1_000.0)]);
        assert_eq!(more.finding, RatioFinding::Lower);
    }

    #[test]
    fn clips_an_interval_to_the_possible_values() {
        let rate = Bounds { least: 0.0, most: f64::INFINITY };
        let far_apart = average(&[1.0, 1.0, 600.0], Statistic::Mean, rate).unwrap();
        let (low, high) = far_apart.interval.unwrap();
        assert!(low == 0.0 && high > 600.0, "{low} {high}");
        let share = Bounds { least: 0.0, most: 1.0 };
        let all = average(&[1.0, 1.0, 0.5], Statistic::Mean, share).unwrap();
        assert_eq!(all.interval.unwrap().1, 1.0);
    }
}
