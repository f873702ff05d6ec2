//! Which exchange begins next and where it goes, or what has to be done before.

use sixmark_sys::driver::Slot;
use sixmark_units::family::Family;

use super::Scheduler;
use super::arrivals::{TakenTurn, Turn};
use super::blocked::{self, Blocked};
use crate::connection::{Carrier, Connections};
use crate::prepare::PreparedLoad;
use crate::recorder::Recorder;

/// What is to be done so that the next exchange can begin.
pub(crate) enum NextStep {
    /// It begins, in this way.
    Begin(Turn, Carrier),
    /// This idle connection is closed first, to make room for one to where the exchange goes.
    Displace(Slot),
    /// It was left out: the next one may begin.
    GoOn,
    /// Nothing: there is no way for it.
    Wait,
}

impl Scheduler {
    /// What is to be done for the exchange whose turn it is at `now`; to be called only where one may
    /// begin.
    // Inlined, as what nearly every exchange goes through; the rest is rare.
    #[inline]
    pub(crate) fn next_step(
        &mut self,
        prepared: &PreparedLoad,
        connections: &Connections,
        recorder: &mut Recorder,
        now: u64,
    ) -> NextStep {
        match self.take(prepared, connections, now) {
            Ok((turn, way)) => {
                self.unblock(now, recorder);
                NextStep::Begin(turn, way)
            }
            Err(endpoint) => self.without_way(endpoint, prepared, connections, recorder, now),
        }
    }

    /// What is to be done where there is no way to the endpoint whose turn it is.
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
        if self.arrivals.drop_held(|family| recorder.dropped(family)) {
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
    ) -> TakenTurn<Carrier> {
        let (silence, doubt) = (&self.silence, &self.doubt);
        // Where as many are open as may be, an exchange goes where there is one.
        let held = |endpoint| doubt.is_about(endpoint) && !connections.are_most();
        // Those that are left out go at once.
        self.arrivals.take(prepared, now, held, |endpoint| {
            match silence.is_given_up(prepared.endpoints[endpoint].family) {
                true => Some(None),
                false => connections.way(endpoint),
            }
        })
    }

    /// An idle connection that may be closed to make room for one to this endpoint.
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
        // In an open loop what is due should not wait; but that the others' connections go to and fro
        // does not help them either.
        let lacking = self.arrivals.are_timed() && !connections.has_share(family);
        let at_once = drawn || lacking || !connections.has_any(endpoint);
        let patient = !at_once && stalled < blocked::patience(recorder);
        (!patient || self.arrivals.may_shift(now)).then_some(idle)
    }

    /// Permits wait for a connection of `family`: in an open loop that of the exchange that is due, in a
    /// closed one each that is free.
    fn block(&mut self, family: Family, recorder: &mut Recorder, now: u64) {
        self.arrivals.wait();
        let permits = if self.arrivals.are_timed() { 1 } else { self.permits.free() };
        let before = self.blocked.take();
        before.iter().for_each(|blocked| blocked.count(now, recorder));
        self.blocked = Some(Blocked::new(family, permits, now, before));
    }

    /// An exchange begins at `now`, or none may any more.
    #[inline]
    pub(crate) fn unblock(&mut self, now: u64, recorder: &mut Recorder) {
        if let Some(blocked) = self.blocked.take() {
            blocked.count(now, recorder);
        }
    }
}
