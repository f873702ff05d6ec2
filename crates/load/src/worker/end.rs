//! The end of exchanges and connections that fail.

use sixmark_sys::driver::{Close, Driver, Slot};
use sixmark_tally::outcome::{Failure, FailurePhase, LocalCause, Outcome};

use super::Worker;
use crate::connection::State;
use crate::errno;
use crate::exchange::ConcurrencySlot;
use crate::protocol::{Protocol, ProtocolViolation};

impl<D: Driver> Worker<'_, D> {
    /// Ends the exchanges that have timed out.
    pub(super) fn time_out(&mut self) {
        let now = self.network.driver.woke();
        while let Some(concurrency_slot) = self.scheduler.next_overdue(now, &self.recorder) {
            self.cut_off(concurrency_slot, Outcome::Timeout);
        }
        // The room that they leave is for others, none of which has timed out.
        for index in 0..self.network.touched().len() {
            self.begin_streams(self.network.touched()[index]);
        }
    }

    /// Cuts off all exchanges in flight and closes all connections.
    pub(super) fn abandon(&mut self) {
        while let Some(concurrency_slot) = self.scheduler.concurrency_slots.longest_in_flight() {
            self.cut_off(concurrency_slot, Outcome::Abandoned);
        }
        while let Some(slot) = self.network.connections.longest_idle() {
            self.close(slot, self.network.usual_close());
        }
    }

    /// Ends an exchange from this side.
    fn cut_off(&mut self, concurrency_slot: ConcurrencySlot, outcome: Outcome) {
        let slot = self.scheduler.concurrency_slots.get(concurrency_slot).slot;
        let connection = self.network.connections.get(slot);
        let others = outcome == Outcome::Timeout && connection.in_flight > 1;
        match (connection.state, &connection.protocol) {
            (_, Protocol::Serial(_)) => {
                self.break_off(slot, Failure::new(outcome, FailurePhase::Connect))
            }
            (State::Open, _) => self.cut_off_stream(slot, concurrency_slot, outcome),
            // The exchanges that joined it later have not timed out yet.
            (State::Opening(phase), _) if others => {
                connection.protocol.cancel(concurrency_slot);
                connection.retiring = true;
                self.lose(concurrency_slot, Failure::new(outcome, phase));
            }
            _ => self.break_off(slot, Failure::new(outcome, FailurePhase::Connect)),
        }
    }

    /// Handles an error of the kernel on a connection.
    pub(super) fn broken(&mut self, slot: Slot, errno: i32) {
        let connection = self.network.connections.get(slot);
        let phase = match (connection.state, &connection.protocol) {
            (State::Opening(phase), _) => phase,
            (_, Protocol::Serial(machine)) => {
                self.scheduler.concurrency_slots.get(machine.concurrency_slot()).phase
            }
            // Any phase but that of connecting will do: each exchange is counted in its own.
            (_, Protocol::Multiplexed(_)) => FailurePhase::Transfer,
        };
        let outcome = errno::outcome(errno, phase);
        if outcome == Outcome::Reset && self.resend(slot) {
            return;
        }
        self.break_off(slot, Failure { errno: Some(errno), ..Failure::new(outcome, phase) });
    }

    /// Handles that this host has no source address for the connection.
    pub(super) fn without_source(&mut self, slot: Slot, errno: i32) {
        let (errno, cause) = (Some(errno), Some(LocalCause::NoSource));
        let failure = Failure::new(Outcome::Local, FailurePhase::Connect);
        self.break_off(slot, Failure { errno, cause, ..failure });
    }

    /// Handles a violation of the protocol on a connection.
    pub(super) fn close_for_violation(&mut self, slot: Slot, violation: ProtocolViolation) {
        // Exchanges are counted in their own phases, or in that of the connection if it is not
        // open.
        let failure = Failure::violation(violation.own_limit, FailurePhase::Transfer);
        self.recorder.set_violation(Some(violation.text));
        self.break_off(slot, Failure { code: violation.code, ..failure });
        self.recorder.set_violation(None);
    }

    /// Ends a connection that failed, and all exchanges on it, each in its own phase.
    pub(super) fn break_off(&mut self, slot: Slot, failure: Failure) {
        let measured = self.recorder.measures(self.network.driver.woke());
        let quic = self.network.is_over_quic();
        let connection = self.network.connections.get(slot);
        // A QUIC connection counts only once its handshake has finished; a failed handshake counts
        // when it fails.
        let counted = connection.counted || (quic && measured);
        // What is cut off at the end of the run has not failed.
        let failed = failure.outcome != Outcome::Abandoned;
        if failed && connection.state == State::Opening(FailurePhase::Tls) {
            self.recorder.count_failed_handshake(connection.family, counted);
        }
        self.give_up(slot, failure);
    }

    /// Ends a connection and its exchanges, after its handshake, if any, has been counted.
    pub(super) fn give_up(&mut self, slot: Slot, failure: Failure) {
        let state = self.state(slot);
        if self.opening.is_some() && matches!(state, State::Opening(_)) {
            return self.unopened(slot);
        }
        if matches!(state, State::Opening(_)) {
            self.scheduler.unresponsive_peers.note_unestablished();
        }
        let concurrency_slots = self.on(slot);
        for &concurrency_slot in &concurrency_slots {
            let phase = match state {
                State::Opening(phase) => phase,
                _ => self.scheduler.concurrency_slots.get(concurrency_slot).phase,
            };
            self.lose(concurrency_slot, Failure { phase, ..failure });
        }
        self.done_with(concurrency_slots);
        // If the peer ended the connection, there is nothing to reset.
        let by_peer = matches!(failure.outcome, Outcome::Reset | Outcome::Truncated);
        self.close(slot, if by_peer { Close::Orderly } else { Close::Reset });
    }

    /// Ends an exchange that failed. The caller decides what happens to its connection.
    pub(super) fn lose(&mut self, concurrency_slot: ConcurrencySlot, failure: Failure) {
        let now = self.network.driver.woke();
        let exchange = self.scheduler.concurrency_slots.get(concurrency_slot);
        let (slot, start) = (exchange.slot, exchange.start);
        let from = self.network.connections.get(slot).counted_at();
        if failure.outcome == Outcome::Abandoned {
            self.recorder.note_in_flight(from, exchange, failure.phase, now);
        }
        // An exchange of the warm-up that times out in the measurement was silent in the
        // measurement. A connection that never gets a response would otherwise not be counted at
        // all.
        let silent = failure.outcome == Outcome::Timeout && self.recorder.measures(now);
        if silent {
            self.recorder.note_unresponsive(from, exchange, now);
        }
        if silent && !exchange.counted {
            self.recorder.carry_over(from.0);
        }
        if exchange.counted || silent {
            self.recorder.failed(from, exchange, failure);
            self.recorder.note_end(now);
            let tally = self.recorder.counts_of(from.0);
            self.scheduler.unresponsive_peers.note_failure(
                from.0,
                failure.outcome,
                tally,
                [start, now],
            );
        } else {
            self.recorder.failed_in_warm_up(from, exchange, failure);
        }
        self.scheduler.note_failure(from.1);
        self.requests.let_go(concurrency_slot);
        // With TLS 1.3, a server may refuse a client certificate after the handshake.
        match (failure.phase, failure.outcome) {
            (FailurePhase::Connect | FailurePhase::Tls, _) | (_, Outcome::Tls) => {
                self.scheduler.rest(concurrency_slot, now)
            }
            _ => self.scheduler.give_back(concurrency_slot, now),
        }
        self.network.connections.part(slot);
    }

    /// Returns the exchanges on a connection, in a list that must be given back.
    pub(super) fn on(&mut self, slot: Slot) -> Vec<ConcurrencySlot> {
        let mut concurrency_slots = std::mem::take(&mut self.buffers.concurrency_slots);
        let connection = self.network.connections.get(slot);
        connection.protocol.list_exchanges(connection.in_flight, &mut concurrency_slots);
        concurrency_slots
    }

    /// Gives the list back.
    pub(super) fn done_with(&mut self, mut concurrency_slots: Vec<ConcurrencySlot>) {
        concurrency_slots.clear();
        self.buffers.concurrency_slots = concurrency_slots;
    }

    /// Handles bytes that no request asked for. The connection is closed, since later data on it
    /// would be doubtful.
    pub(super) fn unsolicited(&mut self, slot: Slot) {
        self.recorder.unsolicited(self.network.connections.get(slot));
        self.close(slot, Close::Reset);
    }

    /// Closes a connection that carries no exchanges any more.
    pub(super) fn close(&mut self, slot: Slot, close: Close) {
        self.network.close(slot, close, &mut self.recorder);
    }
}
