//! Intervals and margins in words, each interval with its level.

use crate::deciding::DecidingInterval;
use crate::{Compared, Settings};
use sixmark_document::verdict::Estimate;
use sixmark_report::sheet::families::change_of;
use sixmark_sheet::write::{self, ChangeForm};
use sixmark_tally::metric::{Metric, Quantity};

/// Returns the heading of a column of intervals, which names the level of those whose cells name
/// none.
pub(super) fn interval_heading(settings: &Settings) -> String {
    format!("{} interval", write::write_percent(settings.confidence))
}

/// Returns the interval that decides the verdict on a metric, such as `95 % interval +1.9 % to
/// +5.0 %`; `None` if there is no estimate.
pub(crate) fn interval_that_decides(of: &Compared, settings: &Settings) -> Option<String> {
    of.deciding_interval(settings).map(|found| write_with_level(of.metric, found))
}

/// Returns the interval with the confidence of the settings in the same form.
pub(super) fn interval_of_estimate(of: &Compared, settings: &Settings) -> Option<String> {
    of.interval_of_estimate(settings).map(|found| write_with_level(of.metric, found))
}

fn write_with_level(metric: Metric, found: DecidingInterval) -> String {
    let level = write::write_percent(found.confidence);
    format!("{level} interval {}", write_range(metric, change(metric, found.estimate)))
}

/// Returns the text of a cell below [`interval_heading`]: `+1.9 % to +5.0 %`, with the level before
/// it if that is another one: `90 %: -0.4 % to +0.6 %`.
pub(super) fn interval_cell(
    metric: Metric,
    found: DecidingInterval,
    settings: &Settings,
) -> String {
    let range = write_range(metric, change(metric, found.estimate));
    if found.confidence == settings.confidence {
        return range;
    }
    format!("{}: {range}", write::write_percent(found.confidence))
}

/// Returns what a metric changes by: the ratio minus 1 or, for failures, the difference of the
/// shares.
pub(super) fn change(metric: Metric, estimate: Estimate) -> Estimate {
    if is_share(metric) { estimate } else { change_of(estimate) }
}

/// Formats a change.
pub(super) fn write_change(metric: Metric, change: f64) -> String {
    if is_share(metric) { write::share_difference(change) } else { write::change(change) }
}

/// Formats an interval. Its ends have the form of the estimate.
pub(super) fn write_range(metric: Metric, Estimate { value, low, high }: Estimate) -> String {
    let form = ChangeForm::of(value);
    let end = |end| if is_share(metric) { write::share_difference(end) } else { form.write(end) };
    format!("{} to {}", end(low), end(high))
}

fn is_share(metric: Metric) -> bool {
    metric == Metric::Quantity(Quantity::Failures)
}
