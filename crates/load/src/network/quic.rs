//! QUIC connections: their datagrams, timers and ends.

use bytes::Bytes;
use quinn_proto::{Event, VarInt};
use sixmark_sys::driver::{Driver, SendProgress, Slot};
use sixmark_tally::outcome::FailurePhase;
use sixmark_tally::tls::{Cause, Facts};

use super::Network;
use super::secure::agrees;
use crate::connection::State;
use crate::quic::{QuicLink, TOGETHER, ending};
use crate::recorder::Recorder;
use crate::scheduler::ConcurrencySlots;
use crate::tls::Agreed;

impl<D: Driver> Network<'_, D> {
    /// Creates a QUIC connection to an endpoint, which has sent nothing yet. `None` if the protocol
    /// is not over QUIC or the connection can't be created.
    pub(super) fn begin_quic(&mut self, endpoint: usize, now: u64) -> Option<QuicLink> {
        let quic = self.quic.as_mut()?;
        let target = &self.prepared.endpoints[endpoint];
        let start = self.tls.as_mut()?.quic(endpoint)?;
        quic.connect(&start, target.family, target.address, now).ok()
    }

    /// Begins the handshake, once the socket exists. Returns false if QUIC could not begin.
    pub(crate) fn begin_quic_handshake(&mut self, slot: Slot) -> bool {
        let connection = self.connections.get(slot);
        connection.state = State::Opening(FailurePhase::Tls);
        if connection.protocol.link().is_none() {
            return false;
        }
        connection.send_buffer.get_or_insert_default();
        self.touch(slot);
        true
    }

    /// Processes the datagrams that the driver received, each `segment` bytes long except the last.
    /// Returns false if the connection is not of QUIC.
    pub(crate) fn take_datagrams(
        &mut self,
        slot: Slot,
        (at, ecn): (u64, u8),
        segment: usize,
        recorder: &mut Recorder,
    ) -> bool {
        let connection = self.connections.get(slot);
        let bytes = self.driver.bytes();
        recorder.datagrams_received(connection.family, bytes.len(), segment, at);
        if let Some(buffer) = &mut connection.send_buffer {
            buffer.heard = at;
        }
        let (Some(link), Some(quic)) = (connection.protocol.link(), &mut self.quic) else {
            return false;
        };
        for datagram in bytes.chunks(segment) {
            quic.take(link, datagram, (at, ecn));
        }
        true
    }

    /// Returns when the earliest timer of a connection expires.
    pub(crate) fn next_timer(&self) -> Option<u64> {
        Some(self.quic.as_ref()?.next_timer()?.0)
    }

    /// Handles the earliest timer if it has expired by `now`, and returns its connection.
    pub(crate) fn wake_quic(&mut self, now: u64) -> Option<Slot> {
        let quic = self.quic.as_mut()?;
        let (_, slot) = quic.next_timer().filter(|&(at, _)| at <= now)?;
        quic.wake(slot, self.connections.get(slot).protocol.link()?, now);
        Some(slot)
    }

    /// Returns the next event of a connection. `None` if there is none or it is closed.
    pub(crate) fn next_event(&mut self, slot: Slot) -> Option<Event> {
        let link = self.connections.get(slot).protocol.link()?;
        self.quic.as_mut()?.next_event(link)
    }

    /// Opens the streams of a connection whose handshake has finished. Returns what the handshake
    /// negotiated, if that is known.
    pub(crate) fn open_quic(&mut self, slot: Slot) -> Option<Facts> {
        let streams = self.connections.get(slot).protocol.streams()?;
        streams.open();
        let link = streams.link()?;
        Agreed::of(&link.connection)?.facts(link.offered, &mut self.room)
    }

    /// Returns true if the handshake negotiated the version of HTTP to be used.
    pub(crate) fn fits_quic(&self, facts: &Facts) -> bool {
        let plan = &self.prepared.plan;
        let mut offered = plan.tls.iter().flat_map(|tls| &tls.alpn);
        let chosen = facts.alpn.and_then(|number| offered.nth(number.into()));
        agrees(plan.http.version, chosen.map(String::as_bytes))
    }

    /// Returns why the handshake failed, if this side detected the failure.
    pub(crate) fn quic_cause(&mut self, slot: Slot) -> Option<Cause> {
        let link = self.connections.get(slot).protocol.link()?;
        Agreed::of(&link.connection)?.failed
    }

    /// Sends what a connection has to send, as far as the driver accepts it.
    pub(super) fn flush_quic(
        &mut self,
        slot: Slot,
        concurrency_slots: &mut ConcurrencySlots,
        recorder: &mut Recorder,
    ) {
        let connection = self.connections.get(slot);
        let (Some(link), Some(quic)) = (connection.protocol.link(), &mut self.quic) else {
            return;
        };
        let Some(buffer) = &mut connection.send_buffer else { return };
        buffer.touched = false;
        let now = quic.instant(self.driver.now());
        let mut last = None;
        while !buffer.busy {
            quic.out.clear();
            let Some(cast) = link.connection.poll_transmit(now, TOGETHER, &mut quic.out) else {
                break;
            };
            let segment = cast.segment_size.unwrap_or(cast.size);
            recorder.datagrams_sent(connection.family, cast.size, segment, self.driver.woke());
            let ecn = cast.ecn.map_or(0, |ecn| ecn as u8);
            match self.driver.cast(slot, &quic.out[..cast.size], cast.segment_size, ecn) {
                SendProgress::Whole(at) => last = Some(at),
                SendProgress::Later => buffer.busy = true,
            }
        }
        quic.set_timer(slot, link);
        let busy = buffer.busy;
        self.gather_all(slot);
        if let Some(at) = last.filter(|_| !busy) {
            self.passed(slot, at, concurrency_slots);
        }
    }

    /// Closes a QUIC connection. The peer is told, and no answer is awaited.
    pub(super) fn close_quic(&mut self, slot: Slot, recorder: &mut Recorder) {
        let dropped = self.driver.drops(slot);
        let connection = self.connections.get(slot);
        let (Some(link), Some(quic)) = (connection.protocol.link(), &mut self.quic) else {
            return;
        };
        if connection.counted || connection.carries {
            let ended = ending(&link.connection, dropped);
            recorder.count_quic_end(
                connection.family,
                &ended,
                connection.counted,
                connection.carries,
            );
        }
        let (now, code) = (quic.instant(self.driver.now()), VarInt::from_u64(link.close_by));
        link.connection.close(now, code.unwrap_or_default(), Bytes::new());
        let busy = connection.send_buffer.as_ref().is_none_or(|buffer| buffer.busy);
        quic.out.clear();
        if !busy && let Some(cast) = link.connection.poll_transmit(now, 1, &mut quic.out) {
            self.driver.cast(slot, &quic.out[..cast.size], None, 0);
            recorder.datagrams_sent(connection.family, cast.size, cast.size, self.driver.woke());
        }
        quic.forget(slot, link);
    }
}
