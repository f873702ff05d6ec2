//! What would decide the metrics that have no verdict.

use super::repeated::Repeated;
use crate::Compared;
use crate::blocks_needed::BlocksNeeded;
use crate::comparison_result::ComparisonResult;
use crate::noisy::{NoiseCause, largest_cause};
use crate::undecided::UndecidedCause;
use sixmark_document::verdict::Verdict;
use sixmark_report::sheet::families::short;
use sixmark_sheet::write;
use sixmark_stats::TAIL_SAMPLES;
use sixmark_tally::metric::Metric;
use sixmark_tally::timed_phase::{Quantile, TimePoint};
use sixmark_units::quantity::write_about;

/// The causes in the order in which they are shown.
const ORDER: [UndecidedCause; 9] = [
    UndecidedCause::FewPairs,
    UndecidedCause::NoFigure,
    UndecidedCause::FewSamples,
    UndecidedCause::NotTested,
    UndecidedCause::NoiseFloor,
    UndecidedCause::OwnDelay,
    UndecidedCause::Chance,
    UndecidedCause::Noise,
    UndecidedCause::Unusable,
];

/// Returns a sentence for each cause: the metrics that have no verdict because of it, and what would
/// decide them.
pub(super) fn undecided_sentences(result: &ComparisonResult, repeated: &Repeated) -> Vec<String> {
    let comparison = &result.comparison;
    let sentence = |cause| {
        let undecided = comparison.metrics.iter().enumerate().filter(|(at, of)| {
            // The headline says what would decide a primary metric that is too noisy.
            let said = *at == 0 && cause == UndecidedCause::Noise;
            of.cause == Some(cause) && !repeated.has(of.metric) && !said
        });
        let undecided: Vec<&Compared> = undecided.map(|(_, of)| of).collect();
        (!undecided.is_empty()).then(|| sentence_of(result, cause, &undecided))
    };
    ORDER.into_iter().filter_map(sentence).collect()
}

/// Returns what would decide the primary metric, for the headline. `None` if it has a verdict.
pub(super) fn primary_step(result: &ComparisonResult) -> Option<String> {
    let comparison = &result.comparison;
    if comparison.not_same().is_some() {
        return None;
    }
    let primary = comparison.metrics.first().filter(|of| of.verdict == Verdict::Inconclusive)?;
    let step = match primary.cause {
        None | Some(UndecidedCause::Noise) => return needed_sentence(result, primary),
        Some(cause) => step_of(result, cause, &[primary])?,
    };
    Some(format!("{}.", write::capitalised(&step)))
}

fn sentence_of(result: &ComparisonResult, cause: UndecidedCause, of: &[&Compared]) -> String {
    let metrics = names_of_metrics(of.iter().map(|of| of.metric));
    let why = match cause {
        UndecidedCause::FewSamples => {
            format!(
                "too few responses ({TAIL_SAMPLES} beyond the quantile are needed on each side)"
            )
        }
        UndecidedCause::Noise => "too noisy".to_owned(),
        UndecidedCause::FewPairs => "too few pairs to show a difference".to_owned(),
        UndecidedCause::NotTested if result.comparison.settings.until.is_some() => {
            "not tested, because `--until` does not name them".to_owned()
        }
        UndecidedCause::NotTested => {
            let metrics = &result.comparison.metrics;
            let tested = metrics.iter().filter(|of| of.p_holm.is_some()).count();
            let pairs = result.comparison.pairs;
            format!(
                "not tested, because {pairs} pairs can decide {tested} of {} metrics",
                family(metrics)
            )
        }
        _ => of.first().and_then(|of| of.reason.clone()).unwrap_or_default(),
    };
    let step = step_of(result, cause, of).map_or(String::new(), |step| format!("; {step}"));
    format!("Inconclusive for {metrics}: {why}{step}.")
}

/// Returns what would decide these metrics.
fn step_of(result: &ComparisonResult, cause: UndecidedCause, of: &[&Compared]) -> Option<String> {
    let comparison = &result.comparison;
    let pairs = comparison.pairs;
    let lasting = |blocks| in_brackets(time_of_blocks(result, blocks));
    let until = comparison.settings.until.is_some();
    Some(match cause {
        UndecidedCause::FewSamples => samples_step(result, of)?,
        UndecidedCause::NotTested if until => {
            let metrics: Vec<String> = of.iter().map(|of| of.metric.to_string()).collect();
            format!("`--until decided:{},…` would test it", metrics.first()?)
        }
        UndecidedCause::FewPairs | UndecidedCause::Chance if until => {
            "more time (`--at-most`) or pairs (`--blocks`) would decide".to_owned()
        }
        UndecidedCause::FewPairs | UndecidedCause::NotTested => {
            let all = cause == UndecidedCause::NotTested;
            let family = if all { family(&comparison.metrics) } else { 1 };
            let needed = crate::judge::pairs_needed(family, &comparison.settings);
            format!("`--blocks {needed}`{} would do", lasting(needed as u64))
        }
        UndecidedCause::NoFigure => "longer blocks (`--block`) would have one".to_owned(),
        UndecidedCause::Noise => {
            let needed = |of: &&Compared| match comparison.blocks_needed_by(of)? {
                BlocksNeeded::About(n) => {
                    Some(format!("{n} blocks{} for {}", lasting(n), short(of.metric)))
                }
                BlocksNeeded::MoreThan(_) => None,
            };
            let needed: Vec<String> = of.iter().filter_map(needed).collect();
            if needed.is_empty() {
                return Some("leave the machine alone, or compare more blocks (`--blocks`)".into());
            }
            let margin = write::write_percent(comparison.settings.margin);
            format!("a difference of {margin} needs {} (`--blocks`)", needed.join(", "))
        }
        UndecidedCause::Chance => {
            let needed = 2 * pairs;
            let time = time_of_blocks(result, needed as u64);
            let time = time.map_or(String::new(), |time| format!(", {time}"));
            format!("more blocks would confirm a difference (`--blocks {needed}`{time})")
        }
        UndecidedCause::NoiseFloor | UndecidedCause::OwnDelay => {
            "leave the machine alone, or give sixmark cores of its own".to_owned()
        }
        UndecidedCause::Unusable => return None,
    })
}

/// Returns the number of metrics that could be tested.
fn family(metrics: &[Compared]) -> usize {
    metrics.iter().filter(|of| of.p.is_some()).count()
}

/// Returns the blocks that would have enough samples for each quantile: `120 responses came of
/// each side: blocks of 4.2 s would do for p90, 42 s for p99`.
fn samples_step(result: &ComparisonResult, of: &[&Compared]) -> Option<String> {
    let mut needed: Vec<(Quantile, f64)> = Vec::new();
    for of in of {
        let Metric::Time(phase, point) = of.metric else { continue };
        let quantile =
            Quantile::ALL.into_iter().find(|&quantile| TimePoint::from(quantile) == point)?;
        let counts = [&result.sides.a, &result.sides.b]
            .map(|side| phase.durations(&side.figures).map_or(0, |durations| durations.count));
        let fewest = counts.into_iter().min().filter(|&count| count > 0)?;
        let times = TAIL_SAMPLES as f64 / (1.0 - quantile.share()) / fewest as f64;
        match needed.iter_mut().find(|(known, _)| *known == quantile) {
            Some((_, most)) => *most = most.max(times),
            None => needed.push((quantile, times)),
        }
    }
    let schedule = &result.schedule;
    let block = |times: f64| match (schedule.block_s, schedule.block_requests) {
        (_, Some(requests)) => Some(format!(
            "{} requests",
            write::write_count((requests as f64 * times).ceil() as u64)
        )),
        (Some(s), None) => Some(write::write_time(rounded_up(s * times) * 1e6)),
        (None, None) => None,
    };
    let longest = needed.iter().map(|(_, times)| *times).fold(0.0, f64::max);
    let all_s = Some(result.elapsed_s * longest * 1.1).filter(|all_s| *all_s > 0.0);
    let time = in_brackets(all_s.map(|all_s| format!("about {} in all", write_about(all_s))));
    let blocks = needed.into_iter().map(|(quantile, times)| {
        // A margin, since not every block has as many responses.
        Some(format!("{} for {}", block(times * 1.1)?, TimePoint::from(quantile).title()))
    });
    let blocks: Vec<String> = blocks.collect::<Option<_>>()?;
    let option = if schedule.block_requests.is_some() { "-n" } else { "--block" };
    Some(format!("longer blocks (`{option}`) would have them: {}{time}", blocks.join(", ")))
}

/// Rounds up to two digits.
fn rounded_up(value: f64) -> f64 {
    let step = 10_f64.powf(value.log10().floor() - 1.0);
    // What is a rounding error above a number is that number.
    (value / step - 1e-6).ceil() * step
}

/// Returns a sentence about the number of blocks that would decide a metric that is too noisy.
fn needed_sentence(result: &ComparisonResult, of: &Compared) -> Option<String> {
    let comparison = &result.comparison;
    let margin = write::write_percent(comparison.settings.margin);
    Some(match comparison.blocks_needed_by(of)? {
        BlocksNeeded::About(n) if comparison.settings.until.is_some() => format!(
            "About {n} pairs{} would decide a difference of {margin} (`--at-most`, `--blocks`).",
            in_brackets(time_of_blocks(result, n))
        ),
        BlocksNeeded::About(n) => {
            let time = time_of_blocks(result, n).map_or(String::new(), |time| format!(", {time}"));
            format!(
                "About {n} blocks of each side (`--blocks {n}`{time}) would decide a difference of {margin}."
            )
        }
        BlocksNeeded::MoreThan(n) => format!(
            "More than {} blocks of each side{} would be needed to decide a difference of {margin}.",
            write::write_count(n),
            in_brackets(time_of_blocks(result, n))
        ),
    })
}

/// Returns how long a comparison of so many blocks of each side would take, by the time that a block
/// took in this one: `about 20 minutes`. `None` if that is not known.
fn time_of_blocks(result: &ComparisonResult, blocks: u64) -> Option<String> {
    let schedule = &result.schedule;
    let warm_up = u64::from(schedule.warm_up_blocks);
    let measured = match result.blocks.len() as u64 {
        0 => 2 * (u64::from(schedule.pairs) + warm_up),
        measured => measured,
    };
    let block_s = result.elapsed_s / measured.max(1) as f64;
    let all_s = block_s * (2 * (blocks + warm_up)) as f64;
    (all_s > 0.0).then(|| format!("about {}", write_about(all_s)))
}

/// Returns ` (about 20 minutes)`, or nothing.
fn in_brackets(time: Option<String>) -> String {
    time.map_or(String::new(), |time| format!(" ({time})"))
}

/// Returns the largest cause of the noise that was measured, and what helps first. `None` if the
/// primary metric is decided, or no cause was measured.
pub(super) fn noise_sentence(result: &ComparisonResult) -> Option<String> {
    let percent = write::write_percent;
    Some(match largest_cause(result)? {
        NoiseCause::Busy(share) => format!(
            "The largest cause that was measured: this machine’s processors, which were busy for {} \
             of the time. What helps first: a machine of its own for the server and for other \
             programs, or less load (`-c`, `--rate`).",
            percent(share)
        ),
        NoiseCause::Stolen(share) => format!(
            "The largest cause that was measured: the host of this virtual machine, which took {} \
             of its CPU time (steal). What helps first: a machine with processors of its own.",
            percent(share)
        ),
        NoiseCause::OwnDelay(share) => format!(
            "The largest cause that was measured: this machine’s own delay, which is {} of the \
             median wait. What helps first: leave the machine alone, or give sixmark cores of its \
             own.",
            percent(share)
        ),
        NoiseCause::Stalled(share) => format!(
            "The largest cause that was measured: sixmark had no processor for {} of the time. What \
             helps first: leave the machine alone, or give sixmark cores of its own.",
            percent(share)
        ),
    })
}

/// Joins names of metrics; what they have in common with the one before is written once: `response
/// p90, p99, wait p90`.
pub(super) fn names_of_metrics(metrics: impl Iterator<Item = Metric>) -> String {
    let mut before = String::new();
    let mut names = Vec::new();
    for metric in metrics {
        let name = short(metric);
        match metric {
            Metric::Time(phase, point) if phase.noun() == before => {
                names.push(point.title().into())
            }
            Metric::Time(phase, _) => {
                before = phase.noun().to_owned();
                names.push(name);
            }
            _ => names.push(name),
        }
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::comparison_result;

    /// Returns a result with this metric undecided, of 120 responses of each side in blocks of 0.5 s.
    fn undecided(metrics: &[(&str, UndecidedCause)]) -> ComparisonResult {
        let mut result = comparison_result();
        let first = result.comparison.metrics[0].clone();
        let metric = |(name, cause): &(&str, UndecidedCause)| Compared {
            metric: name.parse().unwrap(),
            verdict: Verdict::Inconclusive,
            cause: Some(*cause),
            reason: Some("no reason".into()),
            ..first.clone()
        };
        result.comparison.metrics = metrics.iter().map(metric).collect();
        (result.schedule.block_s, result.schedule.block_requests) = (Some(0.5), None);
        for side in [&mut result.sides.a, &mut result.sides.b] {
            side.figures.response_us.count = 120;
            side.figures.wait_us.count = 100;
        }
        result
    }

    #[test]
    fn advises_longer_blocks_for_quantiles_with_too_few_samples() {
        let few = UndecidedCause::FewSamples;
        let metrics =
            [("response.p90", few), ("response.p99", few), ("wait.p90", few), ("wait.p99", few)];
        let result = undecided(&metrics);
        let said = undecided_sentences(&result, &Repeated::default());
        let wanted = "Inconclusive for response p90, p99, wait p90, p99: too few responses (100 \
                      beyond the quantile are needed on each side); longer blocks (`--block`) would \
                      have them: 5.50 s for p90, 55.0 s for p99 (about 48 minutes in all).";
        assert_eq!(said.join("|").replace('\u{a0}', " "), wanted);
        let step = primary_step(&result).unwrap().replace('\u{a0}', " ");
        assert_eq!(
            step,
            "Longer blocks (`--block`) would have them: 4.60 s for p90 (about 4 minutes in all)."
        );
    }

    #[test]
    fn advises_a_request_count_for_blocks_of_requests() {
        let mut result = undecided(&[("response.p90", UndecidedCause::FewSamples)]);
        result.schedule.block_requests = Some(10);
        let said = primary_step(&result).unwrap();
        assert_eq!(
            said,
            "Longer blocks (`-n`) would have them: 92 requests for p90 (about 4 minutes in all)."
        );
    }

    #[test]
    fn gives_advice_for_each_cause_of_an_undecided_metric() {
        for (cause, advice) in [
            (UndecidedCause::FewPairs, "to show a difference; `--blocks 6` (about 14 s) would do."),
            (UndecidedCause::Chance, "(`--blocks 24`, about 50 s)"),
            (UndecidedCause::NoiseFloor, "cores of its own."),
            (UndecidedCause::OwnDelay, "cores of its own."),
        ] {
            let result = undecided(&[("response.p50", cause), ("wait.p50", cause)]);
            let said = undecided_sentences(&result, &Repeated::default());
            assert_eq!(said.len(), 1, "{said:?}");
            assert!(said[0].starts_with("Inconclusive for response median, wait"), "{said:?}");
            assert!(said[0].ends_with(advice) || said[0].contains(advice), "{said:?}");
        }
    }
}
