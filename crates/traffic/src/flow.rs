//! A flow: messages of one protocol and address family that one side sends to the other.

use serde::{Deserialize, Serialize};

use super::{Basis, FlowProtocol, LARGEST, TrafficSide, least};
use sixmark_units::family::Family;

const NS_PER_S: f64 = 1e9;
/// The highest rate of a flow, in messages per second.
const MOST_PER_S: f64 = 1e9;

/// The lowest accepted mean number of messages per burst.
const FEWEST: f64 = 0.001;

/// Returns the size in bytes of the largest message. Over UDP it fills one datagram: 65,535 bytes
/// minus the UDP header and, over IPv4, the IP header.
pub(super) fn largest(family: Family, protocol: FlowProtocol) -> u32 {
    match (protocol, family) {
        (FlowProtocol::Tcp, _) => LARGEST,
        (FlowProtocol::Udp, Family::Ipv6) => 65_527,
        (FlowProtocol::Udp, Family::Ipv4) => 65_507,
    }
}

/// A flow of messages from one side to the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// The flow number that its messages carry.
    pub id: u32,
    /// The address family of its packets.
    pub family: Family,
    /// The transport protocol.
    pub protocol: FlowProtocol,
    /// The side that sends.
    pub from: TrafficSide,
    /// The phases in ascending order of time; never empty.
    pub phases: Vec<FlowPhase>,
    /// The time at which the flow ends, in nanoseconds from the start of all traffic. If absent, it
    /// ends with all traffic.
    pub stop_ns: Option<u64>,
    /// The number of messages after which the flow ends; no limit if absent.
    pub count: Option<u64>,
}

/// The behaviour of a flow from a given time until the next phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowPhase {
    /// The start of the phase, in nanoseconds from the start of all traffic.
    pub from_ns: u64,
    /// The pattern of the times at which messages are due.
    pub pattern: Pattern,
    /// The size of a message in bytes, including its header.
    pub bytes: u32,
}

/// The pattern of the times at which messages are due.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "pattern", rename_all = "lowercase")]
pub enum Pattern {
    /// Messages without pauses.
    Steady(Steady),
    /// Messages in bursts.
    Burst(Burst),
}

/// Messages at a mean rate, without pauses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// The mean rate in messages per second, 0 to 10^9.
    pub per_s: f64,
    /// The distribution of the gaps between messages.
    pub gap: Gap,
    /// The delay of the first message as a fraction of the mean gap, 0 to 1. It keeps flows that
    /// start together from sending at the same time.
    pub offset: f64,
}

/// The distribution of the gaps between events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gap {
    /// All gaps are equal.
    #[default]
    Regular,
    /// Gaps are exponentially distributed, so that events are independent (a Poisson process).
    Random,
}

/// Bursts of messages with pauses between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// The messages within a burst.
    pub within: Steady,
    /// The distribution of the gaps between the starts of bursts.
    pub every: Gap,
    /// The mean time from the start of a burst to the start of the next, in nanoseconds. If a burst
    /// lasts longer, the next one starts as soon as it ends.
    pub every_ns: u64,
    /// The distribution of the lengths of bursts.
    pub length: Length,
    /// The mean length of a burst, in nanoseconds.
    pub length_ns: u64,
    /// Whether a burst continues the sequence of due times where the previous burst ended, as if
    /// there were no pause. Otherwise the sequence starts again with each burst.
    pub carry: bool,
}

/// The distribution of the lengths of bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Length {
    /// All bursts have the same length.
    Fixed,
    /// Lengths are exponentially distributed.
    Exponential,
}

impl Flow {
    /// Checks that the flow can be sent. Descriptions received from another host may be invalid.
    ///
    /// # Errors
    /// Returns one line if there is no phase, or if the size or pattern of a phase is out of range.
    pub fn check(&self) -> Result<(), String> {
        let sizes = least(self.family)..=largest(self.family, self.protocol);
        let fits = |phase: &FlowPhase| sizes.contains(&phase.bytes) && phase.pattern.is_possible();
        if !self.phases.is_empty() && self.phases.iter().all(fits) {
            Ok(())
        } else {
            Err(format!("flow {} has impossible sizes or rates", self.id))
        }
    }

    /// Returns the time at which the flow starts, in nanoseconds from the start of all traffic.
    pub fn start_ns(&self) -> u64 {
        self.phases.first().map_or(0, |phase| phase.from_ns)
    }

    /// Returns the size of the largest message, in bytes.
    pub fn largest(&self) -> u32 {
        self.phases.iter().map(|phase| phase.bytes).max().unwrap_or(0)
    }

    /// Returns the mean rate of the first phase, in bits per second.
    pub fn bits_per_s(&self, basis: Basis) -> f64 {
        self.phases.first().map_or(0.0, |phase| {
            phase.pattern.per_s() * basis.bytes(self.family, self.protocol, phase.bytes) * 8.0
        })
    }
}

impl Pattern {
    fn is_possible(&self) -> bool {
        let steady = |steady: &Steady| {
            (0.0..=MOST_PER_S).contains(&steady.per_s) && (0.0..=1.0).contains(&steady.offset)
        };
        match self {
            Pattern::Steady(one) => steady(one),
            Pattern::Burst(burst) => {
                let times = burst.every_ns > 0 && burst.length_ns > 0;
                steady(&burst.within) && times && burst.has_messages()
            }
        }
    }

    /// Returns the mean rate in messages per second. For bursts, it is exact only if bursts do not
    /// overlap.
    pub fn per_s(&self) -> f64 {
        match self {
            Pattern::Steady(steady) => steady.per_s,
            Pattern::Burst(burst) => {
                let part = burst.length_ns as f64 / burst.every_ns.max(1) as f64;
                burst.within.per_s * part.min(1.0)
            }
        }
    }
}

impl Burst {
    /// Returns true if bursts have enough messages on average that the next message is found
    /// quickly, or if the rate is 0.
    pub(super) fn has_messages(&self) -> bool {
        let each = self.within.per_s * self.length_ns as f64 / NS_PER_S;
        each >= FEWEST || self.within.per_s == 0.0
    }
}

impl Steady {
    /// Returns the mean gap between messages in nanoseconds; infinite if the rate is 0.
    pub fn gap_ns(&self) -> f64 {
        NS_PER_S / self.per_s
    }
}
