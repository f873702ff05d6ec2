//! QUIC connections: the end of their handshake, their data, and their failures.

use quinn_proto::{ConnectionError, Event, TransportErrorCode};
use sixmark_sys::driver::{Driver, Slot};
use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};
use sixmark_tally::tls::{Cause, Reason};

use super::Worker;
use crate::connection::State;
use crate::pauses::PauseClock;

/// The error codes of QUIC that contain a TLS alert (RFC 9000, 20.1).
const CRYPTO: std::ops::RangeInclusive<u64> = 0x100..=0x1ff;

impl<D: Driver> Worker<'_, D> {
    /// Begins the handshake of a connection whose socket exists.
    pub(super) fn shake_hands_quic(&mut self, slot: Slot) {
        if !self.network.begin_quic_handshake(slot) {
            self.break_off(slot, Failure::new(Outcome::Local, FailurePhase::Tls));
        }
    }

    /// Processes received datagrams, each `segment` bytes long except the last. If `more` of the
    /// same connection and time follow, its streams are read after those: a response in several
    /// datagrams is read once.
    pub(super) fn datagrams(
        &mut self,
        slot: Slot,
        at: u64,
        (segment, ecn): (usize, u8),
        more: bool,
    ) {
        match self.network.take_datagrams(slot, (at, ecn), segment, &mut self.recorder) {
            true if more => {}
            true => self.attend(slot, at),
            false => self.unsolicited(slot),
        }
    }

    /// Handles the expired timers of QUIC connections.
    pub(super) fn wake_quic(&mut self, now: u64) {
        self.late = None;
        while let Some(slot) = self.network.wake_quic(now) {
            self.attend(slot, now);
        }
        self.follow_on();
        self.flush_touched();
    }

    /// Handles the events of a connection.
    fn attend(&mut self, slot: Slot, at: u64) {
        while let Some(event) = self.network.next_event(slot) {
            match event {
                Event::Connected => self.shook_hands_quic(slot, at),
                Event::ConnectionLost { reason } => return self.lost_quic(slot, &reason),
                Event::Stream(event) => self.attend_stream(slot, at, event),
                _ => {}
            }
        }
        if self.state(slot) == State::Open {
            self.go_on(slot);
        }
        self.network.touch(slot);
    }

    /// Handles the end of the handshake.
    fn shook_hands_quic(&mut self, slot: Slot, at: u64) {
        let over = self.network.driver.now();
        let counted = self.recorder.measures(at) || self.opening.is_some();
        let connection = self.network.connections.get(slot);
        connection.counted = counted;
        connection.secured = over;
        connection.pause_clock = PauseClock::of(None, over.saturating_sub(connection.connected));
        let (family, since) = (connection.family, connection.connected);
        let facts = self.network.open_quic(slot);
        if counted {
            self.recorder.count_opened(family);
            facts.iter().for_each(|facts| self.recorder.shook_hands(family, facts, [since, over]));
        }
        if facts.is_some_and(|facts| self.network.fits_quic(&facts)) {
            self.established(slot)
        } else {
            self.give_up(slot, Failure::new(Outcome::Protocol, FailurePhase::Tls))
        }
    }

    /// Handles the end of a connection, whichever side ended it.
    fn lost_quic(&mut self, slot: Slot, reason: &ConnectionError) {
        let connection = self.network.connections.get(slot);
        if connection.in_flight == 0 {
            // A server may close an idle connection.
            return self.close(slot, self.network.usual_close());
        }
        let counted = self.recorder.measures(self.network.driver.woke());
        if counted && matches!(reason, ConnectionError::VersionMismatch) {
            self.recorder.count_version_mismatch(connection.family);
        }
        let (outcome, code) = outcome(reason);
        if outcome == Outcome::Tls {
            let alert = code.and_then(|code| u8::try_from(code).ok());
            let failed = self.network.quic_cause(slot);
            let cause = failed.unwrap_or(Cause::new(Reason::Alert, alert));
            self.recorder.tls_failed(self.network.connections.get(slot), counted, cause);
        }
        let failure = Failure { code, ..Failure::new(outcome, FailurePhase::Tls) };
        match outcome {
            Outcome::Tls => self.give_up(slot, failure),
            _ => self.break_off(slot, failure),
        }
    }
}

/// Returns the outcome of exchanges on a connection that ended for this reason, and the peer's
/// error code or, for a failure of TLS, the alert.
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
