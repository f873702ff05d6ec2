//! Exchanges of HTTP/3: several at once on a connection of QUIC.

use bytes::{Bytes, BytesMut};
use quinn_proto::{ConnectionError, Dir, Event, StreamEvent, StreamId, TransportErrorCode, VarInt};
use sixmark_http::Version;
use sixmark_http::http3::Violation;
use sixmark_model::outcome::{Failure, Outcome, Phase};
use sixmark_model::tls::{Cause, Facts, Reason};
use sixmark_sys::driver::{Driver, Handed, Slot};

use super::Worker;
use super::http2::Hearing;
use super::secure::agrees;
use crate::connection::State;
use crate::quic::{TOGETHER, ending};
use crate::talk::{Http3, Talk};
use crate::tls::Agreed;

/// The error codes of QUIC that hold a TLS alert (RFC 9000, 20.1).
const CRYPTO: std::ops::RangeInclusive<u64> = 0x100..=0x1ff;

impl<D: Driver> Worker<'_, D> {
    /// A connection of QUIC to an endpoint, which has sent nothing yet.
    pub(super) fn begin_quic(&mut self, endpoint: usize, now: u64) -> Option<Http3> {
        let target = &self.prepared.endpoints[endpoint];
        let start = self.tls.as_mut()?.quic(endpoint)?;
        let quic = self.quic.as_mut()?;
        let begun = quic.connect(&start, target.family, target.address, now).ok()?;
        let offered = start.offered();
        Some(Http3::new(begun.0, begun.1, offered))
    }

    /// Its socket is there.
    pub(super) fn shake_hands_quic(&mut self, slot: Slot) {
        let connection = self.connections.get(slot);
        connection.state = State::Opening(Phase::Tls);
        if !matches!(connection.talk, Talk::Http3(_)) {
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
        let (Talk::Http3(talk), Some(quic)) = (&mut connection.talk, &mut self.quic) else {
            return self.unsolicited(slot);
        };
        while !came.is_empty() {
            let one = came.split_to(segment.min(came.len()));
            quic.take(talk.handle, &mut talk.quic, one, (at, ecn));
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
            let Talk::Http3(talk) = &mut self.connections.get(slot).talk else { return };
            talk.timer = quic.set_timer(slot, talk.timer, None);
            talk.quic.handle_timeout(quic.instant(now));
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
                Event::Stream(event) => self.stream_event(slot, at, event),
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
        let (Talk::Http3(talk), Some(quic)) =
            (&mut self.connections.get(slot).talk, &mut self.quic)
        else {
            return None;
        };
        quic.confer(talk.handle, &mut talk.quic);
        talk.quic.poll()
    }

    /// The handshake is over.
    fn shook_hands_quic(&mut self, slot: Slot, at: u64) {
        let counted = at >= self.measure_from || self.opening.is_some();
        let over = self.driver.now();
        let connection = self.connections.get(slot);
        connection.counted = counted;
        let Talk::Http3(talk) = &mut connection.talk else { return };
        talk.open_control();
        let agreed = Agreed::of(&talk.quic);
        let facts = agreed.and_then(|agreed| agreed.facts(talk.offered, &mut self.room));
        if counted {
            let (family, since) = (connection.family, connection.connected);
            self.record.tally[family].connections.opened += 1;
            facts.iter().for_each(|facts| self.record.shook_hands(family, facts, [since, over]));
        }
        match facts.is_some_and(|facts| self.agreed_on_http3(&facts)) {
            true => self.established(slot),
            false => self.give_up(slot, Failure::new(Outcome::Protocol, Phase::Tls)),
        }
    }

    fn agreed_on_http3(&self, facts: &Facts) -> bool {
        let mut offered = self.prepared.plan.tls.iter().flat_map(|tls| &tls.alpn);
        let chosen = facts.alpn.and_then(|number| offered.nth(number.into()));
        agrees(Version::Http3, chosen.map(String::as_bytes))
    }

    fn stream_event(&mut self, slot: Slot, at: u64, event: StreamEvent) {
        match event {
            StreamEvent::Readable { id } => self.read_stream(slot, at, id),
            StreamEvent::Opened { dir: Dir::Uni } => self.accept_streams(slot, at),
            StreamEvent::Writable { id } => self.with_http3(slot, |talk| talk.write(id)),
            StreamEvent::Stopped { id, .. } => self.with_http3(slot, |talk| talk.stopped(id)),
            // Those that wait are begun after all events.
            StreamEvent::Available { .. }
            | StreamEvent::Finished { .. }
            | StreamEvent::Opened { dir: Dir::Bi } => {}
        }
    }

    fn with_http3(&mut self, slot: Slot, act: impl FnOnce(&mut Http3)) {
        if let Talk::Http3(talk) = &mut self.connections.get(slot).talk {
            act(talk);
        }
    }

    fn accept_streams(&mut self, slot: Slot, at: u64) {
        let next = |worker: &mut Self| match &mut worker.connections.get(slot).talk {
            Talk::Http3(talk) => talk.quic.streams().accept(Dir::Uni),
            _ => None,
        };
        while let Some(id) = next(self) {
            self.read_stream(slot, at, id);
        }
    }

    fn read_stream(&mut self, slot: Slot, at: u64, id: StreamId) {
        let connection = self.connections.get(slot);
        let (prepared, endpoint) = (self.prepared, connection.endpoint);
        let Talk::Http3(talk) = &mut connection.talk else { return };
        let mut over = std::mem::take(&mut self.over);
        let (places, notes) = (&mut self.places, self.notes.as_deref_mut());
        let mut hearing = Hearing { places, over: &mut over, at, notes, prepared, endpoint };
        let read = talk.read(id, &mut self.heads, &mut hearing);
        talk.disown(&mut hearing);
        // First, so that nothing that leaves this connection comes back to it.
        self.note_draining(slot);
        for (place, how) in over.drain(..) {
            self.stream_over(slot, place, at, how);
        }
        self.over = over;
        if let Err(violation) = read {
            self.violated_http3(slot, violation);
        }
    }

    /// What came breaks the rules of HTTP/3: the peer is told, and all exchanges end.
    fn violated_http3(&mut self, slot: Slot, violation: Violation) {
        let code = violation.code();
        self.with_http3(slot, |talk| talk.close_by = code);
        let failure = Failure::violation(violation.is_own_limit(), Phase::Transfer);
        self.record.breach = Some(violation.text());
        self.break_off(slot, Failure { code: Some(code), ..failure });
        self.record.breach = None;
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
            let Talk::Http3(talk) = &connection.talk else { return };
            let failed = Agreed::of(&talk.quic).and_then(|agreed| agreed.failed);
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
        let (Talk::Http3(talk), Some(quic)) = (&mut connection.talk, &mut self.quic) else {
            return;
        };
        let Some(outlet) = &mut connection.outlet else { return };
        outlet.touched = false;
        let now = quic.instant(self.driver.now());
        let mut last = None;
        while !outlet.busy {
            quic.out.clear();
            let Some(cast) = talk.quic.poll_transmit(now, TOGETHER, &mut quic.out) else { break };
            if self.driver.woke() >= self.measure_from {
                self.record.tally[connection.family].bytes.sent += cast.size as u64;
            }
            let ecn = cast.ecn.map_or(0, |ecn| ecn as u8);
            match self.driver.cast(slot, &quic.out[..cast.size], cast.segment_size, ecn) {
                Handed::Whole(at) => last = Some(at),
                Handed::Later => outlet.busy = true,
            }
        }
        outlet.leaving.append(&mut talk.written);
        talk.timer = quic.set_timer(slot, talk.timer, talk.quic.poll_timeout());
        if let Some(at) = last.filter(|_| !outlet.busy) {
            self.passed(slot, at);
        }
    }

    /// Ends a connection of QUIC: the peer is told, which needs no answer.
    pub(super) fn close_quic(&mut self, slot: Slot) {
        let dropped = self.driver.drops(slot);
        let connection = self.connections.get(slot);
        let (Talk::Http3(talk), Some(quic)) = (&mut connection.talk, &mut self.quic) else {
            return;
        };
        if connection.counted {
            self.record.tally[connection.family].quic.record(&ending(&talk.quic, dropped));
        }
        let (now, code) = (quic.instant(self.driver.now()), VarInt::from_u64(talk.close_by));
        talk.quic.close(now, code.unwrap_or_default(), Bytes::new());
        let busy = connection.outlet.as_ref().is_none_or(|outlet| outlet.busy);
        quic.out.clear();
        if !busy && let Some(cast) = talk.quic.poll_transmit(now, 1, &mut quic.out) {
            self.driver.cast(slot, &quic.out[..cast.size], None, 0);
            if self.driver.woke() >= self.measure_from {
                self.record.tally[connection.family].bytes.sent += cast.size as u64;
            }
        }
        quic.set_timer(slot, talk.timer, None);
        quic.forget(talk.handle);
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
