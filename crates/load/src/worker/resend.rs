//! Requests that are sent again, because the server had closed a kept connection before it
//! answered.
//!
//! A server may close an idle connection at any time, also while a request is on its way to it.
//! Then a client may send the request again if its method is idempotent (RFC 9110, 9.2.2; RFC 9112,
//! 9.3.1), and browsers do: their users see no failure. HTTP/2 and HTTP/3 have GOAWAY for this.

use sixmark_sys::driver::{Close, Driver, Slot};

use super::Worker;
use crate::connection::State;
use crate::exchange::ConcurrencySlot;
use crate::protocol::Protocol;

impl<D: Driver> Worker<'_, D> {
    /// Sends the request on a connection that the server has ended again, on a new connection, if
    /// it may be. Returns true if it was. This happens once for each exchange, whose time goes on.
    pub(super) fn resend(&mut self, slot: Slot) -> bool {
        let connection = self.network.connections.get(slot);
        let (family, endpoint) = connection.counted_at();
        let Protocol::Serial(machine) = &connection.protocol else { return false };
        let (concurrency_slot, waits) = (machine.concurrency_slot(), connection.in_flight > 0);
        if !waits || !self.may_resend(slot, concurrency_slot) {
            return false;
        }
        let exchange = self.scheduler.concurrency_slots.get(concurrency_slot);
        if exchange.tries > 0 || exchange.has_response() {
            return false;
        }
        exchange.tries += 1;
        exchange.start_over();
        if exchange.counted {
            self.recorder.count_resent(family);
        }
        self.network.connections.get(slot).retiring = true;
        self.network.connections.part(slot);
        self.close(slot, Close::Orderly);
        // Another kept connection may have been closed as well.
        self.make_room();
        let now = self.network.driver.now();
        let new = self.connect(endpoint, now);
        self.put_on(new, concurrency_slot, false);
        self.note_move(concurrency_slot, family);
        true
    }

    /// Returns true if the request of an exchange may be sent again, should its connection end
    /// without a byte of the response.
    pub(super) fn may_resend(&mut self, slot: Slot, concurrency_slot: ConcurrencySlot) -> bool {
        let connection = self.network.connections.get(slot);
        // The server has closed a connection that served before, rather than refused this request.
        let kept = connection.requests > 1 && connection.state == State::Open;
        if !kept || !self.prepared.plan.connection.resend {
            return false;
        }
        let which = self.which(slot, concurrency_slot);
        self.requests.is_idempotent(&which)
    }
}
