//! The intervals of a study's figures, and whether they are too wide to be shown.
//!
//! Student's interval of scattered repetitions may reach below 0, where it is clipped: a time or a
//! rate can't be there. Its lower end then says nothing, however many repetitions there are.

use sixmark_design::study_result::{MeanRatio, Table, TableValue};
use sixmark_tally::metric::{Metric, MetricKind};

use sixmark_sheet::write::{figure, write_ratio};

/// The interval of a ratio is too wide if its upper end is more than this many times the lower end.
const WIDEST_RATIO: f64 = 25.0;

/// Returns true if the interval of a ratio is too wide to be shown. An interval that does not
/// include 1 is always shown, because it decides the comparison however wide it is.
pub(super) fn is_too_wide(ratio: MeanRatio) -> bool {
    let is_wide = |(low, high): (f64, f64)| high > WIDEST_RATIO * low && low <= 1.0 && high >= 1.0;
    ratio.low.zip(ratio.high).is_some_and(is_wide)
}

/// Formats the interval of a ratio, such as `0.981 to 1.006`, or returns `few` if it is too wide;
/// `None` if there is no interval.
pub(super) fn of_ratio(ratio: MeanRatio, few: &str) -> Option<String> {
    let (low, high) = (ratio.low?, ratio.high?);
    let said = || format!("{} to {}", write_ratio(low), write_ratio(high));
    Some(if is_too_wide(ratio) { few.to_owned() } else { said() })
}

/// Formats the interval after a figure, such as ` (12 to 14)`; empty if there is no interval.
pub(super) fn of_value(value: &TableValue) -> String {
    match (value.low, value.high) {
        (Some(low), Some(high)) if low < high => {
            format!(" ({} to {})", figure(low), figure(high))
        }
        _ => String::new(),
    }
}

/// Returns true if the interval of a time or a rate was clipped at 0. Counts and shares may be 0.
fn is_clipped(value: &TableValue, measure: Metric) -> bool {
    let counted = matches!(measure.kind(), MetricKind::Count | MetricKind::Share);
    let is_above = value.measured.is_some_and(|measured| measured > 0.0);
    !counted && is_above && value.low.is_some_and(|low| low <= 0.0)
}

/// Returns the text below a table about intervals that were clipped; `None` if there are none.
pub(super) fn note(of: &Table) -> Option<String> {
    let mut values = of.rows.iter().flat_map(|row| row.values.iter().zip(&of.columns));
    let any = values.any(|(value, column)| is_clipped(value, column.measure));
    let said = "An interval that begins at 0 has no lower end: the repetitions are too far apart.";
    any.then(|| said.to_owned())
}
