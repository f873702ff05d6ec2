//! Conditions of a search: `response.p99 < 10ms`, `failures < 0.1%`.
//!
//! A condition is the simplest expression of the language of gates: one figure and its limit. The
//! figures are those of a trial, which has one family, so no side is named.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::expression::{GateNames, GateValue, Literal, Relation, Truth, parse_condition};
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::metric::{Metric, MetricKind, Quantity};
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};

/// A figure of one family and its upper limit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String", extend("pattern" = PATTERN)))]
pub struct Condition {
    /// A metric that a search can bound.
    metric: Metric,
    /// The limit as written, so that it can be shown in the same form.
    bound: Literal,
    strict: bool,
}

/// The share of exchanges without a complete response, or with a status that is not accepted.
const FAILURES: Metric = Metric::Quantity(Quantity::Failures);

/// The figures of a phase that a condition may bound. It excludes any that improves as
/// responses get slower.
const QUANTILES: [TimePoint; 7] = [
    TimePoint::Mean,
    TimePoint::P50,
    TimePoint::P90,
    TimePoint::P95,
    TimePoint::P99,
    TimePoint::P999,
    TimePoint::Max,
];

/// Documents use microseconds, the language of gates seconds.
const US_PER_S: f64 = 1e6;

impl Condition {
    /// Returns the value of the figure, in microseconds or as a share of one, or `None` if nothing
    /// was measured.
    pub fn value(&self, of: &FamilyResult) -> Option<f64> {
        self.metric.value(of).ok()
    }

    /// Returns whether the condition holds for a family. It does not hold if nothing was measured.
    pub fn holds(&self, of: &FamilyResult) -> bool {
        self.admits(self.value(of))
    }

    /// Returns whether `value` is within the limit. `None` is not.
    pub fn admits(&self, value: Option<f64>) -> bool {
        let value = value.map(|value| value / self.unit());
        value.is_some_and(|value| {
            if self.strict { value < self.bound.value() } else { value <= self.bound.value() }
        })
    }

    /// Returns the name of the figure, for example `response.p99`.
    pub fn figure(&self) -> String {
        self.metric.to_string()
    }

    /// Returns the limit in the unit of [`Condition::value`].
    pub fn limit(&self) -> f64 {
        self.bound.value() * self.unit()
    }

    /// Returns the figure that the condition is about.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Returns how many units of the document are one of the language of gates.
    fn unit(&self) -> f64 {
        if self.metric.kind() == MetricKind::Time { US_PER_S } else { 1.0 }
    }

    /// Returns the limit on the response time in seconds, if the condition is about it.
    pub fn response_bound_s(&self) -> Option<f64> {
        let of_response = matches!(
            self.metric.phase()?,
            TimedPhase::Wait | TimedPhase::Ttfb | TimedPhase::Service | TimedPhase::Response
        );
        of_response.then(|| self.bound.value())
    }

    /// Returns the limit on the share of failures, if the condition is about it.
    pub fn failures_bound(&self) -> Option<f64> {
        (self.metric == FAILURES).then(|| self.bound.value())
    }

    /// Returns true if the condition is about the opening of connections.
    pub fn needs_connecting(&self) -> bool {
        matches!(self.metric.phase(), Some(TimedPhase::Connect | TimedPhase::Tls))
    }

    /// Returns true if the condition is about TLS handshakes.
    pub fn needs_tls(&self) -> bool {
        self.metric.phase() == Some(TimedPhase::Tls)
    }

    /// Returns true if the condition is about the opening of TCP connections.
    pub fn needs_tcp(&self) -> bool {
        self.metric.phase() == Some(TimedPhase::Connect)
    }

    /// Returns the same condition with times counted from an exchange's start instead of when it
    /// was due.
    pub fn from_start(self) -> Condition {
        match self.metric {
            Metric::Time(TimedPhase::Response, point) => {
                Condition { metric: Metric::Time(TimedPhase::Service, point), ..self }
            }
            _ => self,
        }
    }

    /// Formats a value for display.
    pub fn show(&self, value: f64) -> String {
        match self.metric {
            FAILURES => format!("{:.2} %", value * 100.0),
            _ => sixmark_units::quantity::duration_us(value),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.strict { "<" } else { "<=" };
        write!(f, "{} {sign} {}", self.figure(), self.bound)
    }
}

/// The form of a condition, for messages.
const SHAPE: &str = "state what one figure must stay below: response.p99 < 10ms";

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Condition, String> {
        let read = parse_condition(text, &GateNames::of_trial());
        let read = read.map_err(|wrong| with_example(wrong.to_string()))?;
        let Truth::Compare(left, relation, right) = read else { return Err(SHAPE.to_owned()) };
        let (figure, bound, strict) = match (left, relation, right) {
            (GateValue::Figure(figure), Relation::Below, GateValue::Literal(bound))
            | (GateValue::Literal(bound), Relation::Above, GateValue::Figure(figure)) => {
                (figure, bound, true)
            }
            (GateValue::Figure(figure), Relation::AtMost, GateValue::Literal(bound))
            | (GateValue::Literal(bound), Relation::AtLeast, GateValue::Figure(figure)) => {
                (figure, bound, false)
            }
            _ => return Err(SHAPE.to_owned()),
        };
        check_metric(figure.metric)?;
        check_bound(figure.metric, bound)?;
        Ok(Condition { metric: figure.metric, bound, strict })
    }
}

/// Adds an example to a message that contains none.
fn with_example(wrong: String) -> String {
    if wrong.contains("as in") { wrong } else { format!("{wrong} (as in response.p99 < 10ms)") }
}

/// Checks that a search can bound the metric.
fn check_metric(metric: Metric) -> Result<(), String> {
    match metric {
        FAILURES => Ok(()),
        Metric::Time(phase, point) if phase.is_bounded() && QUANTILES.contains(&point) => Ok(()),
        _ => Err(format!(
            "a search can bound failures, and {} of {}",
            QUANTILES.map(TimePoint::name).join(", "),
            TimedPhase::bounded().map(TimedPhase::name).collect::<Vec<_>>().join(", "),
        )),
    }
}

/// Checks that a figure can stay below the limit.
fn check_bound(metric: Metric, bound: Literal) -> Result<(), String> {
    match bound.value() {
        value if value <= 0.0 => Err(format!("no figure is below {bound}: give a bound above 0")),
        share if metric == FAILURES && share > 1.0 => {
            Err(format!("{bound} is more than 100 %: give a smaller bound"))
        }
        _ => Ok(()),
    }
}

/// The pattern of a condition in documents: `response.p99 < 10ms`.
#[cfg(feature = "schema")]
const PATTERN: &str = r"^(failures|[a-z]+\.[a-z0-9]+) <=? [0-9.]+(ns|us|ms|s|%)$";

impl Serialize for Condition {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Condition, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_tally::counted::family_result;
    use sixmark_tally::outcome::{Failure, FailurePhase as In, Outcome};
    use sixmark_tally::tally::FamilyTally;

    fn measured() -> FamilyResult {
        let mut tally = FamilyTally { sent: 1_000, ..FamilyTally::default() };
        tally.status.add(200, 998);
        let failure = Failure::new(Outcome::Timeout, In::Wait);
        tally.failures.add(failure, 2);
        (0..998).for_each(|_| tally.phases.response.record(5_000_000));
        family_result(&tally, Vec::new(), 1.0, false)
    }

    #[test]
    fn parses_a_condition_and_writes_it_in_normal_form() {
        for (text, again) in [
            ("response.p99 < 10ms", "response.p99 < 10ms"),
            ("wait.p999<=1.5s", "wait.p999 <= 1.5s"),
            ("connect.mean < 800 us", "connect.mean < 800us"),
            ("failures < 0.1%", "failures < 0.1%"),
            ("tls.p99 < 10ms", "tls.p99 < 10ms"),
            ("10ms >= response.p99", "response.p99 <= 10ms"),
            ("(failures) < 0.01", "failures < 0.01"),
        ] {
            let condition: Condition = text.parse().unwrap();
            assert_eq!(condition.to_string(), again);
            assert_eq!(again.parse(), Ok(condition));
        }
    }

    #[test]
    fn rejects_an_invalid_condition_with_a_reason() {
        for (text, why) in [
            ("response.p99", "compare it with something (as in response.p99 < 10ms)"),
            ("response < 1ms", "expected a figure of response, as in response.p99"),
            ("answer.p99 < 1ms", "no figure is called 'answer'"),
            (
                "response.p98 < 1ms",
                "response has no figure 'p98': did you mean 'p90', 'p95' or 'p99'?",
            ),
            ("response.min < 1ms", "a search can bound failures, and mean, p50"),
            ("slip.p99 < 1ms", "a search can bound"),
            ("sent < 5", "a search can bound"),
            ("response.p99 < 10", "give 10 a unit, as in 10ms"),
            ("response.p99 < 0", "no figure is below 0"),
            ("response.p99 < -1ms", "stay below"),
            ("response.p99 < NaNms", "no figure is called 'NaNms'"),
            ("response.p99 > 1ms", "stay below"),
            ("response.p99 < 2 * wait.p99", "stay below"),
            ("response.p99 < 1ms and failures < 1%", "stay below"),
            ("ipv6.response.p99 < 1ms", "no figure is called 'ipv6'"),
            ("verdict(response.p50) == worse", "sixmark compare"),
            ("failures < 1ms", "can't be compared"),
            ("failures < 5", "give 5 a unit, as in 5%"),
            ("failures < 101%", "101% is more than 100 %"),
        ] {
            let said = text.parse::<Condition>().unwrap_err();
            assert!(said.contains(why) && said.lines().count() == 1, "{text}: {said}");
        }
    }

    #[test]
    fn evaluates_a_condition_against_the_figures_of_a_family() {
        let family = measured();
        for (text, limit) in [("response.p99 < 10ms", 10_000.0), ("failures < 0.5%", 0.005)] {
            let condition: Condition = text.parse().unwrap();
            assert!((condition.limit() - limit).abs() < 1e-9, "{text}: {}", condition.limit());
        }
        for (text, holds) in [
            ("response.p99 < 5.1ms", true),
            ("response.p99 < 4.9ms", false),
            ("failures <= 0.2%", true),
            ("failures < 0.2%", false),
            // No connection was opened, so the condition cannot hold.
            ("connect.p50 < 1s", false),
            ("tls.p50 < 1s", false),
        ] {
            let condition: Condition = text.parse().unwrap();
            assert_eq!(condition.holds(&family), holds, "{text}");
        }
    }
}
