//! Exchanges that share their connection with others.

use quinn_proto::StreamEvent;
use sixmark_http::observer::{Answer, Loss};
use sixmark_sys::driver::{Driver, Slot};
use sixmark_tally::outcome::{Failure, Outcome};
use sixmark_units::family::Family;

use super::Worker;
use super::observer::{StreamEnd, StreamObserver};
use crate::connection::{Connection, State};
use crate::exchange::ConcurrencySlot;
use crate::field_sampler::StreamFieldSampler;
use crate::lateness::Lateness;
use crate::notes::ExchangeKey;
use crate::protocol::{Complete, Protocol, ProtocolViolation, Streams};

/// Maximum number of attempts for an exchange that peers report as unprocessed.
const TRIES: u8 = 3;

impl<D: Driver> Worker<'_, D> {
    /// Starts the exchanges that wait, as far as there is room for them.
    pub(super) fn begin_streams(&mut self, slot: Slot) {
        if self.network.connections.get(slot).state != State::Open {
            return;
        }
        while self.begin_stream(slot) {}
        self.network.touch(slot);
    }

    /// Starts the exchange that has waited for longest, if there is one and room for it.
    fn begin_stream(&mut self, slot: Slot) -> bool {
        let connection = self.network.connections.get(slot);
        let Some(streams) = connection.protocol.streams() else { return false };
        let Some(concurrency_slot) = streams.first_pending() else { return false };
        let request = self.scheduler.concurrency_slots.get(concurrency_slot).request;
        let which = ExchangeKey {
            prepared: self.prepared,
            endpoint: connection.endpoint,
            concurrency_slot,
            request,
        };
        streams.begin_pending(concurrency_slot, self.requests.outgoing(which))
    }

    /// Reads the given bytes, or those that the driver received.
    pub(super) fn read_streams(&mut self, slot: Slot, at: u64, bytes: Option<&[u8]>) {
        let connection = self.network.connections.get(slot);
        let (prepared, endpoint) = (self.prepared, connection.endpoint);
        let family = connection.family;
        let Protocol::Multiplexed(streams) = &mut connection.protocol else { return };
        let mut over = std::mem::take(&mut self.buffers.over);
        let (concurrency_slots, notes) =
            (&mut self.scheduler.concurrency_slots, self.requests.notes.as_deref_mut());
        let fields = self.recorder.fields_to_sample(family, true);
        let mut observer = StreamObserver {
            concurrency_slots,
            over: &mut over,
            at,
            late: None,
            arrived: self.first_arrival,
            notes,
            sampler: fields.map(StreamFieldSampler::new),
            prepared,
            endpoint,
        };
        let bytes = bytes.unwrap_or_else(|| self.network.driver.bytes());
        let read = match self.late {
            None => streams.read(bytes, &mut observer),
            Some(late) => late.divide(bytes).try_for_each(|(piece, late)| {
                observer.late = Some(late);
                streams.read(piece, &mut observer)
            }),
        };
        self.settle(slot, at, over);
        match read {
            Ok(()) => self.go_on(slot),
            Err(violation) => self.violated(slot, violation),
        }
    }

    /// Handles an event of a QUIC stream.
    pub(super) fn attend_stream(&mut self, slot: Slot, at: u64, event: StreamEvent) {
        let connection = self.network.connections.get(slot);
        let (prepared, endpoint) = (self.prepared, connection.endpoint);
        let family = connection.family;
        let Protocol::Multiplexed(streams) = &mut connection.protocol else { return };
        let mut over = std::mem::take(&mut self.buffers.over);
        let (concurrency_slots, notes) =
            (&mut self.scheduler.concurrency_slots, self.requests.notes.as_deref_mut());
        let fields = self.recorder.fields_to_sample(family, true);
        let late = self.late.map(Lateness::of_first);
        let mut observer = StreamObserver {
            concurrency_slots,
            over: &mut over,
            at,
            late,
            arrived: None,
            notes,
            sampler: fields.map(StreamFieldSampler::new),
            prepared,
            endpoint,
        };
        let read = streams.attend(event, &mut self.memory, &mut observer);
        self.settle(slot, at, over);
        if let Err(violation) = read {
            self.violated(slot, violation);
        }
    }

    /// Processes the exchanges that are over, in a list that is given back.
    fn settle(&mut self, slot: Slot, at: u64, mut over: Vec<(ConcurrencySlot, StreamEnd)>) {
        // This comes first, so that no exchange that leaves this connection returns to it.
        self.note_draining(slot);
        for (concurrency_slot, how) in over.drain(..) {
            self.stream_over(slot, concurrency_slot, at, how);
        }
        self.buffers.over = over;
    }

    /// Does what is necessary on a connection after data was received.
    pub(super) fn go_on(&mut self, slot: Slot) {
        if self.note_draining(slot) {
            self.clear_out(slot);
        }
        self.begin_streams(slot);
        self.close_retired(slot);
    }

    fn close_retired(&mut self, slot: Slot) {
        let connection = self.network.connections.get(slot);
        if connection.retiring && connection.in_flight == 0 && connection.state == State::Open {
            self.close(slot, self.network.usual_close());
        }
    }

    /// Returns true if the peer accepts no more exchanges on the connection, and then puts none on
    /// it any more.
    pub(super) fn note_draining(&mut self, slot: Slot) -> bool {
        let connection = self.network.connections.get(slot);
        let Some(streams) = connection.protocol.streams().filter(|all| all.is_draining()) else {
            return false;
        };
        let said = streams.said_goaway();
        if !std::mem::replace(&mut connection.retiring, true) {
            if connection.counted && said {
                self.recorder.count_drained(connection.family);
            }
            self.network.connections.list(slot);
        }
        true
    }

    /// Moves the exchanges that wait on a connection where they can't start to other connections.
    fn clear_out(&mut self, slot: Slot) {
        let waiting =
            self.network.connections.get(slot).protocol.streams().map(Streams::take_waiting);
        for concurrency_slot in waiting.into_iter().flatten() {
            self.send_elsewhere(concurrency_slot);
        }
    }

    pub(super) fn stream_over(
        &mut self,
        slot: Slot,
        concurrency_slot: ConcurrencySlot,
        at: u64,
        how: StreamEnd,
    ) {
        self.network.connections.forget(slot, concurrency_slot);
        match how {
            StreamEnd::Answered(answer) => self.answered(slot, concurrency_slot, at, answer),
            StreamEnd::Lost(Loss::Unprocessed) => self.unprocessed(concurrency_slot),
            StreamEnd::Lost(Loss::Reset(code)) => {
                self.lose_by(concurrency_slot, Outcome::Reset, code)
            }
            StreamEnd::Lost(Loss::Malformed { code, why }) => {
                self.recorder.set_violation(Some(why));
                self.lose_by(concurrency_slot, Outcome::Protocol, code);
                self.recorder.set_violation(None);
            }
        }
    }

    fn answered(&mut self, slot: Slot, concurrency_slot: ConcurrencySlot, at: u64, answer: Answer) {
        let Answer { status, body } = answer;
        self.conclude(slot, concurrency_slot, at, Complete { status, body, keep_alive: true });
        self.network.connections.part(slot);
    }

    fn lose_by(&mut self, concurrency_slot: ConcurrencySlot, outcome: Outcome, code: u64) {
        let phase = self.scheduler.concurrency_slots.get(concurrency_slot).phase;
        self.lose(concurrency_slot, Failure { code: Some(code), ..Failure::new(outcome, phase) });
    }

    /// Sends a request again that the peer did not process (RFC 9113, 8.7), up to a limit.
    fn unprocessed(&mut self, concurrency_slot: ConcurrencySlot) {
        let exchange = self.scheduler.concurrency_slots.get(concurrency_slot);
        exchange.tries += 1;
        let (slot, tries) = (exchange.slot, exchange.tries);
        if tries >= TRIES {
            let streams = self.network.connections.get(slot).protocol.streams();
            let code = streams.map_or(0, |streams| streams.goaway_code());
            return self.lose_by(concurrency_slot, Outcome::Reset, code);
        }
        exchange.start_over();
        if exchange.counted {
            let family = self.network.connections.get(slot).family;
            self.recorder.count_resent(family);
        }
        self.send_elsewhere(concurrency_slot);
    }

    /// Moves an exchange to another connection. It remains the same exchange.
    fn send_elsewhere(&mut self, concurrency_slot: ConcurrencySlot) {
        let from = self.scheduler.concurrency_slots.get(concurrency_slot).slot;
        let Connection { endpoint, family, .. } = *self.network.connections.get(from);
        self.network.connections.part(from);
        self.move_to_other(concurrency_slot, endpoint);
        self.note_move(concurrency_slot, family);
    }

    /// Counts an exchange for the family of the connection to which it was moved from one of
    /// `family`. The peer of that one may have had another family than the endpoint.
    pub(super) fn note_move(&mut self, concurrency_slot: ConcurrencySlot, family: Family) {
        let exchange = self.scheduler.concurrency_slots.get(concurrency_slot);
        if self.network.connections.get(exchange.slot).family != family {
            self.recorder.moved(family, exchange);
        }
    }

    /// Handles a violation of the protocol. The peer is told, and all exchanges on the connection
    /// end.
    fn violated(&mut self, slot: Slot, violation: ProtocolViolation) {
        if let Some(streams) = self.network.connections.get(slot).protocol.streams() {
            streams.say_goodbye(violation.code);
        }
        // QUIC tells the peer when the connection is closed.
        if !self.network.is_over_quic() {
            self.flush(slot);
            // TLS may have failed while sending.
            if self.network.connections.get(slot).state == State::Vacant {
                return;
            }
        }
        self.close_for_violation(slot, violation);
    }

    /// Ends one of several exchanges on a connection from this side.
    pub(super) fn cut_off_stream(
        &mut self,
        slot: Slot,
        concurrency_slot: ConcurrencySlot,
        outcome: Outcome,
    ) {
        self.network.connections.get(slot).protocol.cancel(concurrency_slot);
        self.network.connections.forget(slot, concurrency_slot);
        let (phase, start) = (
            self.scheduler.concurrency_slots.get(concurrency_slot).phase,
            self.scheduler.concurrency_slots.get(concurrency_slot).start,
        );
        self.lose(concurrency_slot, Failure::new(outcome, phase));
        self.network.connections.suspect(slot, start);
        self.network.touch(slot);
        self.close_retired(slot);
    }
}
