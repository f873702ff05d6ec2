//! What becomes of an exchange whose turn it is where no more connections may be open: one that is
//! idle makes room for its own, or its place waits.
//!
//! Never more connections are open than the plan allows: a server with few slots gives them to those
//! that are there, idle ones too, and the others would look as if their family failed.

use sixmark_sys::driver::{Driver, Slot};
use sixmark_units::family::Family;

use super::Worker;
use crate::arrivals::Turn;
use crate::connection::Carrier;

/// Idle connections are taken from a family one at a time, and never its last, but for where exchanges
/// of the other family wait and nothing at all begins for so many of the shortest responses, in a row:
/// then a slot on the server may be what they wait for, which an idle connection has.
const RESPONSES: u64 = 4;
/// Never less than this, in nanoseconds, and where there was no response yet, or for the last
/// connection, the other.
const SHORT_STALL: u64 = 5_000_000;
const LONG_STALL: u64 = 1_000_000_000;

/// Places that wait for a connection of a family.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocked {
    family: Family,
    places: usize,
    /// From when on their waiting has not been counted yet.
    since: u64,
    /// When the last exchange had begun.
    stalled_since: u64,
}

impl<D: Driver> Worker<'_, D> {
    /// The exchange that begins at `now`, and its way; none where there is no way.
    pub(super) fn take_turn(&mut self, now: u64) -> Option<(Turn, Carrier)> {
        loop {
            let (connections, silence, prepared) =
                (&self.connections, &self.silence, self.prepared);
            // Those that are left out go at once.
            let way =
                |endpoint: usize| match silence.is_given_up(prepared.endpoints[endpoint].family) {
                    true => Some(None),
                    false => connections.way(endpoint),
                };
            match self.arrivals.take(prepared, now, way) {
                Ok(taken) => {
                    self.no_longer_blocked(now);
                    return Some(taken);
                }
                Err(endpoint) => {
                    let family = self.prepared.endpoints[endpoint].family;
                    if !self.displace_for(endpoint, now) && !self.drop_held() {
                        self.block(family, now);
                        return None;
                    }
                    if !self.arrivals.may_begin(now) {
                        self.no_longer_blocked(now);
                        return None;
                    }
                }
            }
        }
    }

    /// Leaves out the exchange that is due and has no connection, where such ones are dropped.
    fn drop_held(&mut self) -> bool {
        self.arrivals.drop_held(|family| self.record.dropped(family))
    }

    /// Closes an idle connection to make room for one to this endpoint: true where one could be closed.
    fn displace_for(&mut self, endpoint: usize, now: u64) -> bool {
        let family = self.prepared.endpoints[endpoint].family;
        let drawn = self.arrivals.is_drawn(now);
        let stalled = self.blocked.map_or(0, |blocked| now.saturating_sub(blocked.stalled_since));
        let keep_last = !drawn && stalled < LONG_STALL;
        let Some(idle) = self.connections.spare(family, keep_last) else { return false };
        // In an open loop what is due should not wait; but that the others' connections go to and fro
        // does not help them either.
        let lacking = self.arrivals.are_timed() && !self.connections.has_share(family);
        let at_once = drawn || lacking || !self.connections.has_any(endpoint);
        let patient = !at_once && stalled < self.patience();
        if patient && !self.arrivals.may_shift(now) {
            return false;
        }
        self.displace(idle);
        true
    }

    /// Closes an idle connection for another.
    pub(super) fn displace(&mut self, idle: Slot) {
        if self.driver.woke() >= self.measure_from {
            let family = self.connections.get(idle).family;
            self.record.tally[family].connections.displaced += 1;
        }
        self.close(idle, self.usual_close());
    }

    /// Places wait for a connection of `family`.
    fn block(&mut self, family: Family, now: u64) {
        self.count_waiting(now);
        self.arrivals.wait();
        let stalled_since = self.blocked.map_or(now, |blocked| blocked.stalled_since);
        let places = self.waiting_places();
        self.blocked = Some(Blocked { family, places, since: now, stalled_since });
    }

    /// In an open loop the exchange that is due waits, in a closed one each place that is free.
    fn waiting_places(&self) -> usize {
        if self.arrivals.are_timed() { 1 } else { self.places.free() }
    }

    /// An exchange begins, or none may any more.
    pub(super) fn no_longer_blocked(&mut self, now: u64) {
        if self.blocked.is_some() {
            self.count_waiting(now);
            self.blocked = None;
        }
    }

    fn count_waiting(&mut self, now: u64) {
        if let Some(Blocked { family, places, since, .. }) = self.blocked {
            let waited = now.saturating_sub(since.max(self.measure_from));
            self.record.tally[family].connections.awaited_ns += waited * places as u64;
        }
    }

    /// How long nothing may begin before idle connections are taken from a family at once.
    fn patience(&self) -> u64 {
        let shortest =
            self.record.tally.iter().filter_map(|(_, of)| of.phases.response.min()).max();
        let several = shortest.map_or(LONG_STALL, |shortest| shortest.saturating_mul(RESPONSES));
        several.clamp(SHORT_STALL, LONG_STALL)
    }

    /// When to try once more, after `now`, though nothing has happened.
    pub(super) fn stalled_until(&self, now: u64) -> Option<u64> {
        let since = self.blocked?.stalled_since;
        let stalls = [self.patience(), LONG_STALL].map(|stall| since.saturating_add(stall));
        stalls.into_iter().find(|&until| until > now)
    }

    /// Idle connections that nothing will be sent on are closed, where all that is to begin has begun:
    /// what is in flight may wait for their slots on the server.
    pub(super) fn let_go(&mut self, now: u64) {
        if !self.arrivals.is_drawn(now) {
            return;
        }
        while let Some(idle) = self.connections.longest_idle() {
            self.close(idle, self.usual_close());
        }
    }
}
