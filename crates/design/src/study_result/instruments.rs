//! What the instruments beside a cell's client measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use sixmark_tally::family_result::Families;
use sixmark_tally::metric::Metric;
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};
use sixmark_units::family::PerFamily;

/// The connections of a cell as its client and the instruments beside it measured them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellInstruments {
    /// What the client measured.
    pub client: Families<ConnectionFigures>,
    /// What the packets at the server's end showed; null if they were not to be captured, or could
    /// not be.
    pub packets: Option<PacketsOfCell>,
    /// What the kernels of the ends counted, the client's first; one entry if both ends are on one
    /// machine. Empty if they were not to be read.
    pub kernel: Vec<KernelOfCell>,
}

/// The connections of one family as one instrument measured them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConnectionFigures {
    /// The number of connections that were established; null if it is not known.
    pub connections: Option<u64>,
    /// The mean time that they took to be established, microseconds; null likewise.
    pub establishment_us: Option<f64>,
    /// The mean time from established to closed (the continuation), microseconds; null likewise.
    pub continuation_us: Option<f64>,
}

impl ConnectionFigures {
    /// Returns true if the measure is one of these figures.
    pub fn has(&self, measure: Metric) -> bool {
        self.known(measure).is_some()
    }

    /// Returns the figure of a measure; `None` if it is not known, or not one of these.
    pub fn figure(&self, measure: Metric) -> Option<f64> {
        self.known(measure).flatten()
    }

    fn known(&self, measure: Metric) -> Option<Option<f64>> {
        match measure {
            Metric::Time(TimedPhase::Connect, TimePoint::Mean) => Some(self.establishment_us),
            Metric::Time(TimedPhase::Lifetime, TimePoint::Mean) => Some(self.continuation_us),
            _ => None,
        }
    }
}

/// What the packets of a cell showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PacketsOfCell {
    /// The document of the watch (sixmark.watch/1), a file in the study's folder.
    pub document: String,
    /// The names of the interfaces.
    pub interfaces: Vec<String>,
    /// Packets that were captured.
    pub packets: u64,
    /// Packets that the kernel dropped because they were not read in time.
    pub dropped: u64,
    /// The processor time of the watch divided by the time it lasted: 0.01 is a hundredth of one
    /// processor.
    pub cpu_share: f64,
    /// The connections of each family.
    pub families: Families<ConnectionFigures>,
}

/// The end of connections that a kernel is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum KernelEnd {
    /// The client's end.
    Client,
    /// The server's end.
    Server,
    /// Both ends, which are on one machine.
    Both,
}

impl KernelEnd {
    /// Returns its name in documents.
    pub fn word(self) -> &'static str {
        match self {
            KernelEnd::Client => "client",
            KernelEnd::Server => "server",
            KernelEnd::Both => "both",
        }
    }
}

/// What the kernel of one end counted while the load ran. Processors and memory are those of the
/// whole machine, everything else is of the end's network namespace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelOfCell {
    /// The end.
    pub end: KernelEnd,
    /// The host of the lab; null without a lab.
    pub host: Option<String>,
    /// The document of all samples (sixmark.vitals/1), a file in the study's folder.
    pub document: String,
    /// The processor time of the reading while the load ran, divided by that time: 0.01 is a
    /// hundredth of one processor.
    pub cpu_share: f64,
    /// Seconds from the last sample before the load to the first one after it.
    pub covered_s: f64,
    /// Connections opened by this end, both families together.
    pub opened: u64,
    /// Connections accepted by this end, both families together.
    pub accepted: u64,
    /// The connections of each family. The kernel counts both families together, so that the number
    /// is known only if one was loaded, and it records no times of connections.
    pub connections: Families<ConnectionFigures>,
    /// The busy share (0 to 1) of all processors' time.
    pub busy_share: f64,
    /// The share (0 to 1) of all processors' time in softirqs, which do most of the network's work.
    pub softirq_share: f64,
    /// The share (0 to 1) of all processors' time that the server's processes used; null at an end
    /// without a server, and for a server that the study did not start.
    pub server_share: Option<f64>,
    /// The most resident memory of the server's processes, bytes; null likewise.
    pub server_memory_bytes: Option<u64>,
    /// The most memory in use, bytes.
    pub memory_bytes: u64,
    /// The packets and sockets of each family.
    pub families: PerFamily<KernelOfFamily>,
    /// The figures over time; null in all but the last repetition of a combination of levels, and
    /// if there are many combinations.
    pub over_time: Option<KernelOverTime>,
}

/// What a kernel counted of one family.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelOfFamily {
    /// Packets received.
    pub packets_in: u64,
    /// Packets sent.
    pub packets_out: u64,
    /// The most sockets in each state at one reading, by the name of the state; states without
    /// sockets are omitted, and so are sockets that listen. If both ends are on one machine, these
    /// are the sockets of both.
    pub sockets: BTreeMap<String, u64>,
}

/// Figures of a kernel over time, in at most 60 spans. All lists have the same length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelOverTime {
    /// When each span begins, seconds from the first.
    pub begins_s: Vec<f64>,
    /// The busy share (0 to 1) of all processors' time.
    pub busy_share: Vec<f64>,
    /// The share (0 to 1) of all processors' time in softirqs.
    pub softirq_share: Vec<f64>,
    /// The share (0 to 1) of all processors' time that the server's processes used; null where it
    /// is not known.
    pub server_share: Vec<Option<f64>>,
    /// Memory in use at the end of the span, bytes.
    pub memory_bytes: Vec<u64>,
    /// The packets and sockets of each family.
    pub families: PerFamily<FamilyOverTime>,
}

/// Figures of one family over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FamilyOverTime {
    /// Packets received, per second.
    pub packets_in_per_s: Vec<f64>,
    /// Packets sent, per second.
    pub packets_out_per_s: Vec<f64>,
    /// Established sockets at the last reading in the span; null if there was none.
    pub established: Vec<Option<u64>>,
    /// Sockets in TIME-WAIT, likewise.
    pub time_wait: Vec<Option<u64>>,
}
