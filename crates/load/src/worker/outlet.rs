//! How bytes leave that are made anew each time: gathered while events are dealt with, so that what
//! belongs together is encrypted and sent together.

use sixmark_sys::driver::{Driver, Handed, Slot};

use super::Worker;
use crate::connection::{Connection, State};
use crate::tls::{Failure, Room};

impl<D: Driver> Worker<'_, D> {
    /// Notes that a connection may have something to send.
    pub(super) fn touch(&mut self, slot: Slot) {
        if let Some(outlet) = &mut self.connections.get(slot).outlet
            && !std::mem::replace(&mut outlet.touched, true)
        {
            self.touched.push(slot);
        }
    }

    /// Sends what has gathered.
    pub(super) fn flush_touched(&mut self) {
        while let Some(slot) = self.touched.pop() {
            self.flush(slot);
        }
    }

    /// Sends what has gathered on one connection, as far as the driver takes it.
    pub(super) fn flush(&mut self, slot: Slot) {
        if self.quic.is_some() {
            return self.flush_quic(slot);
        }
        while let Some(at) = self.pass(slot) {
            self.passed(slot, at);
        }
    }

    /// Hands over what there is: when that was, where it could be done at once.
    fn pass(&mut self, slot: Slot) -> Option<u64> {
        let connection = self.connections.get(slot);
        let family = connection.family;
        let outlet = connection.outlet.as_mut()?;
        outlet.touched = false;
        if outlet.busy {
            return None;
        }
        if let Err(failure) = fill(connection, &mut self.room) {
            self.broken_tls(slot, &failure);
            return None;
        }
        let outlet = connection.outlet.as_mut().filter(|outlet| !outlet.bytes.is_empty())?;
        if self.driver.woke() >= self.measure_from {
            self.record.tally[family].bytes.sent += outlet.bytes.len() as u64;
        }
        match self.driver.pass(slot, &mut outlet.bytes) {
            Handed::Whole(at) => Some(at),
            Handed::Later => {
                outlet.busy = true;
                None
            }
        }
    }

    /// Makes all that there is ready to be sent.
    pub(super) fn gather_all(&mut self, slot: Slot) {
        // A connection that is closed anyway is not worth a failure.
        let _ = fill(self.connections.get(slot), &mut self.room);
    }

    /// The driver has the last of the bytes handed over.
    pub(super) fn passed(&mut self, slot: Slot, at: u64) {
        let Some(outlet) = &mut self.connections.get(slot).outlet else { return };
        outlet.busy = false;
        for place in outlet.leaving.drain(..) {
            self.places.get(place).note_sent(at);
        }
    }
}

/// Makes the bytes that are to be handed over.
fn fill(connection: &mut Connection, room: &mut Room) -> Result<(), Failure> {
    let ready = connection.state == State::Open;
    let Some(outlet) = &mut connection.outlet else { return Ok(()) };
    connection.protocol.fill(outlet, ready, room)
}
