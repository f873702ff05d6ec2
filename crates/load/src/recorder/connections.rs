//! Counting connections.

use sixmark_sys::driver::{Close, Slot, TcpHandshake, TcpInfo};
use sixmark_tally::tls::{Cause, Facts};
use sixmark_units::family::Family;
use sixmark_wire::flow::Ends;

use super::Recorder;
use crate::connection::{Connection, State};

impl Recorder {
    /// Returns true if the kernel is to give timestamps to what the next connection receives, so that
    /// the lateness of this client is known. With the kernel's clock, all times are from timestamps
    /// anyway.
    pub(crate) fn asks_arrivals(&mut self, family: Family) -> bool {
        !self.kernel && self.arrivals.takes(family)
    }

    /// Returns true if the kernel is to be asked for the path statistics of a connection that is
    /// about to be closed.
    pub(crate) fn asks_path(&mut self, family: Family) -> bool {
        self.paths.takes(family)
    }

    /// Counts an established connection. Returns false if its duration is unknown because of a
    /// stall.
    pub(crate) fn connected(&mut self, connection: &Connection) -> bool {
        let timed = self.is_timed(connection.opened);
        let tally = &mut self.tally[connection.family];
        tally.connections.opened += 1;
        if !timed {
            return false;
        }
        self.slice.families[connection.family].connect.record(connection.connect_took);
        true
    }

    /// Records what the kernel reported about a handshake, which took `client` nanoseconds by this
    /// client's clock.
    pub(crate) fn handshake(&mut self, family: Family, said: TcpHandshake, client: u64) {
        self.tally[family].tcp.handshake.record(said, client);
    }

    /// Records a TLS or QUIC handshake that began at `since` and finished at `over`.
    pub(crate) fn shook_hands(&mut self, family: Family, facts: &Facts, [since, over]: [u64; 2]) {
        if !self.is_timed(since) {
            return self.tally[family].tls.finished_untimed(facts);
        }
        let took = over.saturating_sub(since);
        self.tally[family].tls.finished(facts, took);
        self.slice.families[family].tls.record(took);
    }

    /// Counts a closed connection.
    pub(crate) fn closed(&mut self, connection: &Connection, now: u64, close: Close) {
        let tally = &mut self.tally[connection.family];
        tally.connections.closed += 1;
        tally.connections.reset_sent += u64::from(close == Close::Reset);
        tally.phases.lifetime.record(now.saturating_sub(connection.connected));
    }

    /// Records TCP's statistics of a connection that is about to be closed.
    pub(crate) fn path(&mut self, connection: &Connection, path: &TcpInfo) {
        let tally = &mut self.tally[connection.family];
        if connection.counted {
            tally.tcp.record(path);
        }
        if connection.carries {
            tally.carriers.record(path);
            if let Some(said) = connection.handshake {
                tally.carriers.handshake.record(said, connection.client_took());
            }
        }
    }

    /// Counts a failure of TLS, in the handshake or after it: of the measurement if `counted`, else
    /// of the warm-up.
    pub(crate) fn tls_failed(&mut self, connection: &Connection, counted: bool, cause: Cause) {
        let tally = &mut self.tally[connection.family];
        let tally = if counted { tally } else { tally.failing_warm_up() };
        let tally = &mut tally.tls;
        match connection.state {
            State::Opening(_) => tally.failed(Some(cause)),
            _ => tally.broke(cause),
        }
    }

    /// Counts data that the peer sent although no request was pending.
    pub(crate) fn unsolicited(&mut self, connection: &Connection) {
        if connection.counted {
            self.tally[connection.family].connections.unsolicited += 1;
        }
    }

    /// Records how long a connection that is closed at `now` was open, whether it counts or not.
    pub(crate) fn held(&mut self, connection: &Connection, now: u64) {
        let held = now.saturating_sub(connection.opened.max(self.begin));
        self.tally[connection.family].connections.held_ns += held;
    }

    /// Adds a connection between `ends` to the trace, if there is one. Without `ends` it can't be
    /// identified.
    pub(crate) fn trace_connection(
        &mut self,
        slot: Slot,
        connection: &Connection,
        ends: Option<Ends>,
    ) {
        if let Some(trace) = &mut self.trace {
            trace.open(slot, connection, ends);
        }
    }
}
