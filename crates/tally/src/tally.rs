//! The counts of a worker. Each worker owns its tally; tallies are merged once, with `+=`.

mod failed_warm_up;
mod lists;
mod slice;

pub use slice::{RunningCounts, RunningTally, Slice, SliceTally, TenthSlice};

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::account::AccountTally;
use crate::by_request::{MOST_NAMES, RequestTally};
use crate::by_step::{MOST_STEPS, StepTally};
use crate::content::ContentTally;
use crate::in_flight::InFlightList;
use crate::io::IoTally;
use crate::names;
use crate::outcome::{Failure, Outcome, OutcomeCounts};
use crate::quic::QuicTally;
use crate::server_fields::ServerFieldsTally;
use crate::sizes::Sizes;
use crate::tally_part::tally_parts;
use crate::tcp::TcpTally;
use crate::timed_phase::{PerPhase, TimedPhase};
use crate::tls::TlsTally;
use crate::wait_sample::WaitSampleTally;
use sixmark_document::timing::Timing;
use sixmark_document::untrusted::{self, is_default};
use sixmark_http::redirect::is_redirect;
use sixmark_plan::plan::most::MOST_ENDPOINTS;
use sixmark_units::counts::Counts;
use sixmark_units::family::PerFamily;

/// All counts of a run, for each family.
pub type Tally = PerFamily<FamilyTally>;

/// All counts of one family.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FamilyTally {
    /// Exchanges started, including those whose connection failed.
    #[serde(skip_serializing_if = "is_default", with = "untrusted::signed")]
    pub sent: u64,
    /// Exchanges not started, because the limit of exchanges in flight was reached when they were
    /// due.
    #[serde(skip_serializing_if = "is_default")]
    pub dropped: u64,
    /// Exchanges that were due but had not started when the run ended.
    #[serde(skip_serializing_if = "is_default")]
    pub unsent: u64,
    /// Exchanges that started later than due, because the limit of exchanges in flight was reached.
    #[serde(skip_serializing_if = "is_default")]
    pub waited: u64,
    /// Exchanges that started more than a millisecond later than due although the limit was not
    /// reached.
    #[serde(skip_serializing_if = "is_default")]
    pub late: u64,
    /// The number of times that a request was sent again, because the peer reported that it had not
    /// processed it, or because the kept connection ended before a byte of the response arrived.
    #[serde(skip_serializing_if = "is_default")]
    pub resent: u64,
    /// Interim (1xx) responses that preceded complete responses.
    #[serde(skip_serializing_if = "is_default")]
    pub interim_responses: u64,
    /// Exchanges that followed a redirect.
    #[serde(skip_serializing_if = "is_default", with = "untrusted::signed")]
    pub followed: u64,
    /// Redirects that were not followed because the limit of redirects in a row was reached.
    #[serde(skip_serializing_if = "is_default")]
    pub cut_chains: u64,
    /// Redirects that were not followed for another reason, by that reason.
    #[serde(skip_serializing_if = "is_default", deserialize_with = "names::read_counts")]
    pub unfollowed: Counts<&'static str>,
    /// Exchanges that were due or in flight while the generator was stalled.
    #[serde(skip_serializing_if = "is_default")]
    pub stalled: u64,
    /// Complete responses whose times are not recorded because of a stall.
    #[serde(skip_serializing_if = "is_default")]
    pub untimed: u64,
    /// Exchanges never started, because the family was given up. Only if the load is a number of
    /// requests.
    #[serde(skip_serializing_if = "is_default")]
    pub given_up: u64,
    /// Complete responses by their status.
    #[serde(skip_serializing_if = "is_default")]
    pub status: Counts<u16>,
    /// Complete responses whose status is not accepted. They are NORMAL, but count as failures.
    #[serde(skip_serializing_if = "is_default")]
    pub unaccepted: u64,
    /// The other exchanges, by the kind of failure. Together with the complete responses they add
    /// up to `sent`.
    #[serde(skip_serializing_if = "is_default")]
    pub failures: Counts<Failure>,
    /// Exchanges among those sent that began in the warm-up and had no response in the measurement.
    #[serde(skip_serializing_if = "is_default")]
    pub carried: u64,
    /// Exchanges that began in the warm-up and are not among those sent.
    #[serde(skip_serializing_if = "is_default")]
    pub warm_up: WarmUpTally,
    /// The failures of exchanges of the warm-up, counted as if they were measured; `None` if there
    /// were none. See [`FamilyTally::count_failed_warm_up`].
    #[serde(skip_serializing_if = "is_default")]
    pub failed_warm_up: Option<Box<FamilyTally>>,
    /// The exchanges in flight when the load ended, until they are classified.
    #[serde(skip_serializing_if = "is_default")]
    pub in_flight: InFlightList,
    /// The greatest age of an unanswered exchange at the end of the load, in nanoseconds; 0 if
    /// there is none.
    #[serde(skip_serializing_if = "is_default")]
    pub oldest_unanswered_ns: u64,
    /// Numbers of connections.
    #[serde(skip_serializing_if = "is_default")]
    pub connections: Connections,
    /// Numbers of bytes.
    #[serde(skip_serializing_if = "is_default")]
    pub bytes: ByteTally,
    /// Numbers of sends and receives.
    #[serde(skip_serializing_if = "is_default")]
    pub io: IoTally,
    /// The durations of the phases.
    #[serde(skip_serializing_if = "is_default")]
    pub phases: Phases,
    /// The parts of the response times.
    #[serde(skip_serializing_if = "is_default")]
    pub account: AccountTally,
    /// The waits of a sample of exchanges by two clocks.
    #[serde(skip_serializing_if = "is_default")]
    pub wait_sample: WaitSampleTally,
    /// TCP statistics of connections closed.
    #[serde(skip_serializing_if = "is_default")]
    pub tcp: TcpTally,
    /// TCP statistics of all connections that carried exchanges of the measurement, also of those
    /// that were established before it.
    #[serde(skip_serializing_if = "is_default")]
    pub carriers: TcpTally,
    /// Fields by which servers name themselves, of a sample of responses.
    #[serde(skip_serializing_if = "is_default")]
    pub server_fields: ServerFieldsTally,
    /// TLS handshakes.
    #[serde(skip_serializing_if = "is_default")]
    pub tls: TlsTally,
    /// QUIC statistics of connections closed.
    #[serde(skip_serializing_if = "is_default")]
    pub quic: QuicTally,
    /// Checks that responses did not pass.
    #[serde(skip_serializing_if = "is_default")]
    pub content: ContentTally,
    /// Protocol violations in responses that ended as PROTOCOL, as far as they are known.
    #[serde(skip_serializing_if = "is_default", deserialize_with = "names::read_counts")]
    pub breaches: Counts<&'static str>,
    /// The counts of each address of each target, by the numbers of the plan's endpoints. The list
    /// ends with the last endpoint that was used.
    #[serde(
        skip_serializing_if = "is_default",
        deserialize_with = "untrusted::short::<MOST_ENDPOINTS, _, _>"
    )]
    pub endpoints: Vec<EndpointTally>,
    /// The counts of each request of a mix, by the numbers of their names
    /// ([`RequestNames`](crate::by_request::RequestNames)); empty if there is one request.
    #[serde(
        skip_serializing_if = "is_default",
        deserialize_with = "untrusted::short::<{ MOST_NAMES + 1 }, _, _>"
    )]
    pub requests: Vec<RequestTally>,
    /// The counts of each step of a rate ([`LoadSteps`](crate::by_step::LoadSteps)), by number;
    /// empty if there is one rate, or none.
    #[serde(
        skip_serializing_if = "is_default",
        deserialize_with = "untrusted::short::<MOST_STEPS, _, _>"
    )]
    pub steps: Vec<StepTally>,
}

/// The counts of one address of one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EndpointTally {
    /// Complete responses by their status.
    #[serde(skip_serializing_if = "is_default")]
    pub status: Counts<u16>,
    /// The other exchanges, by the kind of failure.
    #[serde(skip_serializing_if = "is_default")]
    pub failures: Counts<Failure>,
    /// The number of complete responses whose status is not accepted.
    #[serde(skip_serializing_if = "is_default")]
    pub unaccepted: u64,
    /// The sizes of the contents of accepted responses.
    #[serde(skip_serializing_if = "is_default")]
    pub sizes: Sizes,
    /// The time that exchanges were in flight, with and without a response.
    #[serde(skip_serializing_if = "is_default")]
    pub waiting: WaitingTime,
}

/// The total time, in nanoseconds, that exchanges were in flight during the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WaitingTime {
    /// The time of exchanges with a complete response.
    #[serde(skip_serializing_if = "is_default")]
    pub answered_ns: u64,
    /// The time of exchanges without a response until the timeout or the end: TIMEOUT, UNANSWERED.
    #[serde(skip_serializing_if = "is_default")]
    pub silent_ns: u64,
}

impl WaitingTime {
    /// Returns the share in which no response came; `None` if nothing was in flight.
    pub fn silent_share(self) -> Option<f64> {
        let all = self.answered_ns as f64 + self.silent_ns as f64;
        (all > 0.0).then(|| self.silent_ns as f64 / all)
    }
}

impl FamilyTally {
    /// Returns the outcomes of the exchanges.
    pub fn outcome_counts(&self) -> OutcomeCounts<'_> {
        let FamilyTally { status, failures, unaccepted, .. } = self;
        OutcomeCounts { status, failures, unaccepted: *unaccepted }
    }

    /// Returns the mean round-trip time of the path. That of TCP is from its handshakes: later samples
    /// include what a server takes before it acknowledges a request together with its response.
    pub fn round_trip_ns(&self) -> Option<f64> {
        let handshakes = self.carriers.handshake.kernel.mean();
        handshakes
            .or_else(|| self.carriers.min_rtt.mean())
            .or_else(|| self.quic.carriers_rtt.mean())
    }

    /// Returns the number of exchanges with a complete response.
    pub fn completed(&self) -> u64 {
        self.outcome_counts().completed()
    }

    /// Returns the number of complete responses that redirect the client, judged by their status
    /// alone: without `--location`, the fields of responses are not examined.
    pub fn redirects(&self) -> u64 {
        self.status.iter().filter(|&(status, _)| is_redirect(status)).map(|(_, count)| count).sum()
    }

    /// Returns the number of exchanges that ended with `outcome`.
    pub fn outcome(&self, outcome: Outcome) -> u64 {
        self.outcome_counts().outcome(outcome)
    }

    /// Returns the number of exchanges that failed: those without a complete response, except the
    /// ones that the end of the run cut off, and those with a status that is not accepted.
    pub fn failed(&self) -> u64 {
        self.outcome_counts().failed()
    }

    /// Returns the number of all exchanges that ended. Equal to `sent` when a run is over.
    pub fn ended(&self) -> u64 {
        self.outcome_counts().ended()
    }

    /// Returns the durations of a phase; of TLS, those of full and of resumed handshakes together.
    pub fn durations(&self, phase: TimedPhase) -> Cow<'_, Timing> {
        match phase {
            TimedPhase::Tls => {
                let mut all = self.tls.full.clone();
                all += &self.tls.resumed;
                Cow::Owned(all)
            }
            _ => Cow::Borrowed(&self.phases[phase]),
        }
    }
}

/// Exchanges that began before the measurement. No other figure includes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WarmUpTally {
    /// Exchanges started.
    #[serde(skip_serializing_if = "is_default", with = "untrusted::signed")]
    pub sent: u64,
    /// Exchanges among those that received a complete response.
    #[serde(skip_serializing_if = "is_default")]
    pub completed: u64,
    /// Responses among those whose status is accepted and that passed their checks.
    #[serde(skip_serializing_if = "is_default")]
    pub accepted: u64,
    /// The total duration of these, in nanoseconds.
    #[serde(skip_serializing_if = "is_default")]
    pub answered_ns: u64,
}

/// Numbers of connections of one family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Connections {
    /// Connections established.
    #[serde(skip_serializing_if = "is_default")]
    pub opened: u64,
    /// Connections closed, by either side. Those open at the end of the run are closed and counted
    /// then.
    #[serde(skip_serializing_if = "is_default")]
    pub closed: u64,
    /// Connections among those closed that this side reset, because of `--close rst` or because an
    /// exchange on them could not be finished.
    #[serde(skip_serializing_if = "is_default")]
    pub reset_sent: u64,
    /// Connections closed because bytes arrived that no request had asked for.
    #[serde(skip_serializing_if = "is_default")]
    pub unsolicited: u64,
    /// Connections that could not be opened before the load began, although they should have been.
    #[serde(skip_serializing_if = "is_default")]
    pub unopened: u64,
    /// Connections on which the peer allowed no further exchanges (GOAWAY; RFC 9113, 6.8; RFC 9114,
    /// 5.2).
    #[serde(skip_serializing_if = "is_default")]
    pub drained: u64,
    /// Idle connections that this side closed to open another one within the limit of connections.
    #[serde(skip_serializing_if = "is_default")]
    pub displaced: u64,
    /// The total time, in nanoseconds, that connections were open or being opened during the
    /// measurement.
    #[serde(skip_serializing_if = "is_default")]
    pub held_ns: u64,
    /// The total time, in nanoseconds, that parts of the limit of exchanges in flight were unused,
    /// because no connection of the family was free for the next exchange and no more could be
    /// opened.
    #[serde(skip_serializing_if = "is_default")]
    pub awaited_ns: u64,
}

/// Numbers of bytes above TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ByteTally {
    /// Bytes received, including heads and framing.
    #[serde(skip_serializing_if = "is_default")]
    pub received: u64,
    /// Bytes received as content of complete responses. Goodput counts these.
    #[serde(skip_serializing_if = "is_default")]
    pub body: u64,
    /// Bytes handed to the kernel.
    #[serde(skip_serializing_if = "is_default")]
    pub sent: u64,
}

/// The durations of each phase. `connect` and `lifetime` are of connections, `slip` is of exchanges
/// sent, the others of exchanges with a complete response. Those of TLS are empty here:
/// [`TlsTally`] has full and resumed handshakes apart.
pub type Phases = PerPhase<Timing>;

/// Declares counts of a family in documents: each field with the count of the tally that it has.
macro_rules! declare_counts {
    ($(
        $(#[$of:meta])*
        $type:ident(|$tally:ident, $elapsed_s:ident|) {
            $($(#[$meta:meta])* $field:ident: $number:ty = $count:expr,)+
        }
    )+) => {$(
        $(#[$of])*
        #[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $type {
            $($(#[$meta])* pub $field: $number,)+
        }

        impl $type {
            /// Returns the counts of a tally of `elapsed_s` seconds.
            pub(crate) fn of($tally: &FamilyTally, $elapsed_s: f64) -> $type {
                $type { $($field: $count,)+ }
            }
        }
    )+};
}

declare_counts! {
    /// Numbers of requests.
    RequestCounts(|tally, _elapsed_s|) {
        /// Exchanges started, including those whose connection failed.
        sent: u64 = tally.sent,
        /// Exchanges with a complete response, whatever its status.
        completed: u64 = tally.completed(),
        /// Exchanges among those completed that count as failures because their status is not accepted
        /// (`--accept-status`; by default 400 and above).
        #[serde(default)]
        unaccepted: u64 = tally.unaccepted,
        /// Exchanges among those sent that began in the warm-up and had no response in the measurement:
        /// TIMEOUT or UNANSWERED; if nothing else is known of the load, all that failed in the warm-up.
        #[serde(default)]
        carried: u64 = tally.carried,
        /// Exchanges that began in the warm-up and are not among those sent. No other figure includes
        /// them.
        #[serde(default)]
        warm_up: u64 = tally.warm_up.sent,
        /// Exchanges not started, with overload drop: when they were due, the limit of exchanges in
        /// flight was reached, or no connection of the family was free and no more could be opened.
        dropped: u64 = tally.dropped,
        /// Exchanges not started, because the run ended before they could.
        unsent: u64 = tally.unsent,
        /// Exchanges among those sent that started later than due: the limit of exchanges in flight was
        /// reached, or no connection of the family was free and no more could be opened.
        waited: u64 = tally.waited,
        /// How often a request was sent again on another connection: because the peer reported that it
        /// had not processed it (GOAWAY), or, with HTTP/1, because it had closed the kept connection
        /// before a byte of the response arrived.
        resent: u64 = tally.resent,
        /// Interim (1xx) responses that preceded those completed; absent if there were none.
        #[serde(default, skip_serializing_if = "is_zero")]
        interim_responses: u64 = tally.interim_responses,
        /// Exchanges among those completed whose status redirected the client: 301, 302, 303, 307 or
        /// 308.
        redirects: u64 = tally.redirects(),
        /// Exchanges among those sent that followed a redirect.
        followed: u64 = tally.followed,
        /// Exchanges among those sent that were due or in flight while the generator was stalled. Those
        /// that would have ended as TIMEOUT, RESET or TRUNCATED are LOCAL.
        #[serde(default)]
        stalled: u64 = tally.stalled,
        /// Exchanges among those completed that have no times because they were due or in flight while
        /// the generator was stalled.
        #[serde(default)]
        untimed: u64 = tally.untimed,
        /// Exchanges not started because the family did not respond. Only if the load is a number of
        /// requests.
        #[serde(default)]
        given_up: u64 = tally.given_up,
        /// Redirects that were not followed because the limit of redirects in a row was reached
        /// (`--location`); absent if there were none.
        #[serde(default, skip_serializing_if = "is_zero")]
        cut_chains: u64 = tally.cut_chains,
    }

    /// Numbers of connections of one family.
    ConnectionCounts(|tally, elapsed_s|) {
        /// Connections established.
        opened: u64 = tally.connections.opened,
        /// Connections closed, including those closed when the run ended.
        closed: u64 = tally.connections.closed,
        /// Connections among those closed that this side reset.
        reset_sent: u64 = tally.connections.reset_sent,
        /// Connections closed because of bytes that no request had asked for.
        unsolicited: u64 = tally.connections.unsolicited,
        /// Connections that could not be opened before the load began, although they should have been.
        unopened: u64 = tally.connections.unopened,
        /// Connections on which the peer allowed no further requests (GOAWAY).
        drained: u64 = tally.connections.drained,
        /// Idle connections that sixmark closed to open another one within the limit of connections.
        #[serde(default)]
        displaced: u64 = tally.connections.displaced,
        /// The number of connections open or being opened, averaged over the run.
        #[serde(default)]
        mean_open: f64 = if elapsed_s > 0.0 { tally.connections.held_ns as f64 / 1e9 / elapsed_s } else { 0.0 },
        /// The total time, in seconds, that parts of the limit of exchanges in flight were unused,
        /// because no connection of the family was free for the next exchange and no more could be
        /// opened.
        #[serde(default)]
        awaited_s: f64 = tally.connections.awaited_ns as f64 / 1e9,
    }
}

/// Returns true for a count that documents omit because it is zero.
fn is_zero(number: &u64) -> bool {
    *number == 0
}

tally_parts!(FamilyTally {
    dropped, unsent, waited, late, resent, interim_responses, cut_chains, unfollowed, stalled,
    untimed, given_up, status, unaccepted, failures, carried, warm_up, failed_warm_up, in_flight,
    connections, bytes, io, phases, account, wait_sample, tcp, carriers, server_fields, tls, quic, content, breaches, endpoints,
    requests, steps,
} wrapping { sent, followed } maximum { oldest_unanswered_ns });
tally_parts!(EndpointTally { status, failures, unaccepted, sizes, waiting });
tally_parts!(WaitingTime { answered_ns, silent_ns });
tally_parts!(WarmUpTally { completed, accepted, answered_ns } wrapping { sent });
tally_parts!(Connections {
    opened,
    closed,
    reset_sent,
    unsolicited,
    unopened,
    drained,
    displaced,
    held_ns,
    awaited_ns,
});
tally_parts!(ByteTally { received, body, sent });

#[cfg(test)]
mod tests;
