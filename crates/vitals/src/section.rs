//! The part of a result document about the cost of a run.

use serde::{Deserialize, Serialize};

use super::sample::VitalsSample;
use crate::cost::Cost;

/// The resources that the client and the server used during the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Vitals {
    /// The machine that ran sixmark.
    pub client: MachineRole,
    /// The machine whose vitals --vitals-from gave; null if the option was not used.
    pub server: Option<MachineRole>,
}

/// The vitals of one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineRole {
    /// The kind of source.
    pub source: VitalsSource,
    /// The name of the source as it was given: a file, a URL or a host; null for the client.
    pub name: Option<String>,
    /// Seconds of the measured time that the source covers.
    pub covered_s: f64,
    /// The cost to the whole machine; null if it is not known.
    pub machine: Option<Cost>,
    /// The cost to the selected processes: to sixmark itself on the client, to the processes that
    /// `sixmark vitals` observed on a server; null if there are none.
    pub processes: Option<Cost>,
    /// The change of all counters from before the warm-up to the end; from a file, within the
    /// measured time. Null if the source is a URL, or if there are fewer than two samples.
    pub change: Option<VitalsSample>,
}

/// The kind of source of a machine's vitals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VitalsSource {
    /// This process, for its own machine.
    Here,
    /// A file that `sixmark vitals` wrote.
    File,
    /// A page that `sixmark vitals --prometheus` serves.
    Sixmark,
    /// A page that a node_exporter serves.
    NodeExporter,
    /// A host of a lab on this machine.
    Lab,
}

impl MachineRole {
    /// Returns the cost to the processes if it is known, or else the cost to the whole machine.
    pub fn cost(&self) -> Option<&Cost> {
        self.processes.as_ref().or(self.machine.as_ref())
    }
}
