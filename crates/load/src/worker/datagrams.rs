//! Connections of QUIC: their datagrams, handshakes, timers and ends.

use bytes::{Bytes, BytesMut};
use quinn_proto::{ConnectionError, Event, TransportErrorCode, VarInt};
use sixmark_model::outcome::{Failure, Outcome, Phase};
use sixmark_model::tls::{Cause, Facts, Reason};
use sixmark_sys::driver::{Driver, Handed, Slot};

use super::Worker;
use super::secure::agrees;
use crate::connection::State;
use crate::quic::{QuicLink, TOGETHER, ending};
use crate::tls::Agreed;

/// The error codes of QUIC that hold a TLS alert (RFC 9000, 20.1).
const CRYPTO: std::ops::RangeInclusive<u64> = 0x100..=0x1ff;

impl<D: Driver> Worker<'_, D> {
    /// A connection of QUIC to an endpoint, which has sent nothing yet.
    pub(super) fn begin_quic(&mut self, endpoint: usize, now: u64) -> Option<QuicLink> {
        let quic = self.quic.as_mut()?;
        let target = &self.prepared.endpoints[endpoint];
        let start = self.tls.as_mut()?.quic(endpoint)?;
        quic.connect(&start, target.family, target.address, now).ok()
    }

    /// Its socket is there.
    pub(super) fn shake_hands_quic(&mut self, slot: Slot) {
        let connection = self.connections.get(slot);
        connection.state = State::Opening(Phase::Tls);
        if connection.protocol.link().is_none() {
            return self.break_off(slot, Failure::new(Outcome::Local, Phase::Tls));
        }
        connection.outlet.get_or_insert_default();
        self.touch(slot);
    }

    /// Datagrams came, cut by `segment`.
    pub(super) fn datagrams(&mut self, slot: Slot, at: u64, segment: usize, ecn: u8) {
        let connection = self.connections.get(slot);
        let mut came = BytesMut::from(self.driver.bytes());
        if at >= self.measure_from {
            self.record.tally[connection.family].bytes.received += came.len() as u64;
        }
        if let Some(outlet) = &mut connection.outlet {
            outlet.heard = at;
        }
        let (Some(link), Some(quic)) = (connection.protocol.link(), &mut self.quic) else {
            return self.unsolicited(slot);
        };
        while !came.is_empty() {
            let one = came.split_to(segment.min(came.len()));
            quic.take(link, one, (at, ecn));
        }
        self.attend(slot, at);
    }

    /// Does what connections of QUIC want done by the clock.
    pub(super) fn wake_quic(&mut self, now: u64) {
        let due = |worker: &Self| {
            worker.quic.as_ref()?.next_timer().filter(|&(at, _)| at <= now).map(|(_, slot)| slot)
        };
        while let Some(slot) = due(self) {
            let Some(quic) = &mut self.quic else { return };
            let Some(link) = self.connections.get(slot).protocol.link() else { return };
            quic.wake(slot, link, now);
            self.attend(slot, now);
        }
        self.follow_on();
        self.flush_touched();
    }

    /// Deals with what a connection has to tell.
    fn attend(&mut self, slot: Slot, at: u64) {
        while let Some(event) = self.next_of_quic(slot) {
            match event {
                Event::Connected => self.shook_hands_quic(slot, at),
                Event::ConnectionLost { reason } => return self.lost_quic(slot, &reason),
                Event::Stream(event) => self.attend_stream(slot, at, event),
                _ => {}
            }
        }
        if self.connections.get(slot).state == State::Open {
            self.go_on(slot);
        }
        self.touch(slot);
    }

    /// What a connection tells next; nothing once it is closed.
    fn next_of_quic(&mut self, slot: Slot) -> Option<Event> {
        let link = self.connections.get(slot).protocol.link()?;
        self.quic.as_mut()?.next_event(link)
    }

    /// The handshake is over.
    fn shook_hands_quic(&mut self, slot: Slot, at: u64) {
        let counted = at >= self.measure_from || self.opening.is_some();
        let over = self.driver.now();
        let connection = self.connections.get(slot);
        connection.counted = counted;
        let Some(streams) = connection.protocol.streams() else { return };
        streams.open();
        let Some(link) = streams.link() else { return };
        let agreed = Agreed::of(&link.connection);
        let facts = agreed.and_then(|agreed| agreed.facts(link.offered, &mut self.room));
        if counted {
            let (family, since) = (connection.family, connection.connected);
            self.record.tally[family].connections.opened += 1;
            facts.iter().for_each(|facts| self.record.shook_hands(family, facts, [since, over]));
        }
        match facts.is_some_and(|facts| self.agreed_on_version(&facts)) {
            true => self.established(slot),
            false => self.give_up(slot, Failure::new(Outcome::Protocol, Phase::Tls)),
        }
    }

    fn agreed_on_version(&self, facts: &Facts) -> bool {
        let mut offered = self.prepared.plan.tls.iter().flat_map(|tls| &tls.alpn);
        let chosen = facts.alpn.and_then(|number| offered.nth(number.into()));
        agrees(self.prepared.plan.http.version, chosen.map(String::as_bytes))
    }

    /// The connection is no more, by whomever.
    fn lost_quic(&mut self, slot: Slot, reason: &ConnectionError) {
        let connection = self.connections.get(slot);
        if connection.in_flight == 0 {
            // The server let an idle connection go: that's its right.
            return self.close(slot, self.usual_close());
        }
        let counted = self.driver.woke() >= self.measure_from;
        if counted && matches!(reason, ConnectionError::VersionMismatch) {
            self.record.tally[connection.family].quic.mismatched += 1;
        }
        let (outcome, code) = outcome(reason);
        if outcome == Outcome::Tls && counted {
            let Some(link) = connection.protocol.link() else { return };
            let failed = Agreed::of(&link.connection).and_then(|agreed| agreed.failed);
            let alert = code.and_then(|code| u8::try_from(code).ok());
            let cause = failed.unwrap_or(Cause { reason: Reason::Alert, alert });
            let tally = &mut self.record.tally[connection.family].tls;
            match connection.state {
                State::Opening(_) => tally.failed(Some(cause)),
                _ => tally.broke(cause),
            }
        }
        let failure = Failure { code, ..Failure::new(outcome, Phase::Tls) };
        match outcome {
            Outcome::Tls => self.give_up(slot, failure),
            _ => self.break_off(slot, failure),
        }
    }

    /// Sends what a connection has to send, as far as the driver takes it.
    pub(super) fn flush_quic(&mut self, slot: Slot) {
        let connection = self.connections.get(slot);
        let (Some(link), Some(quic)) = (connection.protocol.link(), &mut self.quic) else {
            return;
        };
        let Some(outlet) = &mut connection.outlet else { return };
        outlet.touched = false;
        let now = quic.instant(self.driver.now());
        let mut last = None;
        while !outlet.busy {
            quic.out.clear();
            let Some(cast) = link.connection.poll_transmit(now, TOGETHER, &mut quic.out) else {
                break;
            };
            if self.driver.woke() >= self.measure_from {
                self.record.tally[connection.family].bytes.sent += cast.size as u64;
            }
            let ecn = cast.ecn.map_or(0, |ecn| ecn as u8);
            match self.driver.cast(slot, &quic.out[..cast.size], cast.segment_size, ecn) {
                Handed::Whole(at) => last = Some(at),
                Handed::Later => outlet.busy = true,
            }
        }
        quic.set_timer(slot, link);
        let busy = outlet.busy;
        self.gather_all(slot);
        if let Some(at) = last.filter(|_| !busy) {
            self.passed(slot, at);
        }
    }

    /// Ends a connection of QUIC: the peer is told, which needs no answer.
    pub(super) fn close_quic(&mut self, slot: Slot) {
        let dropped = self.driver.drops(slot);
        let connection = self.connections.get(slot);
        let (Some(link), Some(quic)) = (connection.protocol.link(), &mut self.quic) else {
            return;
        };
        if connection.counted {
            self.record.tally[connection.family].quic.record(&ending(&link.connection, dropped));
        }
        let (now, code) = (quic.instant(self.driver.now()), VarInt::from_u64(link.close_by));
        link.connection.close(now, code.unwrap_or_default(), Bytes::new());
        let busy = connection.outlet.as_ref().is_none_or(|outlet| outlet.busy);
        quic.out.clear();
        if !busy && let Some(cast) = link.connection.poll_transmit(now, 1, &mut quic.out) {
            self.driver.cast(slot, &quic.out[..cast.size], None, 0);
            if self.driver.woke() >= self.measure_from {
                self.record.tally[connection.family].bytes.sent += cast.size as u64;
            }
        }
        quic.forget(slot, link);
    }
}

/// What the end of a connection means for exchanges on it, and the peer's number for it or, of a
/// TLS failure, the alert.
fn outcome(reason: &ConnectionError) -> (Outcome, Option<u64>) {
    let by_code = |code: TransportErrorCode, otherwise| match u64::from(code) {
        code if CRYPTO.contains(&code) => (Outcome::Tls, Some(code & 0xff)),
        code => (otherwise, Some(code)),
    };
    match reason {
        ConnectionError::VersionMismatch => (Outcome::Protocol, None),
        ConnectionError::TransportError(error) => by_code(error.code, Outcome::Protocol),
        ConnectionError::ConnectionClosed(close)
            if close.error_code == TransportErrorCode::CONNECTION_REFUSED =>
        {
            (Outcome::Refused, Some(close.error_code.into()))
        }
        ConnectionError::ConnectionClosed(close) => by_code(close.error_code, Outcome::Reset),
        ConnectionError::ApplicationClosed(close) => {
            (Outcome::Reset, Some(close.error_code.into_inner()))
        }
        ConnectionError::Reset => (Outcome::Reset, None),
        ConnectionError::TimedOut => (Outcome::Timeout, None),
        ConnectionError::LocallyClosed | ConnectionError::CidsExhausted => (Outcome::Local, None),
    }
}
