//! What a program did on the wire, as the packets at its interface show it.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use sixmark_units::family::Family;

/// What one start of a program did. Times are in milliseconds from its first query or attempt on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppWire {
    /// The queries for names, in the order of time.
    pub queries: Vec<WireQuery>,
    /// The attempts to connect, in the order of time, except those to name servers.
    pub attempts: Vec<WireAttempt>,
    /// The packets that were read.
    pub packets: u64,
    /// The queries and attempts beyond the 200 of each that are kept, and messages of DNS that were cut.
    pub uncounted: u64,
}

impl AppWire {
    /// Returns true if nothing was seen.
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty() && self.attempts.is_empty()
    }

    /// Returns when the content had arrived; `None` if it did not.
    pub fn content_ms(&self) -> Option<f64> {
        self.attempts.iter().filter_map(|of| of.content_ms).min_by(f64::total_cmp)
    }

    /// Returns true if an answer of DNS had this address.
    pub fn has_learned(&self, address: IpAddr) -> bool {
        self.queries.iter().any(|of| of.addresses.contains(&address))
    }

    /// Returns true if a record of a type was asked for.
    pub fn has_asked(&self, kind: &str) -> bool {
        self.queries.iter().any(|of| of.kind == kind)
    }

    /// Returns true if there was an attempt over a family.
    pub fn has_tried(&self, family: Family) -> bool {
        self.attempts.iter().any(|of| of.family == family)
    }

    /// Returns the addresses that answers of DNS had, each once, in their order.
    pub fn learned(&self) -> Vec<IpAddr> {
        let mut all = Vec::new();
        for address in self.queries.iter().flat_map(|of| &of.addresses) {
            if !all.contains(address) {
                all.push(*address);
            }
        }
        all
    }
}

/// A query for a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WireQuery {
    /// The name, in lower case and without the final dot.
    pub name: String,
    /// The type of record, as A or AAAA.
    #[serde(rename = "type")]
    pub kind: String,
    /// When it was first sent.
    pub sent_ms: f64,
    /// How often it was sent.
    pub times: u32,
    /// The response code, as NOERROR; null without an answer.
    pub rcode: Option<String>,
    /// The addresses of the answer, at most 20.
    pub addresses: Vec<IpAddr>,
}

/// An attempt to connect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WireAttempt {
    /// The address.
    pub address: IpAddr,
    /// Its family.
    pub family: Family,
    /// Its port.
    pub port: u16,
    /// The port of the program.
    pub from_port: u16,
    /// True for datagrams, as of QUIC.
    pub is_udp: bool,
    /// When its first packet was sent.
    pub begun_ms: f64,
    /// How often a SYN was sent; of datagrams how many.
    pub tries: u32,
    /// When the other side answered; null if it did not.
    pub established_ms: Option<f64>,
    /// How it failed before it was established; null if it did not.
    pub failed: Option<AttemptFailure>,
    /// The bytes that the program sent.
    pub sent_bytes: u64,
    /// The bytes that it received.
    pub received_bytes: u64,
    /// The Host field of its first request, at most 200 characters; null if none was read.
    pub host: Option<String>,
    /// When the content had arrived; null if it did not.
    pub content_ms: Option<f64>,
}

/// How an attempt to connect failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttemptFailure {
    /// The other side reset it.
    Refused,
    /// A router, or the other side, reported that it can't be reached.
    Unreachable,
}

impl WireAttempt {
    /// Returns how it ended, in words.
    pub fn outcome(&self) -> &'static str {
        match (self.content_ms, self.established_ms, self.failed) {
            (Some(_), ..) => "answered",
            (None, _, Some(AttemptFailure::Refused)) => "refused",
            (None, _, Some(AttemptFailure::Unreachable)) => "unreachable",
            (None, Some(_), None) => "connected",
            (None, None, None) => "no answer",
        }
    }
}
