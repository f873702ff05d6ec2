//! Verdicts as sentences.

use super::intervals::{change, interval_of_estimate, interval_that_decides, write_change};
use crate::deciding::margin_text;
use crate::{Compared, Comparison, Settings};
use sixmark_document::verdict::Verdict;
use sixmark_tally::metric::{Metric, Quantity};

use sixmark_report::sheet::families::unlike;
use sixmark_report::sheet::side::shown;
use sixmark_sheet::{SheetHeadline, write};

/// Returns the headline: the verdict on the primary metric, and notes on the others.
pub(super) fn comparison_verdict(comparison: &Comparison) -> SheetHeadline {
    if let Some(said) = comparison.not_same() {
        return unlike(said, others(comparison));
    }
    let Some(primary) = comparison.metrics.first() else {
        let sentence = "The sides have no metric in common.".to_owned();
        return SheetHeadline {
            verdict: Some(Verdict::Inconclusive),
            sentence,
            ..SheetHeadline::default()
        };
    };
    let mut notes = vec!["The sides were loaded in turns, one at a time.".to_owned()];
    if let Some(until) = &comparison.settings.until {
        let end = if until.is_decided_by(comparison) {
            "the comparison ended when it had decided"
        } else {
            "the comparison ended before it had decided"
        };
        notes.push(format!(
            "They were judged after each pair, by a test that is valid at every look; {end}."
        ));
    }
    notes.extend(others(comparison));
    let sentence = describe_compared(comparison, primary);
    SheetHeadline { verdict: Some(primary.verdict), sentence, notes, failed: Vec::new() }
}

fn describe_compared(comparison: &Comparison, of: &Compared) -> String {
    let [a, b] = [&comparison.a, &comparison.b].map(|name| shown(name));
    let margin = write::together(margin_text(of.metric, &comparison.settings));
    let basis = basis(comparison, of);
    match of.verdict {
        Verdict::Better | Verdict::Worse => format!("{} ({basis}).", differs(of, &a, &b)),
        Verdict::Equivalent => {
            format!("{a} and {b} differ by less than {margin} ({basis}).")
        }
        Verdict::Inconclusive => {
            if let Some(range) = undecided_range(of) {
                let noun = of.metric.noun();
                let confidence = write::write_percent(comparison.settings.confidence);
                let said = match of.metric {
                    Metric::Time(..) => format!("{a} takes {range} time than {b} ({noun}; "),
                    _ => format!("{a}’s {noun} is {range} than {b}’s ("),
                };
                let floor = noise_floor(of);
                return format!(
                    "Too noisy: {said}{confidence} interval; {} pairs{floor}).",
                    comparison.pairs
                );
            }
            let why = of.reason.clone().unwrap_or_else(|| format!("the margin is {margin}"));
            format!("The difference between {a} and {b} is undecided: {why} ({basis}).")
        }
        Verdict::NotComparable => {
            let noun = of.metric.noun();
            match of.reason.as_deref() {
                Some(why) => format!("{a} and {b} can’t be compared in {noun}: {why}."),
                None => format!("{a} and {b} can’t be compared ({basis})."),
            }
        }
    }
}

/// Returns a text like `IPv6 takes 3.4 % more time than IPv4`.
fn differs(of: &Compared, a: &str, b: &str) -> String {
    let lower = of.a < of.b;
    match (of.metric, of.ratio, of.difference) {
        (Metric::Quantity(Quantity::Failures), _, Some(difference)) => {
            let points = difference.value.abs() * 100.0;
            let often = if difference.value < 0.0 { "less" } else { "more" };
            format!("{a} fails {often} often than {b}, by {points:.2} percentage points")
        }
        (Metric::Time(..), Some(ratio), _) if ratio.value >= 2.0 => {
            format!("{a} takes {} times as long as {b}", write::times(ratio.value))
        }
        (Metric::Time(..), Some(ratio), _) if ratio.value > 0.0 && ratio.value <= 0.5 => {
            format!("{b} takes {} times as long as {a}", write::times(ratio.value.recip()))
        }
        (Metric::Time(..), Some(ratio), _) => {
            let by = write::write_percent((ratio.value - 1.0).abs());
            let amount = if ratio.value < 1.0 { "less" } else { "more" };
            format!("{a} takes {by} {amount} time than {b}")
        }
        (metric, Some(ratio), _) => {
            let by = match ratio.value {
                of if of >= 2.0 => format!("{} times", write::times(of)),
                of if of > 0.0 && of <= 0.5 => format!("{} times", write::times(of.recip())),
                of => write::write_percent((of - 1.0).abs()),
            };
            differs_by(metric, [a, b], ratio.value < 1.0, &by)
        }
        (metric, None, _) => {
            format!(
                "{a}’s {} is {} than {b}’s",
                metric.noun(),
                if lower { "lower" } else { "higher" }
            )
        }
    }
}

/// Returns a text like `between 10 % less and 20 % more` (for rates `lower` and `higher`), or
/// `None` unless the interval includes values on both sides of equality.
fn undecided_range(of: &Compared) -> Option<String> {
    let ratio = of.ratio.filter(|ratio| ratio.low < 1.0 && ratio.high > 1.0)?;
    let [low, high] = [1.0 - ratio.low, ratio.high - 1.0].map(write::write_percent);
    let (less, more) = match of.metric {
        Metric::Time(..) => ("less", "more"),
        _ => ("lower", "higher"),
    };
    Some(format!("between {low} {less} and {high} {more}"))
}

/// Returns a text like `; noise floor 3.1 %`, which is empty if no noise floor was measured.
fn noise_floor(of: &Compared) -> String {
    of.noise_floor
        .map_or(String::new(), |floor| format!("; noise floor {}", write::write_percent(floor)))
}

/// Describes a difference by `by` in a metric that is not a time.
fn differs_by(metric: Metric, [a, b]: [&str; 2], lower: bool, by: &str) -> String {
    let (level, amount) = if lower { ("lower", "less") } else { ("higher", "more") };
    match metric {
        Metric::Quantity(Quantity::RequestsPerS) => {
            format!("{a}’s throughput is {by} {level} than {b}’s")
        }
        Metric::Quantity(Quantity::CpuPerRequest) => {
            format!("{a} costs the server {by} {amount} CPU time than {b}")
        }
        other => format!("{a}’s {} is {by} {level} than {b}’s", other.noun()),
    }
}

/// Describes the basis of the verdict: metric, the interval that decides it, number of pairs, and
/// noise floor.
fn basis(comparison: &Comparison, of: &Compared) -> String {
    let interval = interval_that_decides(of, &comparison.settings);
    let interval = interval.map_or(String::new(), |said| format!("; {said}"));
    let floor = noise_floor(of);
    format!("{}{interval}; {} pairs{floor}", of.metric.noun(), comparison.pairs)
}

/// Returns a text like `+2.1 %, 95 % interval +0.3 % to +4.1 %`. For failures, it is the difference
/// of the shares.
pub(super) fn measured_change(of: &Compared, settings: &Settings) -> Option<String> {
    let estimate = of.interval_of_estimate(settings)?.estimate;
    let change = write_change(of.metric, change(of.metric, estimate).value);
    Some(format!("{change}, {}", interval_of_estimate(of, settings)?))
}

/// Describes the estimate of the primary metric from the pairs so far: `response.p50 +2.1 %, 95 %
/// interval +0.3 % to +4.1 %`.
pub fn describe_estimate(comparison: &Comparison) -> String {
    if let Some(said) = comparison.not_same() {
        return format!("not comparable: {said}");
    }
    let Some(primary) = comparison.metrics.first() else { return "nothing measured".to_owned() };
    let found = measured_change(primary, &comparison.settings);
    match (found, comparison.settings.until.is_some()) {
        (Some(said), true) => format!("{} {}, {said}", primary.metric, verdict_so_far(primary)),
        (Some(said), false) => format!("{} {said}", primary.metric),
        (None, _) => format!("{} not yet known", primary.metric),
    }
}

/// Returns lines about the verdicts so far of a comparison that is judged after each pair; none for
/// one whose number of pairs is fixed, since only its last verdict counts.
pub(crate) fn running_verdicts(comparison: &Comparison) -> Vec<String> {
    let Some(until) = &comparison.settings.until else { return Vec::new() };
    let line = |metric: &Metric| {
        let found = comparison.metrics.iter().find(|of| of.metric == *metric);
        let of = found.filter(|_| comparison.not_same().is_none());
        let change = of.and_then(|of| measured_change(of, &comparison.settings));
        let change = change.map_or(String::new(), |change| format!(" ({change})"));
        let verdict = of.map_or("undecided", verdict_so_far);
        format!("{}: {verdict}{change}", metric.noun())
    };
    let head = "Verdict so far. Its test is valid at every look, so that you may stop at any time:";
    std::iter::once(head.to_owned()).chain(until.metrics.iter().map(line)).collect()
}

fn verdict_so_far(of: &Compared) -> &'static str {
    match of.verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Equivalent => "equivalent",
        Verdict::NotComparable => "not comparable",
        Verdict::Inconclusive => "undecided",
    }
}

/// Returns sentences about the other metrics in which side A is better or worse.
fn others(comparison: &Comparison) -> Vec<String> {
    let told = |verdict: Verdict, begin: &str| {
        let first = usize::from(comparison.not_same().is_none());
        let same = comparison.metrics.iter().skip(first).filter(|other| other.verdict == verdict);
        let names: Vec<String> = same.map(|other| other.metric.noun()).collect();
        (!names.is_empty()).then(|| format!("{begin}: {}.", names.join(", ")))
    };
    let a = shown(&comparison.a);
    let better = told(Verdict::Better, &format!("{a} is better in"));
    let worse = told(Verdict::Worse, &format!("{a} is worse in"));
    [worse, better].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deciding::EquivalenceInterval;
    use crate::{ComparisonKind, EffectMethod};
    use sixmark_document::verdict::Estimate;
    use sixmark_tally::timed_phase::TimePoint;
    use sixmark_tally::timed_phase::TimedPhase;

    fn said(metric: Metric, verdict: Verdict, ratio: [f64; 3], reason: Option<&str>) -> String {
        let [low, value, high] = ratio;
        let compared = Compared {
            metric,
            a: Some(1.0),
            b: Some(2.0),
            method: EffectMethod::Blocks,
            ratio: Some(Estimate { value, low, high }),
            difference: None,
            p: None,
            p_holm: None,
            p_equivalence: None,
            equivalence: Some(EquivalenceInterval {
                confidence: 0.9,
                low: 0.995,
                high: 1.004,
                margin: 0.05,
            }),
            effects: Vec::new(),
            autocorrelation: None,
            noise_floor: None,
            verdict,
            cause: None,
            reason: reason.map(str::to_owned),
            header_corrected: None,
        };
        let comparison = Comparison {
            kind: ComparisonKind::Isolated,
            a: "ipv6".into(),
            b: "ipv4".into(),
            settings: Settings::usual(1),
            pairs: 12,
            left_out: 0,
            sameness: None,
            metrics: vec![compared],
            why: None,
            by_agent: Vec::new(),
        };
        comparison_verdict(&comparison).sentence.replace('\u{a0}', " ")
    }

    #[test]
    fn writes_verdicts_in_plain_words() {
        let response = Metric::Time(TimedPhase::Response, TimePoint::P50);
        assert_eq!(
            said(response, Verdict::Worse, [1.019, 1.034, 1.05], None),
            "IPv6 takes 3.4 % more time than IPv4 (median response; 95 % interval +1.9 % to +5.0 %; \
             12 pairs)."
        );
        assert_eq!(
            said(Metric::Quantity(Quantity::RequestsPerS), Verdict::Better, [1.1, 1.2, 1.3], None),
            "IPv6’s throughput is 20 % higher than IPv4’s (requests/s; 95 % interval +10.0 % to \
             +30.0 %; 12 pairs)."
        );
        let far = said(response, Verdict::Worse, [33.7, 43.69, 47.0], None);
        assert!(far.starts_with("IPv6 takes 43.7 times as long as IPv4 (median"), "{far}");
        let far = said(response, Verdict::Worse, [900.0, 962.3, 990.0], None);
        assert!(far.starts_with("IPv6 takes 962 times as long as IPv4 (median"), "{far}");
        assert!(far.contains("interval × 900 to × 990;"), "{far}");
        let rate = Metric::Quantity(Quantity::RequestsPerS);
        let far = said(rate, Verdict::Worse, [0.0004, 0.0005, 0.0006], None);
        assert!(far.starts_with("IPv6’s throughput is 2,000 times lower than IPv4’s"), "{far}");
        let far = said(response, Verdict::Better, [0.1, 0.2, 0.3], None);
        assert!(far.starts_with("IPv4 takes 5.0 times as long as IPv6"), "{far}");
        let equal = said(response, Verdict::Equivalent, [0.99, 1.0, 1.01], None);
        assert!(equal.starts_with("IPv6 and IPv4 differ by less than 5 %"), "{equal}");
        assert!(equal.contains("90 % interval −0.5 % to +0.4 %"), "{equal}");
        let failures = Metric::Quantity(Quantity::Failures);
        let equal = said(failures, Verdict::Equivalent, [0.99, 1.0, 1.01], None);
        assert!(equal.starts_with("IPv6 and IPv4 differ by less than 0.5 percentage points"));
        let noisy = said(response, Verdict::Inconclusive, [0.9, 1.0, 1.2], Some("too noisy"));
        assert!(
            noisy.starts_with(
                "Too noisy: IPv6 takes between 10 % less and 20 % more time than IPv4 (median response; "
            ),
            "{noisy}"
        );
        let unknown = said(response, Verdict::Inconclusive, [1.1, 1.2, 1.3], Some("few pairs"));
        assert!(
            unknown.starts_with("The difference between IPv6 and IPv4 is undecided"),
            "{unknown}"
        );
        assert!(unknown.contains("few pairs"), "{unknown}");
    }
}
