//! What happens to an exchange: from the connection or the request to its outcome.

use std::net::IpAddr;

use sixmark_core::clocks::Timestamps;
use sixmark_core::family::Family;
use sixmark_core::http1::Complete;
use sixmark_core::outcome::{Failure, Outcome, Phase};
use sixmark_core::plan;
use sixmark_sys::driver::{Close, Driver, Event, Handed, Kind, Message, Slot};

use super::Worker;
use crate::load::connection::{Connection, Exchange, State};
use crate::load::errno;
use crate::load::prepare::Prepared;

impl<D: Driver> Worker<'_, D> {
    /// Sends the request. On a connection that was idle, the exchange starts with this.
    pub(super) fn send(&mut self, slot: Slot, starts: bool) {
        let connection = self.connections.get(slot);
        connection.requests += 1;
        connection.state = State::Busy(Phase::Send);
        connection.reader.begin(self.prepared.kind);
        let request = request(self.prepared, connection);
        if let Handed::Whole(at) = self.driver.send(slot, request) {
            if starts {
                self.connections.get(slot).exchange.start = at;
            }
            self.sent(slot, at);
        }
    }

    pub(super) fn sent(&mut self, slot: Slot, at: u64) {
        let connection = self.connections.get(slot);
        // A response that has begun already was not waited for.
        let begun = connection.exchange.first.is_some();
        connection.state = State::Busy(if begun { Phase::Transfer } else { Phase::Wait });
        if !begun {
            connection.exchange.sent = at;
        }
        if connection.exchange.counted {
            let request = request(self.prepared, connection);
            self.record.tally[connection.family].bytes.sent += request.length() as u64;
        }
    }

    /// When the request really left, told before anything of its response.
    fn left(&mut self, slot: Slot, at: u64) {
        let connection = self.connections.get(slot);
        if connection.state == State::Busy(Phase::Wait) {
            connection.exchange.sent = at;
        }
    }

    pub(super) fn handle(&mut self, Event { slot, at, kind }: Event) {
        let busy = matches!(self.connections.get(slot).state, State::Busy(_));
        match kind {
            Kind::Connected(peer) => self.connected(slot, at, peer),
            Kind::Sent => self.sent(slot, at),
            Kind::Left => self.left(slot, at),
            Kind::Received(count) if busy => self.received(slot, at, count),
            Kind::Dropped(count) if busy => self.dropped(slot, at, count),
            Kind::Ended if busy => self.ended(slot, at),
            Kind::Failed(errno) if busy => self.broken(slot, errno),
            Kind::Received(_) | Kind::Datagrams { .. } | Kind::Dropped(_) => self.unsolicited(slot),
            // The server let an idle connection go: that's its right.
            Kind::Ended | Kind::Failed(_) => self.close(slot, Close::Orderly),
        }
    }

    pub(super) fn connected(&mut self, slot: Slot, at: u64, peer: IpAddr) {
        if self.established == 0 {
            self.prepared.hope.reach();
        }
        self.established += 1;
        let counted = at >= self.measure_from || self.opening.is_some();
        let connection = self.connections.get(slot);
        connection.connected = at;
        connection.counted = counted;
        let (expected, found) = (connection.family, Family::of(peer));
        connection.family = found;
        if counted {
            self.record.connected(connection);
        }
        if expected != found && connection.exchange.counted {
            self.record.moved(expected);
        }
        match self.opening {
            Some(_) => self.opened(slot),
            None => self.send(slot, false),
        }
    }

    pub(super) fn received(&mut self, slot: Slot, at: u64, count: usize) {
        let connection = self.connections.get(slot);
        note_first(&mut connection.state, &mut connection.exchange, at);
        if connection.exchange.counted {
            self.record.tally[connection.family].bytes.received += count as u64;
        }
        match connection.reader.feed_knowing(self.driver.bytes(), &mut self.known) {
            Ok(fed) => match fed.complete {
                Some(complete) => self.complete(slot, at, complete, fed.consumed < count),
                None => self.driver.drop_next(slot, connection.reader.discardable()),
            },
            Err(_) => self.fail(slot, Outcome::Protocol, None),
        }
    }

    pub(super) fn dropped(&mut self, slot: Slot, at: u64, count: u64) {
        let connection = self.connections.get(slot);
        if connection.exchange.counted {
            self.record.tally[connection.family].bytes.received += count;
        }
        if let Some(complete) = connection.reader.discarded(count) {
            self.complete(slot, at, complete, false);
        }
    }

    /// A whole response is here; `more` says that bytes came after it.
    pub(super) fn complete(&mut self, slot: Slot, at: u64, complete: Complete, more: bool) {
        let connection = self.connections.get(slot);
        let State::Busy(phase) = connection.state else { return };
        if connection.exchange.counted {
            self.record.completed(connection.family, &connection.exchange, at, complete);
            self.last_end = self.last_end.max(at);
        }
        let last = is_last(&self.prepared.plan.connection, connection.requests);
        // A request that was not sent whole leaves the connection in the middle of it.
        let whole = phase != Phase::Send;
        self.free += 1;
        if more && connection.counted {
            self.record.tally[connection.family].connections.unsolicited += 1;
        }
        match complete.keep_alive && !last && whole && !more {
            true => self.connections.rest(slot),
            false if whole => self.close(slot, self.usual_close()),
            false => self.close(slot, Close::Reset),
        }
    }

    /// The peer sent its FIN in the middle of an exchange.
    pub(super) fn ended(&mut self, slot: Slot, at: u64) {
        match self.connections.get(slot).reader.finish() {
            Ok(complete) => {
                // No end has a stamp of the kernel's.
                let kernel = self.prepared.plan.load.timestamps == Timestamps::Kernel;
                self.record.clocks.missing += u64::from(kernel);
                self.complete(slot, at, complete, false);
            }
            Err(_) => self.fail(slot, Outcome::Truncated, None),
        }
    }

    pub(super) fn broken(&mut self, slot: Slot, errno: i32) {
        let State::Busy(phase) = self.connections.get(slot).state else { return };
        self.fail(slot, errno::outcome(errno, phase), Some(errno));
    }

    /// An exchange came to no good end; its connection goes with it.
    pub(super) fn fail(&mut self, slot: Slot, outcome: Outcome, errno: Option<i32>) {
        if self.opening.is_some() {
            return self.unopened(slot);
        }
        let connection = self.connections.get(slot);
        let State::Busy(phase) = connection.state else { return };
        if connection.exchange.counted {
            let failure = Failure { outcome, phase, errno };
            self.record.failed(connection.family, &connection.exchange, failure);
            self.last_end = self.last_end.max(self.driver.woke());
        }
        match phase {
            Phase::Connect => {
                self.unestablished += 1;
                self.rest();
            }
            _ => self.free += 1,
        }
        // Where the peer ended the connection there is nothing left to reset.
        let by_peer = matches!(outcome, Outcome::Reset | Outcome::Truncated);
        self.close(slot, if by_peer { Close::Orderly } else { Close::Reset });
    }

    /// Bytes that no request asked for: whatever follows on this connection would be doubtful.
    pub(super) fn unsolicited(&mut self, slot: Slot) {
        let connection = self.connections.get(slot);
        if connection.counted {
            self.record.tally[connection.family].connections.unsolicited += 1;
        }
        self.close(slot, Close::Reset);
    }
}

/// The response's first byte ends the wait.
fn note_first(state: &mut State, exchange: &mut Exchange, at: u64) {
    if exchange.first.is_some() {
        return;
    }
    exchange.first = Some(at);
    match state {
        // A response before the request's end: there was no wait.
        State::Busy(Phase::Send) => exchange.sent = at,
        _ => *state = State::Busy(Phase::Transfer),
    }
}

/// True where request number `number` of a connection is its last.
fn is_last(connection: &plan::Connection, number: u32) -> bool {
    !connection.keep_alive || connection.requests.is_some_and(|most| number >= most.get())
}

/// What the exchange on `connection` sends.
fn request<'a>(prepared: &'a Prepared, connection: &Connection) -> &'a Message {
    let endpoint = &prepared.endpoints[connection.endpoint];
    let last = is_last(&prepared.plan.connection, connection.requests);
    if last { &endpoint.last_request } else { &endpoint.request }
}
