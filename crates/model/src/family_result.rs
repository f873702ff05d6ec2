//! The figures of one family.

use sixmark_units::family::Family;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::content::ContentResult;
use crate::outcome::{Failure, Outcome};
use crate::quic::QuicResult;
use crate::sizes::SizesResult;
use crate::tcp::TcpResult;
use crate::timing::Summary;
use crate::tls::TlsResult;

/// The figures of one family.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FamilyResult {
    /// Where the requests went.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<crate::schema_type::SocketText>"))]
    pub addresses: Vec<SocketAddr>,
    /// What each address of each target gave, those with failures first, a hundred at most; empty
    /// where there is only one.
    #[serde(default)]
    pub by_address: Vec<AddressResult>,
    /// How many.
    pub requests: RequestCounts,
    /// How the exchanges ended: NORMAL always, the others where they occurred. They add up to
    /// requests.sent.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema_type::Entries<Outcome, u64>", extend("required" = ["NORMAL"])))]
    pub outcomes: BTreeMap<String, u64>,
    /// Those that did not end NORMAL. They add up to requests.sent less requests.completed.
    pub failures: Vec<FailureCount>,
    /// Checks that complete responses did not pass. Each counts for the first one; they add up to
    /// outcomes.CONTENT.
    pub content: Vec<ContentResult>,
    /// What was illegal in responses that ended as PROTOCOL, as far as it is known.
    #[serde(default)]
    pub breaches: Vec<BreachCount>,
    /// Connections.
    pub connections: ConnectionCounts,
    /// Complete responses by status code.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "crate::schema_type::Entries<crate::schema_type::StatusCode, std::num::NonZeroU64>"
        )
    )]
    pub status: BTreeMap<u16, u64>,
    /// Bytes above TCP.
    pub bytes: ByteCounts,
    /// Complete responses a second: requests.completed / elapsed_s.
    pub requests_per_s: f64,
    /// Content of complete responses, bytes a second: bytes.body / elapsed_s.
    pub goodput_bytes_per_s: f64,
    /// From the connect call to established, by the kernel's clock from the SYN to the SYN-ACK; of
    /// connections established.
    pub connect_us: Summary,
    /// From the request's last byte handed to the kernel to the response's first byte; of complete
    /// responses.
    pub wait_us: Summary,
    /// From the exchange's start, connecting included where it began with that, to the response's
    /// first byte; of complete responses; null where the document is older than this field.
    #[serde(default)]
    pub ttfb_us: Option<Summary>,
    /// From the response's first byte to its last; of complete responses.
    pub transfer_us: Summary,
    /// From when the exchange was due, in a closed loop its start, to the response's last byte,
    /// connecting included where it began with that; of complete responses.
    pub response_us: Summary,
    /// From the exchange's start to the response's last byte; of complete responses. In an open
    /// loop only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_us: Option<Summary>,
    /// From when the exchange was due to its start; of all that were sent. In an open loop only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slip_us: Option<Summary>,
    /// From connected to closed; of connections closed.
    pub lifetime_us: Summary,
    /// What TCP knew of connections closed.
    pub tcp: TcpResult,
    /// Sizes of contents of responses whose status is accepted, bytes; null: there were none, or
    /// nobody kept them.
    #[serde(default)]
    pub sizes: Option<SizesResult>,
    /// TLS handshakes; null: the plan has no `https://` target.
    pub tls: Option<TlsResult>,
    /// What QUIC knew of connections closed; absent where HTTP/3 was not spoken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quic: Option<QuicResult>,
}

impl FamilyResult {
    /// Exchanges that failed: that ended neither NORMAL nor ABANDONED, or with a status that is not
    /// accepted.
    pub fn failed(&self) -> u64 {
        let ended = |outcome: Outcome| self.outcomes.get(outcome.name()).copied().unwrap_or(0);
        let fine = ended(Outcome::Normal) + ended(Outcome::Abandoned);
        self.requests.sent.saturating_sub(fine) + self.requests.unaccepted
    }

    /// Complete responses whose status is accepted.
    pub fn accepted(&self) -> u64 {
        self.requests.completed.saturating_sub(self.requests.unaccepted)
    }
}

/// What one address of one target gave.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AddressResult {
    /// Where it is.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema_type::SocketText"))]
    pub address: SocketAddr,
    /// The target's URL.
    pub url: String,
    /// Exchanges that ended before the run did.
    pub ended: u64,
    /// With a complete response.
    pub completed: u64,
    /// Of those completed, how many have a status that is not accepted.
    pub unaccepted: u64,
    /// The other exchanges.
    pub failures: Vec<FailureCount>,
}

impl AddressResult {
    /// Exchanges that failed: without a complete response, or with a status that is not accepted.
    pub fn failed(&self) -> u64 {
        self.ended.saturating_sub(self.completed) + self.unaccepted
    }

    /// How most of them did; none where nothing failed, or the run cut it off.
    pub fn usual_failure(&self) -> Option<String> {
        let others = self.failures.iter().filter(|of| of.failure.outcome != Outcome::Abandoned);
        let most = others.max_by_key(|failed| failed.count);
        match most {
            Some(most) if most.count >= self.unaccepted => {
                Some(format!("{} in {}", most.failure.outcome, most.failure.phase))
            }
            _ if self.unaccepted > 0 => Some("errors".to_owned()),
            _ => None,
        }
    }

    /// True where not one response came that is as it was to be.
    pub fn is_dead(&self) -> bool {
        self.ended > 0 && self.completed == self.unaccepted
    }
}

/// How many requests.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestCounts {
    /// Exchanges begun, those included whose connection failed.
    pub sent: u64,
    /// Exchanges with a complete response, whatever its status.
    pub completed: u64,
    /// Of those completed, the ones that count as failures, their status not being accepted
    /// (`--accept-status`; without it those of 400 and above).
    #[serde(default)]
    pub unaccepted: u64,
    /// Not begun: when they were due no more might be in flight, or no connection of the family
    /// was free and no more might be open, and overload is drop.
    pub dropped: u64,
    /// Not begun, because the run ended before they could.
    pub unsent: u64,
    /// Of those sent, begun later than due because no more might be in flight before, or no
    /// connection of the family was free and no more might be open.
    pub waited: u64,
    /// How often one was sent once more, the peer having said that it did nothing with it (GOAWAY).
    pub resent: u64,
    /// Of those completed, how many sent the client elsewhere by their status: 301, 302, 303, 307
    /// or 308.
    pub redirects: u64,
    /// Of those sent, how many such a response led to.
    pub followed: u64,
    /// Of those sent, due or in flight while the generator stood still. Those that would have
    /// ended as TIMEOUT, RESET or TRUNCATED are LOCAL.
    #[serde(default)]
    pub stalled: u64,
    /// Of those completed, without times since they were due or in flight then.
    #[serde(default)]
    pub untimed: u64,
    /// Not begun: the load was of so many requests, and the family did not answer.
    #[serde(default)]
    pub given_up: u64,
    /// Of the redirects, how many were not followed because as many in a row had been as are
    /// followed (`--location`); absent: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut_chains: u64,
}

/// True for a count that documents omit because it is zero.
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What was illegal in responses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BreachCount {
    /// What, in a few words.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub what: String,
    /// In how many of them.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub count: u64,
}

/// How often one thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailureCount {
    /// What went wrong, where, and the kernel's error number.
    #[serde(flatten)]
    pub failure: Failure,
    /// How often.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub count: u64,
}

/// Connections of one family.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConnectionCounts {
    /// Established.
    pub opened: u64,
    /// Closed, those included that were closed when the run ended.
    pub closed: u64,
    /// Of those, cut off by this side with a reset.
    pub reset_sent: u64,
    /// Closed because of bytes that no request had asked for.
    pub unsolicited: u64,
    /// That were to be opened before the load began and could not be.
    pub unopened: u64,
    /// On which the peer let no more requests begin (GOAWAY).
    pub drained: u64,
    /// Closed by sixmark while idle, since another was to be opened and no more might be open.
    #[serde(default)]
    pub displaced: u64,
    /// How many were open or being opened, on average over the run.
    #[serde(default)]
    pub mean_open: f64,
    /// Seconds that places stood empty, all together, since no connection of the family was free for
    /// the exchange whose turn it was and no more might be open.
    #[serde(default)]
    pub awaited_s: f64,
}

/// Bytes above TCP.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ByteCounts {
    /// Received, heads and framing included.
    pub received: u64,
    /// Content of complete responses.
    pub body: u64,
    /// Requests handed to the kernel whole.
    pub sent: u64,
}

/// Something of each of the families that were used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
pub struct Families<T = FamilyResult> {
    /// IPv6, where it was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<T>,
    /// IPv4, where it was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv4: Option<T>,
}

impl<T> Default for Families<T> {
    fn default() -> Self {
        Families { ipv6: None, ipv4: None }
    }
}

impl<T> Families<T> {
    /// What there is of one family.
    pub fn of(&self, family: Family) -> Option<&T> {
        match family {
            Family::Ipv6 => self.ipv6.as_ref(),
            Family::Ipv4 => self.ipv4.as_ref(),
        }
    }

    /// The families that were used, IPv6 first.
    pub fn iter(&self) -> impl Iterator<Item = (Family, &T)> {
        Family::BOTH.into_iter().filter_map(|family| Some((family, self.of(family)?)))
    }
}
