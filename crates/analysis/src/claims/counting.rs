//! Claims about counts: shares within bounds, all or none of the exchanges, exact shares.

use sixmark_stats::{Count, Interval, StudentEstimate, share_above, wilson};
use sixmark_tally::metric::Metric;
use sixmark_units::quantity::write_count;

use super::figures::FigureSet;
use super::judged::{PossibleAnswer, judge_contrary};
use super::tested::{JudgedClaim, TestOutcome, TestedClaim};
use sixmark_design::levels::label_level;
use sixmark_design::spec::{ClaimBounds, ExactTest, ShareTest, SideLevels};
use sixmark_design::study_result::{At, ClaimEstimate, ClaimScale, ExchangeCount};
use sixmark_sheet::write::write_percent;

/// Tests whether a share is within bounds. Exchanges of one repetition may share their fate, so
/// that the score test on all of them and Student's t on the repetitions' shares must agree.
pub(super) fn test_share(of: &ShareTest, [part, whole]: [&FigureSet; 2]) -> TestedClaim {
    let parts = part.counts(&of.a);
    let of_block = |(block, whole): (_, &f64)| {
        let part = parts.get(block).copied()?;
        (*whole > 0.0).then_some((part, *whole))
    };
    let wholes = whole.counts(&of.a);
    let blocks: Vec<(f64, f64)> = wholes.iter().filter_map(of_block).collect();
    let [counted, sent] = [0, 1].map(|side| {
        blocks.iter().map(|block| if side == 0 { block.0 } else { block.1 }).sum::<f64>()
    });
    if sent == 0.0 {
        return TestedClaim::untested("nothing was sent");
    }
    let share = counted / sent;
    let pooled = Count { part: counted as u64, whole: sent as u64 };
    let shares: Vec<f64> = blocks.iter().map(|(part, whole)| part / whole).collect();
    let spread = StudentEstimate::of_mean(&shares).ok();
    let outcome = match share_tails(of.bounds, pooled, spread) {
        _ if spread.is_none() && !whole.is_published() => {
            TestOutcome::Undecided("1 repetition is too few".into())
        }
        None => TestOutcome::Undecided("a share is out of bounds".into()),
        Some(tails) => TestOutcome::Judged(JudgedClaim::new(Vec::new(), move |_| tails.clone())),
    };
    let interval = share_interval(share, sent, spread);
    let estimate = ClaimEstimate {
        of: ClaimScale::Share,
        value: share,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
    };
    let least = of.bounds.at_least.is_none_or(|least| share >= least);
    let most = of.bounds.at_most.is_none_or(|most| share <= most);
    TestedClaim {
        outcome,
        figures: format!("{} of {}", write_percent(share), write_count(pooled.whole)),
        blocks: blocks.len() as u32,
        estimate: Some(estimate),
        count: Some(ExchangeCount { counted: pooled.part, sent: pooled.whole }),
        agrees: Some(least && most),
    }
}

/// Returns the interval of 95 % that the test does not reject: that of the score test, widened to that
/// of Student's t on the repetitions.
fn share_interval(share: f64, sent: f64, spread: Option<StudentEstimate>) -> Option<Interval> {
    let Interval { low, high } = wilson(share, sent, 0.95).ok()?;
    Some(match spread.and_then(|spread| spread.interval(0.95).ok()) {
        Some(of_t) => {
            Interval { low: low.min(of_t.low).max(0.0), high: high.max(of_t.high).min(1.0) }
        }
        None => Interval { low, high },
    })
}

/// Returns the larger p-values of the score test on the pooled count and of Student's t on the
/// repetitions.
fn share_tails(
    bounds: ClaimBounds,
    pooled: Count,
    spread: Option<StudentEstimate>,
) -> Option<Vec<PossibleAnswer>> {
    let above = |bound: f64| {
        let p = share_above(pooled, bound).ok()?;
        Some(p.max(spread.map_or(0.0, |spread| spread.above(bound))))
    };
    let below = |bound: f64| {
        let p = 1.0 - share_above(pooled, bound).ok()?;
        Some(p.max(spread.map_or(0.0, |spread| spread.below(bound))))
    };
    let ends = |of_least: &dyn Fn(f64) -> Option<f64>, of_most: &dyn Fn(f64) -> Option<f64>| {
        [bounds.at_least.map(of_least), bounds.at_most.map(of_most)]
    };
    let all =
        |ends: [Option<Option<f64>>; 2]| ends.into_iter().flatten().collect::<Option<Vec<_>>>();
    let holds = all(ends(&above, &below))?.into_iter().fold(0.0, f64::max);
    let fails = all(ends(&below, &above))?.into_iter().fold(1.0, f64::min);
    Some(judge_contrary(holds, fails))
}

/// Counts the exchanges of a side, except of cells that sent none, and judges whether all or none
/// of them are counted by the measure.
pub(super) fn test_counted(
    a: &SideLevels,
    all: bool,
    [counted, sent]: [&FigureSet; 2],
) -> TestedClaim {
    let total = |figures: &FigureSet| figures.counts(a).values().sum::<f64>().round() as u64;
    let count = ExchangeCount { counted: total(counted), sent: total(sent) };
    // A published table may count failures without saying of how many requests.
    let known = if sent.is_published() { !counted.is_empty() } else { count.sent > 0 };
    if !known {
        return TestedClaim::untested("nothing was sent");
    }
    let wanted = if all { count.sent } else { 0 };
    let holds = count.counted == wanted;
    let [in_words, sent_words] = [count.counted, count.sent].map(write_count);
    TestedClaim {
        outcome: TestOutcome::Counted(holds),
        figures: match count.sent {
            0 => in_words,
            _ => format!("{in_words} of {sent_words}"),
        },
        blocks: sent.repetitions(),
        estimate: None,
        count: Some(count),
        agrees: Some(holds),
    }
}

/// Judges whether counts are an exact share of both families' in every cell.
pub(super) fn test_exact(of: &ExactTest, measure: Metric, figures: &FigureSet) -> TestedClaim {
    let mut worst: Option<(f64, String)> = None;
    let mut cells = 0_u32;
    for (level, share) in &of.shares {
        let at = At { factor: of.over.clone(), level: level.clone() };
        for (count, both) in figures.counts_in_cells(&of.a, &at) {
            cells += 1;
            let off = (count - share * both).abs();
            if worst.as_ref().is_none_or(|(most, _)| off > *most) {
                let [count, both] = [count, both].map(|n| write_count(n.round() as u64));
                worst = Some((off, format!("{count} of {both} {measure} at {}", label_level(&at))));
            }
        }
    }
    let Some((off, furthest)) = worst else { return TestedClaim::untested("there are no counts") };
    let holds = off <= of.within as f64;
    let noun = if figures.is_published() { "rows" } else { "cells" };
    let figures_said = if holds {
        format!("in {} {noun} within {}", write_count(cells.into()), of.within)
    } else {
        furthest
    };
    TestedClaim {
        outcome: TestOutcome::Counted(holds),
        figures: figures_said,
        blocks: figures.repetitions(),
        estimate: None,
        count: None,
        agrees: Some(holds),
    }
}
