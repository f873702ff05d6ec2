//! When exchanges begin: whenever another one ends (a closed loop), or at times that do not depend
//! on the server (an open loop).
//!
//! Times are computed from an arrival's number, not by adding intervals, so that they do not drift.

mod curve;
mod rate;
mod timetable;

pub use curve::Curve;
pub use rate::RequestRate;
pub use timetable::{Speed, Timetable, WireTimetable};

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use sixmark_units::quantity::write_count;

/// What decides when an exchange begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "mode", rename_all = "lowercase")]
pub enum Pace {
    /// A closed loop: an exchange begins when another one ends, and a fixed number is in flight.
    #[default]
    Closed,
    /// An open loop: an exchange begins at a given time.
    Open(OpenLoop),
}

impl Pace {
    /// Returns the settings of an open loop, or `None` for a closed one.
    pub fn open(&self) -> Option<&OpenLoop> {
        match self {
            Pace::Closed => None,
            Pace::Open(open) => Some(open),
        }
    }
}

/// An open loop, whose arrivals are given by stages of a rate or by a timetable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
pub struct OpenLoop {
    /// The rate over time, of both families and all threads together; empty if there is a
    /// timetable.
    pub stages: Vec<RateStage>,
    /// When each exchange of a replay is due; null: the stages determine it.
    #[serde(with = "timetable::shared")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Timetable>"))]
    pub timetable: Option<Arc<Timetable>>,
    /// How arrivals are distributed over time at that rate.
    pub arrivals: ArrivalProcess,
    /// What happens to an exchange that is due when no more may be in flight.
    pub overload: Overload,
    /// How long before an exchange is due the worker stops sleeping and polls the clock.
    pub spin: Duration,
}

impl OpenLoop {
    /// Creates an open loop of `stages`, with constant arrivals that wait, and without spinning.
    /// Only a single stage with a constant rate may have no duration. The error says what is wrong.
    pub fn new(stages: Vec<RateStage>) -> Result<OpenLoop, String> {
        let endless = stages.iter().any(|stage| stage.duration.is_none());
        let level = stages.iter().all(|stage| stage.from == stage.to);
        if stages.iter().any(|stage| stage.duration == Some(Duration::ZERO)) {
            return Err("a stage needs a duration above 0".into());
        }
        if endless && !(stages.len() == 1 && level) {
            return Err("only a single, constant rate can run without an end".into());
        }
        if stages.iter().all(|stage| stage.from.is_zero() && stage.to.is_zero()) {
            return Err("a rate of 0 sends nothing; give one above 0".into());
        }
        let (arrivals, overload) = (ArrivalProcess::Constant, Overload::Wait);
        Ok(OpenLoop { stages, timetable: None, arrivals, overload, spin: Duration::ZERO })
    }

    /// Creates an open loop of a timetable, with arrivals that wait, and without spinning.
    pub fn replay(timetable: Timetable) -> OpenLoop {
        OpenLoop {
            stages: Vec::new(),
            timetable: Some(Arc::new(timetable)),
            arrivals: ArrivalProcess::Constant,
            overload: Overload::Wait,
            spin: Duration::ZERO,
        }
    }

    /// Returns how long all stages last, or until all entries of a timetable are due; `None` if the
    /// stage has no duration, so that the run determines it.
    pub fn duration(&self) -> Option<Duration> {
        if let Some(table) = &self.timetable {
            // An entry that is due exactly at the end would not be sent: the end is slightly later.
            let whole = Duration::from_secs_f64(table.span_s()) + Duration::from_millis(1);
            return Some(Duration::from_millis(whole.as_millis() as u64 + 1));
        }
        self.stages.iter().map(|stage| stage.duration).sum()
    }

    /// Returns the mean rate over the whole duration, in arrivals per second.
    pub fn mean_per_s(&self) -> f64 {
        let whole = self.duration().map_or(0.0, |whole| whole.as_secs_f64());
        if let Some(table) = &self.timetable {
            return table.entries() as f64 / whole;
        }
        if whole == 0.0 {
            return self.first_rate().per_s();
        }
        let area = |stage: &RateStage| {
            let seconds = stage.duration.map_or(0.0, |duration| duration.as_secs_f64());
            (stage.from.per_s() + stage.to.per_s()) / 2.0 * seconds
        };
        self.stages.iter().map(area).sum::<f64>() / whole
    }

    /// Returns the rate at the start of the load; 0 for a timetable, which has no rate.
    pub fn first_rate(&self) -> RequestRate {
        self.stages.first().map_or(RequestRate::ZERO, |stage| stage.from)
    }
}

/// A time in which the rate is constant or changes linearly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateStage {
    /// The rate at the beginning.
    pub from: RequestRate,
    /// The rate at the end.
    pub to: RequestRate,
    /// The duration; null: as long as the run.
    pub duration: Option<Duration>,
}

impl RateStage {
    /// Creates a stage of a constant rate that lasts as long as the run.
    pub fn endless(rate: RequestRate) -> RateStage {
        RateStage { from: rate, to: rate, duration: None }
    }

    /// Creates a stage of a constant rate that lasts for `duration`.
    pub fn level(rate: RequestRate, duration: Duration) -> RateStage {
        RateStage { from: rate, to: rate, duration: Some(duration) }
    }
}

/// How arrivals are distributed over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ArrivalProcess {
    /// Evenly spaced.
    Constant,
    /// A Poisson process of each family: each arrival, and its family, is independent of all
    /// others, as those of many users are.
    Poisson,
}

/// What happens to an exchange that is due when no more may be in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Overload {
    /// It starts later; its response time counts from when it was due.
    Wait,
    /// It is not started, and counted as dropped.
    Drop,
}

impl fmt::Display for ArrivalProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ArrivalProcess::Constant => "constant",
            ArrivalProcess::Poisson => "poisson",
        })
    }
}

/// Formats the loop for display, as in `200/s constant` or `0/s to 100/s in 60 s, poisson`.
impl fmt::Display for OpenLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(table) = &self.timetable {
            let (entries, speed) = (write_count(table.entries()), table.speed());
            let at =
                if speed == 1.0 { String::new() } else { format!(" at {speed} times the speed") };
            return write!(f, "replay of {entries} requests in {:.1} s{at}", table.span_s());
        }
        let seconds = self.duration().map_or(0.0, |duration| duration.as_secs_f64());
        match self.stages.as_slice() {
            [RateStage { from, to, .. }] if from == to => write!(f, "{from} {}", self.arrivals),
            [RateStage { from, to, .. }] => {
                write!(f, "{from} to {to} in {seconds} s, {}", self.arrivals)
            }
            stages => write!(f, "{} steps in {seconds} s, {}", stages.len(), self.arrivals),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(per_s: f64) -> RequestRate {
        RequestRate::new(per_s).unwrap()
    }

    #[test]
    fn rejects_stages_without_requests_and_misplaced_endless_stages() {
        let second = Duration::from_secs(1);
        let ramp = |duration| RateStage { from: rate(1.0), to: rate(2.0), duration };
        for stages in [
            vec![],
            vec![RateStage::endless(rate(0.0))],
            vec![RateStage::level(rate(0.0), second)],
            vec![RateStage::level(rate(5.0), Duration::ZERO)],
            vec![ramp(None)],
            vec![RateStage::level(rate(5.0), second), RateStage::endless(rate(5.0))],
        ] {
            assert!(OpenLoop::new(stages.clone()).is_err(), "{stages:?}");
        }
        let pause = vec![RateStage::level(rate(0.0), second), ramp(Some(second))];
        assert_eq!(OpenLoop::new(pause).unwrap().duration(), Some(2 * second));
        assert_eq!(OpenLoop::new(vec![RateStage::endless(rate(5.0))]).unwrap().duration(), None);
    }

    #[test]
    fn a_pace_names_its_mode_in_documents() {
        let closed = serde_json::to_value(Pace::Closed).unwrap();
        assert_eq!(closed, serde_json::json!({"mode": "closed"}));
        let open = Pace::Open(OpenLoop::new(vec![RateStage::endless(rate(200.0))]).unwrap());
        let written = serde_json::to_value(&open).unwrap();
        assert_eq!(
            (&written["mode"], &written["stages"][0]["from"]),
            (&"open".into(), &200.0.into())
        );
        assert_eq!(serde_json::from_value::<Pace>(written).unwrap(), open);
    }
}
