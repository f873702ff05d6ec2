//! Closing connections.

use sixmark_plan::plan;
use sixmark_sys::driver::{Close, Driver, Slot};

use super::Network;
use crate::connection::State;
use crate::recorder::Recorder;

impl<D: Driver> Network<'_, D> {
    /// Returns the way in which the plan closes connections that did not fail.
    pub(crate) fn usual_close(&self) -> Close {
        match self.prepared.plan.connection.close {
            plan::Close::Fin => Close::Orderly,
            plan::Close::Rst => Close::Reset,
        }
    }

    /// Closes a connection that carries no exchanges any more.
    pub(crate) fn close(&mut self, slot: Slot, close: Close, recorder: &mut Recorder) {
        match (&self.quic, close) {
            (Some(_), _) => self.close_quic(slot, recorder),
            (None, Close::Orderly) => self.take_leave(slot, recorder),
            (None, Close::Reset) => {}
        }
        let (connection, now) = (self.connections.get(slot), self.driver.woke());
        recorder.held(connection, now);
        if connection.counted {
            recorder.closed(connection, now, close);
        }
        if (connection.counted || connection.carries)
            && self.quic.is_none()
            && recorder.asks_path(connection.family)
            && let Some(path) = self.driver.path(slot)
        {
            recorder.path(connection, &path);
        }
        self.driver.close(slot, close);
        self.connections.vacate(slot);
    }

    /// Announces the end of the connection to the peer: GOAWAY for multiplexed HTTP, close_notify
    /// for TLS.
    fn take_leave(&mut self, slot: Slot, recorder: &mut Recorder) {
        let connection = self.connections.get(slot);
        let heard = connection.send_buffer.as_ref().is_some_and(|buffer| !buffer.ended);
        if connection.state != State::Open || !heard {
            return;
        }
        if let Some(streams) = connection.protocol.streams() {
            streams.say_goodbye(None);
        }
        self.gather_all(slot);
        if let Some(buffer) = &mut self.connections.get(slot).send_buffer
            && let Some(tls) = &mut buffer.tls
        {
            tls.close(&mut buffer.bytes);
        }
        self.last_words(slot, recorder);
    }
}
