//! The figures that sixmark reports: the single table that gates, comparisons, studies and reports
//! use.
//!
//! A figure is a statistic of a phase's durations ([`TimedPhase`] with a [`TimePoint`]), the count
//! of an outcome, or a [`Quantity`]. Each has a name, a title, a unit, a definition, a direction,
//! and a function that reads it from a result, here and in [`crate::timed_phase`] and
//! [`crate::outcome`]. There is no other list of figures. A command that accepts only some of them
//! selects these by a rule on the entries.

pub mod compared;
mod quantity;
mod unit;

pub use quantity::{CsvPlace, Quantity, QuantityEntry, QuantityGroup};
pub use unit::{Bounds, MetricKind, MetricUnit, write_mean};

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::family_result::FamilyResult;
use crate::outcome::Outcome;
use crate::timed_phase::{TimePoint, TimedPhase};
use sixmark_units::quantity::{bytes, duration_us, write_count, write_per_s, write_percent};

/// One figure of a side or a cell. Its name is written as in `requests_per_s`, `RESET`,
/// `connect.mean`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String", extend("pattern" = metric_pattern())))]
pub enum Metric {
    /// Durations of a phase, microseconds.
    Time(TimedPhase, TimePoint),
    /// From the GET to the last ACK that the client sends before FIN, in microseconds; only from a
    /// capture.
    Delay(TimePoint),
    /// The number of exchanges with this outcome.
    Outcome(Outcome),
    /// Any other figure.
    Quantity(Quantity),
}

/// The name that takes the place of a phase in [`Metric::Delay`].
const DELAY: &str = "delay";

/// The statistics of durations that a metric may name. The standard deviation is excluded: it
/// describes a spread, by which a cell or a side is neither better nor worse.
pub const METRIC_POINTS: [TimePoint; 8] = [
    TimePoint::Min,
    TimePoint::Mean,
    TimePoint::P50,
    TimePoint::P90,
    TimePoint::P95,
    TimePoint::P99,
    TimePoint::P999,
    TimePoint::Max,
];

impl Metric {
    /// Returns what the figure is measured in.
    pub fn kind(self) -> MetricKind {
        match self {
            Metric::Time(..) | Metric::Delay(_) => MetricKind::Time,
            Metric::Outcome(_) => MetricKind::Count,
            Metric::Quantity(quantity) => quantity.entry().kind,
        }
    }

    /// Returns the name within a sentence: "median response", "goodput".
    pub fn noun(self) -> String {
        match self {
            Metric::Time(phase, point) => point.phrase(phase.noun()),
            Metric::Delay(point) => point.phrase("transfer by packets"),
            Metric::Outcome(outcome) => format!("exchanges that ended {outcome}"),
            Metric::Quantity(quantity) => quantity.entry().title.to_owned(),
        }
    }

    /// Returns the phase that the figure belongs to, if any.
    pub fn phase(self) -> Option<TimedPhase> {
        match self {
            Metric::Time(phase, _) => Some(phase),
            _ => None,
        }
    }

    /// Returns true if the figure is about connections, which can be observed even if their
    /// exchanges are encrypted.
    pub fn is_of_connection(self) -> bool {
        self.phase().is_some_and(TimedPhase::is_of_connection)
    }

    /// Returns true if the figure measures speed or cost, rather than counting results.
    pub fn is_of_speed(self) -> bool {
        match self {
            Metric::Time(..) | Metric::Delay(_) => true,
            Metric::Outcome(_) => false,
            Metric::Quantity(quantity) => quantity.is_of_speed(),
        }
    }

    /// Returns true if higher figures are better, false if lower ones are, or `None` if neither
    /// applies.
    pub fn higher_is_better(self) -> Option<bool> {
        match self {
            Metric::Time(..) | Metric::Delay(_) => Some(false),
            Metric::Outcome(outcome) => Some(outcome == Outcome::Normal),
            Metric::Quantity(quantity) => quantity.entry().higher_is_better,
        }
    }

    /// Returns the least and the greatest possible figure. None is below zero.
    pub fn bounds(self) -> Bounds {
        use Quantity as Q;
        let of_whole = [Q::Failures, Q::MachineCpuShare].map(Metric::Quantity);
        let most = if of_whole.contains(&self) { 1.0 } else { f64::INFINITY };
        Bounds { least: 0.0, most }
    }

    /// Returns the value in a family's result, in the base unit of its kind.
    ///
    /// # Errors
    /// The result does not contain it. The message says why, without a full stop.
    pub fn value(self, of: &FamilyResult) -> Result<f64, &'static str> {
        match self {
            Metric::Time(phase, point) => {
                let durations = phase.durations(of).ok_or(phase.why_absent())?;
                point.value_us(durations).ok_or(phase.why_empty())
            }
            Metric::Delay(_) => Err("only a capture has it"),
            Metric::Outcome(outcome) => {
                Ok(of.outcomes.get(outcome.name()).copied().unwrap_or(0) as f64)
            }
            Metric::Quantity(_) if of.requests.sent == 0 && self.kind() != MetricKind::Count => {
                Err("nothing was sent")
            }
            Metric::Quantity(quantity) => {
                quantity.value(of).ok_or("a family's result does not contain it")
            }
        }
    }

    /// Returns the unit in which the figure is stored.
    pub fn base_unit(self) -> MetricUnit {
        self.kind().base_unit()
    }

    /// Formats a value in the base unit for people, with a unit that suits its size.
    pub fn write_value(self, value: f64) -> String {
        match self.kind() {
            MetricKind::Time => duration_us(value),
            MetricKind::Seconds => duration_us(value * 1e6),
            MetricKind::Frequency => write_per_s(value),
            MetricKind::BytesPerS => bytes(value) + "/s",
            MetricKind::Share => write_percent(value),
            MetricKind::Count => write_count(value.round() as u64),
            MetricKind::Mean => write_mean(value),
        }
    }

    /// Returns a unit of the figure's kind by name.
    ///
    /// # Errors
    /// The figure has no such unit. The message is one line and lists those that it has.
    pub fn unit(self, name: &str) -> Result<MetricUnit, String> {
        let mut own = self.kind().units();
        own.clone().find(|unit| unit.name == name).ok_or_else(|| {
            let names: Vec<_> = own.by_ref().map(|unit| format!("'{}'", unit.name)).collect();
            format!("'{name}' is not a unit of {self}: {}", names.join(", "))
        })
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Metric::Time(phase, point) => write!(f, "{}.{}", phase.name(), point.name()),
            Metric::Delay(point) => write!(f, "{DELAY}.{}", point.name()),
            Metric::Outcome(outcome) => f.pad(outcome.name()),
            Metric::Quantity(quantity) => f.pad(quantity.entry().name),
        }
    }
}

impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Metric, String> {
        let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.name() == text);
        let time = |(phase, point): (&str, &str)| {
            let point = TimePoint::named(point).filter(|point| METRIC_POINTS.contains(point))?;
            match phase {
                DELAY => Some(Metric::Delay(point)),
                _ => Some(Metric::Time(TimedPhase::named(phase)?, point)),
            }
        };
        Quantity::named(text)
            .map(Metric::Quantity)
            .or(outcome.map(Metric::Outcome))
            .or_else(|| text.split_once('.').and_then(time))
            .ok_or_else(|| describe_unknown(text))
    }
}

/// Returns the pattern of the names of [`Metric`].
#[cfg(feature = "schema")]
fn metric_pattern() -> String {
    let phases = TimedPhase::ALL.map(TimedPhase::name).join("|");
    let points = METRIC_POINTS.map(TimePoint::name).join("|");
    let outcomes = Outcome::ALL.map(|outcome| outcome.name()).join("|");
    let quantities: Vec<_> = Quantity::all().map(|quantity| quantity.entry().name).collect();
    format!(r"^(({phases}|{DELAY})\.({points})|{outcomes}|{})$", quantities.join("|"))
}

fn describe_unknown(text: &str) -> String {
    let quantities: Vec<_> = Quantity::all().map(|quantity| quantity.entry().name).collect();
    let outcomes: Vec<_> = Outcome::ALL.iter().map(|outcome| outcome.name()).collect();
    format!(
        "no metric is called '{text}': {}, {}, or a phase with a point as in connect.mean (phases: \
         {}, {DELAY}; points: {})",
        quantities.join(", "),
        outcomes.join(", "),
        TimedPhase::ALL.map(TimedPhase::name).join(", "),
        METRIC_POINTS.map(TimePoint::name).join(", ")
    )
}

impl Serialize for Metric {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Metric, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metric_names_survive_parsing_and_formatting() {
        for text in ["goodput", "RESET", "NO_PORT", "connect.mean", "lifetime.p999", "delay.p50"] {
            assert_eq!(text.parse::<Metric>().unwrap().to_string(), text);
        }
        for quantity in Quantity::all() {
            let name = quantity.entry().name;
            assert_eq!(name.parse(), Ok(Metric::Quantity(quantity)), "{name}");
        }
        for text in ["", "reset", "connect", "connect.p98", "a.mean", "connect.mean.x"] {
            let said = text.parse::<Metric>().unwrap_err();
            assert!(said.contains("connect.mean") && said.contains("goodput"), "{text}: {said}");
        }
    }

    #[test]
    fn accepts_only_units_that_fit_the_metric() {
        let goodput: Metric = "goodput".parse().unwrap();
        assert_eq!(goodput.unit("MB/s").unwrap().scale, 1e6);
        assert!(goodput.unit("ms").unwrap_err().contains("'kB/s'"));
        let sent: Metric = "sent".parse().unwrap();
        assert_eq!(sent.base_unit().name, "");
    }

    #[test]
    fn gives_a_reason_if_a_metric_has_no_value() {
        use crate::counted::family_result;
        use crate::tally::FamilyTally;

        let nothing = family_result(&FamilyTally::default(), Vec::new(), 1.0, false);
        for (name, value) in [
            ("sent", Ok(0.0)),
            ("TIMEOUT", Ok(0.0)),
            ("failures", Err("nothing was sent")),
            ("requests_per_s", Err("nothing was sent")),
            ("slip.p50", Err("a closed loop has none")),
            ("response.p50", Err("there was no complete response")),
            ("delay.p50", Err("only a capture has it")),
        ] {
            assert_eq!(name.parse::<Metric>().unwrap().value(&nothing), value, "{name}");
        }
        let tally = FamilyTally { sent: 4, ..FamilyTally::default() };
        let failed = family_result(&tally, Vec::new(), 1.0, false);
        let value = |name: &str| name.parse::<Metric>().unwrap().value(&failed);
        assert_eq!([value("failures"), value("failed")], [Ok(1.0), Ok(4.0)]);
        assert_eq!(value("cpu"), Err("a family's result does not contain it"));
    }
}
