//! Intervals of a study's figures, and where they are too wide to be shown.
//!
//! Few repetitions that are far apart have an interval of Student's that reaches from nothing to many times the
//! figure. It says no more than that there are too few.

use crate::study_result::{MeanRatio, Table, TableValue};
use sixmark_record::metric::{Metric, MetricKind};

use sixmark_sheet::write::figure;

/// An interval of a ratio whose ends are further apart than so many times says nothing.
const WIDEST_RATIO: f64 = 25.0;

/// Stands in the place of an interval in a table, explained below it.
const MARK: &str = "(?)";

/// True of a ratio whose interval is too wide to be shown. One that is wholly on one side of 1 has decided all the
/// same.
pub(super) fn is_too_wide(ratio: MeanRatio) -> bool {
    let is_wide = |(low, high): (f64, f64)| high > WIDEST_RATIO * low && low <= 1.0 && high >= 1.0;
    ratio.low.zip(ratio.high).is_some_and(is_wide)
}

/// `0.981 to 1.006`, or `few` where it is too wide; none where there is no interval.
pub(super) fn of_ratio(ratio: MeanRatio, few: &str) -> Option<String> {
    let (low, high) = (ratio.low?, ratio.high?);
    let said = || format!("{} to {}", write_ratio(low), write_ratio(high));
    Some(if is_too_wide(ratio) { few.to_owned() } else { said() })
}

/// A ratio or an end of its interval: three decimals where they matter, four digits elsewhere.
pub(super) fn write_ratio(ratio: f64) -> String {
    match (0.1..100.0).contains(&ratio) {
        true => format!("{ratio:.3}"),
        false => figure(ratio),
    }
}

/// True of a time or a rate whose interval had to be cut off at 0: such an interval says that there are too few
/// repetitions. A count may well be 0.
pub(crate) fn is_cut_off(value: f64, low: Option<f64>, measure: Metric) -> bool {
    let counted = matches!(measure.kind(), MetricKind::Count | MetricKind::Share);
    !counted && value > 0.0 && low.is_some_and(|low| low <= 0.0)
}

/// ` (12 to 14)` behind a figure; empty where there is no interval.
pub(super) fn of_value(value: &TableValue, measure: Metric) -> String {
    match (value.low, value.high) {
        _ if is_unusable(value, measure) => format!(" {MARK}"),
        (Some(low), Some(high)) if low < high => {
            format!(" ({} to {})", figure(low), figure(high))
        }
        _ => String::new(),
    }
}

fn is_unusable(value: &TableValue, measure: Metric) -> bool {
    value.measured.is_some_and(|measured| is_cut_off(measured, value.low, measure))
}

/// What the mark means, below a table that has it.
pub(super) fn note(of: &Table) -> Option<String> {
    let values = of.rows.iter().flat_map(|row| row.values.iter().zip(&of.columns));
    let mut marked = values.filter(|(value, column)| is_unusable(value, column.measure));
    let (value, _) = marked.next()?;
    let noun = if value.n == 1 { "repetition" } else { "repetitions" };
    Some(format!("{MARK}: {} {noun} are too few for an interval.", value.n))
}
