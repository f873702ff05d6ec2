//! The times by a client's clock compared with those of the packets (`run --truth`).

mod beside;
mod packets;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use beside::{Clock, Views};
pub use packets::Packets;

use sixmark_tally::family_result::Families;

/// The times by the client's clock and by the packets, for one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Truth {
    /// The interfaces on which packets were captured.
    pub interfaces: Vec<String>,
    /// The number of packets captured, including unrelated ones.
    pub packets: u64,
    /// Packets that the kernel dropped because they were not read in time.
    pub dropped: u64,
    /// True if no connection was active any more when the capture ended.
    pub settled: bool,
    /// The families of the plan.
    #[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
    pub families: Families<FamilyTruth>,
}

/// The times by the client's clock and by the packets, for one family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FamilyTruth {
    /// Connections established during the measurement.
    pub connections: TruthCounts,
    /// Exchanges with a complete response. Exchanges that the packets do not show, as with TLS, are
    /// not counted here at all.
    pub exchanges: TruthCounts,
    /// By the client: from the connect call to established, or as the kernel's clock measured it.
    /// By packets: from SYN to SYN-ACK.
    pub connect: Beside,
    /// By the client: from the request's last byte handed to the kernel to the response's first
    /// byte. By packets: from the request's last packet to the response's first.
    pub wait: Beside,
    /// By the client: from the response's first byte to its last. By packets: from its first packet
    /// to its last.
    pub transfer: Beside,
    /// By the client: from an exchange's start to the response's last byte. By packets: to the
    /// response's last packet, from the SYN if the exchange is the first of its connection,
    /// otherwise from the request's first packet.
    pub service: Beside,
}

/// Numbers of connections or exchanges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TruthCounts {
    /// Those that sixmark recorded individually.
    pub client: u64,
    /// Those that the packets show.
    pub packets: u64,
    /// Those recorded by sixmark that were found among the packets.
    pub matched: u64,
    /// Those that sixmark could not record individually for lack of room. They are part of its
    /// figures but are not matched.
    pub untold: u64,
}

/// The durations of one phase by the client's clock and by the packets, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Beside {
    /// The durations by the client's clock.
    pub client_us: Brief,
    /// The durations by the packets.
    pub packets_us: Brief,
    /// The median by the client's clock minus the median by the packets; null if either has none.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub medians_apart_us: Option<f64>,
    /// The client's duration minus that of the packets, for each matched connection or exchange.
    pub difference_us: Differences,
}

impl Beside {
    /// Returns by how many microseconds the client's durations are longer: the median difference of
    /// the matched ones or, if there are none, the difference of the medians.
    pub fn longer_us(&self) -> Option<f64> {
        self.difference_us.p50.or(self.medians_apart_us)
    }
}

/// A short summary of durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Brief {
    /// The number of durations.
    pub count: u64,
    /// The median; null if count is 0.
    pub p50: Option<f64>,
    /// The duration that 99 % do not exceed; null if count is 0.
    pub p99: Option<f64>,
}

/// Differences of durations, which may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Differences {
    /// The number of differences.
    pub count: u64,
    /// The difference that 1 % do not exceed; null if count is 0.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub p1: Option<f64>,
    /// The median; null if count is 0.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub p50: Option<f64>,
    /// The difference that 99 % do not exceed; null if count is 0.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub p99: Option<f64>,
}
