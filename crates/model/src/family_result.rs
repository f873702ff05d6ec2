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
pub struct FamilyResult {
    /// Where the requests went.
    pub addresses: Vec<SocketAddr>,
    /// Counts for each address, where there are several: those with failures first.
    #[serde(default)]
    pub by_address: Vec<AddressResult>,
    /// How many.
    pub requests: Requests,
    /// How they ended, by name: every one that occurred. They add up to `requests.sent`.
    pub outcomes: BTreeMap<String, u64>,
    /// Those that did not end NORMAL, in detail.
    pub failures: Vec<FailureCount>,
    /// Checks that complete responses did not pass.
    pub content: Vec<ContentResult>,
    /// What was illegal in responses that ended as PROTOCOL, as far as it is known.
    #[serde(default)]
    pub breaches: Vec<BreachCount>,
    /// Connections.
    pub connections: ConnectionCounts,
    /// Status codes of complete responses.
    pub status: BTreeMap<u16, u64>,
    /// Bytes above TCP.
    pub bytes: ByteCounts,
    /// Complete responses a second.
    pub requests_per_s: f64,
    /// Their content, bytes a second.
    pub goodput_bytes_per_s: f64,
    /// From the connect call to established; by the kernel's clock from the SYN to the SYN-ACK.
    pub connect_us: Summary,
    /// From the request's last byte handed to the kernel to the response's first.
    pub wait_us: Summary,
    /// From the exchange's start, connecting included where it began with that, to the response's
    /// first byte; none in documents that are older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttfb_us: Option<Summary>,
    /// From the response's first byte to its last.
    pub transfer_us: Summary,
    /// From when the exchange was due, in a closed loop its start, to the response's last byte.
    pub response_us: Summary,
    /// From the exchange's start to the response's last byte, where it may not be when it was due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_us: Option<Summary>,
    /// From when the exchange was due to its start, in an open loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slip_us: Option<Summary>,
    /// From connected to closed.
    pub lifetime_us: Summary,
    /// What TCP knew of connections closed.
    pub tcp: TcpResult,
    /// Sizes of contents of responses whose status is accepted; none where nobody kept them.
    #[serde(default)]
    pub sizes: Option<SizesResult>,
    /// TLS handshakes; none where the plan has no `https://`.
    pub tls: Option<TlsResult>,
    /// What QUIC knew of connections closed, where HTTP/3 was spoken.
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
pub struct AddressResult {
    /// Where it is.
    pub address: SocketAddr,
    /// The target's URL.
    pub url: String,
    /// Exchanges that ended, in whatever way.
    pub ended: u64,
    /// With a complete response.
    pub completed: u64,
    /// Of those, the ones whose status is not accepted.
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
pub struct Requests {
    /// Exchanges begun, those included whose connection failed.
    pub sent: u64,
    /// With a complete response.
    pub completed: u64,
    /// Of those completed, the ones that count as failures, their status not being accepted
    /// (`--accept-status`; without it those of 400 and above).
    #[serde(default)]
    pub unaccepted: u64,
    /// Not begun, because no more might be in flight when they fell due (`--overload drop`).
    pub dropped: u64,
    /// Not begun, because the run ended before they could.
    pub unsent: u64,
    /// Begun later than due, because no more might be in flight before.
    pub waited: u64,
    /// How often one was sent once more, the peer having said that it did nothing with it (GOAWAY).
    pub resent: u64,
    /// Of those completed, the ones whose status sends the client elsewhere: 301, 302, 303, 307 or
    /// 308.
    pub redirects: u64,
    /// Of those sent, how many such a response led to.
    pub followed: u64,
    /// Of those sent, due or in flight while the generator stood still.
    #[serde(default)]
    pub stalled: u64,
    /// Of those completed, without times, since they were in flight then.
    #[serde(default)]
    pub untimed: u64,
    /// Not begun, because the family did not answer and was given up.
    #[serde(default)]
    pub given_up: u64,
    /// Of the redirects, how many were not followed because as many in a row had been as are followed
    /// (`--location`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut_chains: u64,
}

/// True for a count that documents omit because it is zero.
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What was illegal in responses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BreachCount {
    /// What, in a few words.
    pub what: String,
    /// In how many of them.
    pub count: u64,
}

/// How often one thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailureCount {
    /// What went wrong, where, and the kernel's error number.
    #[serde(flatten)]
    pub failure: Failure,
    /// How often.
    pub count: u64,
}

/// Connections of one family.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
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
    /// Closed while idle, since another was to be opened and no more might be open.
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
pub struct ByteCounts {
    /// Received, heads and framing included.
    pub received: u64,
    /// Content of complete responses.
    pub body: u64,
    /// Handed to the kernel.
    pub sent: u64,
}

/// Something of each of the families that were used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
