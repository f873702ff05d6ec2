//! The part of a result document about the agents of a fleet, which generated the load together.

use serde::{Deserialize, Serialize};

use crate::truth::Truth;
use sixmark_document::provenance::Environment;
use sixmark_document::timing::Summary;
use sixmark_tally::family_result::{Families, FamilyResult};
use sixmark_tally::tcp::TcpResult;
use sixmark_vitals::section::Vitals;

/// The agents of the fleet that generated the load.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetSection {
    /// The name under which the agents' records of this load are kept; of a comparison, that of its
    /// first block.
    pub load: String,
    /// Each agent, in the order of their shares.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub agents: Vec<AgentResult>,
    /// How often the server between agents and controller was started again during the load.
    pub server_restarts: u32,
    /// Records that arrived more than once and were counted once.
    pub duplicates: u64,
    /// Records of this load that agents sent which took no part in it; they were not counted.
    #[serde(default)]
    pub foreign: u64,
}

impl FleetSection {
    /// Returns the number of agents whose load is counted to its end.
    pub fn complete(&self) -> usize {
        self.agents.iter().filter(|agent| agent.incomplete_from.is_none()).count()
    }

    /// Returns one line about a load of which no counts arrived, with the reasons; `None` if some
    /// did.
    pub fn describe_no_counts(&self) -> Option<String> {
        let nothing = |agent: &AgentResult| agent.incomplete_from == Some(0);
        if self.agents.is_empty() || !self.agents.iter().all(nothing) {
            return None;
        }
        let mut reasons: Vec<&str> =
            self.agents.iter().filter_map(|agent| agent.lost_because.as_deref()).collect();
        reasons.sort_unstable();
        reasons.dedup();
        let why =
            if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join("; ")) };
        Some(format!("no counts of any agent arrived{why}"))
    }
}

/// One agent and its share of the load.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentResult {
    /// Its name within the fleet.
    pub name: String,
    /// The host on which it ran, as it calls itself.
    pub host: String,
    /// The machine of the agent, and its routes to the targets.
    pub environment: Environment,
    /// The kernel interface for network I/O.
    pub driver: String,
    /// The number of its workers; a share of the load is in proportion to it.
    pub workers: u32,
    /// The part of all requests that it sent (0 to 1); null if nothing was sent.
    pub share: Option<f64>,
    /// The second of the measurement from which on its counts are missing, because it ended or was
    /// lost; null: they are complete.
    pub incomplete_from: Option<u64>,
    /// Why they are missing; null if they are complete or it is not known, and in documents older
    /// than this field.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    #[serde(default)]
    pub lost_because: Option<String>,
    /// Whether the sum of its seconds, as collected, is what it counted in all.
    pub adds_up: bool,
    /// Records that disagree with one that was counted, or that name another agent than the one whose
    /// key sent them; they were not counted. Zero in documents older than this field.
    #[serde(default)]
    pub conflicts: u64,
    /// Why it could not keep records on its disk until they were collected; null if it could.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    #[serde(default)]
    pub spool_failed: Option<String>,
    /// The difference of its clock from the controller's, in seconds: above zero if it is ahead.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub clock_offset_s: f64,
    /// The most by which that offset may be wrong: half of the shortest round trip of the probes.
    pub clock_bound_s: f64,
    /// How much later than agreed its load began, in seconds, by its own clock.
    pub start_late_s: f64,
    /// The share of a second (0 to 1) in which its busiest worker was not waiting for the kernel.
    pub busiest: f64,
    /// Whether a worker was busy all the time.
    pub saturated: bool,
    /// Processor time in user mode, in seconds.
    pub cpu_user_s: f64,
    /// Processor time in the kernel, in seconds.
    pub cpu_sys_s: f64,
    /// The peak of resident memory, in bytes.
    pub peak_rss_bytes: u64,
    /// The figures of each family.
    pub families: Families<AgentFamily>,
    /// The times in captured packets compared with those of its clock; null without `--truth`.
    pub truth: Option<Truth>,
    /// What the run cost there, and at the server as seen from there; null if it is not known.
    pub vitals: Option<Vitals>,
}

/// The figures of one family at one agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentFamily {
    /// Requests sent.
    pub sent: u64,
    /// Complete responses.
    pub completed: u64,
    /// Exchanges without a complete response, and responses with a status that is not accepted.
    pub failed: u64,
    /// Complete responses per second.
    pub requests_per_s: f64,
    /// Response times.
    pub response_us: Summary,
    /// From when an exchange was due to its start; null in a closed loop.
    pub slip_us: Option<Summary>,
    /// The round-trip times that the kernel measured on closed connections; null if none was read.
    pub rtt_us: Option<Summary>,
    /// The maximum segment size of most closed connections, in bytes; null if none was read.
    pub mss: Option<u32>,
    /// The path MTU to the targets, in bytes; the lowest of several.
    pub mtu: Option<u32>,
}

impl AgentFamily {
    /// Returns the figures of an agent from those of its family. `mtu` is that of its routes.
    pub fn of(figures: &FamilyResult, mtu: Option<u32>) -> AgentFamily {
        let tcp = Some(&figures.tcp).filter(|tcp| tcp.read > 0);
        let most_common =
            |tcp: &TcpResult| tcp.mss.iter().max_by_key(|(_, count)| **count).map(|of| *of.0);
        AgentFamily {
            sent: figures.requests.sent,
            completed: figures.requests.completed,
            failed: figures.failed(),
            requests_per_s: figures.requests_per_s,
            response_us: figures.response_us.clone(),
            slip_us: figures.slip_us.clone(),
            rtt_us: tcp.map(|tcp| tcp.rtt_us.clone()),
            mss: tcp.and_then(most_common),
            mtu,
        }
    }
}
