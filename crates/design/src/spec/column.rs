//! Columns of tables, and filters of levels.

use crate::study_result::At;
use sixmark_document::braces::is_name;
use sixmark_document::fields::FileFields;
use sixmark_tally::metric::{Metric, MetricKind, MetricUnit};

/// Levels of some factors, which select the cells that have them.
pub type LevelFilter = Vec<At>;

/// A measure with its unit and label, for a column or an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSpec {
    /// The measure.
    pub measure: Metric,
    /// The count of which the measure, a count too, is shown as a share; `None` to show it itself.
    pub of: Option<Metric>,
    /// The unit of its values; for a share, percent.
    pub unit: MetricUnit,
    /// The heading of the column, or the label of the axis.
    pub label: String,
}

/// Checks the name of a study, a table, a chart or a comparison.
pub(super) fn column_name(text: &str) -> Result<String, String> {
    if is_name(text) {
        Ok(text.to_owned())
    } else {
        Err(format!("'{text}' is not a valid name: use lower-case letters, digits, - and _"))
    }
}

/// The unit of a share.
pub const PERCENT: MetricUnit = MetricUnit { name: "%", kind: MetricKind::Count, scale: 0.01 };

/// Parses a column from its keys in a table, which may have other keys too.
pub(super) fn column_of(fields: &mut FileFields<'_>) -> Option<ColumnSpec> {
    let measure = fields.need("measure").and_then(|field| field.parsed(str::parse::<Metric>));
    let (unit, label) = (fields.take("unit"), fields.text("label"));
    let of = fields.take("of").and_then(|field| field.parsed(str::parse::<Metric>));
    let measure = measure?;
    let is_count = |measure: &Metric| measure.kind() == MetricKind::Count;
    if of.is_some_and(|of| !is_count(&of) || !is_count(&measure)) {
        fields.wrong("of needs two counts: a share is one count divided by another");
    }
    let unit = match (unit, of) {
        (Some(unit), Some(_)) => {
            unit.wrong("a share is in percent: omit unit");
            PERCENT
        }
        (None, Some(_)) => PERCENT,
        (Some(unit), None) => unit.parsed(|name| measure.unit(name))?,
        (None, None) => measure.base_unit(),
    };
    Some(ColumnSpec { measure, of, unit, label: label.unwrap_or_else(|| measure.to_string()) })
}
