//! Which exchange starts next and where it goes, or what must be done before.

use sixmark_sys::driver::Slot;
use sixmark_units::family::Family;

use super::Scheduler;
use super::arrivals::{ScheduledExchange, TakenExchange};
use super::blocked::{self, Blocked};
use crate::connection::{Carrier, Connections};
use crate::prepare::PreparedLoad;
use crate::recorder::Recorder;

/// What must be done so that the next exchange can start.
pub(crate) enum NextStep {
    /// It starts, in this way.
    Begin(ScheduledExchange, Carrier),
    /// This idle connection is closed first, to make room for one to the endpoint of the exchange.
    Displace(Slot),
    /// It was dropped: the next one may start.
    GoOn,
    /// Nothing can be done: there is no way for it.
    Wait,
}

impl Scheduler {
    /// Returns what must be done for the exchange that is next at `now`. Must be called only if one
    /// may start.
    // Inlined, because nearly every exchange takes this path; the rest is rare.
    #[inline]
    pub(crate) fn next_step(
        &mut self,
        prepared: &PreparedLoad,
        connections: &Connections,
        recorder: &mut Recorder,
        now: u64,
    ) -> NextStep {
        match self.take(prepared, connections, now) {
            Ok((scheduled, way)) => {
                self.unblock(now, recorder);
                NextStep::Begin(scheduled, way)
            }
            Err(endpoint) => self.without_way(endpoint, prepared, connections, recorder, now),
        }
    }

    /// Returns what must be done if there is no way to the endpoint that is next.
    #[inline(never)]
    fn without_way(
        &mut self,
        endpoint: usize,
        prepared: &PreparedLoad,
        connections: &Connections,
        recorder: &mut Recorder,
        now: u64,
    ) -> NextStep {
        let family = prepared.endpoints[endpoint].family;
        if let Some(idle) = self.displaceable(endpoint, family, connections, recorder, now) {
            return NextStep::Displace(idle);
        }
        if self.arrivals.drop_held(|family, due| recorder.dropped(family, due)) {
            return NextStep::GoOn;
        }
        self.block(family, recorder, now);
        NextStep::Wait
    }

    #[inline]
    fn take(
        &mut self,
        prepared: &PreparedLoad,
        connections: &Connections,
        now: u64,
    ) -> TakenExchange<Carrier> {
        let (unresponsive_peers, suspect_servers) =
            (&self.unresponsive_peers, &self.suspect_servers);
        // If no more connections may be opened, exchanges go wherever there is a way, so none are
        // held.
        let held = |endpoint| suspect_servers.includes(endpoint) && !connections.are_most();
        // Exchanges of a family that was given up are left out at once.
        self.arrivals.take(prepared, now, held, |endpoint| {
            if unresponsive_peers.is_given_up(prepared.endpoints[endpoint].family) {
                Some(None)
            } else {
                connections.way(endpoint)
            }
        })
    }

    /// Returns an idle connection that may be closed to make room for one to this endpoint.
    fn displaceable(
        &mut self,
        endpoint: usize,
        family: Family,
        connections: &Connections,
        recorder: &Recorder,
        now: u64,
    ) -> Option<Slot> {
        let drawn = self.arrivals.is_drawn(now);
        let stalled = self.blocked.map_or(0, |blocked| blocked.stalled_for(now));
        let keep_last = !drawn && !blocked::is_long(stalled);
        let idle = connections.spare(family, keep_last)?;
        // In an open loop, an exchange that is due should not wait. But taking connections back and
        // forth between the families would not help either of them.
        let lacking = self.arrivals.are_timed() && !connections.has_share(family);
        let at_once = drawn || lacking || !connections.has_any(endpoint);
        let patient = !at_once && stalled < blocked::patience(recorder);
        (!patient || self.arrivals.may_shift(now)).then_some(idle)
    }

    /// Records that concurrency slots wait for a connection of `family`: in an open loop the one
    /// for the exchange that is due, in a closed loop all free ones.
    fn block(&mut self, family: Family, recorder: &mut Recorder, now: u64) {
        self.arrivals.wait();
        let concurrency_slots =
            if self.arrivals.are_timed() { 1 } else { self.concurrency_slots.free() };
        let before = self.blocked.take();
        before.iter().for_each(|blocked| blocked.count(now, recorder));
        self.blocked = Some(Blocked::new(family, concurrency_slots, now, before));
    }

    /// Ends the waiting, because an exchange starts at `now` or none may start any more.
    #[inline]
    pub(crate) fn unblock(&mut self, now: u64, recorder: &mut Recorder) {
        if let Some(blocked) = self.blocked.take() {
            blocked.count(now, recorder);
        }
    }
}
