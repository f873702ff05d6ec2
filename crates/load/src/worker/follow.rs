//! What becomes of an exchange with a complete response: it is counted, and its place is free or goes on
//! to where the response leads.

use sixmark_http::http1::Complete;
use sixmark_model::check::Rejection;
use sixmark_model::outcome::{Failure, Outcome, Phase};
use sixmark_sys::driver::{Driver, Slot};

use super::Worker;
use super::begin::exchange;
use crate::arrivals::Turn;
use crate::connection::State;
use crate::notes::{Notes, Which};
use crate::places::{Exchange, Place};

/// An exchange that a redirect leads to and that has not begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Following {
    place: Place,
    turn: Turn,
}

impl<'a, D: Driver> Worker<'a, D> {
    /// Counts an exchange whose complete response is here. It leaves its place; its connection is for
    /// others to deal with.
    pub(super) fn conclude(&mut self, slot: Slot, place: Place, at: u64, complete: Complete) {
        if at > self.deadline(place) {
            return self.conclude_late(slot, place, at);
        }
        if self.notes.is_some() {
            return self.look_back(slot, place, at, complete);
        }
        let exchange = self.places.get(place);
        if exchange.counted {
            let from = self.connections.get(slot).place();
            self.record.completed(from, exchange, at, complete, false);
            self.last_end = self.last_end.max(at);
            self.tell_of_exchange(slot, place, at);
        }
        self.give_back(place);
    }

    /// As [`conclude`](Worker::conclude), where the end of the response came after the deadline and before
    /// anybody had looked at the clock. Its connection is as good as before.
    fn conclude_late(&mut self, slot: Slot, place: Place, at: u64) {
        let deadline = self.deadline(place);
        let exchange = self.places.get(place);
        if exchange.counted {
            let waited = exchange.first.is_none_or(|first| first > deadline);
            let phase = match () {
                () if waited && exchange.sent > deadline => Phase::Send,
                () if waited => Phase::Wait,
                () => Phase::Transfer,
            };
            let from = self.connections.get(slot).place();
            self.record.failed(from, exchange, Failure::new(Outcome::Timeout, phase));
            self.last_end = self.last_end.max(at);
        }
        if let Some(notes) = &mut self.notes {
            notes.let_go(place);
        }
        self.give_back(place);
    }

    /// As [`conclude`](Worker::conclude), where something was noted of the exchange. What is followed
    /// is not checked: what it leads to is.
    fn look_back(&mut self, slot: Slot, place: Place, at: u64, complete: Complete) {
        let Some(mut notes) = self.notes.take() else { return };
        let which = self.which(slot, place);
        let goes_on = self.arrivals.may_follow(at)
            && notes.follow(&which, complete.status, &mut self.maker.values);
        let is_cut = !goes_on && notes.is_cut(&which, complete.status);
        let verdict = match goes_on {
            true => Ok(()),
            false => self.judge(&mut notes, &which, complete.status),
        };
        notes.let_go(place);
        self.notes = Some(notes);
        let exchange = self.places.get(place);
        if exchange.counted {
            let from = self.connections.get(slot).place();
            let what = (&*which.request().name, complete.status);
            let normal = verdict.is_ok();
            self.record.tally[from.0].cut_chains += u64::from(is_cut);
            let wanted = goes_on || which.request().checks.look_at_status();
            match verdict {
                Ok(()) => self.record.completed(from, exchange, at, complete, wanted),
                Err(Rejection::Mismatch(found)) => {
                    self.record.mismatched(from, exchange, at, what, found);
                }
                Err(Rejection::Unchecked) => self.record.unchecked(from, exchange),
            }
            self.last_end = self.last_end.max(at);
            if normal {
                self.tell_of_exchange(slot, place, at);
            }
        }
        match goes_on {
            true => self.following.push(Following { place, turn: self.next_turn(&which, at) }),
            false => self.give_back(place),
        }
    }

    /// Whether a complete response is what it was to be. All others wait meanwhile.
    fn judge(
        &mut self,
        notes: &mut Notes,
        which: &Which<'_>,
        status: u16,
    ) -> Result<(), Rejection> {
        if !which.request().checks.keep_content() {
            return notes.verdict(which, status);
        }
        let before = self.driver.now();
        let verdict = notes.verdict(which, status);
        let now = self.driver.now();
        if now >= self.measure_from {
            self.record.lapses.checked(now.saturating_sub(before));
        }
        verdict
    }

    /// What a redirect leads to. In an open loop it is due when the response before it is here.
    fn next_turn(&self, which: &Which<'_>, at: u64) -> Turn {
        let &Which { endpoint, request, .. } = which;
        let due = self.arrivals.are_timed().then_some(at);
        Turn { endpoint, counted: at >= self.measure_from, due, waited: false, request }
    }

    /// The exchange in a place, for those who look it up.
    pub(super) fn which(&mut self, slot: Slot, place: Place) -> Which<'a> {
        let (prepared, endpoint) = (self.prepared, self.connections.get(slot).endpoint);
        Which { prepared, endpoint, place, request: self.places.get(place).request }
    }

    /// Begins what the redirects just read lead to. Not while they are read: what is done with their
    /// connections comes first.
    pub(super) fn follow_on(&mut self) {
        while let Some(Following { place, turn }) = self.following.pop() {
            let there = self.connections.room(turn.endpoint);
            if there.is_none() {
                self.make_room();
            }
            let now = self.driver.now();
            let slot = there.unwrap_or_else(|| self.connect(turn.endpoint, now));
            self.go_on_with(place, &turn, slot, now);
        }
    }

    /// Puts what a redirect leads to on a connection that is there, or about to be.
    fn go_on_with(&mut self, place: Place, turn: &Turn, slot: Slot, now: u64) {
        if turn.counted {
            let family = self.connections.get(slot).family;
            self.record.sent(family);
            self.record.tally[family].followed += 1;
        }
        let begun = Exchange { followed: true, ..exchange(turn, slot, now) };
        self.places.renew(place, begun);
        self.join(slot, place);
        match self.connections.get(slot).state {
            State::Open => self.start(slot, place, true),
            _ => self.wait_for(slot, place),
        }
    }
}
