//! The figures that gates use, read from documents.

use super::show;
use crate::comparison_result::ComparisonResult;
use crate::deciding::{DecidingInterval, margin_text};
use crate::{Compared, Comparison, Settings};
use sixmark_document::verdict::{Estimate, Verdict};
use sixmark_result::expression::{
    Dimension, Function, GateSide, GivenFigures, SideFigure, verdict_word,
};
use sixmark_result::measurement::Measurement;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::metric::{Metric, MetricKind, Quantity};
use sixmark_units::family::Family;
use sixmark_units::quantity::write_percent;

/// Documents use microseconds, gates seconds.
const US_PER_S: f64 = 1e6;

/// The figures of a document.
#[derive(Clone, Copy, Default)]
pub(super) struct GateSource<'a> {
    ipv6: Option<&'a FamilyResult>,
    ipv4: Option<&'a FamilyResult>,
    total: Option<&'a FamilyResult>,
    a: Option<&'a FamilyResult>,
    b: Option<&'a FamilyResult>,
    /// The run or watch that the figures of families are from.
    measurement: Option<&'a dyn Measurement>,
    pub(super) comparison: Option<&'a Comparison>,
    given: Option<&'a dyn GivenFigures>,
}

impl<'a> GateSource<'a> {
    pub(super) fn of_measurement(measurement: &'a dyn Measurement) -> GateSource<'a> {
        GateSource {
            ipv6: measurement.families().ipv6.as_ref(),
            ipv4: measurement.families().ipv4.as_ref(),
            total: Some(measurement.total()),
            measurement: Some(measurement),
            ..GateSource::default()
        }
    }

    pub(super) fn of_comparison(result: &'a ComparisonResult) -> GateSource<'a> {
        GateSource {
            a: Some(&result.sides.a.figures),
            b: Some(&result.sides.b.figures),
            comparison: Some(&result.comparison),
            ..GateSource::default()
        }
    }

    pub(super) fn of_given(given: &'a dyn GivenFigures) -> GateSource<'a> {
        GateSource { given: Some(given), ..GateSource::default() }
    }

    /// Returns what knows figures with names of their own.
    pub(super) fn given(&self) -> Result<&'a dyn GivenFigures, String> {
        self.given.ok_or_else(|| "nothing was measured".to_owned())
    }

    fn side(&self, place: GateSide) -> Option<&'a FamilyResult> {
        match place {
            GateSide::Ipv6 => self.ipv6,
            GateSide::Ipv4 => self.ipv4,
            GateSide::Total => self.total,
            GateSide::A => self.a,
            GateSide::B => self.b,
        }
    }

    /// Returns a figure of a side, or why there is none.
    pub(super) fn figure(&self, figure: &SideFigure) -> Result<f64, String> {
        let side = self.side(figure.side);
        let side = side.ok_or_else(|| format!("nothing was measured for {}", figure.name))?;
        if let Some(hidden) = self.hidden(figure) {
            return Err(format!("{figure} was not measured: {hidden}"));
        }
        let found = figure.metric.value(side).map(|value| value / per_gate_unit(figure.metric));
        found.map_err(|why| format!("{figure} was not measured: {why}"))
    }

    /// Returns why a figure of exchanges is unknown although it reads 0: exchanges that cannot be
    /// seen are not zero.
    fn hidden(&self, figure: &SideFigure) -> Option<String> {
        if figure.metric.is_of_connection() {
            return None;
        }
        self.measurement?.why_hidden(match figure.side {
            GateSide::Ipv6 => Some(Family::Ipv6),
            GateSide::Ipv4 => Some(Family::Ipv4),
            _ => None,
        })
    }

    /// Returns the comparison of a metric.
    fn metric(&self, metric: Metric) -> Result<&'a Compared, String> {
        let comparison = self.comparison.ok_or("nothing was compared")?;
        let found = comparison.metrics.iter().find(|compared| compared.metric == metric);
        found.ok_or_else(|| match comparison.not_same() {
            Some(said) => format!("{metric} is not comparable: {said}"),
            None => format!("{metric} was not compared: it is missing on at least one side"),
        })
    }

    /// Returns an estimate or a probability, or why there is none.
    pub(super) fn compared(&self, function: Function, metric: Metric) -> Result<f64, String> {
        let compared = self.metric(metric)?;
        let found = match function {
            Function::Ratio(end) => compared.ratio.map(|ratio| end.of(&ratio)),
            Function::Difference(end) => {
                compared.difference.map(|difference| end.of(&difference) / per_gate_unit(metric))
            }
            Function::P => compared.p,
            Function::PHolm => compared.p_holm,
        };
        let missing =
            || format!("there is no {}({metric}): {}", function.name(), why_not(compared));
        found.ok_or_else(missing)
    }

    /// Returns the verdict on a metric, and its description. A metric that was refused has no
    /// verdict: treating it as inconclusive would let a gate pass that tests for worse.
    pub(super) fn verdict(&self, metric: Metric) -> Result<(Verdict, String), String> {
        let compared = self.metric(metric)?;
        let settings = &self.comparison.ok_or("nothing was compared")?.settings;
        if compared.verdict == Verdict::NotComparable {
            return Ok((compared.verdict, not_comparable(compared)));
        }
        if compared.ratio.is_none() && compared.difference.is_none() {
            return Err(format!("{metric} could not be compared: {}", why_not(compared)));
        }
        let verdict = compared.verdict;
        let shown = format!(
            "{metric} is {}{}",
            verdict_word(verdict),
            describe_estimate(compared, settings)
        );
        Ok((verdict, shown))
    }
}

/// Returns how many of the metric's units make one unit of the gate language.
fn per_gate_unit(metric: Metric) -> f64 {
    if metric.kind() == MetricKind::Time { US_PER_S } else { 1.0 }
}

/// Describes a metric whose sides do not give the same responses.
fn not_comparable(compared: &Compared) -> String {
    format!("{} is not comparable: {}", compared.metric, why_not(compared))
}

fn why_not(compared: &Compared) -> &str {
    compared.reason.as_deref().unwrap_or("it could not be estimated")
}

/// Returns ` (ratio 1.12, 95 % interval 1.08 to 1.16)` with the interval that decides the verdict,
/// for failures with their margin, and with the reason if there is one.
fn describe_estimate(compared: &Compared, settings: &Settings) -> String {
    let (what, of) = match compared.ratio {
        Some(_) => ("ratio", Dimension::Number),
        None => ("difference", Dimension::Share),
    };
    let shown = |found: DecidingInterval| {
        let Estimate { value, low, high } = found.estimate;
        let [value, low, high] = [value, low, high].map(|value| show::show_value(value, of));
        let level = write_percent(found.confidence);
        format!("{what} {value}, {level} interval {low} to {high}")
    };
    let of_failures = compared.metric == Metric::Quantity(Quantity::Failures);
    let margin = of_failures.then(|| format!("margin {}", margin_text(compared.metric, settings)));
    let interval = compared.deciding_interval(settings).map(shown);
    let margin = margin.filter(|_| interval.is_some());
    let said: Vec<String> =
        [interval, margin, compared.reason.clone()].into_iter().flatten().collect();
    if said.is_empty() { String::new() } else { format!(" ({})", said.join("; ")) }
}
