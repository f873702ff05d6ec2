//! What a client did when it was started once, as the packets at its interface show it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use sixmark_units::family::Family;

use crate::client_end::ClientEnd;

/// The traces of each case, by its name.
pub type CaseTraces = BTreeMap<String, Vec<ClientTrace>>;

/// What one start of a client did. Times are in milliseconds from its first packet on: a query about the
/// site's name or an attempt to connect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientTrace {
    /// The queries about the site's name, in the order of time.
    pub queries: Vec<SeenQuery>,
    /// The attempts to connect to the site's addresses, in the order of time.
    pub attempts: Vec<SeenAttempt>,
    /// The packets that began further attempts, of which no more than 200 are kept.
    #[serde(default)]
    pub uncounted: u32,
    /// Where else it sent something: the first few.
    #[serde(default)]
    pub elsewhere: Vec<SeenElsewhere>,
    /// The packets that the capture lost: what is missing here may have been done. No clause is judged by it.
    #[serde(default)]
    pub lost_packets: u64,
    /// Until when it ran and was watched; null if nothing was seen of it, or if that is not known.
    #[serde(default)]
    pub watched_ms: Option<f64>,
    /// How it ended; null if it was not started here.
    #[serde(default)]
    pub end: Option<ClientEnd>,
}

impl ClientTrace {
    /// Returns true if nothing was seen.
    pub fn is_empty(&self) -> bool {
        self.queries.is_empty() && self.attempts.is_empty()
    }

    /// Returns the first query of a type.
    pub fn query(&self, kind: &str) -> Option<&SeenQuery> {
        self.queries.iter().find(|query| query.kind == kind)
    }

    /// Returns the attempt whose connection carried the first request.
    pub fn winner(&self) -> Option<&SeenAttempt> {
        let asked = self.attempts.iter().filter(|of| of.request_ms.is_some());
        asked.min_by(|a, b| a.request_ms.unwrap_or(0.0).total_cmp(&b.request_ms.unwrap_or(0.0)))
    }

    /// Returns true if the client, or a process that it left, still ran when its time was over: what it would have
    /// done later is not known. Of a client that was not started here nothing else is known.
    pub fn is_cut_off(&self) -> bool {
        self.end.as_ref().is_none_or(|end| {
            end.processes_left > 0 || end.status.is_none() && end.signal.is_none()
        })
    }

    /// Returns true if the site answered the client over a connection and the content did not arrive all the
    /// same: the client rejected the certificate, for example. That is not for want of a connection.
    pub fn is_answered_in_vain(&self) -> bool {
        self.content_ms().is_none() && self.attempts.iter().any(|of| of.heard_ms.is_some())
    }

    /// Returns when the content had arrived on a connection that carried a request; `None` if none
    /// did.
    pub fn content_ms(&self) -> Option<f64> {
        self.attempts.iter().filter_map(|of| of.content_ms).min_by(f64::total_cmp)
    }
}

/// An address and port that are not the site's, nor its name server's, to which a client sent something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeenElsewhere {
    /// The address.
    pub address: IpAddr,
    /// The port.
    pub port: u16,
    /// True for UDP, false for TCP.
    pub is_udp: bool,
}

/// A query about the site's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeenQuery {
    /// The type of record: A, AAAA or HTTPS.
    #[serde(rename = "type")]
    pub kind: String,
    /// When it was sent.
    pub sent_ms: f64,
    /// When the answer arrived; null without one.
    pub answered_ms: Option<f64>,
    /// The response code of the answer, as NOERROR; null without one.
    pub rcode: Option<String>,
    /// How often the same question was asked.
    pub times: u32,
}

/// What an attempt to connect uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SeenTransport {
    /// TCP.
    Tcp,
    /// QUIC, over UDP.
    Quic,
}

/// An attempt to connect to an address of the site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeenAttempt {
    /// The address.
    pub address: IpAddr,
    /// Its family.
    pub family: Family,
    /// TCP or QUIC.
    pub transport: SeenTransport,
    /// The client's port.
    pub from_port: u16,
    /// When its first packet was sent.
    pub begun_ms: f64,
    /// How often its first packet was sent.
    pub tries: u32,
    /// When its first packet was sent for the last time.
    #[serde(default)]
    pub last_try_ms: f64,
    /// When the other side's first answer arrived: a SYN-ACK, or a packet of QUIC; null without one.
    pub established_ms: Option<f64>,
    /// When the client confirmed the other side's first answer over TCP; null if it did not, or reset the
    /// connection instead, as the system does for what was closed before.
    #[serde(default)]
    pub confirmed_ms: Option<f64>,
    /// When the other side's first data arrived: over TCP the first bytes, over QUIC the first packet; null
    /// without any.
    #[serde(default)]
    pub heard_ms: Option<f64>,
    /// When it failed: a reset, or a router's message that the address can't be reached; null if it did
    /// not.
    pub failed_ms: Option<f64>,
    /// When the request was sent: the first data over plain TCP, or the first application data of TLS;
    /// null if none was. It is not visible in QUIC, where it is when the client confirmed the handshake.
    pub request_ms: Option<f64>,
    /// When the content had arrived, over QUIC when the last packet after the request did; null if it did not.
    pub content_ms: Option<f64>,
    /// When the client closed or reset it; null if it did not.
    pub closed_ms: Option<f64>,
}

impl SeenAttempt {
    /// Returns true if it was over at a time: failed, or closed by the client.
    pub fn is_over_at(&self, at_ms: f64) -> bool {
        [self.failed_ms, self.closed_ms].into_iter().flatten().any(|over| over <= at_ms)
    }
}

/// Returns an attempt over TCP of which nothing has been heard.
#[cfg(test)]
pub(crate) fn make_attempt(address: &str, begun_ms: f64) -> SeenAttempt {
    let address: IpAddr = address.parse().expect("an address");
    SeenAttempt {
        address,
        family: Family::of(address),
        transport: SeenTransport::Tcp,
        from_port: 1,
        begun_ms,
        tries: 1,
        last_try_ms: begun_ms,
        established_ms: None,
        confirmed_ms: None,
        heard_ms: None,
        failed_ms: None,
        request_ms: None,
        content_ms: None,
        closed_ms: None,
    }
}
