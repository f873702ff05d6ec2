//! Exchanges of HTTP/1.1: one after the other on a connection.

use sixmark_http::http1::{Complete, Fed, Known, Reader, Violation};
use sixmark_model::clocks::Timestamps;
use sixmark_model::outcome::{Failure, Outcome, Phase};
use sixmark_model::plan;
use sixmark_sys::driver::{Close, Driver, Handed, Message, Slot};

use super::Worker;
use crate::connection::State;
use crate::notes::{Look, Which};
use crate::places::Place;
use crate::prepare::Http1 as Form;
use crate::talk::{Http1, Talk};

impl<D: Driver> Worker<'_, D> {
    /// Sends the request of the exchange on a connection.
    pub(super) fn send(&mut self, slot: Slot, starts: bool) {
        let connection = self.connections.get(slot);
        let last = is_last(&self.prepared.plan.connection, connection.requests);
        let endpoint = &self.prepared.endpoints[connection.endpoint];
        let Talk::Http1(talk) = &mut connection.talk else { return };
        let place = talk.place;
        let requests = &endpoint.requests[self.places.get(place).request as usize];
        talk.reader.begin(requests.kind);
        match requests.http1(last) {
            Form::Constant(message) if self.notes.is_none() => {
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
        let Talk::Http1(talk) = &connection.talk else { return };
        let exchange = self.places.get(talk.place);
        exchange.note_sent(at);
        if exchange.counted {
            self.record.tally[connection.family].bytes.sent += exchange.length;
        }
    }

    /// When the request really left, told before anything of its response.
    pub(super) fn left(&mut self, slot: Slot, at: u64) {
        let connection = self.connections.get(slot);
        let Talk::Http1(talk) = &connection.talk else { return };
        if connection.in_flight == 0 {
            return;
        }
        let exchange = self.places.get(talk.place);
        if exchange.phase == Phase::Wait {
            exchange.sent = at;
        }
    }

    pub(super) fn received(&mut self, slot: Slot, at: u64, count: usize) {
        let connection = self.connections.get(slot);
        let Talk::Http1(talk) = &connection.talk else { return };
        if self.places.get(talk.place).counted {
            self.record.tally[connection.family].bytes.received += count as u64;
        }
        self.read_http1(slot, at, None);
    }

    /// Reads the bytes given, or those that the driver told of.
    pub(super) fn read_http1(&mut self, slot: Slot, at: u64, bytes: Option<&[u8]>) {
        let connection = self.connections.get(slot);
        if connection.in_flight == 0 {
            return self.unsolicited(slot);
        }
        let direct = connection.outlet.is_none();
        let Talk::Http1(Http1 { reader, place }) = &mut connection.talk else { return };
        let place = *place;
        let exchange = self.places.get(place);
        exchange.note_first(at);
        let bytes = bytes.unwrap_or_else(|| self.driver.bytes());
        let (fed, kept) = match &mut self.notes {
            None => (reader.feed_knowing(bytes, &mut self.known), false),
            Some(notes) => {
                let (prepared, endpoint) = (self.prepared, connection.endpoint);
                let which = Which { prepared, endpoint, place, request: exchange.request };
                (look(reader, bytes, &mut self.known, Look { notes, which }), which.sees().content)
            }
        };
        match fed {
            Ok(fed) => match fed.complete {
                Some(complete) => {
                    let more = fed.consumed < bytes.len();
                    self.complete(slot, place, at, complete, more);
                }
                None if direct && !kept => self.driver.drop_next(slot, reader.discardable()),
                None => {}
            },
            Err(violation) => {
                self.record.breach = Some(violation.text());
                self.break_off(slot, Failure::violation(violation.is_own_limit(), Phase::Connect));
                self.record.breach = None;
            }
        }
    }

    pub(super) fn dropped(&mut self, slot: Slot, at: u64, count: u64) {
        let connection = self.connections.get(slot);
        let Talk::Http1(Http1 { reader, place }) = &mut connection.talk else { return };
        let place = *place;
        if self.places.get(place).counted {
            self.record.tally[connection.family].bytes.received += count;
        }
        if let Some(complete) = reader.discarded(count) {
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
        match (connection.state, &mut connection.talk) {
            _ if connection.in_flight == 0 => self.close(slot, Close::Orderly),
            (State::Opening(Phase::Tls), _) => self.fail(slot, Outcome::Tls),
            (_, Talk::Http2(_) | Talk::Http3(_)) => self.fail(slot, Outcome::Truncated),
            // Only what TLS says of the end can be believed (RFC 9112, 9.8).
            (_, Talk::Http1(_)) if secure && !announced => self.fail(slot, Outcome::Truncated),
            (_, Talk::Http1(Http1 { reader, place })) => {
                let place = *place;
                match reader.finish() {
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

/// Feeds a response, showing what has to be seen of it.
fn look(
    reader: &mut Reader,
    bytes: &[u8],
    known: &mut Known,
    mut look: Look<'_>,
) -> Result<Fed, Violation> {
    match look.which.sees().anything() {
        true => reader.feed_seeing(bytes, known, &mut look),
        false => reader.feed_knowing(bytes, known),
    }
}
