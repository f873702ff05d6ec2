//! The unit in which the figures of a claim are written.

use sixmark_design::spec::{ClaimSpec, PublishedFigures};
use sixmark_sheet::write::figure;
use sixmark_tally::metric::{Metric, MetricKind, MetricUnit};

/// How the figures of a claim are written: in the unit of the published table, so that both can be
/// read side by side, else in one that suits their size.
#[derive(Clone, Copy)]
pub(super) struct ClaimUnits {
    pub(super) measure: Metric,
    unit: Option<MetricUnit>,
}

impl ClaimUnits {
    pub(super) fn of(spec: &ClaimSpec, published: Option<&PublishedFigures>) -> ClaimUnits {
        let measure = spec.measure;
        let unit = || {
            let of = spec.published.as_ref()?;
            let table = published?.tables.iter().find(|table| table.name == of.table)?;
            let is_of = |published: Metric| of.measure_here(published) == measure;
            let column = table.columns.iter().find(|column| is_of(column.measure))?;
            measure.unit(&column.unit).ok()
        };
        let unit = unit().filter(|_| measure.kind() != MetricKind::Count);
        ClaimUnits { measure, unit }
    }

    /// Formats a figure of the measure's base unit.
    pub(super) fn write(self, value: f64) -> String {
        match self.unit {
            Some(unit) => format!("{} {}", figure(value / unit.scale), unit.name),
            None => self.measure.write_value(value),
        }
    }

    /// Formats a difference of figures with its sign.
    pub(super) fn write_difference(self, value: f64) -> String {
        let sign = if value < 0.0 { "-" } else { "" };
        format!("{sign}{}", self.write(value.abs()))
    }
}
