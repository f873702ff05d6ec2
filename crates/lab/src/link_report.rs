//! The report of a link for result documents.

use serde::{Deserialize, Serialize};

use sixmark_document::timing::Summary;

/// The mechanism that impairs a link's frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ReportedMechanism {
    /// sixmark's own emulator, between two TAP devices.
    Emulator,
    /// The kernel's netem queueing discipline.
    Netem,
    /// The kernel's token bucket filter.
    Tbf,
}

/// The scheduling policy of the emulator's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Scheduling {
    /// SCHED_FIFO: it runs as soon as it has work.
    Fifo,
    /// SCHED_OTHER: it shares the processor with all other threads. Used if the privilege for more
    /// is missing, or if nothing has to be in time.
    Other,
}

/// The mechanisms of a link, and what happened on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkReport {
    /// The link's name.
    pub name: String,
    /// The scheduling of the emulator's thread; null if there is no emulator.
    pub scheduling: Option<Scheduling>,
    /// The seed of the emulator's random numbers; null if there is no emulator. The kernel's random
    /// numbers have no seed.
    pub seed: Option<u64>,
    /// The direction from the first end to the second.
    pub a_to_b: WayReport,
    /// The direction from the second end to the first.
    pub b_to_a: WayReport,
    /// Why the emulator ended prematurely (one end disappeared); null if it did not.
    pub ended: Option<String>,
}

/// The report of one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WayReport {
    /// The mechanism that impairs it; null if there is none.
    pub mechanism: Option<ReportedMechanism>,
    /// What happened to frames; null if the kernel does not report it.
    pub frames: Option<LinkDirection>,
    /// How much later than due the emulator forwarded frames that had to wait, in microseconds.
    /// Excludes the time before the emulator saw a frame; null if there is no emulator.
    pub lateness_us: Option<Summary>,
    /// Frames that the device dropped because the emulator was too late to read them; null if there
    /// is no emulator.
    #[serde(default)]
    pub unread: Option<u64>,
}

impl LinkReport {
    /// Returns the number of frames for which the emulator had no memory.
    pub fn overflowed(&self) -> u64 {
        let ways = [&self.a_to_b, &self.b_to_a].into_iter().filter_map(|way| way.frames);
        ways.flat_map(|way| [way.ipv6, way.ipv4, way.other]).map(|frames| frames.overflowed).sum()
    }

    /// Returns the number of frames that devices dropped because the emulator did not read them in
    /// time.
    pub fn unread(&self) -> u64 {
        [&self.a_to_b, &self.b_to_a].into_iter().filter_map(|way| way.unread).sum()
    }

    /// Returns the report of a link without an emulator, with the mechanisms of its directions.
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

/// What happened to the frames of one direction, by family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinkDirection {
    /// IPv6 packets, without neighbour discovery.
    pub ipv6: FrameCounts,
    /// IPv4 packets.
    pub ipv4: FrameCounts,
    /// ARP, neighbour discovery and frames that are not IP.
    pub other: FrameCounts,
}

/// What happened to frames. Those offered have arrived, were lost, dropped or overflowed, or are
/// still on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrameCounts {
    /// Received from the sending end.
    pub offered: u64,
    /// The bytes of those frames, including their Ethernet headers.
    pub offered_bytes: u64,
    /// Forwarded to the other end.
    pub arrived: u64,
    /// Lost at random, as configured.
    pub lost: u64,
    /// Dropped because they did not fit into the queue.
    pub dropped: u64,
    /// Frames among those offered that were not delayed and overtook others.
    pub reordered: u64,
    /// Dropped because they did not fit into the emulator's memory. This is not configured: the
    /// emulator could not keep up the delay.
    pub overflowed: u64,
    /// Frames among those arrived that the other end did not accept because its interface was down.
    pub refused: u64,
}
