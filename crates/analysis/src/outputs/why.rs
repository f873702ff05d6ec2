//! Why the response times of two levels of a factor differ.

use super::pairs::ObservedPair;
use crate::observation::Observation;
use sixmark_tally::metric::{Metric, Quantity};
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};
use sixmark_why::divide::{SideAccount, TestedPart, divide_difference};
use sixmark_why::divided_difference::DividedDifference;

/// The confidence of the intervals of a study's comparisons.
const CONFIDENCE: f64 = 0.95;
/// The probability with which a part of two equal sides may be called a cause.
const LEVEL: f64 = 1.0 - CONFIDENCE;

/// Divides the difference of the response times behind a comparison of `measure` that found the levels
/// to differ. `None` if other times decide the measure, if a cell of a pair has no account, as one
/// that another client measured, or if there are fewer than two pairs.
///
/// The pairs are those of the comparison, and intervals are Student's, as its own is.
pub(super) fn explain(measure: Metric, pairs: &[ObservedPair<'_>]) -> Option<DividedDifference> {
    let point = point_behind(measure)?;
    let accounts: Option<Vec<[SideAccount; 2]>> = pairs
        .iter()
        .map(|pair| {
            let [a, b] = pair.sides().map(|side| account_of(side, point));
            Some([a?, b?])
        })
        .collect();
    let accounts = accounts?;
    let response = |side: &SideAccount| side.account.response_us;
    let apart: Vec<f64> = accounts.iter().map(|[a, b]| response(a) - response(b)).collect();
    let whole = TestedPart::of_mean(&apart, CONFIDENCE).ok()?.difference_us;
    if whole.low <= 0.0 && 0.0 <= whole.high {
        return None;
    }
    let metric = Metric::Time(TimedPhase::Response, point);
    let estimate = |apart: &[f64]| TestedPart::of_mean(apart, CONFIDENCE);
    divide_difference(metric, whole, &accounts, LEVEL, estimate).ok()
}

/// Returns the figure of the response time that decides the measure: a closed loop's rates and
/// durations follow from the mean response time.
fn point_behind(measure: Metric) -> Option<TimePoint> {
    match measure {
        Metric::Time(
            TimedPhase::Response,
            point @ (TimePoint::Mean | TimePoint::P50 | TimePoint::P99),
        ) => Some(point),
        Metric::Quantity(
            Quantity::RequestsPerS
            | Quantity::Iops
            | Quantity::Goodput
            | Quantity::ContentRate
            | Quantity::TransferRate
            | Quantity::Elapsed,
        ) => Some(TimePoint::Mean),
        _ => None,
    }
}

/// Returns the account of one side of a pair, on average over its repetitions.
fn account_of(side: &[&Observation<'_>], point: TimePoint) -> Option<SideAccount> {
    let of = |one: &&Observation<'_>| {
        let account = one.cell.accounts.of(one.family)?;
        let figures = match point {
            TimePoint::P50 => account.p50,
            TimePoint::P99 => account.p99,
            _ => account.mean,
        };
        Some(SideAccount {
            account: figures,
            round_trip_us: account.round_trip_us,
            tls_round_trips: account.tls_round_trips,
        })
    };
    let all: Option<Vec<SideAccount>> = side.iter().map(of).collect();
    SideAccount::average(&all?)
}

#[cfg(test)]
mod tests;
