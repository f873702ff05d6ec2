//! The value of a metric as text.

use sixmark_tally::metric::Metric;

use sixmark_sheet::write;

/// Formats the value of a metric with its unit.
pub fn metric_value(metric: Metric, value: f64) -> String {
    write::together(metric.write_value(value))
}
