//! Counting exchanges that are over.

use sixmark_http::http1::Complete;
use sixmark_plan::check::Mismatch;
use sixmark_sys::driver::Slot;
use sixmark_tally::in_flight::InFlight;
use sixmark_tally::outcome::{Failure, FailurePhase, LocalCause, Outcome};
use sixmark_tally::response_part::PerPart;
use sixmark_tally::server_fields::ServerFieldsTally;
use sixmark_tally::unanswered::YOUNGEST_NS;
use sixmark_units::family::Family;

use super::Recorder;
use crate::LATE_NS;
use crate::connection::{Connection, OpeningTimes};
use crate::exchange::Exchange;

impl Recorder {
    /// Counts a complete response. With `wanted`, any status is accepted.
    pub(crate) fn completed(
        &mut self,
        (family, endpoint): (Family, usize),
        exchange: &Exchange,
        (opening, end): (OpeningTimes, u64),
        with: Complete,
        wanted: bool,
    ) {
        let unaccepted = u64::from(!wanted && !self.accepted.accepts(with.status));
        let tally = &mut self.tally[family];
        let first = exchange.first.unwrap_or(end);
        // The differences below are 0 in this case.
        self.clocks.inverted += u64::from(first < exchange.sent || end < first);
        tally.status.add(with.status, 1);
        tally.unaccepted += unaccepted;
        tally.interim_responses += u64::from(exchange.interims);
        let there = tally.endpoint(endpoint);
        there.waiting.answered_ns += end.saturating_sub(exchange.start);
        there.status.add(with.status, 1);
        match unaccepted {
            0 => there.sizes.add(with.body),
            _ => there.unaccepted += 1,
        }
        tally.bytes.body += with.body;
        for of in self.counted_apart(family, exchange) {
            of.status.add(with.status, 1);
            of.unaccepted += unaccepted;
        }
        if let Some(step) = self.steps.step_at(end.saturating_sub(self.begin)) {
            self.tally[family].step(step).responses += 1;
        }
        let slice = &mut self.slice.families[family];
        slice.completed += 1;
        slice.failed += unaccepted;
        slice.unaccepted += unaccepted;
        slice.body += with.body;
        if self.is_stalled(family, exchange) {
            self.tally[family].untimed += 1;
        } else {
            self.time(family, exchange, opening, [first, end]);
        }
        self.slipped(family, exchange);
    }

    /// Returns where to count the fields of a response of an exchange, if they are to be read.
    #[inline]
    pub(crate) fn fields_to_sample(
        &mut self,
        family: Family,
        counted: bool,
    ) -> Option<&mut ServerFieldsTally> {
        let fields = &mut self.tally[family].server_fields;
        (counted && fields.wants_more()).then_some(fields)
    }

    /// Returns true if responses with this status are accepted.
    pub(crate) fn accepts(&self, status: u16) -> bool {
        self.accepted.accepts(status)
    }

    /// Counts a complete response at `end` to an exchange of the warm-up.
    pub(crate) fn warmed_up(
        &mut self,
        family: Family,
        exchange: &Exchange,
        end: u64,
        accepted: bool,
    ) {
        let warm_up = &mut self.tally[family].warm_up;
        warm_up.completed += 1;
        warm_up.accepted += u64::from(accepted);
        warm_up.answered_ns += end.saturating_sub(exchange.start);
    }

    /// Records the durations of an exchange whose response began at `first` and ended at `end`.
    /// Durations that a slice has as well are recorded only there, see [`Recorder::cut`].
    fn time(
        &mut self,
        family: Family,
        exchange: &Exchange,
        opening: OpeningTimes,
        [first, end]: [u64; 2],
    ) {
        let account = &mut self.tally[family].account;
        match usual_parts(exchange, opening, [first, end]) {
            Some(parts) => account.record_usual(parts),
            None => {
                let parts = parts_of(exchange, opening, [first, end]);
                let flights = exchange.paused.as_ref().map_or(0, |paused| paused.flights);
                account.record(&parts, flights);
            }
        }
        let phases = &mut self.tally[family].phases;
        phases.ttfb.record(first.saturating_sub(exchange.start));
        phases.transfer.record(end.saturating_sub(first));
        if let Some(interim) = exchange.interim {
            phases.interim.record(interim.saturating_sub(exchange.sent));
        }
        if exchange.due.is_some() {
            phases.service.record(end.saturating_sub(exchange.start));
        }
        let wait = first.saturating_sub(exchange.sent);
        if let Some(late) = exchange.late {
            self.tally[family].wait_sample.record(wait, late);
        }
        let slice = &mut self.slice.families[family];
        slice.wait.record(wait);
        let response = end.saturating_sub(exchange.due.unwrap_or(exchange.start));
        slice.response.record(response);
        self.counted_apart(family, exchange).for_each(|of| of.response.record(response));
    }

    /// Returns true if the worker stalled while the exchange was due or in flight, and counts that.
    fn is_stalled(&mut self, family: Family, exchange: &Exchange) -> bool {
        let stalled = !self.is_timed(exchange.due.unwrap_or(exchange.start));
        self.tally[family].stalled += u64::from(stalled);
        stalled
    }

    /// Counts a complete response that failed a check. `name` is the name of its request, and
    /// `status` is its status.
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

    /// Counts a complete response that could not be checked because there was no memory for its
    /// content.
    pub(crate) fn unchecked(&mut self, at: (Family, usize), exchange: &Exchange) {
        let cause = Some(LocalCause::ContentLimit);
        let failure = Failure { cause, ..Failure::new(Outcome::Local, FailurePhase::Transfer) };
        self.failed(at, exchange, failure);
    }

    /// Counts an exchange that failed.
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
        self.counted_apart(family, exchange).for_each(|of| of.failures.add(failure, 1));
        let broken = self.violation.filter(|_| failure.outcome == Outcome::Protocol);
        broken.into_iter().for_each(|what| self.tally[family].breaches.add(what, 1));
        let cut_off = failure.outcome == Outcome::Abandoned;
        self.slice.families[family].failed += u64::from(!cut_off);
        self.slipped(family, exchange);
    }

    /// Counts an exchange of the warm-up that failed.
    pub(crate) fn failed_in_warm_up(
        &mut self,
        (family, endpoint): (Family, usize),
        exchange: &Exchange,
        failure: Failure,
    ) {
        if failure.outcome == Outcome::Abandoned {
            return;
        }
        let stalled = !self.is_timed(exchange.due.unwrap_or(exchange.start));
        let failure = if stalled { of_this_host(failure) } else { failure };
        let (name, violation) = (self.name_of(exchange), self.violation);
        let tally = &mut self.tally[family];
        tally.add_failed_warm_up(failure, endpoint, name);
        let broken = violation.filter(|_| failure.outcome == Outcome::Protocol);
        broken.into_iter().for_each(|what| tally.failing_warm_up().breaches.add(what, 1));
    }

    /// Records how long an exchange that ended at `now` waited without a response until its
    /// timeout.
    pub(crate) fn note_unresponsive(
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

    /// Returns how much of the time between `from` and `to` belongs to the measurement, in
    /// nanoseconds.
    fn measured_time(&self, from: u64, to: u64) -> u64 {
        let end = self.drained_from.map_or(to, |(end, _)| to.min(end));
        end.saturating_sub(from.max(self.begin))
    }

    /// Records an exchange that was in flight in `phase` when the load ended at `now`. If the
    /// worker stalled, its age means nothing and is not recorded.
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
        let (name, step) = (self.name_of(exchange), self.step_of(exchange));
        let (age_ns, counted) = (now.saturating_sub(since), exchange.counted);
        let silent_ns = self.measured_time(exchange.start, now);
        // A younger one is never evidence of an unresponsive peer. Leaving these out saves memory.
        if age_ns > YOUNGEST_NS {
            let in_flight = InFlight { age_ns, silent_ns, phase, endpoint, name, step, counted };
            self.tally[family].in_flight.push(in_flight);
        }
    }

    /// Records how much later than due an exchange of an open loop started, and why. This is
    /// counted at its end, since its family may not be known before.
    fn slipped(&mut self, family: Family, exchange: &Exchange) {
        let Some(due) = exchange.due else { return };
        let slip = exchange.start.saturating_sub(due);
        let tally = &mut self.tally[family];
        tally.phases.slip.record(slip);
        tally.waited += u64::from(exchange.was_queued);
        tally.late += u64::from(!exchange.was_queued && slip > LATE_NS);
    }

    /// Adds a measured exchange with a complete response to the trace, if there is one.
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

/// Returns the parts of an exchange that used an open connection and whose response had no pauses, as
/// most do: waiting to start, sending, the wait, and receiving. `None` of any other exchange, and if
/// times are out of order.
#[inline]
fn usual_parts(
    exchange: &Exchange,
    opening: OpeningTimes,
    [first, end]: [u64; 2],
) -> Option<[u64; 4]> {
    let (start, sent) = (exchange.start, exchange.sent);
    let first = exchange.arrived.min(first);
    let is_usual = opening.secured <= start
        && start <= sent
        && sent <= first
        && first <= end
        && exchange.paused.is_none();
    let queue = exchange.due.map_or(0, |due| start.saturating_sub(due));
    is_usual.then(|| [queue, sent - start, first - sent, end - first])
}

/// Returns the parts of an exchange whose response began at `first` and ended at `end`. They add up to
/// its response time: times that are out of order are moved to the one before, or to the end.
#[inline]
fn parts_of(exchange: &Exchange, opening: OpeningTimes, [first, end]: [u64; 2]) -> PerPart<u64> {
    let start = exchange.start;
    let end = end.max(start);
    let connected = opening.connected.clamp(start, end);
    let secured = opening.secured.clamp(connected, end);
    let sent = exchange.sent.clamp(secured, end);
    // The response began to arrive with the first byte of its TLS record.
    let first = exchange.arrived.min(first).clamp(sent, end);
    let paused = exchange.paused.as_deref().copied().unwrap_or_default();
    let flights = paused.flights_ns.min(end - first);
    let recovery = paused.recovery_ns.min(end - first - flights);
    let pauses = paused.others_ns.min(end - first - flights - recovery);
    PerPart {
        queue: start.saturating_sub(exchange.due.unwrap_or(start)),
        connect: connected - start,
        tls: secured - connected,
        send: sent - secured,
        wait: first - sent,
        flights,
        recovery,
        pauses,
        transfer: end - first - flights - recovery - pauses,
    }
}

/// Returns the failure to count for an exchange during which the worker stalled. A timeout or a
/// closed connection is not the server's or the network's fault then.
fn of_this_host(failure: Failure) -> Failure {
    match failure.outcome {
        Outcome::Timeout | Outcome::Reset | Outcome::Truncated => {
            Failure { outcome: Outcome::Local, cause: Some(LocalCause::Stalled), ..failure }
        }
        _ => failure,
    }
}
