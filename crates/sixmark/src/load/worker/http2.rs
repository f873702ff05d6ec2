//! Exchanges of HTTP/2: several at once on a connection.

use std::borrow::Cow;
use std::sync::Arc;

use sixmark_core::http1::{Complete, Sight as _};
use sixmark_core::http2::{Request, Violation};
use sixmark_core::observer::{Answer, Loss, Observer, Token};
use sixmark_core::outcome::{Failure, Outcome, Phase};
use sixmark_core::template::Values;
use sixmark_sys::driver::{Driver, Slot};

use super::Worker;
use crate::load::connection::State;
use crate::load::notes::{Look, Notes, Which};
use crate::load::places::{Place, Places};
use crate::load::prepare::Prepared;
use crate::load::talk::{Http2, Talk};

/// How often an exchange is sent again that peers said they did nothing with.
const TRIES: u8 = 3;

/// How an exchange ended that shares its connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Over {
    Answered(Answer),
    Lost(Loss),
}

/// Notes what a machine tells.
struct Hearing<'a> {
    places: &'a mut Places,
    over: &'a mut Vec<(Place, Over)>,
    at: u64,
    /// For what is seen of responses, where anything is.
    notes: Option<&'a mut Notes>,
    prepared: &'a Prepared,
    endpoint: usize,
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
        let connection = self.connections.get(slot);
        let (prepared, endpoint) = (self.prepared, connection.endpoint);
        let (State::Open, Talk::Http2(talk)) = (connection.state, &mut connection.talk) else {
            return;
        };
        while let Some(&place) = talk.waiting.front() {
            let request = self.places.get(place).request;
            let which = Which { prepared, endpoint, place, request };
            let form = &prepared.endpoints[endpoint].requests[request as usize].http2;
            let begun = match (&mut self.notes, form) {
                (None, Some(form)) => talk.machine.begin(place, form),
                (Some(notes), Some(form)) => {
                    talk.machine.room() > 0
                        && talk
                            .machine
                            .begin(place, &made(notes, which, &mut self.maker.values, form))
                }
                (_, None) => false,
            };
            if !begun {
                break;
            }
            talk.waiting.pop_front();
        }
        self.touch(slot);
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
        for (place, how) in over.drain(..) {
            self.stream_over(slot, place, at, how);
        }
        self.over = over;
        match fed {
            Ok(()) => self.go_on(slot),
            Err(violation) => self.violated(slot, violation),
        }
    }

    /// What is to be done on a connection after something came or an exchange left it.
    pub(super) fn go_on(&mut self, slot: Slot) {
        self.note_draining(slot);
        self.begin_streams(slot);
        let connection = self.connections.get(slot);
        if connection.retiring && connection.in_flight == 0 && connection.state == State::Open {
            self.close(slot, self.usual_close());
        }
    }

    /// Where the peer lets no more exchanges begin, those that wait go elsewhere.
    fn note_draining(&mut self, slot: Slot) {
        let connection = self.connections.get(slot);
        let Talk::Http2(talk) = &mut connection.talk else { return };
        if !talk.machine.is_draining() {
            return;
        }
        let waiting = std::mem::take(&mut talk.waiting);
        if !std::mem::replace(&mut connection.retiring, true) {
            if connection.counted && talk.machine.goaway().is_some() {
                self.record.tally[connection.family].connections.drained += 1;
            }
            self.connections.list(slot);
        }
        for place in waiting {
            self.send_elsewhere(place);
        }
    }

    fn stream_over(&mut self, slot: Slot, place: Place, at: u64, how: Over) {
        self.forget(slot, place);
        match how {
            Over::Answered(answer) => self.answered(slot, place, at, answer),
            Over::Lost(Loss::Unprocessed) => self.unprocessed(place),
            Over::Lost(Loss::Reset(code)) => self.lose_by(place, Outcome::Reset, code),
            Over::Lost(Loss::Malformed(code)) => self.lose_by(place, Outcome::Protocol, code),
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
            return self.lose_by(place, Outcome::Reset, 0);
        }
        let counted = exchange.counted;
        if counted {
            let family = self.connections.get(slot).family;
            self.record.tally[family].resent += 1;
        }
        self.send_elsewhere(place);
    }

    /// Puts an exchange on another connection; it goes on as the same one.
    fn send_elsewhere(&mut self, place: Place) {
        let from = self.places.get(place).slot;
        let endpoint = self.connections.get(from).endpoint;
        self.connections.part(from);
        self.move_to_other(place, endpoint);
    }

    /// What came breaks the rules of the connection: the peer is told, and all exchanges on it end.
    fn violated(&mut self, slot: Slot, violation: Violation) {
        let code = violation.code();
        if let Talk::Http2(talk) = &mut self.connections.get(slot).talk {
            talk.machine.goodbye(code);
        }
        self.flush(slot);
        let failure = Failure::new(Outcome::Protocol, Phase::Transfer);
        self.break_off(slot, Failure { code: Some(code.into()), ..failure });
    }

    /// Ends one exchange of several on a connection from this side.
    pub(super) fn cut_off_stream(&mut self, slot: Slot, place: Place, outcome: Outcome) {
        let Talk::Http2(talk) = &mut self.connections.get(slot).talk else { return };
        match talk.waiting.iter().position(|&waiting| waiting == place) {
            Some(at) => drop(talk.waiting.remove(at)),
            None => talk.machine.cancel(place),
        }
        self.forget(slot, place);
        let (phase, start) = (self.places.get(place).phase, self.places.get(place).start);
        self.lose(place, Failure::new(outcome, phase));
        self.doubt(slot, start);
        self.touch(slot);
        self.go_on(slot);
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

/// What an exchange sends of which notes are taken.
fn made<'a>(
    notes: &mut Notes,
    which: Which<'_>,
    values: &mut Values,
    form: &'a Arc<Request>,
) -> Cow<'a, Request> {
    notes.listen(which.place);
    let filled = notes.fill(&which, values);
    let own = filled.and_then(|filled| {
        let parts = filled.parts(which.scheme(), which.authority());
        Request::new(&parts, filled.body().cloned(), which.sees().anything()).ok()
    });
    // The names of its fields have been found fit before the load began.
    own.map_or(Cow::Borrowed(form), Cow::Owned)
}

/// The exchanges that a machine has not begun or not ended.
pub(super) fn all(talk: &Http2) -> impl Iterator<Item = Place> {
    talk.machine.tokens().chain(talk.waiting.iter().copied())
}
