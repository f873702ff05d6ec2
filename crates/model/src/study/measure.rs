//! The figures that a cell may have, by name, and the units that they are shown in.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;
use crate::timed_phase::{TimePoint, TimedPhase};

/// One figure of a cell. Its name is written `requests_per_s`, `RESET`, `connect.mean`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Measure {
    /// Durations of a phase, microseconds.
    Time(TimedPhase, TimePoint),
    /// From the GET to the last ACK that the client sends before FIN, microseconds; by a capture.
    Delay(TimePoint),
    /// Exchanges that ended so.
    Outcome(Outcome),
    /// Any other.
    Plain(Plain),
}

/// A figure that is neither a time nor an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Plain {
    /// Complete responses a second.
    RequestsPerS,
    /// Blocks read or written a second; of sixmark's own cells complete responses, each a block.
    Iops,
    /// Content of whole exchanges, of requests and of responses, bytes a second.
    ContentRate,
    /// Their content, bytes a second.
    Goodput,
    /// All bytes received above TCP, heads included, a second: what ab calls its transfer rate.
    TransferRate,
    /// Exchanges begun.
    Sent,
    /// With a complete response.
    Completed,
    /// That ended otherwise.
    Failed,
    /// The same as a share of those sent, 0 to 1.
    Failures,
    /// That failed while the request was handed to the kernel.
    WriteErrors,
    /// Connections established.
    Opened,
    /// Seconds that the load lasted.
    Elapsed,
    /// Seconds from the start of another client to its end.
    Wall,
    /// Seconds of processor time that the client used.
    Cpu,
    /// The same over the time it lasted: 1 is one processor all the time.
    CpuShare,
    /// Seconds of processor time that the service used meanwhile.
    ServerCpu,
    /// The same over the time it lasted: 1 is one processor all the time.
    ServerCpuShare,
    /// Processor time that the service used for a complete response, in the mean, microseconds.
    ServerCpuPerRequest,
    /// Frames of both directions from the GET to the last ACK, each segment once, over that time, bytes
    /// a second; by a capture.
    Throughput,
    /// Segments of the server that were sent again; by a capture.
    Retransmitted,
}

/// What a measure is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Microseconds.
    Time,
    /// Seconds.
    Seconds,
    /// Bytes a second.
    Rate,
    /// A number a second.
    Frequency,
    /// A whole number of things.
    Count,
    /// 0 to 1.
    Share,
}

/// The least and the most that a figure can be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

impl Bounds {
    /// Of logarithms and differences.
    pub const NONE: Bounds = Bounds { least: f64::NEG_INFINITY, most: f64::INFINITY };
}

/// A unit that figures are shown in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// As it is written.
    pub name: &'static str,
    /// What it is a unit of.
    pub kind: Kind,
    /// How much of the kind's own unit it is.
    pub scale: f64,
}

const PLAIN: [(&str, Plain, Kind); 20] = [
    ("requests_per_s", Plain::RequestsPerS, Kind::Frequency),
    ("iops", Plain::Iops, Kind::Frequency),
    ("goodput", Plain::Goodput, Kind::Rate),
    ("content_rate", Plain::ContentRate, Kind::Rate),
    ("transfer_rate", Plain::TransferRate, Kind::Rate),
    ("sent", Plain::Sent, Kind::Count),
    ("completed", Plain::Completed, Kind::Count),
    ("failed", Plain::Failed, Kind::Count),
    ("failures", Plain::Failures, Kind::Share),
    ("write_errors", Plain::WriteErrors, Kind::Count),
    ("opened", Plain::Opened, Kind::Count),
    ("elapsed", Plain::Elapsed, Kind::Seconds),
    ("wall", Plain::Wall, Kind::Seconds),
    ("cpu", Plain::Cpu, Kind::Seconds),
    ("cpu_share", Plain::CpuShare, Kind::Share),
    ("server_cpu", Plain::ServerCpu, Kind::Seconds),
    ("server_cpu_share", Plain::ServerCpuShare, Kind::Share),
    ("server_cpu_per_request", Plain::ServerCpuPerRequest, Kind::Time),
    ("throughput", Plain::Throughput, Kind::Rate),
    ("retransmitted", Plain::Retransmitted, Kind::Count),
];

/// What stands for a phase in the name of [`Measure::Delay`].
const DELAY: &str = "delay";

/// The figures of durations that a study may use.
pub(super) const POINTS: [TimePoint; 7] = [
    TimePoint::Min,
    TimePoint::Mean,
    TimePoint::P50,
    TimePoint::P90,
    TimePoint::P99,
    TimePoint::P999,
    TimePoint::Max,
];

/// Every unit, the first of a kind being the one that its measures are kept in.
const UNITS: [Unit; 13] = [
    Unit { name: "us", kind: Kind::Time, scale: 1.0 },
    Unit { name: "ms", kind: Kind::Time, scale: 1e3 },
    Unit { name: "s", kind: Kind::Time, scale: 1e6 },
    Unit { name: "s", kind: Kind::Seconds, scale: 1.0 },
    Unit { name: "B/s", kind: Kind::Rate, scale: 1.0 },
    Unit { name: "kB/s", kind: Kind::Rate, scale: 1e3 },
    Unit { name: "MB/s", kind: Kind::Rate, scale: 1e6 },
    Unit { name: "MiB/s", kind: Kind::Rate, scale: 1_048_576.0 },
    Unit { name: "Mbit/s", kind: Kind::Rate, scale: 125e3 },
    Unit { name: "1/s", kind: Kind::Frequency, scale: 1.0 },
    Unit { name: "", kind: Kind::Count, scale: 1.0 },
    Unit { name: "", kind: Kind::Share, scale: 1.0 },
    Unit { name: "%", kind: Kind::Share, scale: 0.01 },
];

impl Measure {
    /// What it is counted in.
    pub fn kind(self) -> Kind {
        match self {
            Measure::Time(..) | Measure::Delay(_) => Kind::Time,
            Measure::Outcome(_) => Kind::Count,
            Measure::Plain(plain) => {
                let found = PLAIN.iter().find(|(_, known, _)| *known == plain);
                found.map_or(Kind::Count, |&(_, _, kind)| kind)
            }
        }
    }

    /// True where it says how fast something is, or what that costs; not where it counts what came of it.
    pub fn is_of_speed(self) -> bool {
        match self {
            Measure::Time(..) | Measure::Delay(_) => true,
            Measure::Outcome(_) => false,
            Measure::Plain(plain) => !matches!(
                plain,
                Plain::Sent
                    | Plain::Completed
                    | Plain::Failed
                    | Plain::Failures
                    | Plain::WriteErrors
                    | Plain::Opened
                    | Plain::Retransmitted
            ),
        }
    }

    /// True where a higher figure is the better one, false where a lower one is; none of what is
    /// neither.
    pub fn higher_is_better(self) -> Option<bool> {
        match self {
            Measure::Time(..) | Measure::Delay(_) => Some(false),
            Measure::Outcome(outcome) => Some(outcome == Outcome::Normal),
            Measure::Plain(plain) => match plain {
                Plain::RequestsPerS
                | Plain::Iops
                | Plain::Goodput
                | Plain::ContentRate
                | Plain::TransferRate
                | Plain::Throughput
                | Plain::Completed => Some(true),
                Plain::Sent | Plain::Opened => None,
                Plain::Failed
                | Plain::Failures
                | Plain::WriteErrors
                | Plain::Elapsed
                | Plain::Wall
                | Plain::Cpu
                | Plain::CpuShare
                | Plain::ServerCpu
                | Plain::ServerCpuShare
                | Plain::ServerCpuPerRequest
                | Plain::Retransmitted => Some(false),
            },
        }
    }

    /// The least and the most that a figure can be: none is below zero.
    pub fn bounds(self) -> Bounds {
        let most = if self == Measure::Plain(Plain::Failures) { 1.0 } else { f64::INFINITY };
        Bounds { least: 0.0, most }
    }

    /// The unit that it is kept in.
    pub fn base_unit(self) -> Unit {
        let kind = self.kind();
        UNITS.into_iter().find(|unit| unit.kind == kind).unwrap_or(UNITS[0])
    }

    /// A unit of its kind by name.
    ///
    /// # Errors
    /// It has no such unit; the line names those that it has.
    pub fn unit(self, name: &str) -> Result<Unit, String> {
        let kind = self.kind();
        let mut own = UNITS.into_iter().filter(|unit| unit.kind == kind);
        own.clone().find(|unit| unit.name == name).ok_or_else(|| {
            let names: Vec<_> = own.by_ref().map(|unit| format!("'{}'", unit.name)).collect();
            format!("'{name}' is no unit of {self}: {}", names.join(", "))
        })
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Measure::Time(phase, point) => {
                write!(f, "{}.{}", phase.name(), point.name())
            }
            Measure::Delay(point) => write!(f, "{DELAY}.{}", point.name()),
            Measure::Outcome(outcome) => f.pad(outcome.name()),
            Measure::Plain(plain) => {
                let found = PLAIN.iter().find(|(_, known, _)| *known == plain);
                f.pad(found.map_or("", |(name, ..)| name))
            }
        }
    }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Measure, String> {
        let plain = PLAIN.iter().find(|(name, ..)| *name == text);
        let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.name() == text);
        let time = |(phase, point): (&str, &str)| {
            let point = TimePoint::named(point).filter(|point| POINTS.contains(point))?;
            match phase {
                DELAY => Some(Measure::Delay(point)),
                _ => Some(Measure::Time(TimedPhase::named(phase)?, point)),
            }
        };
        plain
            .map(|&(_, plain, _)| Measure::Plain(plain))
            .or(outcome.map(Measure::Outcome))
            .or_else(|| text.split_once('.').and_then(time))
            .ok_or_else(|| unknown(text))
    }
}

fn unknown(text: &str) -> String {
    let plain: Vec<_> = PLAIN.iter().map(|&(name, ..)| name).collect();
    let outcomes: Vec<_> = Outcome::ALL.iter().map(|outcome| outcome.name()).collect();
    format!(
        "no measure is called '{text}': {}, {}, or a phase with a point as in connect.mean (phases: \
         {}, {DELAY}; points: {})",
        plain.join(", "),
        outcomes.join(", "),
        TimedPhase::ALL.map(TimedPhase::name).join(", "),
        POINTS.map(TimePoint::name).join(", ")
    )
}

impl Serialize for Measure {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Measure, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_is_read_and_written_alike() {
        for text in ["goodput", "RESET", "NO_PORT", "connect.mean", "lifetime.p999", "cpu"] {
            assert_eq!(text.parse::<Measure>().unwrap().to_string(), text);
        }
        for text in ["", "reset", "connect", "connect.p98", "a.mean", "connect.mean.x"] {
            let said = text.parse::<Measure>().unwrap_err();
            assert!(said.contains("connect.mean") && said.contains("goodput"), "{text}: {said}");
        }
    }

    #[test]
    fn a_measure_has_the_units_of_its_kind() {
        let goodput: Measure = "goodput".parse().unwrap();
        assert_eq!(goodput.unit("MB/s").unwrap().scale, 1e6);
        assert!(goodput.unit("ms").unwrap_err().contains("'kB/s'"));
        let sent: Measure = "sent".parse().unwrap();
        assert_eq!(sent.base_unit().name, "");
    }
}
