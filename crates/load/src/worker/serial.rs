//! Exchanges that follow one another on a connection.

use sixmark_http::http1::{Complete, Sight};
use sixmark_model::clocks::Timestamps;
use sixmark_model::outcome::{Failure, Outcome, Phase};
use sixmark_model::plan;
use sixmark_sys::driver::{Close, Driver, Handed, Message, Slot};

use super::Worker;
use crate::connection::State;
use crate::notes::{Look, Which};
use crate::places::Place;
use crate::prepare::MessageForm;
use crate::protocol::Protocol;

impl<D: Driver> Worker<'_, D> {
    /// Sends the request of the exchange on a connection.
    pub(super) fn send(&mut self, slot: Slot, starts: bool) {
        let connection = self.connections.get(slot);
        let last = is_last(&self.prepared.plan.connection, connection.requests);
        let endpoint = &self.prepared.endpoints[connection.endpoint];
        let Protocol::Serial(machine) = &mut connection.protocol else { return };
        let place = machine.place();
        let requests = &endpoint.requests[self.places.get(place).request as usize];
        machine.begin(requests.kind);
        match requests.message(last) {
            MessageForm::Constant(message) if self.notes.is_none() => {
                self.hand_over(slot, place, message, starts);
            }
            form => self.make_and_send(slot, place, form, last, starts),
        }
    }

    /// Sends a message, which is the request of the exchange in `place`.
    pub(super) fn hand_over(&mut self, slot: Slot, place: Place, message: &Message, starts: bool) {
        let exchange = self.places.get(place);
        exchange.length = message.length() as u64;
        if let Some(outlet) = &mut self.connections.get(slot).outlet {
            outlet.message = Some((message.clone(), 0));
            if starts {
                exchange.start = self.driver.now();
            }
            return self.touch(slot);
        }
        if let Handed::Whole(at) = self.driver.send(slot, message) {
            if starts {
                exchange.start = at;
            }
            self.sent(slot, at);
        }
    }

    /// The request's last byte was handed over.
    pub(super) fn sent(&mut self, slot: Slot, at: u64) {
        let connection = self.connections.get(slot);
        let Protocol::Serial(machine) = &connection.protocol else { return };
        let exchange = self.places.get(machine.place());
        exchange.note_sent(at);
        if exchange.counted {
            self.record.tally[connection.family].bytes.sent += exchange.length;
        }
    }

    /// When the request really left, told before anything of its response.
    pub(super) fn left(&mut self, slot: Slot, at: u64) {
        let connection = self.connections.get(slot);
        let Protocol::Serial(machine) = &connection.protocol else { return };
        if connection.in_flight == 0 {
            return;
        }
        let exchange = self.places.get(machine.place());
        if exchange.phase == Phase::Wait {
            exchange.sent = at;
        }
    }

    pub(super) fn received(&mut self, slot: Slot, at: u64, count: usize) {
        let connection = self.connections.get(slot);
        let Protocol::Serial(machine) = &connection.protocol else { return };
        if self.places.get(machine.place()).counted {
            self.record.tally[connection.family].bytes.received += count as u64;
        }
        self.read_serial(slot, at, None);
    }

    /// Reads the bytes given, or those that the driver told of.
    pub(super) fn read_serial(&mut self, slot: Slot, at: u64, bytes: Option<&[u8]>) {
        let connection = self.connections.get(slot);
        if connection.in_flight == 0 {
            return self.unsolicited(slot);
        }
        let direct = connection.outlet.is_none();
        let Protocol::Serial(machine) = &mut connection.protocol else { return };
        let place = machine.place();
        let exchange = self.places.get(place);
        exchange.note_first(at);
        let bytes = bytes.unwrap_or_else(|| self.driver.bytes());
        let (fed, kept) = match &mut self.notes {
            None => (machine.read(bytes, &mut self.memory, None), false),
            Some(notes) => {
                let (prepared, endpoint) = (self.prepared, connection.endpoint);
                let which = Which { prepared, endpoint, place, request: exchange.request };
                let (sees, mut look) = (which.sees(), Look { notes, which });
                let sight = sees.anything().then_some(&mut look as &mut dyn Sight);
                (machine.read(bytes, &mut self.memory, sight), sees.content)
            }
        };
        match fed {
            Ok(fed) => match fed.complete {
                Some(complete) => {
                    let more = fed.consumed < bytes.len();
                    self.complete(slot, place, at, complete, more);
                }
                None if direct && !kept => self.driver.drop_next(slot, machine.discardable()),
                None => {}
            },
            Err(breach) => self.break_for_breach(slot, breach),
        }
    }

    pub(super) fn dropped(&mut self, slot: Slot, at: u64, count: u64) {
        let connection = self.connections.get(slot);
        let Protocol::Serial(machine) = &mut connection.protocol else { return };
        let place = machine.place();
        if self.places.get(place).counted {
            self.record.tally[connection.family].bytes.received += count;
        }
        if let Some(complete) = machine.discarded(count) {
            self.complete(slot, place, at, complete, false);
        }
    }

    /// A complete response is here; `more` says that bytes came after it.
    fn complete(&mut self, slot: Slot, place: Place, at: u64, complete: Complete, more: bool) {
        // A request that was not sent whole leaves the connection in the middle of it.
        let whole = self.places.get(place).phase != Phase::Send;
        self.conclude(slot, place, at, complete);
        let connection = self.connections.get(slot);
        let last = is_last(&self.prepared.plan.connection, connection.requests);
        if more && connection.counted {
            self.record.tally[connection.family].connections.unsolicited += 1;
        }
        connection.retiring = !complete.keep_alive || last || !whole || more;
        let retiring = connection.retiring;
        self.connections.part(slot);
        match retiring {
            false => {}
            true if whole => self.close(slot, self.usual_close()),
            true => self.close(slot, Close::Reset),
        }
    }

    /// The peer sent its FIN in the middle of an exchange, or `announced` that no more comes as TLS
    /// has it.
    pub(super) fn ended(&mut self, slot: Slot, at: u64, announced: bool) {
        let connection = self.connections.get(slot);
        let secure = connection.outlet.as_ref().is_some_and(|outlet| outlet.tls.is_some());
        match (connection.state, &mut connection.protocol) {
            _ if connection.in_flight == 0 => self.close(slot, Close::Orderly),
            (State::Opening(Phase::Tls), _) => self.fail(slot, Outcome::Tls),
            (_, Protocol::Multiplexed(_)) => self.fail(slot, Outcome::Truncated),
            // Only what TLS says of the end can be believed (RFC 9112, 9.8).
            (_, Protocol::Serial(_)) if secure && !announced => self.fail(slot, Outcome::Truncated),
            (_, Protocol::Serial(machine)) => {
                let place = machine.place();
                match machine.finish() {
                    Ok(complete) => {
                        // No end has a stamp of the kernel's.
                        let kernel = self.prepared.plan.load.timestamps == Timestamps::Kernel;
                        self.record.clocks.missing += u64::from(kernel);
                        self.complete(slot, place, at, complete, false);
                    }
                    Err(_) => self.fail(slot, Outcome::Truncated),
                }
            }
        }
    }

    fn fail(&mut self, slot: Slot, outcome: Outcome) {
        self.break_off(slot, Failure::new(outcome, Phase::Connect));
    }
}

/// True where request number `number` of a connection is its last.
pub(super) fn is_last(connection: &plan::Connection, number: u32) -> bool {
    !connection.keep_alive || connection.requests.is_some_and(|most| number >= most.get())
}
