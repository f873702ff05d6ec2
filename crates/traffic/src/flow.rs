//! A flow: messages of one kind from one host to the other.

use serde::{Deserialize, Serialize};

use super::{Basis, FlowProtocol, LARGEST, TrafficSide, least};
use sixmark_units::family::Family;

const NS_PER_S: f64 = 1e9;
/// Messages a second of one flow.
const MOST_PER_S: f64 = 1e9;

/// Messages of a burst on average.
const FEWEST: f64 = 0.001;

/// The largest message, bytes: of a datagram what 65,535 leave beside the headers that count.
pub(super) fn largest(family: Family, protocol: FlowProtocol) -> u32 {
    match (protocol, family) {
        (FlowProtocol::Tcp, _) => LARGEST,
        (FlowProtocol::Udp, Family::Ipv6) => 65_527,
        (FlowProtocol::Udp, Family::Ipv4) => 65_507,
    }
}

/// Messages from one side to the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// What its messages say that they belong to.
    pub id: u32,
    /// The address family of its packets.
    pub family: Family,
    /// The transport protocol.
    pub protocol: FlowProtocol,
    /// Who sends.
    pub from: TrafficSide,
    /// What it does from when on, in the order of time; never empty.
    pub phases: Vec<FlowPhase>,
    /// When it ends, nanoseconds from the beginning of all traffic; absent where only the end of
    /// everything ends it.
    pub stop_ns: Option<u64>,
    /// After how many messages it ends.
    pub count: Option<u64>,
}

/// What a flow does from some time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowPhase {
    /// From when on, nanoseconds from the beginning of all traffic.
    pub from_ns: u64,
    /// When messages are due.
    pub pattern: Pattern,
    /// The size of a message, header included.
    pub bytes: u32,
}

/// When messages are due.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "pattern", rename_all = "lowercase")]
pub enum Pattern {
    /// Without pause.
    Steady(Steady),
    /// In bursts.
    Burst(Burst),
}

/// Messages at a mean rate, without pause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// Messages a second, 0 or more.
    pub per_s: f64,
    /// How one follows another.
    pub gap: Gap,
    /// The first message is due after this part of a mean gap, 0 to 1: so that flows that begin
    /// together don't send together.
    pub offset: f64,
}

/// How one thing follows another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gap {
    /// At equal distances.
    #[default]
    Regular,
    /// Independently of one another: at exponential distances.
    Random,
}

/// Times with messages between times without.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// What happens in one.
    pub within: Steady,
    /// How one's beginning follows another's.
    pub every: Gap,
    /// The mean time from one's beginning to the next, nanoseconds. One that is still going on is
    /// followed at once.
    pub every_ns: u64,
    /// How long they are.
    pub length: Length,
    /// How long on average, nanoseconds.
    pub length_ns: u64,
    /// A burst goes on where the one before ended, as if there were no time between them; else its first
    /// message is due as it begins.
    pub carry: bool,
}

/// How long bursts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Length {
    /// All equally.
    Fixed,
    /// Exponentially distributed.
    Exponential,
}

impl Flow {
    /// Whether this is a flow that can be sent: one that another host describes need not be.
    ///
    /// # Errors
    /// In one line: what can't be.
    pub fn check(&self) -> Result<(), String> {
        let sizes = least(self.family)..=largest(self.family, self.protocol);
        let fits = |phase: &FlowPhase| sizes.contains(&phase.bytes) && phase.pattern.is_possible();
        match !self.phases.is_empty() && self.phases.iter().all(fits) {
            true => Ok(()),
            false => Err(format!("flow {} has impossible sizes or rates", self.id)),
        }
    }

    /// When it begins, nanoseconds from the beginning of all traffic.
    pub fn start_ns(&self) -> u64 {
        self.phases.first().map_or(0, |phase| phase.from_ns)
    }

    /// The size of its largest message.
    pub fn largest(&self) -> u32 {
        self.phases.iter().map(|phase| phase.bytes).max().unwrap_or(0)
    }

    /// The mean rate of its first phase, bits a second.
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

    /// The mean rate, messages a second; of bursts that don't overlap.
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
    /// Whether enough bursts have a message that the next one of them is soon found.
    pub(super) fn has_messages(&self) -> bool {
        let each = self.within.per_s * self.length_ns as f64 / NS_PER_S;
        each >= FEWEST || self.within.per_s == 0.0
    }
}

impl Steady {
    /// The mean distance of two messages in nanoseconds; endless at a rate of 0.
    pub fn gap_ns(&self) -> f64 {
        NS_PER_S / self.per_s
    }
}
