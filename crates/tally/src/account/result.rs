//! The account in a document.

use serde::{Deserialize, Serialize};

use super::Account;
use crate::response_part::PerPart;

/// How long each part of the response times took, and what a round trip took beside them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccountResult {
    /// On average over complete responses: the parts add up to their mean.
    pub mean: AccountFigures,
    /// Of the exchanges around the median: the parts add up to it.
    pub p50: AccountFigures,
    /// Of the exchanges around the 99th percentile: the parts add up to it.
    pub p99: AccountFigures,
    /// The mean round-trip time of the path, in microseconds: that of TCP's handshakes, over QUIC its
    /// own; null if it is not known.
    #[serde(default)]
    pub round_trip_us: Option<f64>,
    /// The round trips of a TLS handshake on average; 0 without TLS, and over QUIC.
    #[serde(default)]
    pub tls_round_trips: f64,
}

/// How long each part took, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccountFigures {
    /// The response time, which is the sum of its parts.
    pub response_us: f64,
    /// The parts.
    pub parts_us: PerPart<f64>,
    /// The share (0 to 1) of these exchanges that waited for a connection.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Part"))]
    pub connecting: f64,
    /// The share (0 to 1) of these exchanges that waited for a TLS or QUIC handshake.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Part"))]
    pub securing: f64,
    /// The flights of the sender that an exchange waited for within its response, on average.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub flights: f64,
}

impl Account {
    /// Returns the figures, in microseconds.
    pub fn figures(&self) -> AccountFigures {
        AccountFigures {
            response_us: self.parts.total() / 1e3,
            parts_us: PerPart::from_fn(|part| self.parts[part] / 1e3),
            connecting: self.connecting.clamp(0.0, 1.0),
            securing: self.securing.clamp(0.0, 1.0),
            flights: self.flights,
        }
    }
}
