//! When exchanges begin: whenever a place is free (a closed loop), or at times that nothing the
//! server does can move (an open loop).
//!
//! Times are computed from an arrival's number, never by adding up gaps, so that they don't drift.

mod curve;
mod dues;
mod rate;
mod timetable;

pub use curve::Curve;
pub use dues::{Due, Dues, first_at};
pub use rate::RequestRate;
pub use timetable::{Speed, Timetable};

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
    /// The end of another one: a fixed number is in flight.
    #[default]
    Closed,
    /// The clock.
    Open(OpenLoop),
}

impl Pace {
    /// The open loop's settings, if it is one.
    pub fn open(&self) -> Option<&OpenLoop> {
        match self {
            Pace::Closed => None,
            Pace::Open(open) => Some(open),
        }
    }
}

/// An open loop, of stages ([`OpenLoop::new`]) or of a timetable ([`OpenLoop::replay`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
pub struct OpenLoop {
    /// The rate over time, over both families and all threads together; empty where there is a
    /// timetable.
    pub stages: Vec<RateStage>,
    /// When each exchange falls due, where something recorded is replayed; null: the stages say
    /// when.
    #[serde(with = "timetable::shared")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<Timetable>"))]
    pub timetable: Option<Arc<Timetable>>,
    /// How exchanges are spread at that rate.
    pub arrivals: ArrivalProcess,
    /// What becomes of an exchange that is due when no more may be in flight.
    pub overload: Overload,
    /// How long before an exchange falls due the worker stops sleeping and looks at the clock.
    pub spin: Duration,
}

impl OpenLoop {
    /// An open loop of these stages, of which only a single one may go on without an end; the error
    /// says what is wrong. Constant arrivals that wait, no spinning.
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

    /// An open loop of a timetable. What falls due waits for a place; no spinning.
    pub fn replay(timetable: Timetable) -> OpenLoop {
        OpenLoop {
            stages: Vec::new(),
            timetable: Some(Arc::new(timetable)),
            arrivals: ArrivalProcess::Constant,
            overload: Overload::Wait,
            spin: Duration::ZERO,
        }
    }

    /// How long all stages last, or until all of a timetable is due; none where that is for the run
    /// to say.
    pub fn duration(&self) -> Option<Duration> {
        if let Some(table) = &self.timetable {
            // What is due at the end is not due before it.
            let whole = Duration::from_secs_f64(table.span_s()) + Duration::from_millis(1);
            return Some(Duration::from_millis(whole.as_millis() as u64 + 1));
        }
        self.stages.iter().map(|stage| stage.duration).sum()
    }

    /// The mean of the rate over the whole duration, arrivals a second.
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

    /// The rate that the load begins with; that of a timetable is told by nobody, and 0.
    pub fn first_rate(&self) -> RequestRate {
        self.stages.first().map_or(RequestRate::ZERO, |stage| stage.from)
    }
}

/// A rate that stays or changes evenly.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateStage {
    /// At its beginning.
    pub from: RequestRate,
    /// At its end.
    pub to: RequestRate,
    /// How long it lasts; null: as long as the run.
    pub duration: Option<Duration>,
}

impl RateStage {
    /// `rate` for as long as the run lasts.
    pub fn endless(rate: RequestRate) -> RateStage {
        RateStage { from: rate, to: rate, duration: None }
    }

    /// `rate` for `duration`.
    pub fn level(rate: RequestRate, duration: Duration) -> RateStage {
        RateStage { from: rate, to: rate, duration: Some(duration) }
    }
}

/// How arrivals are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ArrivalProcess {
    /// Evenly.
    Constant,
    /// Each independent of all others, as those of many users are.
    Poisson,
}

/// What becomes of an exchange that falls due when no more may be in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Overload {
    /// It begins later; its response time counts from when it was due.
    Wait,
    /// It is left out and counted.
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

/// For people, as in `200/s constant` or `ramp 0/s to 100/s in 1m, poisson`.
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
    fn stages_that_send_nothing_or_never_end_are_refused() {
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
