//! What a link did, for result documents.

use serde::{Deserialize, Serialize};

use crate::timing::Summary;

/// Who impairs a link's frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReportedMechanism {
    /// sixmark's own, between two TAP devices.
    Emulator,
    /// The kernel's netem.
    Netem,
    /// The kernel's token bucket.
    Tbf,
}

/// How the kernel schedules the emulator's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Scheduling {
    /// SCHED_FIFO: as soon as it has something to do.
    Fifo,
    /// SCHED_OTHER: in turn with everybody else. So it is where the right to more is missing, and where
    /// nothing has to be in time.
    Other,
}

/// Who did a link's work, and what happened on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkReport {
    /// The link's name.
    pub name: String,
    /// How the emulator's thread is scheduled; null: there is none.
    pub scheduling: Option<Scheduling>,
    /// Decides what the emulator's chance does; the kernel's has no seed; null: there is no
    /// emulator.
    pub seed: Option<u64>,
    /// From the first end to the second.
    pub a_to_b: WayReport,
    /// The other direction.
    pub b_to_a: WayReport,
    /// Why the emulator ended before it was asked to: an end has gone; null: it went on.
    pub ended: Option<String>,
}

/// One direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WayReport {
    /// Who impairs it; null: nobody.
    pub mechanism: Option<ReportedMechanism>,
    /// What happened to frames; null: the kernel does not say.
    pub frames: Option<LinkDirection>,
    /// How much later than due the emulator handed frames on, microseconds; of those that had to
    /// wait. What a frame waited before the emulator saw it is not in it; null: there is no
    /// emulator.
    pub lateness_us: Option<Summary>,
    /// Frames that the emulator was too late to read from its device, which dropped them; null:
    /// there is none.
    #[serde(default)]
    pub unread: Option<u64>,
}

impl LinkReport {
    /// Frames for which the emulator had no memory.
    pub fn overflowed(&self) -> u64 {
        let ways = [&self.a_to_b, &self.b_to_a].into_iter().filter_map(|way| way.frames);
        ways.flat_map(|way| [way.ipv6, way.ipv4, way.other]).map(|frames| frames.overflowed).sum()
    }

    /// Frames that devices dropped since the emulator did not read them in time.
    pub fn unread(&self) -> u64 {
        [&self.a_to_b, &self.b_to_a].into_iter().filter_map(|way| way.unread).sum()
    }

    /// Of a link without an emulator, whose directions have these.
    pub fn of_kernel(name: &str, ways: [Option<ReportedMechanism>; 2]) -> LinkReport {
        let [a_to_b, b_to_a] = ways.map(|mechanism| WayReport {
            mechanism,
            frames: None,
            lateness_us: None,
            unread: None,
        });
        LinkReport { name: name.into(), scheduling: None, seed: None, a_to_b, b_to_a, ended: None }
    }
}

/// What happened to the frames of one direction, by whose they were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkDirection {
    /// IPv6's packets, without neighbour discovery.
    pub ipv6: FrameCounts,
    /// IPv4's packets.
    pub ipv4: FrameCounts,
    /// ARP, neighbour discovery and what is no IP.
    pub other: FrameCounts,
}

/// What happened to frames. Those offered have arrived, were lost, dropped or overflowed, or are still
/// under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrameCounts {
    /// Came.
    pub offered: u64,
    /// Their bytes, with their Ethernet headers.
    pub offered_bytes: u64,
    /// Went on to the other end.
    pub arrived: u64,
    /// Lost by chance, as asked.
    pub lost: u64,
    /// Did not fit the queue.
    pub dropped: u64,
    /// Of those offered: went without delay, before others.
    pub reordered: u64,
    /// Did not fit the emulator's memory. Nobody asked for that: the delay was not kept up.
    pub overflowed: u64,
    /// Of those arrived: not taken by the other end, whose interface was down.
    pub refused: u64,
}
