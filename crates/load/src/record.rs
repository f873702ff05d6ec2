//! What a worker counts, for the run and for the current second.

use sixmark_http::http1::Complete;
use sixmark_model::check::Mismatch;
use sixmark_model::clocks::Clocks;
use sixmark_model::lapses::Lapses;
use sixmark_model::outcome::{Failure, LocalCause, Outcome, Phase};
use sixmark_model::plan::accept::AcceptStatus;
use sixmark_model::tally::{Slice, Tally};
use sixmark_model::tcp;
use sixmark_model::tls::Facts;
use sixmark_sys::driver::{Close, Handshake, Path};
use sixmark_units::family::Family;

use super::LATE;
use super::connection::Connection;
use super::places::Exchange;
use super::sampling::Sampling;

/// Nanoseconds of a slice.
const SECOND: u64 = 1_000_000_000;

/// A worker's counts.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) tally: Tally,
    pub(super) clocks: Clocks,
    pub(super) lapses: Lapses,
    /// When the worker last came back from standing still; 0 where it never did.
    pub(super) back_at: u64,
    /// Which connections are asked about their path, and which about their handshake.
    pub(super) sampling: Sampling,
    accepted: AcceptStatus,
    pub(super) handshakes: Sampling,
    /// What the responses read now break, where they do.
    pub(super) breach: Option<&'static str>,
    slice: Slice,
    worker: u32,
    /// When the measurement begins.
    begin: u64,
    second: u64,
    /// When the current slice began, and how long the worker had waited by then.
    slice_start: u64,
    waited: u64,
}

impl Record {
    pub(super) fn new(begin: u64, worker: u32, accepted: AcceptStatus) -> Record {
        let (tally, slice) = (Tally::default(), Slice::default());
        Record {
            tally,
            clocks: Clocks::default(),
            lapses: Lapses::default(),
            back_at: 0,
            sampling: Sampling::default(),
            accepted,
            handshakes: Sampling::default(),
            breach: None,
            slice,
            worker,
            begin,
            second: 0,
            slice_start: begin,
            waited: 0,
        }
    }

    /// The measurement begins at another time than it was to.
    pub(super) fn begin_at(&mut self, begin: u64) {
        (self.begin, self.slice_start) = (begin, begin);
    }

    /// An exchange began.
    pub(super) fn sent(&mut self, family: Family) {
        self.tally[family].sent += 1;
        self.slice.families[family].sent += 1;
    }

    /// The peer turned out to be of the other family than the endpoint. A slice that is out already
    /// keeps what it says, and what was sent again stays with the family whose server disowned it.
    pub(super) fn moved(&mut self, from: Family, exchange: &Exchange) {
        self.tally[from].sent -= 1;
        self.tally[from.other()].sent += 1;
        self.tally[from].followed -= u64::from(exchange.followed);
        self.tally[from.other()].followed += u64::from(exchange.followed);
        let slice = &mut self.slice.families;
        if slice[from].sent > 0 {
            slice[from].sent -= 1;
            slice[from.other()].sent += 1;
        }
    }

    /// The worker was to be back so many nanoseconds before `now`.
    pub(super) fn stood_still(&mut self, late: u64, now: u64) {
        self.back_at = now;
        if now >= self.begin {
            self.lapses.stood_still(late);
        }
    }

    /// What had begun then took as long as it seems.
    fn is_timed(&self, since: u64) -> bool {
        since >= self.back_at
    }

    /// A connection was established. False where nobody knows how long that took.
    pub(super) fn connected(&mut self, connection: &Connection) -> bool {
        let timed = self.is_timed(connection.opened);
        let tally = &mut self.tally[connection.family];
        tally.connections.opened += 1;
        if !timed {
            return false;
        }
        tally.phases.connect.record(connection.connect_took);
        self.slice.families[connection.family].connect.record(connection.connect_took);
        true
    }

    /// What the kernel said of the handshake of a connection, which took this client so long.
    pub(super) fn handshake(&mut self, family: Family, said: Handshake, client: u64) {
        let said = match said {
            Handshake::Took(nanos) => tcp::Handshake::Took(nanos),
            Handshake::SentAgain => tcp::Handshake::SentAgain,
            Handshake::Untimed => tcp::Handshake::Untimed,
        };
        self.tally[family].tcp.handshake.record(said, client);
    }

    /// A handshake of TLS or QUIC that began at `since` was finished at `over`.
    pub(super) fn shook_hands(&mut self, family: Family, facts: &Facts, [since, over]: [u64; 2]) {
        if !self.is_timed(since) {
            return self.tally[family].tls.finished_untimed(facts);
        }
        let took = over.saturating_sub(since);
        self.tally[family].tls.finished(facts, took);
        self.slice.families[family].tls.record(took);
    }

    /// A connection was closed.
    pub(super) fn closed(&mut self, connection: &Connection, now: u64, close: Close) {
        let tally = &mut self.tally[connection.family];
        tally.connections.closed += 1;
        tally.connections.reset_sent += u64::from(close == Close::Reset);
        tally.phases.lifetime.record(now.saturating_sub(connection.connected));
    }

    /// An exchange fell due while no more might be in flight, and was left out.
    pub(super) fn dropped(&mut self, family: Family) {
        self.tally[family].dropped += 1;
    }

    /// An exchange fell due and the run ended before it began.
    pub(super) fn unsent(&mut self, family: Family) {
        self.tally[family].unsent += 1;
    }

    /// What TCP knew of a connection that is about to be closed.
    pub(super) fn path(&mut self, family: Family, path: &Path) {
        let &Path { rtt, min_rtt, retransmitted, duplicates, delivered, mss } = path;
        let path = tcp::Path { rtt, min_rtt, retransmitted, duplicates, delivered, mss };
        self.tally[family].tcp.record(&path);
    }

    /// A complete response came, which was `wanted` as it is whatever its status.
    pub(super) fn completed(
        &mut self,
        (family, endpoint): (Family, usize),
        exchange: &Exchange,
        end: u64,
        with: Complete,
        wanted: bool,
    ) {
        let unaccepted = u64::from(!wanted && !self.accepted.accepts(with.status));
        let tally = &mut self.tally[family];
        let first = exchange.first.unwrap_or(end);
        // The differences below are 0 then.
        self.clocks.inverted += u64::from(first < exchange.sent || end < first);
        tally.status.add(with.status, 1);
        tally.unaccepted += unaccepted;
        let there = tally.endpoint(endpoint);
        there.status.add(with.status, 1);
        match unaccepted {
            0 => there.sizes.add(with.body),
            _ => there.unaccepted += 1,
        }
        tally.bytes.body += with.body;
        let slice = &mut self.slice.families[family];
        slice.completed += 1;
        slice.unaccepted += unaccepted;
        slice.body += with.body;
        if self.is_stalled(family, exchange) {
            self.tally[family].untimed += 1;
        } else {
            self.time(family, exchange, [first, end]);
        }
        self.slipped(family, exchange);
    }

    /// How long the exchange took whose response began and ended at these times.
    fn time(&mut self, family: Family, exchange: &Exchange, [first, end]: [u64; 2]) {
        let phases = &mut self.tally[family].phases;
        let wait = first.saturating_sub(exchange.sent);
        phases.wait.record(wait);
        phases.ttfb.record(first.saturating_sub(exchange.start));
        phases.transfer.record(end.saturating_sub(first));
        let response = end.saturating_sub(exchange.due.unwrap_or(exchange.start));
        phases.response.record(response);
        if exchange.due.is_some() {
            phases.service.record(end.saturating_sub(exchange.start));
        }
        let slice = &mut self.slice.families[family];
        slice.wait.record(wait);
        slice.response.record(response);
    }

    /// The generator stood still while the exchange, which is over, was due or in flight. Counts it.
    fn is_stalled(&mut self, family: Family, exchange: &Exchange) -> bool {
        let stalled = !self.is_timed(exchange.due.unwrap_or(exchange.start));
        self.tally[family].stalled += u64::from(stalled);
        stalled
    }

    /// A complete response came, to the request of this name and with this status, and was not what it
    /// was to be.
    pub(super) fn mismatched(
        &mut self,
        at: (Family, usize),
        exchange: &Exchange,
        end: u64,
        (name, status): (&str, u16),
        mismatch: Mismatch,
    ) {
        let since = end.saturating_sub(self.begin);
        self.tally[at.0].content.add(since, name, status, mismatch);
        self.failed(at, exchange, Failure::new(Outcome::Content, Phase::Transfer));
    }

    /// A complete response came, and there was no room to keep what a check had to look at.
    pub(super) fn unchecked(&mut self, at: (Family, usize), exchange: &Exchange) {
        let cause = Some(LocalCause::ContentLimit);
        let failure = Failure { cause, ..Failure::new(Outcome::Local, Phase::Transfer) };
        self.failed(at, exchange, failure);
    }

    /// An exchange ended otherwise.
    pub(super) fn failed(
        &mut self,
        (family, endpoint): (Family, usize),
        exchange: &Exchange,
        failure: Failure,
    ) {
        let stalled = self.is_stalled(family, exchange);
        let failure = if stalled { of_this_host(failure) } else { failure };
        self.tally[family].failures.add(failure, 1);
        self.tally[family].endpoint(endpoint).failures.add(failure, 1);
        let broken = self.breach.filter(|_| failure.outcome == Outcome::Protocol);
        broken.into_iter().for_each(|what| self.tally[family].breaches.add(what, 1));
        self.slice.families[family].failed += 1;
        self.slipped(family, exchange);
    }

    /// How much later than due an exchange of an open loop began, and by whose fault. Counted when
    /// it ends, since its family may not be known before.
    fn slipped(&mut self, family: Family, exchange: &Exchange) {
        let Some(due) = exchange.due else { return };
        let slip = exchange.start.saturating_sub(due);
        let tally = &mut self.tally[family];
        tally.phases.slip.record(slip);
        tally.waited += u64::from(exchange.waited);
        tally.late += u64::from(!exchange.waited && slip > LATE);
    }

    /// When the current slice ends.
    pub(super) fn slice_end(&self) -> u64 {
        self.begin + (self.second + 1) * SECOND
    }

    /// The slice that ends at `now`, the worker having waited `waited` nanoseconds in all; the next
    /// one begins.
    pub(super) fn cut(&mut self, now: u64, waited: u64) -> Slice {
        let mut slice = std::mem::take(&mut self.slice);
        (slice.worker, slice.second) = (self.worker, self.second);
        slice.length_ns = now.saturating_sub(self.slice_start);
        slice.busy_ns = slice.length_ns.saturating_sub(waited.saturating_sub(self.waited));
        self.slice_start = now.max(self.slice_start);
        // From the clock, not by counting: a late slice doesn't make all later ones late.
        self.second = (self.slice_start - self.begin) / SECOND;
        self.waited = waited;
        slice
    }

    /// The measurement begins now: what was waited before does not count.
    pub(super) fn begin_waiting(&mut self, waited: u64) {
        self.waited = waited;
    }
}

/// What a server or the network can't be blamed for where the generator stood still: that it waited no
/// longer for a client that did not go on.
fn of_this_host(failure: Failure) -> Failure {
    match failure.outcome {
        Outcome::Timeout | Outcome::Reset | Outcome::Truncated => {
            Failure { outcome: Outcome::Local, cause: Some(LocalCause::Stalled), ..failure }
        }
        _ => failure,
    }
}
