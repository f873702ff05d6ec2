//! What a worker counts. A worker owns its tally; tallies are merged once, with `+=`.

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

/// Everything counted over a run, for each family.
pub type Tally = PerFamily<FamilyTally>;

/// Everything counted for one family.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FamilyTally {
    /// Exchanges begun, those included whose connection failed.
    pub sent: u64,
    /// Exchanges that fell due while no more might be in flight, and were left out.
    pub dropped: u64,
    /// Exchanges that fell due and had not begun when the run ended.
    pub unsent: u64,
    /// Exchanges that began later than due because no more might be in flight before.
    pub waited: u64,
    /// Exchanges that began more than a millisecond later than due though they might.
    pub late: u64,
    /// How often exchanges were sent once more, the peer having said that it did nothing with them.
    pub resent: u64,
    /// Exchanges that a redirect led to.
    pub followed: u64,
    /// Chains of redirects that were followed no further, being as long as may be.
    pub cut_chains: u64,
    /// Exchanges that were due or in flight while the generator stood still.
    pub stalled: u64,
    /// Of those with a complete response the ones whose times are not recorded for that.
    pub untimed: u64,
    /// Exchanges of a load of so many that were not begun, since the family was given up.
    pub given_up: u64,
    /// How the exchanges that received a complete response answered.
    pub status: Counts<u16>,
    /// Those of them whose status is not accepted: NORMAL, and failures all the same.
    pub unaccepted: u64,
    /// How the others ended. Together with the whole ones they make up `sent`.
    pub failures: Counts<Failure>,
    /// Exchanges among those sent that began in the warm-up, and had no response in the measurement.
    pub carried: u64,
    /// Exchanges that began in the warm-up and are not among those sent.
    pub warm_up: WarmUpTally,
    /// What was in flight when the load ended, until it is classified.
    pub in_flight: Vec<InFlight>,
    /// The greatest age of those unanswered then, in nanoseconds; 0 where there are none.
    pub oldest_unanswered_ns: u64,
    /// What happened to connections.
    pub connections: Connections,
    /// What went over them.
    pub bytes: ByteTally,
    /// How long it took.
    pub phases: Phases,
    /// What TCP knew of connections closed.
    pub tcp: TcpTally,
    /// TLS handshakes.
    pub tls: TlsTally,
    /// What QUIC knew of connections closed.
    pub quic: QuicTally,
    /// Checks that responses did not pass.
    pub content: ContentTally,
    /// What was illegal in responses that ended as PROTOCOL, as far as it is known.
    pub breaches: Counts<&'static str>,
    /// What each address of each target gave, by the numbers of the plan's endpoints; no more of them
    /// than were asked.
    pub endpoints: Vec<EndpointTally>,
    /// The same of each request of a mix, by the numbers of their names
    /// ([`RequestNames`](crate::by_request::RequestNames)); empty if there is one request.
    pub requests: Vec<RequestTally>,
}

/// What one address of one target gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndpointTally {
    /// Complete responses by their status.
    pub status: Counts<u16>,
    /// How the other exchanges ended.
    pub failures: Counts<Failure>,
    /// Of the complete responses, those whose status is not accepted.
    pub unaccepted: u64,
    /// Contents of the others.
    pub sizes: Sizes,
    /// How long exchanges lasted in which a response came, and in which none did.
    pub waiting: WaitingTime,
}

/// The time of the measurement that exchanges were in flight, in nanoseconds, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitingTime {
    /// Of those with a complete response.
    pub answered_ns: u64,
    /// Of those that got none until the timeout or the end: TIMEOUT, UNANSWERED.
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
    /// The counts of one endpoint.
    #[inline]
    pub fn endpoint(&mut self, number: usize) -> &mut EndpointTally {
        if self.endpoints.len() <= number {
            self.endpoints.resize_with(number + 1, EndpointTally::default);
        }
        &mut self.endpoints[number]
    }

    /// The counts of the requests with one name.
    #[inline]
    pub fn request(&mut self, number: usize) -> &mut RequestTally {
        if self.requests.len() <= number {
            self.requests.resize_with(number + 1, RequestTally::default);
        }
        &mut self.requests[number]
    }

    /// How the exchanges ended.
    pub fn outcome_counts(&self) -> OutcomeCounts<'_> {
        let FamilyTally { status, failures, unaccepted, .. } = self;
        OutcomeCounts { status, failures, unaccepted: *unaccepted }
    }

    /// Exchanges with a complete response.
    pub fn completed(&self) -> u64 {
        self.outcome_counts().completed()
    }

    /// Those of them whose status sends the client elsewhere. By the status alone: without being asked
    /// nobody looks at the fields of a response.
    pub fn redirects(&self) -> u64 {
        self.status.iter().filter(|&(status, _)| is_redirect(status)).map(|(_, count)| count).sum()
    }

    /// How many exchanges ended with `outcome`.
    pub fn outcome(&self, outcome: Outcome) -> u64 {
        self.outcome_counts().outcome(outcome)
    }

    /// Exchanges that failed: those without a complete response, except the ones that the end of the run
    /// cut off, and those with a status that is not accepted.
    pub fn failed(&self) -> u64 {
        self.outcome_counts().failed()
    }

    /// All exchanges that ended, in whatever way. Equal to `sent` when a run is over.
    pub fn ended(&self) -> u64 {
        self.outcome_counts().ended()
    }
}

/// Exchanges that began before the measurement. No other figure includes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarmUpTally {
    /// Exchanges that began.
    pub sent: u64,
    /// Those of them that received a complete response.
    pub completed: u64,
    /// The time that these took together, in nanoseconds.
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

/// What happened to connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// Established by this side.
    pub opened: u64,
    /// Closed, by either side; those open at the end of the run are closed then and counted.
    pub closed: u64,
    /// Of those closed, the ones that this side cut off with a reset, as asked for by `--close rst`
    /// or because an exchange on them could not be finished.
    pub reset_sent: u64,
    /// Closed because bytes came that no request had asked for.
    pub unsolicited: u64,
    /// That were to be opened before the load began and could not be.
    pub unopened: u64,
    /// On which the peer let no more exchanges begin (GOAWAY; RFC 9113, 6.8; RFC 9114, 5.2).
    pub drained: u64,
    /// Closed by this side while idle, since another was to be opened and no more might be open.
    pub displaced: u64,
    /// Nanoseconds that connections were there, or being opened, during the measurement, all together.
    pub held_ns: u64,
    /// Nanoseconds that places stood empty, all together, since no connection of the family was free
    /// for the exchange whose turn it was and no more might be open.
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

/// Bytes above TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteTally {
    /// Received, heads and framing included.
    pub received: u64,
    /// Received as content of complete responses: what goodput counts.
    pub body: u64,
    /// Handed to the kernel.
    pub sent: u64,
}

impl AddAssign<&ByteTally> for ByteTally {
    fn add_assign(&mut self, other: &ByteTally) {
        self.received += other.received;
        self.body += other.body;
        self.sent += other.sent;
    }
}

/// How long each phase took. `connect` counts established connections, `lifetime` closed ones, the
/// others exchanges with a complete response.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phases {
    /// From the connect call to the kernel's word that the connection is established; by the kernel's
    /// clock from the SYN to the SYN-ACK.
    pub connect: Timing,
    /// From the request's last byte handed to the kernel to the response's first byte.
    pub wait: Timing,
    /// From the exchange's start to the response's first byte.
    pub ttfb: Timing,
    /// From the response's first byte to its last.
    pub transfer: Timing,
    /// From when the exchange was due to the response's last byte; in a closed loop it is due when
    /// it starts.
    pub response: Timing,
    /// From the exchange's start to the response's last byte; of open loops alone.
    pub service: Timing,
    /// From when the exchange was due to its start; of all exchanges of open loops.
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

/// What one worker counted in one second, for live views and for the result's intervals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slice {
    /// The worker's number.
    pub worker: u32,
    /// Whole seconds from the start of the measurement to the start of this slice.
    pub second: u64,
    /// Nanoseconds that the worker was not waiting for the kernel.
    pub busy_ns: u64,
    /// Nanoseconds that the slice lasted.
    pub length_ns: u64,
    /// The counts.
    pub families: PerFamily<SliceTally>,
    /// How many connections the worker has opened so far, where this is told before the load and no
    /// second of it.
    pub opened: Option<u64>,
}

/// What one family did in a slice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SliceTally {
    /// Exchanges begun.
    pub sent: u64,
    /// Exchanges with a complete response.
    pub completed: u64,
    /// Exchanges that ended otherwise.
    pub failed: u64,
    /// Of those completed, the ones whose status is not accepted.
    pub unaccepted: u64,
    /// Content bytes of complete responses.
    pub body: u64,
    /// How long connections took to be established.
    pub connect: Timing,
    /// How long handshakes of TLS or QUIC took.
    pub tls: Timing,
    /// From the requests' last byte handed to the kernel to the responses' first, of complete responses.
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
        // Not every part has counted every request.
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
        // 1 and 300 are counted for request 1 and 0, 20 for request 2.
        let counts: Vec<_> = all.requests.iter().map(|of| of.response.count()).collect();
        assert_eq!(counts, [1, 1, 1]);
        assert_eq!(sum([&a, &a, &b]).requests[1].status.sorted()[&200], 4);
    }
}
