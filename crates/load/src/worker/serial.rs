//! Exchanges that follow one another on a connection.

use std::sync::Arc;

use sixmark_plan::plan;
use sixmark_sys::driver::{Close, Driver, Message, SendProgress, Slot};
use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};

use super::Worker;
use crate::builder::{BuiltRequest, KeptBytes};
use crate::connection::State;
use crate::exchange::ConcurrencySlot;
use crate::field_sampler::FieldSampler;
use crate::lateness::Lateness;
use crate::notes::{ExchangeKey, NoteTaker};
use crate::prepare::MessageForm;
use crate::protocol::{Complete, Protocol, ResponseVisitor};

/// Content up to this length, in bytes, is copied behind the head.
const SHORT: usize = 64 * 1024;

impl<D: Driver> Worker<'_, D> {
    /// Sends the request of the exchange on a connection.
    pub(super) fn send(&mut self, slot: Slot, starts: bool) {
        let connection = self.network.connections.get(slot);
        let last = is_last(&self.prepared.plan.connection, connection.requests);
        let endpoint = &self.prepared.endpoints[connection.endpoint];
        let Protocol::Serial(machine) = &mut connection.protocol else { return };
        let concurrency_slot = machine.concurrency_slot();
        let exchange = self.scheduler.concurrency_slots.get(concurrency_slot);
        let (request, again) = (exchange.request, exchange.tries > 0);
        let requests = &endpoint.requests[request as usize];
        machine.begin(requests.kind);
        match requests.message(last) {
            MessageForm::Constant(message) if self.requests.notes.is_none() => {
                self.hand_over(slot, concurrency_slot, message, starts);
            }
            form => {
                let which = self.which(slot, concurrency_slot);
                let kept = match again {
                    true => KeptBytes::Use,
                    false if self.may_resend(slot, concurrency_slot) => KeptBytes::Keep,
                    false => KeptBytes::Ignore,
                };
                match self.requests.build(&which, form, last, kept) {
                    BuiltRequest::Same(message) => {
                        self.hand_over(slot, concurrency_slot, message, starts)
                    }
                    BuiltRequest::Own(head, body) => {
                        self.send_own(slot, concurrency_slot, head, body.as_ref(), starts);
                    }
                }
            }
        }
    }

    /// Sends these bytes, followed by this content.
    fn send_own(
        &mut self,
        slot: Slot,
        concurrency_slot: ConcurrencySlot,
        mut bytes: Vec<u8>,
        body: Option<&Arc<Vec<u8>>>,
        starts: bool,
    ) {
        let long = body.is_some_and(|body| body.len() > SHORT);
        if long || self.network.connections.get(slot).send_buffer.is_some() {
            return self.hand_over(
                slot,
                concurrency_slot,
                &Message::with_body(bytes, body),
                starts,
            );
        }
        bytes.extend_from_slice(body.map_or(&[], |body| body.as_slice()));
        self.scheduler.concurrency_slots.get(concurrency_slot).length = bytes.len() as u64;
        // The previous exchange is over, so its request has been sent.
        let progress = self.network.driver.pass(slot, &mut bytes);
        self.requests.reuse(bytes);
        self.progress(slot, concurrency_slot, progress, starts);
    }

    /// Sends a message, which is the request of the exchange under `concurrency_slot`.
    fn hand_over(
        &mut self,
        slot: Slot,
        concurrency_slot: ConcurrencySlot,
        message: &Message,
        starts: bool,
    ) {
        let exchange = self.scheduler.concurrency_slots.get(concurrency_slot);
        exchange.length = message.length() as u64;
        if let Some(buffer) = &mut self.network.connections.get(slot).send_buffer {
            buffer.message = Some((message.clone(), 0));
            if starts {
                exchange.start = self.network.driver.now();
            }
            return self.network.touch(slot);
        }
        let progress = self.network.driver.send(slot, message);
        self.progress(slot, concurrency_slot, progress, starts);
    }

    fn progress(
        &mut self,
        slot: Slot,
        concurrency_slot: ConcurrencySlot,
        progress: SendProgress,
        starts: bool,
    ) {
        if let SendProgress::Whole(at) = progress {
            if starts {
                self.scheduler.concurrency_slots.get(concurrency_slot).start = at;
            }
            self.sent(slot, at);
        }
    }

    /// Records that the last byte of the request was handed over.
    pub(super) fn sent(&mut self, slot: Slot, at: u64) {
        let connection = self.network.connections.get(slot);
        let Protocol::Serial(machine) = &connection.protocol else { return };
        let exchange = self.scheduler.concurrency_slots.get(machine.concurrency_slot());
        exchange.note_sent(at);
        if exchange.counted {
            self.recorder.count_request_bytes(connection.family, exchange.length);
        }
    }

    /// Records the kernel's time at which the request was sent. It arrives before any event of the
    /// response.
    pub(super) fn left(&mut self, slot: Slot, at: u64) {
        let connection = self.network.connections.get(slot);
        let Protocol::Serial(machine) = &connection.protocol else { return };
        if connection.in_flight == 0 {
            return;
        }
        let exchange = self.scheduler.concurrency_slots.get(machine.concurrency_slot());
        if exchange.phase == FailurePhase::Wait {
            exchange.sent = at;
        }
    }

    pub(super) fn received(&mut self, slot: Slot, at: u64, count: usize) {
        let connection = self.network.connections.get(slot);
        let Protocol::Serial(machine) = &connection.protocol else { return };
        if self.scheduler.concurrency_slots.get(machine.concurrency_slot()).counted {
            self.recorder.count_response_bytes(connection.family, count as u64);
        }
        self.read_serial(slot, at, None);
    }

    /// Reads the given bytes, or those that the driver received.
    pub(super) fn read_serial(&mut self, slot: Slot, at: u64, bytes: Option<&[u8]>) {
        let connection = self.network.connections.get(slot);
        if connection.in_flight == 0 {
            return self.unsolicited(slot);
        }
        let direct = connection.send_buffer.is_none();
        let Protocol::Serial(machine) = &mut connection.protocol else { return };
        let concurrency_slot = machine.concurrency_slot();
        let exchange = self.scheduler.concurrency_slots.get(concurrency_slot);
        let late = self.late.map(Lateness::of_first);
        exchange.note_first(at, late, self.first_arrival);
        let bytes = bytes.unwrap_or_else(|| self.network.driver.bytes());
        let (fed, kept) = match &mut self.requests.notes {
            None => {
                let fields = self.recorder.fields_to_sample(connection.family, exchange.counted);
                let mut sampler = fields.map(FieldSampler::new);
                let visitor = sampler.as_mut().map(|of| of as &mut dyn ResponseVisitor);
                (machine.read(bytes, &mut self.memory, visitor), false)
            }
            Some(notes) => {
                let (prepared, endpoint) = (self.prepared, connection.endpoint);
                let which =
                    ExchangeKey { prepared, endpoint, concurrency_slot, request: exchange.request };
                let (sees, mut look) = (which.sees(), NoteTaker { notes, which });
                let visitor = sees.anything().then_some(&mut look as &mut dyn ResponseVisitor);
                (machine.read(bytes, &mut self.memory, visitor), sees.content)
            }
        };
        if machine.interims() > 0 {
            exchange.note_interims(machine.interims(), machine.goes_on(), at, late);
        }
        match fed {
            Ok(fed) => match fed.complete {
                Some(complete) => {
                    let more = fed.consumed < bytes.len();
                    self.complete(slot, concurrency_slot, at, complete, more);
                }
                None if direct && !kept => {
                    self.network.driver.drop_next(slot, machine.discardable());
                }
                None => {}
            },
            Err(violation) => self.close_for_violation(slot, violation),
        }
    }

    pub(super) fn dropped(&mut self, slot: Slot, at: u64, count: u64) {
        let connection = self.network.connections.get(slot);
        let Protocol::Serial(machine) = &mut connection.protocol else { return };
        let concurrency_slot = machine.concurrency_slot();
        if self.scheduler.concurrency_slots.get(concurrency_slot).counted {
            self.recorder.count_response_bytes(connection.family, count);
        }
        if let Some(complete) = machine.discarded(count) {
            self.complete(slot, concurrency_slot, at, complete, false);
        }
    }

    /// Handles a complete response. `more` means that bytes followed it.
    fn complete(
        &mut self,
        slot: Slot,
        concurrency_slot: ConcurrencySlot,
        at: u64,
        complete: Complete,
        more: bool,
    ) {
        // If the request was not sent completely, the connection can't be reused.
        let whole =
            self.scheduler.concurrency_slots.get(concurrency_slot).phase != FailurePhase::Send;
        self.conclude(slot, concurrency_slot, at, complete);
        let connection = self.network.connections.get(slot);
        let last = is_last(&self.prepared.plan.connection, connection.requests);
        if more {
            self.recorder.unsolicited(connection);
        }
        connection.retiring = !complete.keep_alive || last || !whole || more;
        let retiring = connection.retiring;
        self.network.connections.part(slot);
        match retiring {
            false => {}
            true if whole => self.close(slot, self.network.usual_close()),
            true => self.close(slot, Close::Reset),
        }
    }

    /// Handles the peer's FIN during an exchange; `announced` means that TLS announced it
    /// (close_notify).
    pub(super) fn ended(&mut self, slot: Slot, at: u64, announced: bool) {
        if self.resend(slot) {
            return;
        }
        let connection = self.network.connections.get(slot);
        let secure = connection.send_buffer.as_ref().is_some_and(|buffer| buffer.tls.is_some());
        match (connection.state, &mut connection.protocol) {
            _ if connection.in_flight == 0 => self.close(slot, Close::Orderly),
            (State::Opening(FailurePhase::Tls), _) => self.fail(slot, Outcome::Tls),
            (_, Protocol::Multiplexed(_)) => self.fail(slot, Outcome::Truncated),
            // Only TLS itself can reliably announce the end (RFC 9112, 9.8).
            (_, Protocol::Serial(_)) if secure && !announced => self.fail(slot, Outcome::Truncated),
            (_, Protocol::Serial(machine)) => {
                let concurrency_slot = machine.concurrency_slot();
                match machine.finish() {
                    Ok(complete) => {
                        // The kernel gives no timestamp for the end of a connection.
                        self.recorder.note_missing_timestamp();
                        self.complete(slot, concurrency_slot, at, complete, false);
                    }
                    Err(_) => self.fail(slot, Outcome::Truncated),
                }
            }
        }
    }

    fn fail(&mut self, slot: Slot, outcome: Outcome) {
        self.break_off(slot, Failure::new(outcome, FailurePhase::Connect));
    }
}

/// Returns true if request number `number` of a connection is its last.
pub(super) fn is_last(connection: &plan::Connection, number: u32) -> bool {
    !connection.keep_alive || connection.requests.is_some_and(|most| number >= most.get())
}
