//! The figures of one family.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::account::AccountResult;
use crate::by_request::RequestFigures;
use crate::by_step::StepFigures;
use crate::content::ContentResult;
use crate::io::IoResult;
use crate::outcome::{Failure, Outcome};
use crate::quic::QuicResult;
use crate::server_fields::ServerFieldsResult;
use crate::sizes::SizesResult;
use crate::tally::{ConnectionCounts, RequestCounts};
use crate::tcp::TcpResult;
use crate::timed_phase::TimedPhase;
use crate::tls::TlsResult;
use crate::wait_sample::{OwnDelay, WaitSampleResult};
use sixmark_document::timing::Summary;

/// The figures of one family.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FamilyResult {
    /// The addresses that requests were sent to.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Vec<sixmark_document::schema_type::SocketText>")
    )]
    pub addresses: Vec<SocketAddr>,
    /// Results of each address of each target, those with failures first, at most a hundred; empty
    /// if there is only one address.
    #[serde(default)]
    pub by_address: Vec<AddressResult>,
    /// Figures of each request of a mix by its name, in the order of the plan; empty if all
    /// requests have the same name, and for the blocks of a comparison.
    #[serde(default)]
    pub by_request: Vec<RequestFigures>,
    /// Figures of each step of the rate (`--steps`), in order; empty if the rate has only one stage,
    /// in a closed loop, and in a search. If there are more than a hundred steps, the last entry is
    /// all from the hundredth on.
    #[serde(default)]
    pub by_step: Vec<StepFigures>,
    /// Numbers of requests.
    pub requests: RequestCounts,
    /// Exchanges by outcome: NORMAL always, the others if they occurred. They add up to
    /// requests.sent.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Entries<Outcome, u64>", extend("required" = ["NORMAL"])))]
    pub outcomes: BTreeMap<String, u64>,
    /// Exchanges that did not end NORMAL. They add up to requests.sent minus requests.completed.
    pub failures: Vec<FailureCount>,
    /// The greatest age in seconds of an exchange that was UNANSWERED when the load ended; null if
    /// there was none.
    #[serde(default)]
    pub oldest_unanswered_s: Option<f64>,
    /// Checks that complete responses did not pass. A response counts only for the first one that
    /// it did not pass; the counts add up to outcomes.CONTENT.
    pub content: Vec<ContentResult>,
    /// Protocol violations in responses that ended as PROTOCOL, as far as they are known.
    #[serde(default)]
    pub breaches: Vec<BreachCount>,
    /// Redirects that were not followed although they were to be (`--location`), by the reason; absent
    /// if there were none. Those that the limit of redirects in a row cut off are
    /// requests.cut_chains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfollowed: Vec<UnfollowedCount>,
    /// Numbers of connections.
    pub connections: ConnectionCounts,
    /// Complete responses by status code.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::StatusCode, std::num::NonZeroU64>"
        )
    )]
    pub status: BTreeMap<u16, u64>,
    /// Bytes above TCP.
    pub bytes: ByteCounts,
    /// Sends and receives; null for watched traffic, and if the document is older than this field.
    #[serde(default)]
    pub io: Option<IoResult>,
    /// Complete responses per second: requests.completed / elapsed_s.
    pub requests_per_s: f64,
    /// Content of complete responses, in bytes per second: bytes.body / elapsed_s.
    pub goodput_bytes_per_s: f64,
    /// From the SYN to the SYN-ACK by the kernel's clock, in whole microseconds; from the connect call
    /// to established by sixmark's if the kernel has no time. Of connections established.
    pub connect_us: Summary,
    /// From the request's last byte handed to the kernel to the first byte of the first interim
    /// (1xx) response. Of complete responses that an interim one preceded; absent if there were
    /// none, or the document is older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interim_us: Option<Summary>,
    /// From the request's last byte handed to the kernel to the response's first byte, not counting
    /// interim (1xx) responses. Of complete responses.
    pub wait_us: Summary,
    /// How long each part of the response times took; null if there was no complete response, and if
    /// the document is older than this field. Of watched traffic: sending, wait and transfer.
    #[serde(default)]
    pub account: Option<AccountResult>,
    /// The waits of a sample of exchanges by two clocks, which tell how much of `wait_us` is this
    /// machine's own delay; null if there are none: with the kernel's timestamps, for watched
    /// traffic, and if the document is older than this field.
    #[serde(default)]
    pub wait_sample: Option<WaitSampleResult>,
    /// From the exchange's start, including connecting if the exchange began with it, to the
    /// response's first byte. Of complete responses; null if the document is older than this field.
    #[serde(default)]
    pub ttfb_us: Option<Summary>,
    /// From the response's first byte to its last. Of complete responses.
    pub transfer_us: Summary,
    /// From when the exchange was due (in a closed loop, its start) to the response's last byte,
    /// including connecting if the exchange began with it. Of complete responses.
    pub response_us: Summary,
    /// From the exchange's start to the response's last byte. Of complete responses, in an open
    /// loop only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_us: Option<Summary>,
    /// From when the exchange was due to its start. Of all exchanges sent, in an open loop only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slip_us: Option<Summary>,
    /// From connected to closed. Of connections closed.
    pub lifetime_us: Summary,
    /// TCP statistics of connections closed.
    pub tcp: TcpResult,
    /// TCP statistics of all connections that carried exchanges of the measurement, also of those that
    /// were established before it; null if none was read, as over QUIC and for watched traffic, and if
    /// the document is older than this field.
    #[serde(default)]
    pub carriers: Option<TcpResult>,
    /// Response fields by which servers, proxies and caches name themselves, of the first responses of
    /// each worker; null over HTTP/2 and HTTP/3, for watched traffic, and if the document is older than
    /// this field.
    #[serde(default)]
    pub server_fields: Option<ServerFieldsResult>,
    /// Sizes in bytes of contents of responses whose status is accepted; null if there were none,
    /// or sizes were not recorded.
    #[serde(default)]
    pub sizes: Option<SizesResult>,
    /// TLS handshakes; null if the plan has no `https://` target.
    pub tls: Option<TlsResult>,
    /// QUIC statistics of connections closed; absent if HTTP/3 was not spoken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quic: Option<QuicResult>,
}

/// Declares where a result has the durations of each phase: in a field, in a field that may be
/// absent, or in the section about TLS.
macro_rules! place_durations {
    ($($phase:ident: $kind:ident $field:ident),+ $(,)?) => {
        impl TimedPhase {
            /// Returns the durations in a result, or `None` if the result has no such phase.
            pub fn durations(self, of: &FamilyResult) -> Option<&Summary> {
                match self {
                    $(TimedPhase::$phase => place_durations!(read of $kind $field),)+
                }
            }

            /// Returns the durations in a result for modification, like [`TimedPhase::durations`].
            pub fn durations_mut(self, of: &mut FamilyResult) -> Option<&mut Summary> {
                match self {
                    $(TimedPhase::$phase => place_durations!(write of $kind $field),)+
                }
            }

            /// Sets the durations in a result. Those of TLS are part of its section.
            pub(crate) fn set_durations(self, of: &mut FamilyResult, durations: Summary) {
                match self {
                    $(TimedPhase::$phase => place_durations!(set of $kind $field durations),)+
                }
            }
        }
    };
    (read $of:ident always $field:ident) => { Some(&$of.$field) };
    (read $of:ident optional $field:ident) => { $of.$field.as_ref() };
    (read $of:ident tls $field:ident) => { $of.tls.as_ref().map(|tls| &tls.$field) };
    (write $of:ident always $field:ident) => { Some(&mut $of.$field) };
    (write $of:ident optional $field:ident) => { $of.$field.as_mut() };
    (write $of:ident tls $field:ident) => { $of.tls.as_mut().map(|tls| &mut tls.$field) };
    (set $of:ident always $field:ident $is:ident) => { $of.$field = $is };
    (set $of:ident optional $field:ident $is:ident) => { $of.$field = Some($is) };
    (set $of:ident tls $field:ident $is:ident) => { drop($is) };
}

place_durations! {
    Connect: always connect_us,
    Tls: tls tls_us,
    Interim: optional interim_us,
    Wait: always wait_us,
    Ttfb: optional ttfb_us,
    Transfer: always transfer_us,
    Slip: optional slip_us,
    Service: optional service_us,
    Response: always response_us,
    Lifetime: always lifetime_us,
}

impl FamilyResult {
    /// Returns the number of exchanges that ended with `outcome`.
    pub fn outcome(&self, outcome: Outcome) -> u64 {
        self.outcomes.get(outcome.name()).copied().unwrap_or(0)
    }

    /// Returns the number of exchanges that failed: that ended neither NORMAL nor ABANDONED, or
    /// that have a status that is not accepted.
    pub fn failed(&self) -> u64 {
        self.ended().saturating_sub(self.outcome(Outcome::Normal)) + self.requests.unaccepted
    }

    /// Returns the number of exchanges that the end of the load cut off (ABANDONED).
    pub fn abandoned(&self) -> u64 {
        self.outcome(Outcome::Abandoned)
    }

    /// Returns this machine's own delay in the median wait, if it is large enough to be told.
    pub fn wait_delay(&self) -> Option<OwnDelay> {
        self.wait_sample.as_ref()?.delay_in(self.wait_us.p50?)
    }

    /// Returns the number of exchanges whose result is known: those sent, except the ones that the
    /// end of the load cut off (ABANDONED). Shares of failures are shares of these.
    pub fn ended(&self) -> u64 {
        self.requests.sent.saturating_sub(self.abandoned())
    }

    /// Returns the share of the exchanges that ended which failed, or `None` if none ended.
    pub fn failed_share(&self) -> Option<f64> {
        (self.ended() > 0).then(|| self.failed() as f64 / self.ended() as f64)
    }

    /// Returns the number of complete responses whose status is accepted.
    pub fn accepted(&self) -> u64 {
        self.requests.completed.saturating_sub(self.requests.unaccepted)
    }
}

/// The results of one address of one target.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AddressResult {
    /// The address.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::SocketText"))]
    pub address: SocketAddr,
    /// The target's URL.
    pub url: String,
    /// Exchanges that ended before the run did.
    pub ended: u64,
    /// Exchanges with a complete response.
    pub completed: u64,
    /// Exchanges among those completed whose status is not accepted.
    pub unaccepted: u64,
    /// The exchanges without a complete response.
    pub failures: Vec<FailureCount>,
}

impl AddressResult {
    /// Returns the number of exchanges that failed: without a complete response, or with a status
    /// that is not accepted.
    pub fn failed(&self) -> u64 {
        self.ended.saturating_sub(self.completed) + self.unaccepted
    }

    /// Returns the most frequent kind of failure in words, or `None` if nothing failed other than by the end
    /// of the run.
    pub fn usual_failure(&self) -> Option<String> {
        let others = self.failures.iter().filter(|of| of.failure.outcome != Outcome::Abandoned);
        let most = others.max_by_key(|failed| failed.count);
        match most {
            Some(most) if most.count >= self.unaccepted => Some(most.failure.spoken(None)),
            _ if self.unaccepted > 0 => Some("errors".to_owned()),
            _ => None,
        }
    }

    /// Returns true if not one response was correct.
    pub fn is_dead(&self) -> bool {
        self.ended > 0 && self.completed == self.unaccepted
    }
}

/// A kind of protocol violation in responses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BreachCount {
    /// A short description.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub what: String,
    /// The number of responses.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub count: u64,
}

/// Redirects that were not followed for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnfollowedCount {
    /// The reason, in a few words.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub why: String,
    /// The number of redirects.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub count: u64,
}

/// The number of failures of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FailureCount {
    /// What failed, in which phase, and the kernel's error number.
    #[serde(flatten)]
    pub failure: Failure,
    /// The number of occurrences.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub count: u64,
}

/// Bytes above TCP.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ByteCounts {
    /// Bytes received, including heads and framing.
    pub received: u64,
    /// Bytes of the content of complete responses.
    pub body: u64,
    /// Bytes of requests handed completely to the kernel.
    pub sent: u64,
}

/// One value for each family that was used: by default its figures.
pub type Families<T = FamilyResult> = sixmark_units::family::Families<T>;
