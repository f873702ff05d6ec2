//! The part of a result that tells what a run cost.

use serde::{Deserialize, Serialize};

use super::sample::VitalsSample;
use crate::cost::Cost;

/// What the client and the server used meanwhile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Vitals {
    /// This machine.
    pub client: MachineRole,
    /// Where `--vitals-from` looked; null: it was not asked for.
    pub server: Option<MachineRole>,
}

/// One machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineRole {
    /// What told.
    pub source: VitalsSource,
    /// Its name as it was given: a file, a URL, a host; of the client `null`.
    pub name: Option<String>,
    /// Seconds of the measured time of which it told.
    pub covered_s: f64,
    /// What all of the machine cost; null where that is not known.
    pub machine: Option<Cost>,
    /// What the processes in question cost: of the client sixmark's own, of a server those that
    /// `sixmark vitals` was told to look at; null where there are none.
    pub processes: Option<Cost>,
    /// What changed in all counters from before the warm-up to the end; `null` where a URL told.
    pub change: Option<VitalsSample>,
}

/// What told of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum VitalsSource {
    /// This process, of its own machine.
    Here,
    /// What `sixmark vitals` wrote.
    File,
    /// What `sixmark vitals --prometheus` serves.
    Sixmark,
    /// What a node_exporter serves.
    NodeExporter,
    /// A host of a lab on this machine.
    Lab,
}

impl MachineRole {
    /// The processes' cost where it is known, else the machine's.
    pub fn cost(&self) -> Option<&Cost> {
        self.processes.as_ref().or(self.machine.as_ref())
    }
}
