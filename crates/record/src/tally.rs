//! The counts of a worker. Each worker owns its tally; tallies are merged once, with `+=`.

use sixmark_units::counts::Counts;
use std::ops::AddAssign;

use crate::by_request::RequestTally;
use crate::content::ContentTally;
use crate::in_flight::InFlight;
use crate::outcome::{Failure, Outcome, OutcomeCounts};
use crate::quic::QuicTally;
use crate::sizes::Sizes;
use crate::tcp::TcpTally;
use crate::tls::TlsTally;
use sixmark_document::timing::Timing;
use sixmark_http::redirect::is_redirect;
use sixmark_units::family::PerFamily;

/// All counts of a run, for each family.
pub type Tally = PerFamily<FamilyTally>;

/// All counts of one family.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FamilyTally {
    /// Exchanges started, including those whose connection failed.
    pub sent: u64,
    /// Exchanges not started, because the limit of exchanges in flight was reached when they were
    /// due.
    pub dropped: u64,
    /// Exchanges that were due but had not started when the run ended.
    pub unsent: u64,
    /// Exchanges that started later than due, because the limit of exchanges in flight was reached.
    pub waited: u64,
    /// Exchanges that started more than a millisecond later than due although the limit was not
    /// reached.
    pub late: u64,
    /// The number of times that a request was sent again, because the peer reported that it had not
    /// processed it.
    pub resent: u64,
    /// Exchanges that followed a redirect.
    pub followed: u64,
    /// Redirects that were not followed because the limit of redirects in a row was reached.
    pub cut_chains: u64,
    /// Exchanges that were due or in flight while the generator was stalled.
    pub stalled: u64,
    /// Complete responses whose times are not recorded because of a stall.
    pub untimed: u64,
    /// Exchanges never started, because the family was given up. Only if the load is a number of
    /// requests.
    pub given_up: u64,
    /// Complete responses by their status.
    pub status: Counts<u16>,
    /// Complete responses whose status is not accepted. They are NORMAL, but count as failures.
    pub unaccepted: u64,
    /// The other exchanges, by the kind of failure. Together with the complete responses they add
    /// up to `sent`.
    pub failures: Counts<Failure>,
    /// Exchanges among those sent that began in the warm-up and had no response in the measurement.
    pub carried: u64,
    /// Exchanges that began in the warm-up and are not among those sent.
    pub warm_up: WarmUpTally,
    /// The exchanges in flight when the load ended, until they are classified.
    pub in_flight: Vec<InFlight>,
    /// The greatest age of an unanswered exchange at the end of the load, in nanoseconds; 0 if
    /// there is none.
    pub oldest_unanswered_ns: u64,
    /// Numbers of connections.
    pub connections: Connections,
    /// Numbers of bytes.
    pub bytes: ByteTally,
    /// The durations of the phases.
    pub phases: Phases,
    /// TCP statistics of connections closed.
    pub tcp: TcpTally,
    /// TLS handshakes.
    pub tls: TlsTally,
    /// QUIC statistics of connections closed.
    pub quic: QuicTally,
    /// Checks that responses did not pass.
    pub content: ContentTally,
    /// Protocol violations in responses that ended as PROTOCOL, as far as they are known.
    pub breaches: Counts<&'static str>,
    /// The counts of each address of each target, by the numbers of the plan's endpoints. The list
    /// ends with the last endpoint that was used.
    pub endpoints: Vec<EndpointTally>,
    /// The counts of each request of a mix, by the numbers of their names
    /// ([`RequestNames`](crate::by_request::RequestNames)); empty if there is one request.
    pub requests: Vec<RequestTally>,
}

/// The counts of one address of one target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndpointTally {
    /// Complete responses by their status.
    pub status: Counts<u16>,
    /// The other exchanges, by the kind of failure.
    pub failures: Counts<Failure>,
    /// The number of complete responses whose status is not accepted.
    pub unaccepted: u64,
    /// The sizes of the contents of accepted responses.
    pub sizes: Sizes,
    /// The time that exchanges were in flight, with and without a response.
    pub waiting: WaitingTime,
}

/// The total time, in nanoseconds, that exchanges were in flight during the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitingTime {
    /// The time of exchanges with a complete response.
    pub answered_ns: u64,
    /// The time of exchanges without a response until the timeout or the end: TIMEOUT, UNANSWERED.
    pub silent_ns: u64,
}

impl WaitingTime {
    /// Returns the share in which no response came; `None` if nothing was in flight.
    pub fn silent_share(self) -> Option<f64> {
        let all = self.answered_ns as f64 + self.silent_ns as f64;
        (all > 0.0).then(|| self.silent_ns as f64 / all)
    }
}

impl AddAssign<WaitingTime> for WaitingTime {
    fn add_assign(&mut self, other: WaitingTime) {
        self.answered_ns = self.answered_ns.saturating_add(other.answered_ns);
        self.silent_ns = self.silent_ns.saturating_add(other.silent_ns);
    }
}

impl AddAssign<&EndpointTally> for EndpointTally {
    fn add_assign(&mut self, other: &EndpointTally) {
        self.status += &other.status;
        self.failures += &other.failures;
        self.unaccepted += other.unaccepted;
        self.sizes += &other.sizes;
        self.waiting += other.waiting;
    }
}

impl FamilyTally {
    /// Returns the counts of one endpoint, which are created if necessary.
    #[inline]
    pub fn endpoint(&mut self, number: usize) -> &mut EndpointTally {
        if self.endpoints.len() <= number {
            self.endpoints.resize_with(number + 1, EndpointTally::default);
        }
        &mut self.endpoints[number]
    }

    /// Returns the counts of the requests with one name, which are created if necessary.
    #[inline]
    pub fn request(&mut self, number: usize) -> &mut RequestTally {
        if self.requests.len() <= number {
            self.requests.resize_with(number + 1, RequestTally::default);
        }
        &mut self.requests[number]
    }

    /// Returns the outcomes of the exchanges.
    pub fn outcome_counts(&self) -> OutcomeCounts<'_> {
        let FamilyTally { status, failures, unaccepted, .. } = self;
        OutcomeCounts { status, failures, unaccepted: *unaccepted }
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
}

/// Exchanges that began before the measurement. No other figure includes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarmUpTally {
    /// Exchanges started.
    pub sent: u64,
    /// Exchanges among those that received a complete response.
    pub completed: u64,
    /// The total duration of these, in nanoseconds.
    pub answered_ns: u64,
}

impl AddAssign for WarmUpTally {
    fn add_assign(&mut self, other: WarmUpTally) {
        self.sent += other.sent;
        self.completed += other.completed;
        self.answered_ns += other.answered_ns;
    }
}

impl AddAssign<&FamilyTally> for FamilyTally {
    fn add_assign(&mut self, other: &FamilyTally) {
        self.sent += other.sent;
        self.dropped += other.dropped;
        self.unsent += other.unsent;
        self.waited += other.waited;
        self.late += other.late;
        self.resent += other.resent;
        self.followed += other.followed;
        self.cut_chains += other.cut_chains;
        self.stalled += other.stalled;
        self.untimed += other.untimed;
        self.given_up += other.given_up;
        self.status += &other.status;
        self.unaccepted += other.unaccepted;
        self.failures += &other.failures;
        self.carried += other.carried;
        self.warm_up += other.warm_up;
        self.in_flight.extend_from_slice(&other.in_flight);
        self.oldest_unanswered_ns = self.oldest_unanswered_ns.max(other.oldest_unanswered_ns);
        self.connections += &other.connections;
        self.bytes += &other.bytes;
        self.phases += &other.phases;
        self.tcp += &other.tcp;
        self.tls += &other.tls;
        self.quic += &other.quic;
        self.content += &other.content;
        self.breaches += &other.breaches;
        for (number, counted) in other.endpoints.iter().enumerate() {
            *self.endpoint(number) += counted;
        }
        for (number, counted) in other.requests.iter().enumerate() {
            *self.request(number) += counted;
        }
    }
}

/// Numbers of connections of one family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// Connections established.
    pub opened: u64,
    /// Connections closed, by either side. Those open at the end of the run are closed and counted
    /// then.
    pub closed: u64,
    /// Connections among those closed that this side reset, because of `--close rst` or because an
    /// exchange on them could not be finished.
    pub reset_sent: u64,
    /// Connections closed because bytes arrived that no request had asked for.
    pub unsolicited: u64,
    /// Connections that could not be opened before the load began, although they should have been.
    pub unopened: u64,
    /// Connections on which the peer allowed no further exchanges (GOAWAY; RFC 9113, 6.8; RFC 9114,
    /// 5.2).
    pub drained: u64,
    /// Idle connections that this side closed to open another one within the limit of connections.
    pub displaced: u64,
    /// The total time, in nanoseconds, that connections were open or being opened during the
    /// measurement.
    pub held_ns: u64,
    /// The total time, in nanoseconds, that parts of the limit of exchanges in flight were unused,
    /// because no connection of the family was free for the next exchange and no more could be
    /// opened.
    pub awaited_ns: u64,
}

impl AddAssign<&Connections> for Connections {
    fn add_assign(&mut self, other: &Connections) {
        self.opened += other.opened;
        self.closed += other.closed;
        self.reset_sent += other.reset_sent;
        self.unsolicited += other.unsolicited;
        self.unopened += other.unopened;
        self.drained += other.drained;
        self.displaced += other.displaced;
        self.held_ns += other.held_ns;
        self.awaited_ns += other.awaited_ns;
    }
}

/// Numbers of bytes above TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteTally {
    /// Bytes received, including heads and framing.
    pub received: u64,
    /// Bytes received as content of complete responses. Goodput counts these.
    pub body: u64,
    /// Bytes handed to the kernel.
    pub sent: u64,
}

impl AddAssign<&ByteTally> for ByteTally {
    fn add_assign(&mut self, other: &ByteTally) {
        self.received += other.received;
        self.body += other.body;
        self.sent += other.sent;
    }
}

/// The durations of each phase. `connect` counts established connections, `lifetime` closed ones,
/// the others exchanges with a complete response unless stated otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phases {
    /// From the connect call until the kernel reports that the connection is established; by the
    /// kernel's clock, from the SYN to the SYN-ACK.
    pub connect: Timing,
    /// From the request's last byte handed to the kernel to the response's first byte.
    pub wait: Timing,
    /// From the exchange's start to the response's first byte.
    pub ttfb: Timing,
    /// From the response's first byte to its last.
    pub transfer: Timing,
    /// From when the exchange was due to the response's last byte. In a closed loop an exchange is
    /// due when it starts.
    pub response: Timing,
    /// From the exchange's start to the response's last byte; only in open loops.
    pub service: Timing,
    /// From when the exchange was due to its start, for all exchanges sent; only in open loops.
    pub slip: Timing,
    /// From connected to closed.
    pub lifetime: Timing,
}

impl AddAssign<&Phases> for Phases {
    fn add_assign(&mut self, other: &Phases) {
        self.connect += &other.connect;
        self.wait += &other.wait;
        self.ttfb += &other.ttfb;
        self.transfer += &other.transfer;
        self.response += &other.response;
        self.service += &other.service;
        self.slip += &other.slip;
        self.lifetime += &other.lifetime;
    }
}

/// The counts of one worker in one second, for live views and for the result's intervals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slice {
    /// The worker's number.
    pub worker: u32,
    /// Whole seconds from the start of the measurement to the start of this slice.
    pub second: u64,
    /// The time that the worker was not waiting for the kernel, in nanoseconds.
    pub busy_ns: u64,
    /// The length of the slice in nanoseconds.
    pub length_ns: u64,
    /// The counts of each family.
    pub families: PerFamily<SliceTally>,
    /// The number of connections that the worker has opened so far. Set only in reports before the
    /// load begins, which cover no second of it.
    pub opened: Option<u64>,
    /// All counts of the worker up to the end of this slice. Set only if the load asks for them.
    pub whole: Option<Box<Tally>>,
}

/// The counts of one family in a slice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SliceTally {
    /// Exchanges started.
    pub sent: u64,
    /// Exchanges with a complete response.
    pub completed: u64,
    /// Exchanges that ended without a complete response.
    pub failed: u64,
    /// Responses among those completed whose status is not accepted.
    pub unaccepted: u64,
    /// Content bytes of complete responses.
    pub body: u64,
    /// The durations of establishing connections.
    pub connect: Timing,
    /// The durations of TLS or QUIC handshakes.
    pub tls: Timing,
    /// The times from a request's last byte handed to the kernel to its response's first byte, of
    /// complete responses.
    pub wait: Timing,
    /// Response times of complete responses.
    pub response: Timing,
}

impl AddAssign<&SliceTally> for SliceTally {
    fn add_assign(&mut self, other: &SliceTally) {
        self.sent += other.sent;
        self.completed += other.completed;
        self.failed += other.failed;
        self.unaccepted += other.unaccepted;
        self.body += other.body;
        self.connect += &other.connect;
        self.tls += &other.tls;
        self.wait += &other.wait;
        self.response += &other.response;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::FailurePhase;

    fn sample(seed: u64) -> FamilyTally {
        let mut tally = FamilyTally { sent: 3 + seed, ..FamilyTally::default() };
        tally.status.add(200, 1 + seed);
        tally.status.add(404, 1);
        let failure =
            Failure { errno: Some(104), ..Failure::new(Outcome::Reset, FailurePhase::Wait) };
        tally.failures.add(failure, 1);
        tally.phases.response.record(1_000 * (seed + 1));
        // Not every tally has counts of every request.
        let request = tally.request((seed % 3) as usize);
        request.status.add(200, 1 + seed);
        request.failures.add(failure, 1);
        request.response.record(1_000 * (seed + 1));
        tally
    }

    #[test]
    fn what_was_sent_is_the_sum_of_the_outcomes() {
        let tally = sample(4);
        assert_eq!((tally.completed(), tally.outcome(Outcome::Reset)), (6, 1));
        assert_eq!(tally.ended(), tally.sent);
    }

    #[test]
    fn redirects_are_told_by_their_status() {
        let mut tally = sample(0);
        [301, 302, 303, 304, 307, 308].iter().for_each(|&status| tally.status.add(status, 2));
        assert_eq!(tally.redirects(), 10);
    }

    #[test]
    fn merging_does_not_depend_on_order() {
        let (a, b, c) = (sample(1), sample(20), sample(300));
        let sum = |parts: [&FamilyTally; 3]| {
            parts.iter().fold(FamilyTally::default(), |mut sum, part| {
                sum += part;
                sum
            })
        };
        assert_eq!(sum([&a, &b, &c]), sum([&c, &a, &b]));
        let all = sum([&a, &b, &c]);
        assert_eq!(all.sent, a.sent + b.sent + c.sent);
        // The seeds 1, 300 and 20 are counted for the requests 1, 0 and 2.
        let counts: Vec<_> = all.requests.iter().map(|of| of.response.count()).collect();
        assert_eq!(counts, [1, 1, 1]);
        assert_eq!(sum([&a, &a, &b]).requests[1].status.sorted()[&200], 4);
    }
}
