//! Sending bytes that are generated anew each time. They are gathered while events are processed,
//! so that what belongs together is encrypted and sent together.

use sixmark_sys::driver::{Driver, SendProgress, Slot};

use super::Network;
use crate::connection::{Connection, State};
use crate::recorder::Recorder;
use crate::scheduler::ConcurrencySlots;
use crate::tls::{Failure, Room};

impl<D: Driver> Network<'_, D> {
    /// Sends the gathered bytes of one connection, as far as the driver accepts them. Fails if TLS
    /// does.
    pub(crate) fn flush(
        &mut self,
        slot: Slot,
        concurrency_slots: &mut ConcurrencySlots,
        recorder: &mut Recorder,
    ) -> Result<(), Failure> {
        if self.is_over_quic() {
            self.flush_quic(slot, concurrency_slots, recorder);
            return Ok(());
        }
        while let Some(at) = self.pass(slot, recorder)? {
            self.passed(slot, at, concurrency_slots);
        }
        Ok(())
    }

    /// Hands the gathered bytes to the driver. Returns the time if that was complete at once.
    fn pass(&mut self, slot: Slot, recorder: &mut Recorder) -> Result<Option<u64>, Failure> {
        let connection = self.connections.get(slot);
        let family = connection.family;
        let Some(buffer) = &mut connection.send_buffer else { return Ok(None) };
        buffer.touched = false;
        if buffer.busy {
            return Ok(None);
        }
        fill(connection, &mut self.room)?;
        let Some(buffer) =
            connection.send_buffer.as_mut().filter(|buffer| !buffer.bytes.is_empty())
        else {
            return Ok(None);
        };
        recorder.bytes_sent(family, buffer.bytes.len(), self.driver.woke());
        match self.driver.pass(slot, &mut buffer.bytes) {
            SendProgress::Whole(at) => Ok(Some(at)),
            SendProgress::Later => {
                buffer.busy = true;
                Ok(None)
            }
        }
    }

    /// Encodes everything that is ready to be sent.
    pub(super) fn gather_all(&mut self, slot: Slot) {
        // An error is ignored: the connection is closed in any case.
        let _ = fill(self.connections.get(slot), &mut self.room);
    }

    /// Records that the driver has accepted the last of the bytes, at `at`.
    pub(crate) fn passed(&mut self, slot: Slot, at: u64, concurrency_slots: &mut ConcurrencySlots) {
        let Some(buffer) = &mut self.connections.get(slot).send_buffer else { return };
        buffer.busy = false;
        for concurrency_slot in buffer.leaving.drain(..) {
            concurrency_slots.get(concurrency_slot).note_sent(at);
        }
    }

    /// Sends the gathered bytes of a connection that is about to be closed, if that is possible at
    /// once.
    pub(crate) fn last_words(&mut self, slot: Slot, recorder: &mut Recorder) {
        let connection = self.connections.get(slot);
        if let Some(buffer) = &mut connection.send_buffer
            && !buffer.busy
            && !buffer.bytes.is_empty()
        {
            recorder.bytes_sent(connection.family, buffer.bytes.len(), self.driver.woke());
            self.driver.pass(slot, &mut buffer.bytes);
        }
    }
}

/// Encodes the bytes to be handed over.
fn fill(connection: &mut Connection, room: &mut Room) -> Result<(), Failure> {
    let ready = connection.state == State::Open;
    let Some(buffer) = &mut connection.send_buffer else { return Ok(()) };
    connection.protocol.fill(buffer, ready, room)
}
