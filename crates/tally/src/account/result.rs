//! The account in a document.

use serde::{Deserialize, Serialize};

use super::{Account, AccountTally};
use crate::response_part::PerPart;
use sixmark_document::timing::Timing;

/// How long each part of the response times took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AccountResult {
    /// On average over complete responses: the parts add up to their mean.
    pub mean: AccountFigures,
    /// Of the exchanges around the median: the parts add up to it.
    pub p50: AccountFigures,
    /// Of the exchanges around the 99th percentile: the parts add up to it.
    pub p99: AccountFigures,
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

impl AccountTally {
    /// Returns the figures for a result document, with the response times of the same exchanges; `None`
    /// if there are none.
    pub fn result(&self, responses: &Timing) -> Option<AccountResult> {
        let of = |account: Account| AccountFigures {
            response_us: account.parts.total() / 1e3,
            parts_us: PerPart::from_fn(|part| account.parts[part] / 1e3),
            connecting: account.connecting.clamp(0.0, 1.0),
            securing: account.securing.clamp(0.0, 1.0),
            flights: account.flights,
        };
        let at = |share: f64| self.around(share, responses.quantile(share)? as f64);
        Some(AccountResult { mean: of(self.of_mean()?), p50: of(at(0.5)?), p99: of(at(0.99)?) })
    }
}
