//! The division of the difference of two median response times among their parts.

use super::anytime::{estimate_series, p_of_series};
use super::figures::PhaseTimes;
use super::{Rules, make_estimate};
use crate::{BlockPair, Comparison, Stretch};
use sixmark_document::verdict::{Estimate, Verdict};
use sixmark_stats::{Refused, hodges_lehmann, signed_rank, walsh_interval};
use sixmark_tally::metric::Metric;
use sixmark_tally::timed_phase::{Quantile, TimePoint, TimedPhase};
use sixmark_why::divide::{SideAccount, TestedPart, divide_difference};
use sixmark_why::divided_difference::DividedDifference;

/// Divides the difference of the median response times of two sides, if they differ.
pub(super) fn explain(
    comparison: &Comparison,
    pairs: &[BlockPair],
    rules: &Rules<'_>,
) -> Option<DividedDifference> {
    let median = Metric::Time(TimedPhase::Response, TimePoint::P50);
    let of = comparison.metrics.iter().find(|of| of.metric == median)?;
    if !matches!(of.verdict, Verdict::Better | Verdict::Worse) {
        return None;
    }
    let figures = PhaseTimes::of(TimedPhase::Response, pairs).by_pair(Quantile::ALL[0]);
    let accounts: Option<Vec<[SideAccount; 2]>> = pairs
        .iter()
        .zip(figures)
        .filter_map(|(pair, figures)| Some((pair, figures?)))
        .map(|(pair, (a_us, b_us))| Some([account_of(&pair.a, a_us)?, account_of(&pair.b, b_us)?]))
        .collect();
    let level = rules.settings.level_of_difference();
    let estimate = |apart: &[f64]| {
        Ok(TestedPart { difference_us: estimate_part(apart, rules)?, p: p_of_part(apart, rules)? })
    };
    divide_difference(median, of.difference?, &accounts?, level, estimate).ok()
}

/// Returns the account of the exchanges around the median of a block, in microseconds; `None` if it
/// has no account.
fn account_of(block: &Stretch, median_us: f64) -> Option<SideAccount> {
    Some(SideAccount {
        account: block.account.around(0.5, median_us * 1e3)?.figures(),
        round_trip_us: block.round_trip_ns.map(|ns| ns / 1e3),
        tls_round_trips: block.tls_round_trips,
    })
}

fn estimate_part(apart: &[f64], rules: &Rules<'_>) -> Result<Estimate, Refused> {
    if rules.is_anytime() {
        return estimate_series(apart, rules);
    }
    let interval = walsh_interval(apart, rules.settings.confidence)?;
    Ok(make_estimate(hodges_lehmann(apart)?, interval))
}

fn p_of_part(apart: &[f64], rules: &Rules<'_>) -> Result<f64, Refused> {
    if rules.is_anytime() { Ok(p_of_series(apart)) } else { Ok(signed_rank(apart)?.two_sided) }
}

#[cfg(test)]
mod tests;
