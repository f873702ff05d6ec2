//! Exchanges with a complete response: they are counted, and their concurrency slot is freed or
//! used for the target of a redirect.

use sixmark_plan::check::Rejection;
use sixmark_sys::driver::{Driver, Slot};
use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};

use super::Worker;
use crate::exchange::ConcurrencySlot;
use crate::notes::{ExchangeKey, Onward};
use crate::protocol::Complete;
use crate::scheduler::ScheduledExchange;

impl<'a, D: Driver> Worker<'a, D> {
    /// Counts an exchange with a complete response and gives its concurrency slot back. The caller
    /// decides what happens to its connection.
    pub(super) fn conclude(
        &mut self,
        slot: Slot,
        concurrency_slot: ConcurrencySlot,
        at: u64,
        complete: Complete,
    ) {
        self.scheduler.note_answer(self.network.connections.get(slot).endpoint);
        if at > self.scheduler.deadline(concurrency_slot, &self.recorder) {
            return self.conclude_late(slot, concurrency_slot, at);
        }
        if self.requests.notes.is_some() {
            return self.look_back(slot, concurrency_slot, at, complete);
        }
        let exchange = self.scheduler.concurrency_slots.get(concurrency_slot);
        let connection = self.network.connections.get(slot);
        let (from, opened) = (connection.counted_at(), connection.opening_times());
        if exchange.counted {
            connection.carries = true;
            self.recorder.completed(from, exchange, (opened, at), complete, false);
            self.recorder.note_end(at);
            self.trace(slot, concurrency_slot, at);
        } else {
            let accepted = self.recorder.accepts(complete.status);
            self.recorder.warmed_up(from.0, exchange, at, accepted);
        }
        self.scheduler.give_back(concurrency_slot, self.network.driver.woke());
    }

    /// Does the same for a response that was complete only after the deadline, before the clock was
    /// checked. It counts as a timeout, but its connection remains usable.
    fn conclude_late(&mut self, slot: Slot, concurrency_slot: ConcurrencySlot, at: u64) {
        let deadline = self.scheduler.deadline(concurrency_slot, &self.recorder);
        let exchange = self.scheduler.concurrency_slots.get(concurrency_slot);
        let waited = exchange.first.is_none_or(|first| first > deadline);
        let phase = match () {
            () if waited && exchange.sent > deadline => FailurePhase::Send,
            () if waited => FailurePhase::Wait,
            () => FailurePhase::Transfer,
        };
        let failure = Failure::new(Outcome::Timeout, phase);
        let from = self.network.connections.get(slot).counted_at();
        if exchange.counted {
            self.recorder.failed(from, exchange, failure);
            self.recorder.note_end(at);
        } else {
            self.recorder.failed_in_warm_up(from, exchange, failure)
        }
        self.requests.let_go(concurrency_slot);
        self.scheduler.give_back(concurrency_slot, self.network.driver.woke());
    }

    /// Does the same for an exchange of which notes are kept. A redirect that is followed is not
    /// checked; the response to which it leads is.
    fn look_back(
        &mut self,
        slot: Slot,
        concurrency_slot: ConcurrencySlot,
        at: u64,
        complete: Complete,
    ) {
        let (which, status) = (self.which(slot, concurrency_slot), complete.status);
        let onward = self.requests.follow(&which, status, self.scheduler.may_follow(at));
        let goes_on = onward == Onward::Follows;
        let verdict = if goes_on { Ok(()) } else { self.judge(&which, status) };
        self.requests.let_go(concurrency_slot);
        let wanted = goes_on || which.request().checks.look_at_status();
        let exchange = self.scheduler.concurrency_slots.get(concurrency_slot);
        let connection = self.network.connections.get(slot);
        let (from, opened) = (connection.counted_at(), connection.opening_times());
        connection.carries |= exchange.counted;
        if !exchange.counted {
            let accepted = verdict.is_ok() && (wanted || self.recorder.accepts(status));
            self.recorder.warmed_up(from.0, exchange, at, accepted);
        } else {
            match onward {
                Onward::IsCut => self.recorder.count_cut_chain(from.0),
                Onward::Stays(why) => self.recorder.count_unfollowed(from.0, why.text()),
                Onward::Ends | Onward::Follows => {}
            }
            let normal = verdict.is_ok();
            let what = (&*which.request().name, status);
            match verdict {
                Ok(()) => self.recorder.completed(from, exchange, (opened, at), complete, wanted),
                Err(Rejection::Mismatch(found)) => {
                    self.recorder.mismatched(from, exchange, at, what, found);
                }
                Err(Rejection::Unchecked) => self.recorder.unchecked(from, exchange),
            }
            self.recorder.note_end(at);
            if normal {
                self.trace(slot, concurrency_slot, at);
            }
        }
        if goes_on {
            let counted = self.recorder.measures(at);
            self.scheduler.follow(concurrency_slot, which.endpoint, which.request, at, counted);
        } else {
            self.scheduler.give_back(concurrency_slot, self.network.driver.woke())
        }
    }

    /// Checks a complete response. All other exchanges of the worker wait meanwhile.
    fn judge(&mut self, which: &ExchangeKey<'_>, status: u16) -> Result<(), Rejection> {
        if !which.request().checks.keep_content() {
            return self.requests.verdict(which, status);
        }
        let before = self.network.driver.now();
        let verdict = self.requests.verdict(which, status);
        let now = self.network.driver.now();
        self.recorder.note_check(before, now);
        verdict
    }

    /// Adds a measured exchange with a complete response to the trace, if there is one. Only serial
    /// exchanges in plain text can be recognized in packets.
    fn trace(&mut self, slot: Slot, concurrency_slot: ConcurrencySlot, end: u64) {
        if !self.recorder.is_traced() {
            return;
        }
        let connection = self.network.connections.get(slot);
        let secure = self.prepared.endpoints[connection.endpoint].secure;
        if !secure && !connection.protocol.is_multiplexed() {
            let exchange = self.scheduler.concurrency_slots.get(concurrency_slot);
            self.recorder.trace_exchange(slot, connection, exchange, end);
        }
    }

    /// Returns the key of the exchange under a concurrency slot.
    pub(super) fn which(
        &mut self,
        slot: Slot,
        concurrency_slot: ConcurrencySlot,
    ) -> ExchangeKey<'a> {
        let endpoint = self.network.connections.get(slot).endpoint;
        let request = self.scheduler.concurrency_slots.get(concurrency_slot).request;
        ExchangeKey { prepared: self.prepared, endpoint, concurrency_slot, request }
    }

    /// Starts the exchanges to which the redirects just read lead. This happens after reading,
    /// because their connections must be dealt with first.
    pub(super) fn follow_on(&mut self) {
        while let Some((concurrency_slot, turn)) = self.scheduler.next_following() {
            let there = self.network.connections.room(turn.endpoint);
            if there.is_none() {
                self.make_room();
            }
            let now = self.network.driver.now();
            let slot = there.unwrap_or_else(|| self.connect(turn.endpoint, now));
            self.go_on_with(concurrency_slot, &turn, slot, now);
        }
    }

    /// Puts the exchange to which a redirect leads on a connection that exists or is being opened.
    fn go_on_with(
        &mut self,
        concurrency_slot: ConcurrencySlot,
        turn: &ScheduledExchange,
        slot: Slot,
        now: u64,
    ) {
        let family = self.network.connections.get(slot).family;
        self.begin_measurement(turn, now);
        self.recorder.sent(family, turn.counted);
        if turn.counted {
            self.recorder.count_followed(family);
        }
        self.scheduler.go_on_with(concurrency_slot, turn, slot, now);
        self.put_on(slot, concurrency_slot, true);
    }
}
