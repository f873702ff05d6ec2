//! Merging the answers of a client's processes that loaded at the same time, one in each host.

use std::collections::BTreeMap;

use super::{Answer, Quantity, TimePoint, TimedPhase};
use sixmark_tally::metric::{Metric, MetricKind};

/// Merges the answers of processes that loaded at the same time.
///
/// Counts, rates and processor times are sums, the time is that of the longest, and means are weighted
/// by what they are means of. A quantile of all can't be found from those of the parts: it is omitted.
pub fn merge_answers(answers: &[Answer]) -> Answer {
    let [first, others @ ..] = answers else { return Answer::default() };
    if others.is_empty() {
        return first.clone();
    }
    let mut figures = BTreeMap::new();
    for name in first.figures.keys() {
        let of_all = answers.iter().map(|answer| Some((answer, *answer.figures.get(name)?)));
        let parts: Option<Vec<(&Answer, f64)>> = of_all.collect();
        let merged = name.parse().ok().zip(parts).and_then(|(metric, of)| merge(metric, &of));
        figures.extend(merged.map(|value| (name.clone(), value)));
    }
    put_shares(&mut figures);
    Answer { figures, refused: answers.iter().map(|answer| answer.refused).sum() }
}

/// Merges one figure; `None` if it can't be found from those of the parts, or follows from others.
fn merge(metric: Metric, parts: &[(&Answer, f64)]) -> Option<f64> {
    let values = || parts.iter().map(|(_, value)| *value);
    let longest = || Some(values().fold(0.0, f64::max));
    match metric {
        Metric::Time(_, TimePoint::Min) => values().reduce(f64::min),
        Metric::Time(_, TimePoint::Max) => longest(),
        Metric::Time(phase, TimePoint::Mean) => mean(phase, parts),
        Metric::Time(..) | Metric::Delay(_) => None,
        Metric::Quantity(Quantity::Elapsed | Quantity::Wall) => longest(),
        _ if metric.kind() == MetricKind::Share => None,
        _ => Some(values().sum()),
    }
}

/// Returns the mean of a phase over all processes, each with the number that its mean is of.
fn mean(phase: TimedPhase, parts: &[(&Answer, f64)]) -> Option<f64> {
    let counts = if phase.is_of_connection() {
        [Quantity::Opened, Quantity::Completed]
    } else {
        [Quantity::Completed, Quantity::Completed]
    };
    let weight = |answer: &Answer| {
        counts.iter().find_map(|count| answer.figures.get(&name(*count)).copied())
    };
    let weights: Vec<f64> =
        parts.iter().map(|(answer, _)| weight(answer)).collect::<Option<_>>()?;
    let all: f64 = weights.iter().sum();
    let sum: f64 = weights.iter().zip(parts).map(|(weight, (_, mean))| weight * mean).sum();
    (all > 0.0).then(|| sum / all)
}

/// Adds the shares that follow from other figures.
fn put_shares(figures: &mut BTreeMap<String, f64>) {
    let shares = [
        (Quantity::Failures, Quantity::Failed, Quantity::Sent),
        (Quantity::CpuShare, Quantity::Cpu, Quantity::Wall),
    ];
    for (share, part, whole) in shares {
        let of = |quantity| figures.get(&name(quantity)).copied();
        let value = of(part).zip(of(whole)).filter(|(_, whole)| *whole > 0.0);
        figures.extend(value.map(|(part, whole)| (name(share), part / whole)));
    }
}

fn name(quantity: Quantity) -> String {
    Metric::Quantity(quantity).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(figures: &[(&str, f64)]) -> Answer {
        let figures = figures.iter().map(|(name, value)| ((*name).to_owned(), *value));
        Answer { figures: figures.collect(), refused: 1 }
    }

    #[test]
    fn counts_and_rates_are_sums_and_means_are_weighted() {
        let parts = |completed, mean, wall| {
            [
                ("sent", completed + 1.0),
                ("completed", completed),
                ("failed", 1.0),
                ("failures", 0.5),
                ("iops", completed * 2.0),
                ("content_rate", 1e6),
                ("elapsed", wall - 0.1),
                ("wall", wall),
                ("cpu", 0.5),
                ("cpu_share", 0.9),
                ("NORMAL", completed),
                ("response.min", mean - 1.0),
                ("response.mean", mean),
                ("response.p99", mean + 1.0),
                ("response.max", mean + 2.0),
            ]
        };
        let both =
            merge_answers(&[answer(&parts(30.0, 100.0, 2.0)), answer(&parts(10.0, 200.0, 1.0))]);
        for (name, value) in [
            ("sent", 42.0),
            ("completed", 40.0),
            ("failures", 2.0 / 42.0),
            ("iops", 80.0),
            ("content_rate", 2e6),
            ("elapsed", 1.9),
            ("wall", 2.0),
            ("cpu", 1.0),
            ("cpu_share", 0.5),
            ("NORMAL", 40.0),
            ("response.min", 99.0),
            ("response.mean", 125.0),
            ("response.max", 202.0),
        ] {
            assert_eq!(both.figures.get(name), Some(&value), "{name}");
        }
        assert!(!both.figures.contains_key("response.p99"), "no quantile of both is known");
        assert_eq!(both.refused, 2);
    }

    #[test]
    fn weights_the_mean_connect_time_by_connections() {
        let parts = |opened, mean| {
            answer(&[("completed", 5.0), ("opened", opened), ("connect.mean", mean)])
        };
        let both = merge_answers(&[parts(1.0, 100.0), parts(3.0, 200.0)]);
        assert_eq!(both.figures["connect.mean"], 175.0);
    }

    #[test]
    fn keeps_a_single_answer_and_omits_figures_that_some_answers_lack() {
        let one = answer(&[("iops", 1.0), ("response.p50", 3.0)]);
        assert_eq!(merge_answers(std::slice::from_ref(&one)), one);
        let both = merge_answers(&[one, answer(&[("iops", 2.0)])]);
        assert_eq!(both.figures.keys().collect::<Vec<_>>(), ["iops"]);
    }
}
