//! The kernel's counters at one moment.

use serde::{Deserialize, Serialize};

use super::counter::Counter;
use super::group::Group;
use super::host::MachineVitals;
use super::network::Network;

/// All counters and the other values that were read with them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VitalsSample {
    /// The time of the sample by the wall clock: microseconds since 1970 in UTC.
    pub at_us: u64,
    /// Time since the first sample by the monotonic clock, microseconds; in a change, its duration.
    pub since_us: u64,
    /// The state of the machine and its counters.
    pub host: MachineVitals,
    /// The counters of the network namespace.
    pub network: Network,
    /// The selected groups of processes.
    pub groups: Vec<Group>,
    /// Processor time that this program used.
    pub own_cpu_us: Counter,
}

impl VitalsSample {
    /// Returns the change since `before`: counters are differences, all other values are the
    /// current ones.
    #[must_use]
    pub fn since(&self, before: &VitalsSample, resets: &mut u64) -> VitalsSample {
        VitalsSample {
            at_us: self.at_us,
            since_us: self.since_us.saturating_sub(before.since_us),
            host: self.host.since(&before.host, resets),
            network: self.network.since(&before.network, resets),
            groups: self.groups.iter().map(|group| group.since(&before.groups, resets)).collect(),
            own_cpu_us: Counter(self.own_cpu_us.0.saturating_sub(before.own_cpu_us.0)),
        }
    }

    /// Adds a later change. Its values that are not counters replace the earlier ones.
    pub fn add(&mut self, later: &VitalsSample) {
        use super::counter::Counters as _;
        self.at_us = later.at_us;
        self.since_us += later.since_us;
        self.own_cpu_us.0 += later.own_cpu_us.0;
        self.host.add(&later.host);
        self.network.add(&later.network);
        for now in &later.groups {
            match self.groups.iter_mut().find(|group| group.is(now)) {
                Some(group) => {
                    let mut sum = now.clone();
                    sum.counters.add(&group.counters);
                    *group = sum;
                }
                None => self.groups.push(now.clone()),
            }
        }
    }

    /// Returns the duration of a change, seconds.
    pub fn seconds(&self) -> f64 {
        self.since_us as f64 / 1e6
    }
}
