//! The intervals of a study's figures, and whether they are too wide to be shown.
//!
//! Student's interval of a few scattered repetitions reaches from 0 to many times the figure. It
//! shows only that there are too few repetitions.

use crate::study_result::{MeanRatio, Table, TableValue};
use sixmark_record::metric::{Metric, MetricKind};

use sixmark_sheet::write::{figure, write_ratio};

/// The interval of a ratio is too wide if its upper end is more than this many times the lower end.
const WIDEST_RATIO: f64 = 25.0;

/// The mark that replaces an interval in a table, explained below the table.
const MARK: &str = "(?)";

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

/// Returns true if the interval of a time or a rate was clipped at 0, which shows that there are
/// too few repetitions. Counts and shares may be 0.
pub(crate) fn is_cut_off(value: f64, low: Option<f64>, measure: Metric) -> bool {
    let counted = matches!(measure.kind(), MetricKind::Count | MetricKind::Share);
    !counted && value > 0.0 && low.is_some_and(|low| low <= 0.0)
}

/// Formats the interval after a figure, such as ` (12 to 14)`; empty if there is no interval.
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

/// Returns the text below a table that explains the mark; `None` if the table does not have it.
pub(super) fn note(of: &Table) -> Option<String> {
    let values = of.rows.iter().flat_map(|row| row.values.iter().zip(&of.columns));
    let mut marked = values.filter(|(value, column)| is_unusable(value, column.measure));
    let (value, _) = marked.next()?;
    let noun = if value.n == 1 { "repetition" } else { "repetitions" };
    Some(format!("{MARK}: {} {noun} are too few for an interval.", value.n))
}
