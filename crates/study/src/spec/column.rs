//! A measure as a column of a table, and where figures stand.

use crate::study_result::At;
use sixmark_document::braces::is_name;
use sixmark_document::fields::FileFields;
use sixmark_record::metric::{Metric, MetricUnit};

/// Levels of some factors, which select the cells that have them.
pub type LevelFilter = Vec<At>;

/// What a column has.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnSpec {
    /// What is shown.
    pub measure: Metric,
    /// In which unit.
    pub unit: MetricUnit,
    /// What it is called.
    pub label: String,
}

/// A name of a table, a figure, a comparison.
pub(super) fn column_name(text: &str) -> Result<String, String> {
    match is_name(text) {
        true => Ok(text.to_owned()),
        false => {
            Err(format!("'{text}' is not a valid name: use lower-case letters, digits, - and _"))
        }
    }
}

/// The same of a table that has other keys too.
pub(super) fn column_of(fields: &mut FileFields<'_>) -> Option<ColumnSpec> {
    let measure = fields.need("measure").and_then(|field| field.parsed(str::parse::<Metric>));
    let (unit, label) = (fields.take("unit"), fields.text("label"));
    let measure = measure?;
    let unit = match unit {
        Some(unit) => unit.parsed(|name| measure.unit(name))?,
        None => measure.base_unit(),
    };
    Some(ColumnSpec { measure, unit, label: label.unwrap_or_else(|| measure.to_string()) })
}
