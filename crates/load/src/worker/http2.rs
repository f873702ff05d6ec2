//! Exchanges of HTTP/2: several at once on a connection.

use std::collections::VecDeque;
use std::sync::Arc;

use sixmark_http::http1::{Complete, Sight as _};
use sixmark_http::http2::{Parts, Violation};
use sixmark_http::observer::{Answer, Loss, Observer, Token};
use sixmark_http::{http2, http3};
use sixmark_model::outcome::{Failure, Outcome, Phase};
use sixmark_model::template::Values;
use sixmark_sys::driver::{Driver, Slot};

use super::Worker;
use crate::connection::{Connection, State};
use crate::notes::{Look, Notes, Which};
use crate::places::{Place, Places};
use crate::prepare::Prepared;
use crate::talk::{Http2, Talk};

/// How often an exchange is sent again that peers said they did nothing with.
const TRIES: u8 = 3;

/// How an exchange ended that shares its connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Over {
    Answered(Answer),
    Lost(Loss),
}

/// Notes what a machine tells.
pub(super) struct Hearing<'a> {
    pub(super) places: &'a mut Places,
    pub(super) over: &'a mut Vec<(Place, Over)>,
    pub(super) at: u64,
    /// For what is seen of responses, where anything is.
    pub(super) notes: Option<&'a mut Notes>,
    pub(super) prepared: &'a Prepared,
    pub(super) endpoint: usize,
}

impl Hearing<'_> {
    fn look(&mut self, place: Place) -> Option<Look<'_>> {
        let (prepared, endpoint) = (self.prepared, self.endpoint);
        let request = self.places.get(place).request;
        let which = Which { prepared, endpoint, place, request };
        self.notes.as_deref_mut().map(|notes| Look { notes, which })
    }
}

impl Observer for Hearing<'_> {
    fn begun(&mut self, token: Token) {
        self.places.get(token).note_first(self.at);
    }

    fn field(&mut self, token: Token, name: &[u8], value: &[u8]) {
        self.look(token).into_iter().for_each(|mut look| look.field(name, value));
    }

    fn content(&mut self, token: Token, bytes: &[u8]) {
        self.look(token).into_iter().for_each(|mut look| look.content(bytes));
    }

    fn complete(&mut self, token: Token, answer: Answer) {
        self.over.push((token, Over::Answered(answer)));
    }

    fn lost(&mut self, token: Token, loss: Loss) {
        self.over.push((token, Over::Lost(loss)));
    }
}

impl<D: Driver> Worker<'_, D> {
    /// Begins the exchanges that wait, as far as there is room for them.
    pub(super) fn begin_streams(&mut self, slot: Slot) {
        if self.connections.get(slot).state != State::Open {
            return;
        }
        while let Some(place) = self.first_waiting(slot)
            && self.begin_stream(slot, place)
        {
            self.connections.get(slot).talk.waiting().map(VecDeque::pop_front);
        }
        self.touch(slot);
    }

    fn first_waiting(&mut self, slot: Slot) -> Option<Place> {
        self.connections.get(slot).talk.waiting()?.front().copied()
    }

    /// Begins an exchange, if there is room for it.
    fn begin_stream(&mut self, slot: Slot, place: Place) -> bool {
        let connection = self.connections.get(slot);
        let (prepared, endpoint) = (self.prepared, connection.endpoint);
        let request = self.places.get(place).request;
        let forms = &prepared.endpoints[endpoint].requests[request as usize];
        let which = Which { prepared, endpoint, place, request };
        let (notes, values) = (self.notes.as_deref_mut(), &mut self.maker.values);
        match (&mut connection.talk, &forms.http2, &forms.http3) {
            (Talk::Http2(talk), Some(form), _) if talk.machine.room() > 0 => {
                let own = made(notes, &which, values, http2::Request::new);
                talk.machine.begin(place, own.as_ref().unwrap_or(form))
            }
            (Talk::Http3(talk), _, Some(form)) => talk.begin(place, || {
                let own = made(notes, &which, values, http3::Request::new);
                own.map_or_else(|| Arc::clone(form), Arc::new)
            }),
            _ => false,
        }
    }

    /// Reads the bytes given, or those that the driver told of.
    pub(super) fn read_http2(&mut self, slot: Slot, at: u64, bytes: Option<&[u8]>) {
        let connection = self.connections.get(slot);
        let (prepared, endpoint) = (self.prepared, connection.endpoint);
        let Talk::Http2(talk) = &mut connection.talk else { return };
        let mut over = std::mem::take(&mut self.over);
        let (places, notes) = (&mut self.places, self.notes.as_deref_mut());
        let mut hearing = Hearing { places, over: &mut over, at, notes, prepared, endpoint };
        let bytes = bytes.unwrap_or_else(|| self.driver.bytes());
        let fed = talk.machine.feed(bytes, &mut hearing);
        // First, so that nothing that leaves this connection comes back to it.
        self.note_draining(slot);
        for (place, how) in over.drain(..) {
            self.stream_over(slot, place, at, how);
        }
        self.over = over;
        match fed {
            Ok(()) => self.go_on(slot),
            Err(violation) => self.violated(slot, violation),
        }
    }

    /// What is to be done on a connection after something came.
    pub(super) fn go_on(&mut self, slot: Slot) {
        if self.note_draining(slot) {
            self.clear_out(slot);
        }
        self.begin_streams(slot);
        self.close_retired(slot);
    }

    fn close_retired(&mut self, slot: Slot) {
        let connection = self.connections.get(slot);
        if connection.retiring && connection.in_flight == 0 && connection.state == State::Open {
            self.close(slot, self.usual_close());
        }
    }

    /// True where the peer lets no more exchanges begin, so that none is put there any more.
    pub(super) fn note_draining(&mut self, slot: Slot) -> bool {
        let connection = self.connections.get(slot);
        if !connection.talk.is_draining() {
            return false;
        }
        if !std::mem::replace(&mut connection.retiring, true) {
            if connection.counted && connection.talk.said_goaway() {
                self.record.tally[connection.family].connections.drained += 1;
            }
            self.connections.list(slot);
        }
        true
    }

    /// Exchanges that wait on a connection where they can't begin go elsewhere.
    fn clear_out(&mut self, slot: Slot) {
        let waiting = self.connections.get(slot).talk.waiting().map(std::mem::take);
        for place in waiting.into_iter().flatten() {
            self.send_elsewhere(place);
        }
    }

    pub(super) fn stream_over(&mut self, slot: Slot, place: Place, at: u64, how: Over) {
        self.forget(slot, place);
        match how {
            Over::Answered(answer) => self.answered(slot, place, at, answer),
            Over::Lost(Loss::Unprocessed) => self.unprocessed(place),
            Over::Lost(Loss::Reset(code)) => self.lose_by(place, Outcome::Reset, code),
            Over::Lost(Loss::Malformed { code, why }) => {
                self.record.breach = Some(why);
                self.lose_by(place, Outcome::Protocol, code);
                self.record.breach = None;
            }
        }
    }

    fn answered(&mut self, slot: Slot, place: Place, at: u64, answer: Answer) {
        let Answer { status, body } = answer;
        self.conclude(slot, place, at, Complete { status, body, keep_alive: true });
        self.connections.part(slot);
    }

    fn lose_by(&mut self, place: Place, outcome: Outcome, code: u64) {
        let phase = self.places.get(place).phase;
        self.lose(place, Failure { code: Some(code), ..Failure::new(outcome, phase) });
    }

    /// The peer did nothing with a request, so that it may be sent again (RFC 9113, 8.7), but not
    /// for ever.
    fn unprocessed(&mut self, place: Place) {
        let exchange = self.places.get(place);
        exchange.tries += 1;
        let (slot, tries) = (exchange.slot, exchange.tries);
        if tries >= TRIES {
            let code = self.connections.get(slot).talk.goaway_code();
            return self.lose_by(place, Outcome::Reset, code);
        }
        // What was heard of it is no part of what comes now.
        (exchange.phase, exchange.first) = (Phase::Send, None);
        if exchange.counted {
            let family = self.connections.get(slot).family;
            self.record.tally[family].resent += 1;
        }
        self.send_elsewhere(place);
    }

    /// Puts an exchange on another connection; it goes on as the same one.
    fn send_elsewhere(&mut self, place: Place) {
        let from = self.places.get(place).slot;
        let Connection { endpoint, family, .. } = *self.connections.get(from);
        self.connections.part(from);
        self.move_to_other(place, endpoint);
        // The one before may have turned out to be of the other family than its endpoint.
        let exchange = self.places.get(place);
        if exchange.counted && self.connections.get(exchange.slot).family != family {
            self.record.moved(family, exchange);
        }
    }

    /// What came breaks the rules of the connection: the peer is told, and all exchanges on it end.
    fn violated(&mut self, slot: Slot, violation: Violation) {
        let code = violation.code();
        if let Talk::Http2(talk) = &mut self.connections.get(slot).talk {
            talk.machine.goodbye(code);
        }
        self.flush(slot);
        // TLS may have failed at that.
        if self.connections.get(slot).state == State::Vacant {
            return;
        }
        let failure = Failure::violation(violation.is_own_limit(), Phase::Transfer);
        self.record.breach = Some(violation.text());
        self.break_off(slot, Failure { code: Some(code.into()), ..failure });
        self.record.breach = None;
    }

    /// Ends one exchange of several on a connection from this side.
    pub(super) fn cut_off_stream(&mut self, slot: Slot, place: Place, outcome: Outcome) {
        self.connections.get(slot).talk.cancel(place);
        self.forget(slot, place);
        let (phase, start) = (self.places.get(place).phase, self.places.get(place).start);
        self.lose(place, Failure::new(outcome, phase));
        self.doubt(slot, start);
        self.touch(slot);
        self.close_retired(slot);
    }

    /// A connection on which nothing came for as long as an exchange lasted gets no more: the peer
    /// may be gone.
    fn doubt(&mut self, slot: Slot, since: u64) {
        let connection = self.connections.get(slot);
        if connection.outlet.as_ref().is_some_and(|outlet| outlet.heard <= since) {
            connection.retiring = true;
            self.connections.list(slot);
        }
    }

    fn forget(&mut self, slot: Slot, place: Place) {
        if let Some(outlet) = &mut self.connections.get(slot).outlet {
            outlet.forget(place);
        }
    }
}

/// What an exchange sends where it is made for it alone, and not the same for all.
fn made<T>(
    notes: Option<&mut Notes>,
    which: &Which<'_>,
    values: &mut Values,
    make: impl FnOnce(&Parts<'_>, Option<Arc<Vec<u8>>>, bool) -> Result<T, String>,
) -> Option<T> {
    let notes = notes?;
    notes.listen(which.place);
    let filled = notes.fill(which, values)?;
    let parts = filled.parts(which.scheme(), which.authority());
    // The names of its fields have been found fit before the load began.
    make(&parts, filled.body().cloned(), which.sees().anything()).ok()
}

/// The exchanges that a machine has not begun or not ended.
pub(super) fn all(talk: &Http2) -> impl Iterator<Item = Place> {
    talk.machine.tokens().chain(talk.waiting.iter().copied())
}
