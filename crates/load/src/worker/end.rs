//! How exchanges and connections end that do not end well, and how connections are closed.

use sixmark_model::outcome::{Failure, LocalCause, Outcome, Phase};
use sixmark_model::plan;
use sixmark_sys::driver::{Close, Driver, Slot};

use super::{REST, Worker};
use crate::connection::State;
use crate::errno;
use crate::places::Place;
use crate::protocol::{Breach, Protocol};

impl<D: Driver> Worker<'_, D> {
    /// Ends what has lasted too long.
    pub(super) fn time_out(&mut self) {
        let now = self.driver.woke();
        while let Some(place) = self.places.longest_in_flight()
            && self.deadline(place) <= now
        {
            self.cut_off(place, Outcome::Timeout);
        }
        // The room of those cut off is for others, which are all still in time.
        for index in 0..self.touched.len() {
            self.begin_streams(self.touched[index]);
        }
    }

    /// Cuts off all that is in flight and closes all connections.
    pub(super) fn abandon(&mut self) {
        while let Some(place) = self.places.longest_in_flight() {
            self.cut_off(place, Outcome::Abandoned);
        }
        while let Some(slot) = self.connections.longest_idle() {
            self.close(slot, self.usual_close());
        }
    }

    /// This side ends an exchange.
    fn cut_off(&mut self, place: Place, outcome: Outcome) {
        let slot = self.places.get(place).slot;
        let connection = self.connections.get(slot);
        let others = outcome == Outcome::Timeout && connection.in_flight > 1;
        match (connection.state, &connection.protocol) {
            (_, Protocol::Serial(_)) => self.break_off(slot, Failure::new(outcome, Phase::Connect)),
            (State::Open, _) => self.cut_off_stream(slot, place, outcome),
            // Those that joined it later have their time still before them.
            (State::Opening(phase), _) if others => {
                connection.protocol.cancel(place);
                connection.retiring = true;
                self.lose(place, Failure::new(outcome, phase));
            }
            _ => self.break_off(slot, Failure::new(outcome, Phase::Connect)),
        }
    }

    /// The kernel says that a connection is broken.
    pub(super) fn broken(&mut self, slot: Slot, errno: i32) {
        let connection = self.connections.get(slot);
        let phase = match (connection.state, &connection.protocol) {
            (State::Opening(phase), _) => phase,
            (_, Protocol::Serial(machine)) => self.places.get(machine.place()).phase,
            // Any but the connect's: each exchange is counted in its own.
            (_, Protocol::Multiplexed(_)) => Phase::Transfer,
        };
        let outcome = errno::outcome(errno, phase);
        self.break_off(slot, Failure { errno: Some(errno), ..Failure::new(outcome, phase) });
    }

    /// This host has no address from which the connection could begin.
    pub(super) fn without_source(&mut self, slot: Slot, errno: i32) {
        let (errno, cause) = (Some(errno), Some(LocalCause::NoSource));
        let failure = Failure::new(Outcome::Local, Phase::Connect);
        self.break_off(slot, Failure { errno, cause, ..failure });
    }

    /// A connection came to no good end, and all exchanges on it do, each in the phase that it is in.
    pub(super) fn break_off(&mut self, slot: Slot, failure: Failure) {
        let measured = self.driver.woke() >= self.measure_from;
        let connection = self.connections.get(slot);
        // A connection of QUIC counts only once its handshake is over, a failed handshake when it fails.
        let counted = connection.counted || (self.quic.is_some() && measured);
        // What the end of the run cuts off has not failed.
        let failed = failure.outcome != Outcome::Abandoned;
        if counted && failed && connection.state == State::Opening(Phase::Tls) {
            self.record.tally[connection.family].tls.failed(None);
        }
        self.give_up(slot, failure);
    }

    /// What came on a connection breaks the rules of its protocol.
    pub(super) fn break_for_breach(&mut self, slot: Slot, breach: Breach) {
        // The exchanges' own phases count, or the connection's where it is not open.
        let failure = Failure::violation(breach.own_limit, Phase::Transfer);
        self.record.breach = Some(breach.text);
        self.break_off(slot, Failure { code: breach.code, ..failure });
        self.record.breach = None;
    }

    /// The same where the handshake, if there is one, has been counted.
    pub(super) fn give_up(&mut self, slot: Slot, failure: Failure) {
        let state = self.connections.get(slot).state;
        if self.opening.is_some() && matches!(state, State::Opening(_)) {
            return self.unopened(slot);
        }
        self.unestablished += u64::from(matches!(state, State::Opening(_)));
        let places = self.on(slot);
        for &place in &places {
            let phase = match state {
                State::Opening(phase) => phase,
                _ => self.places.get(place).phase,
            };
            self.lose(place, Failure { phase, ..failure });
        }
        self.done_with(places);
        // Where the peer ended the connection there is nothing left to reset.
        let by_peer = matches!(failure.outcome, Outcome::Reset | Outcome::Truncated);
        self.close(slot, if by_peer { Close::Orderly } else { Close::Reset });
    }

    /// An exchange came to no good end. What becomes of its connection is for others to say.
    pub(super) fn lose(&mut self, place: Place, failure: Failure) {
        let exchange = self.places.get(place);
        let slot = exchange.slot;
        let start = exchange.start;
        if exchange.counted {
            let from = self.connections.get(slot).place();
            self.record.failed(from, exchange, failure);
            self.last_end = self.last_end.max(self.driver.woke());
            self.note_silence(from.0, start, failure.outcome);
        }
        if let Some(notes) = &mut self.notes {
            notes.let_go(place);
        }
        // With TLS 1.3 a server may refuse a client's certificate only after the handshake.
        match (failure.phase, failure.outcome) {
            (Phase::Connect | Phase::Tls, _) | (_, Outcome::Tls) => self.rest(place),
            _ => self.give_back(place),
        }
        self.connections.part(slot);
    }

    /// An exchange has left its place, which is for the next one in its turn.
    pub(super) fn give_back(&mut self, place: Place) {
        self.places.leave_in_turn(place, self.driver.woke());
    }

    /// Sets a place aside whose connection could not be established. In an open loop the clock keeps
    /// a peer that refuses from being flooded.
    fn rest(&mut self, place: Place) {
        match self.arrivals.are_timed() {
            true => self.places.leave(place),
            false => self.places.leave_to_rest(place, self.driver.woke() + REST),
        }
    }

    /// The exchanges on a connection, in a list that is to be given back.
    pub(super) fn on(&mut self, slot: Slot) -> Vec<Place> {
        let mut places = std::mem::take(&mut self.scratch);
        let connection = self.connections.get(slot);
        connection.protocol.list_exchanges(connection.in_flight, &mut places);
        places
    }

    /// Gives the list back.
    pub(super) fn done_with(&mut self, mut places: Vec<Place>) {
        places.clear();
        self.scratch = places;
    }

    /// Bytes that no request asked for: whatever follows on this connection would be doubtful.
    pub(super) fn unsolicited(&mut self, slot: Slot) {
        let connection = self.connections.get(slot);
        if connection.counted {
            self.record.tally[connection.family].connections.unsolicited += 1;
        }
        self.close(slot, Close::Reset);
    }

    pub(super) fn usual_close(&self) -> Close {
        match self.prepared.plan.connection.close {
            plan::Close::Fin => Close::Orderly,
            plan::Close::Rst => Close::Reset,
        }
    }

    /// Tells the peer that nothing more comes, in all the layers that have a word for it.
    fn take_leave(&mut self, slot: Slot) {
        let connection = self.connections.get(slot);
        let heard = connection.outlet.as_ref().is_some_and(|outlet| !outlet.ended);
        if connection.state != State::Open || !heard {
            return;
        }
        if let Some(streams) = connection.protocol.streams() {
            streams.say_goodbye(None);
        }
        self.gather_all(slot);
        if let Some(outlet) = &mut self.connections.get(slot).outlet
            && let Some(tls) = &mut outlet.tls
        {
            tls.close(&mut outlet.bytes);
        }
        self.last_words(slot);
    }

    /// Closes a connection that no exchange is on any more.
    pub(super) fn close(&mut self, slot: Slot, close: Close) {
        match (&self.quic, close) {
            (Some(_), _) => self.close_quic(slot),
            (None, Close::Orderly) => self.take_leave(slot),
            (None, Close::Reset) => {}
        }
        let connection = self.connections.get(slot);
        let held = self.driver.woke().saturating_sub(connection.opened.max(self.measure_from));
        self.record.tally[connection.family].connections.held_ns += held;
        if connection.counted {
            self.record.closed(connection, self.driver.woke(), close);
            let family = connection.family;
            if self.quic.is_none()
                && self.record.sampling.takes(family)
                && let Some(path) = self.driver.path(slot)
            {
                self.record.path(family, &path);
            }
        }
        self.driver.close(slot, close);
        self.connections.vacate(slot);
    }
}
