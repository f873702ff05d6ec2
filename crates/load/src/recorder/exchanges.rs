//! What is counted of exchanges that are over.

use sixmark_http::http1::Complete;
use sixmark_record::check::Mismatch;
use sixmark_record::in_flight::InFlight;
use sixmark_record::outcome::{Failure, FailurePhase, LocalCause, Outcome};
use sixmark_record::unanswered::YOUNGEST_NS;
use sixmark_sys::driver::Slot;
use sixmark_units::family::Family;

use super::Recorder;
use crate::LATE;
use crate::connection::Connection;
use crate::exchange::Exchange;

impl Recorder {
    /// A complete response came, which was `wanted` as it is whatever its status.
    pub(crate) fn completed(
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
        there.waiting.answered_ns += end.saturating_sub(exchange.start);
        there.status.add(with.status, 1);
        match unaccepted {
            0 => there.sizes.add(with.body),
            _ => there.unaccepted += 1,
        }
        tally.bytes.body += with.body;
        if let Some(of) = self.by_request(family, exchange) {
            of.status.add(with.status, 1);
            of.unaccepted += unaccepted;
        }
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

    /// A complete response came at `end` to an exchange of the warm-up.
    pub(crate) fn warmed_up(&mut self, family: Family, exchange: &Exchange, end: u64) {
        let warm_up = &mut self.tally[family].warm_up;
        warm_up.completed += 1;
        warm_up.answered_ns += end.saturating_sub(exchange.start);
    }

    /// How long the exchange took whose response began and ended at these times. What a slice has too
    /// is counted there alone, see [`Recorder::cut`].
    fn time(&mut self, family: Family, exchange: &Exchange, [first, end]: [u64; 2]) {
        let phases = &mut self.tally[family].phases;
        phases.ttfb.record(first.saturating_sub(exchange.start));
        phases.transfer.record(end.saturating_sub(first));
        if exchange.due.is_some() {
            phases.service.record(end.saturating_sub(exchange.start));
        }
        let slice = &mut self.slice.families[family];
        slice.wait.record(first.saturating_sub(exchange.sent));
        let response = end.saturating_sub(exchange.due.unwrap_or(exchange.start));
        slice.response.record(response);
        if let Some(of) = self.by_request(family, exchange) {
            of.response.record(response);
        }
    }

    /// The generator stood still while the exchange, which is over, was due or in flight. Counts it.
    fn is_stalled(&mut self, family: Family, exchange: &Exchange) -> bool {
        let stalled = !self.is_timed(exchange.due.unwrap_or(exchange.start));
        self.tally[family].stalled += u64::from(stalled);
        stalled
    }

    /// A complete response came, to the request of this name and with this status, and was not what it
    /// was to be.
    pub(crate) fn mismatched(
        &mut self,
        at: (Family, usize),
        exchange: &Exchange,
        end: u64,
        (name, status): (&str, u16),
        mismatch: Mismatch,
    ) {
        let since = end.saturating_sub(self.begin);
        self.tally[at.0].content.add(since, name, status, mismatch);
        self.failed(at, exchange, Failure::new(Outcome::Content, FailurePhase::Transfer));
    }

    /// A complete response came, and there was no room to keep what a check had to look at.
    pub(crate) fn unchecked(&mut self, at: (Family, usize), exchange: &Exchange) {
        let cause = Some(LocalCause::ContentLimit);
        let failure = Failure { cause, ..Failure::new(Outcome::Local, FailurePhase::Transfer) };
        self.failed(at, exchange, failure);
    }

    /// An exchange ended otherwise.
    pub(crate) fn failed(
        &mut self,
        (family, endpoint): (Family, usize),
        exchange: &Exchange,
        failure: Failure,
    ) {
        let stalled = self.is_stalled(family, exchange);
        let failure = if stalled { of_this_host(failure) } else { failure };
        self.tally[family].failures.add(failure, 1);
        self.tally[family].endpoint(endpoint).failures.add(failure, 1);
        if let Some(of) = self.by_request(family, exchange) {
            of.failures.add(failure, 1);
        }
        let broken = self.breach.filter(|_| failure.outcome == Outcome::Protocol);
        broken.into_iter().for_each(|what| self.tally[family].breaches.add(what, 1));
        let cut_off = failure.outcome == Outcome::Abandoned;
        self.slice.families[family].failed += u64::from(!cut_off);
        self.slipped(family, exchange);
    }

    /// An exchange that ended at `now` got no response until its timeout.
    pub(crate) fn note_silence(
        &mut self,
        (family, endpoint): (Family, usize),
        exchange: &Exchange,
        now: u64,
    ) {
        if self.is_timed(exchange.start) {
            let silent_ns = self.measured_time(exchange.start, now);
            self.tally[family].endpoint(endpoint).waiting.silent_ns += silent_ns;
        }
    }

    /// How much of the time between these is of the measurement, in nanoseconds.
    fn measured_time(&self, from: u64, to: u64) -> u64 {
        let end = self.drained_from.map_or(to, |(end, _)| to.min(end));
        end.saturating_sub(from.max(self.begin))
    }

    /// An exchange of this family and endpoint was in flight in `phase` when the load ended at `now`.
    /// Where the generator stood still its age says nothing.
    pub(crate) fn note_in_flight(
        &mut self,
        (family, endpoint): (Family, usize),
        exchange: &Exchange,
        phase: FailurePhase,
        now: u64,
    ) {
        let since = exchange.due.unwrap_or(exchange.start);
        if !self.is_timed(since) || now < self.begin {
            return;
        }
        let name = self.names.get(exchange.request as usize).map(|&name| name as usize);
        let (age_ns, counted) = (now.saturating_sub(since), exchange.counted);
        let silent_ns = self.measured_time(exchange.start, now);
        // A younger one is never evidence, and a million of them need not be kept.
        if age_ns > YOUNGEST_NS {
            let in_flight = InFlight { age_ns, silent_ns, phase, endpoint, name, counted };
            self.tally[family].in_flight.push(in_flight);
        }
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

    /// Tells of a measured exchange that had its complete response, where anybody asked.
    pub(crate) fn trace_exchange(
        &mut self,
        slot: Slot,
        connection: &Connection,
        exchange: &Exchange,
        end: u64,
    ) {
        if let Some(trace) = &mut self.trace {
            trace.tell(slot, connection, exchange, end);
        }
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
