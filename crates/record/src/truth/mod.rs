//! What a client's clock says beside what the packets say (`run --truth`).

mod beside;
mod book;
mod packets;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use beside::{Clock, Views};
pub use book::{Opened, RecordedExchange, TruthBook};
pub use packets::Packets;

use crate::family_result::Families;

/// Both views of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Truth {
    /// The interfaces whose packets were seen.
    pub interfaces: Vec<String>,
    /// Packets that were captured, of whatever they were.
    pub packets: u64,
    /// Packets that the kernel had to drop, since nobody took them in time.
    pub dropped: u64,
    /// Every connection had come to rest when the capture ended.
    pub settled: bool,
    /// The families of the plan.
    #[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
    pub families: Families<FamilyTruth>,
}

/// Both views of one family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FamilyTruth {
    /// Connections established during the measurement.
    pub connections: TruthCounts,
    /// Exchanges with a complete response; those of which the packets show nothing, as over TLS, are
    /// counted by nobody here.
    pub exchanges: TruthCounts,
    /// The client: connect call to established, or what the kernel's clock said. Packets: SYN to SYN-ACK.
    pub connect: Beside,
    /// The client: request handed over to first byte. Packets: the request's last to the response's first.
    pub wait: Beside,
    /// The response's first byte to its last; packets: its first packet to its last.
    pub transfer: Beside,
    /// An exchange's start to the response's last byte; packets: from the SYN where it is the first of its
    /// connection, else from the request's first, to the response's last.
    pub service: Beside,
}

/// How many there were of something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TruthCounts {
    /// That sixmark told of one by one.
    pub client: u64,
    /// That the packets show.
    pub packets: u64,
    /// That are in both, found one by one.
    pub matched: u64,
    /// That the client had, but no more room to tell of: they are in its figures and are not matched.
    pub untold: u64,
}

/// One phase in both views, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Beside {
    /// By the client's clock.
    pub client_us: Brief,
    /// By the packets.
    pub packets_us: Brief,
    /// The client's median less that of the packets; null where either has none.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub medians_apart_us: Option<f64>,
    /// The client's time less that of the packets, of each one that is in both views.
    pub difference_us: Differences,
}

impl Beside {
    /// How much longer the client's times are, in microseconds: the median difference of those that are in
    /// both views, where there are any, else that of the medians.
    pub fn longer_us(&self) -> Option<f64> {
        self.difference_us.p50.or(self.medians_apart_us)
    }
}

/// Durations in short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Brief {
    /// How many.
    pub count: u64,
    /// The median; null where count is 0.
    pub p50: Option<f64>,
    /// 99 % are not longer; null where count is 0.
    pub p99: Option<f64>,
}

/// Differences, which may be below 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Differences {
    /// How many.
    pub count: u64,
    /// 1 % are not larger; null where count is 0.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub p1: Option<f64>,
    /// The median; null where count is 0.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub p50: Option<f64>,
    /// 99 % are not larger; null where count is 0.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub p99: Option<f64>,
}
