//! What a run must keep to: `response.p99 < 10ms`, `failures < 0.1%`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::family_result::FamilyResult;
use crate::timed_phase::{TimePoint, TimedPhase};
use sixmark_units::names::{find, names};

/// A figure of one family and what it must stay below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    figure: Figure,
    bound: Bound,
    strict: bool,
}

/// A bound as it was said, so that it is shown as it was said.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bound {
    number: f64,
    unit: Unit,
}

/// A unit's name, and how many of them make a microsecond's or, of a share, a whole's worth.
type Unit = (&'static str, f64);

/// What is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Figure {
    /// A quantile of a phase's durations.
    Duration(TimedPhase, TimePoint),
    /// The share of exchanges without a complete response.
    Failures,
}

/// The phases that a condition may bound.
const PHASES: [TimedPhase; 6] = [
    TimedPhase::Connect,
    TimedPhase::Tls,
    TimedPhase::Wait,
    TimedPhase::Transfer,
    TimedPhase::Service,
    TimedPhase::Response,
];

/// The figures of theirs that it may bound: none that gets better as responses get slower.
const QUANTILES: [TimePoint; 6] = [
    TimePoint::Mean,
    TimePoint::P50,
    TimePoint::P90,
    TimePoint::P99,
    TimePoint::P999,
    TimePoint::Max,
];

/// Units of durations, the longer name first where one ends with another.
const UNITS: [Unit; 4] = [("ns", 1e3), ("us", 1.0), ("ms", 1e-3), ("s", 1e-6)];

/// The unit of shares.
const PERCENT: Unit = ("%", 100.0);

impl Condition {
    /// The figure's value: in microseconds, or a share of one. None where nothing was measured.
    pub fn value(&self, of: &FamilyResult) -> Option<f64> {
        match self.figure {
            Figure::Duration(phase, quantile) => quantile.value_us(phase.durations(of)?),
            Figure::Failures => {
                let sent = of.requests.sent as f64;
                let accepted = of.accepted() as f64;
                (sent > 0.0).then(|| (sent - accepted) / sent)
            }
        }
    }

    /// Whether a family kept to it. One that was not measured did not.
    pub fn holds(&self, of: &FamilyResult) -> bool {
        self.admits(self.value(of))
    }

    /// Whether the figure may have this value; not where there is none.
    pub fn admits(&self, value: Option<f64>) -> bool {
        value.is_some_and(|value| match self.strict {
            true => value < self.bound.value(),
            false => value <= self.bound.value(),
        })
    }

    /// What it looks at, as in `response.p99`.
    pub fn figure(&self) -> String {
        match self.figure {
            Figure::Duration(phase, quantile) => {
                format!("{}.{}", phase.name(), quantile.name())
            }
            Figure::Failures => "failures".to_owned(),
        }
    }

    /// The seconds that a response may take, where it bounds that.
    pub fn response_bound_s(&self) -> Option<f64> {
        match self.figure {
            Figure::Duration(TimedPhase::Wait | TimedPhase::Service | TimedPhase::Response, _) => {
                Some(self.bound.value() / 1e6)
            }
            _ => None,
        }
    }

    /// The share of failures that it allows, where it looks at those.
    pub fn failures_bound(&self) -> Option<f64> {
        (self.figure == Figure::Failures).then(|| self.bound.value())
    }

    /// True where it looks at the opening of connections.
    pub fn needs_connecting(&self) -> bool {
        matches!(self.figure, Figure::Duration(TimedPhase::Connect | TimedPhase::Tls, _))
    }

    /// True where it looks at handshakes of TLS.
    pub fn needs_tls(&self) -> bool {
        matches!(self.figure, Figure::Duration(TimedPhase::Tls, _))
    }

    /// True where it looks at the opening of connections of TCP.
    pub fn needs_tcp(&self) -> bool {
        matches!(self.figure, Figure::Duration(TimedPhase::Connect, _))
    }

    /// The same of the time from an exchange's start where this counts from when it was due.
    pub fn from_start(self) -> Condition {
        match self.figure {
            Figure::Duration(TimedPhase::Response, quantile) => {
                Condition { figure: Figure::Duration(TimedPhase::Service, quantile), ..self }
            }
            _ => self,
        }
    }

    /// A value as a person writes it.
    pub fn show(&self, value: f64) -> String {
        match self.figure {
            Figure::Duration(..) => sixmark_units::quantity::duration_us(value),
            Figure::Failures => format!("{:.2} %", value * 100.0),
        }
    }
}

impl Bound {
    /// In microseconds, or a share of one.
    fn value(self) -> f64 {
        self.number / self.unit.1
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.strict { "<" } else { "<=" };
        let Bound { number, unit: (unit, _) } = self.bound;
        write!(f, "{} {sign} {number}{unit}", self.figure())
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Condition, String> {
        let at = text.find('<').ok_or("say what it must stay below: response.p99 < 10ms")?;
        let (figure, bound) = (text[..at].trim(), &text[at + 1..]);
        let (strict, bound) = match bound.strip_prefix('=') {
            Some(bound) => (false, bound.trim()),
            None => (true, bound.trim()),
        };
        let figure = parse_figure(figure)?;
        let bound = match figure {
            Figure::Duration(..) => parse_duration(bound)?,
            Figure::Failures => parse_share(bound)?,
        };
        Ok(Condition { figure, bound, strict })
    }
}

fn parse_figure(text: &str) -> Result<Figure, String> {
    if text == "failures" {
        return Ok(Figure::Failures);
    }
    let (phase, quantile) = text.split_once('.').ok_or_else(|| {
        format!("'{text}' is neither 'failures' nor a phase with a figure, as in response.p99")
    })?;
    let phases = PHASES.map(|phase| (phase.name(), phase));
    let quantiles = QUANTILES.map(|quantile| (quantile.name(), quantile));
    Ok(Figure::Duration(known(&phases, phase, "phase")?, known(&quantiles, quantile, "figure")?))
}

fn parse_duration(text: &str) -> Result<Bound, String> {
    let wrong = || format!("'{text}' is not a time, as in 10ms, 500us or 1.5s");
    let unit = UNITS.into_iter().find(|(unit, _)| text.ends_with(unit)).ok_or_else(wrong)?;
    let number = text[..text.len() - unit.0.len()].trim_end();
    positive(number).map(|number| Bound { number, unit }).ok_or_else(wrong)
}

fn parse_share(text: &str) -> Result<Bound, String> {
    let wrong = || format!("'{text}' is not a share, as in 1% or 0.1%");
    let number = text.strip_suffix('%').ok_or_else(wrong)?.trim_end();
    let percent = positive(number).filter(|&percent| percent <= 100.0);
    percent.map(|number| Bound { number, unit: PERCENT }).ok_or_else(wrong)
}

fn positive(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0)
}

fn known<T: Copy>(all: &[(&str, T)], text: &str, what: &str) -> Result<T, String> {
    find(all, text).ok_or_else(|| format!("no {what} is called '{text}': {}", names(all)))
}

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
    use crate::outcome::{Failure, Outcome, Phase as In};
    use crate::result::family_result;
    use crate::tally::FamilyTally;

    fn measured() -> FamilyResult {
        let mut tally = FamilyTally { sent: 1_000, ..FamilyTally::default() };
        tally.status.add(200, 998);
        let failure = Failure::new(Outcome::Timeout, In::Wait);
        tally.failures.add(failure, 2);
        (0..998).for_each(|_| tally.phases.response.record(5_000_000));
        family_result(&tally, Vec::new(), 1.0, false)
    }

    #[test]
    fn a_condition_is_read_and_written_alike() {
        for (text, again) in [
            ("response.p99 < 10ms", "response.p99 < 10ms"),
            ("wait.p999<=1.5s", "wait.p999 <= 1.5s"),
            ("connect.mean < 800 us", "connect.mean < 800us"),
            ("failures < 0.1%", "failures < 0.1%"),
            ("tls.p99 < 10ms", "tls.p99 < 10ms"),
        ] {
            let condition: Condition = text.parse().unwrap();
            assert_eq!(condition.to_string(), again);
            assert_eq!(again.parse(), Ok(condition));
        }
    }

    #[test]
    fn what_is_no_condition_is_told_why() {
        for (text, why) in [
            ("response.p99", "stay below"),
            ("response < 1ms", "neither"),
            ("answer.p99 < 1ms", "no phase"),
            ("response.p98 < 1ms", "no figure"),
            ("response.p99 < 10", "not a time"),
            ("response.p99 < -1ms", "not a time"),
            ("response.p99 < NaNms", "not a time"),
            ("failures < 1ms", "not a share"),
            ("failures < 101%", "not a share"),
        ] {
            let said = text.parse::<Condition>().unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    #[test]
    fn a_family_keeps_to_it_or_does_not() {
        let family = measured();
        for (text, holds) in [
            ("response.p99 < 5.1ms", true),
            ("response.p99 < 4.9ms", false),
            ("failures <= 0.2%", true),
            ("failures < 0.2%", false),
            // Nothing was connected, so nothing can be said for it.
            ("connect.p50 < 1s", false),
            ("tls.p50 < 1s", false),
        ] {
            let condition: Condition = text.parse().unwrap();
            assert_eq!(condition.holds(&family), holds, "{text}");
        }
    }
}
