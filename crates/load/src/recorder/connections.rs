//! What is counted of connections.

use sixmark_record::tcp;
use sixmark_record::tls::{Cause, Facts};
use sixmark_sys::driver::{Close, Handshake, Slot, TcpPath};
use sixmark_units::family::Family;
use sixmark_wire::flow::Ends;

use super::Recorder;
use crate::connection::{Connection, State};

impl Recorder {
    /// Whether the kernel is to be asked how long the handshake of the next connection takes: of all
    /// where connect is timed by its clock, else of some to be put beside this client's.
    pub(crate) fn asks_handshake(&mut self, family: Family, counts: bool) -> bool {
        self.kernel || (counts && self.handshakes.takes(family))
    }

    /// Whether the kernel is to be asked what it knows of the way of a connection that is about to be
    /// closed.
    pub(crate) fn asks_path(&mut self, family: Family) -> bool {
        self.paths.takes(family)
    }

    /// A connection was established. False where nobody knows how long that took.
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

    /// What the kernel said of the handshake of a connection, which took this client so long.
    pub(crate) fn handshake(&mut self, family: Family, said: Handshake, client: u64) {
        let said = match said {
            Handshake::Took(nanos) => tcp::Handshake::Took(nanos),
            Handshake::SentAgain => tcp::Handshake::SentAgain,
            Handshake::Untimed => tcp::Handshake::Untimed,
        };
        self.tally[family].tcp.handshake.record(said, client);
    }

    /// A handshake of TLS or QUIC that began at `since` was finished at `over`.
    pub(crate) fn shook_hands(&mut self, family: Family, facts: &Facts, [since, over]: [u64; 2]) {
        if !self.is_timed(since) {
            return self.tally[family].tls.finished_untimed(facts);
        }
        let took = over.saturating_sub(since);
        self.tally[family].tls.finished(facts, took);
        self.slice.families[family].tls.record(took);
    }

    /// A connection was closed.
    pub(crate) fn closed(&mut self, connection: &Connection, now: u64, close: Close) {
        let tally = &mut self.tally[connection.family];
        tally.connections.closed += 1;
        tally.connections.reset_sent += u64::from(close == Close::Reset);
        tally.phases.lifetime.record(now.saturating_sub(connection.connected));
    }

    /// What TCP knew of a connection that is about to be closed.
    pub(crate) fn path(&mut self, family: Family, path: &TcpPath) {
        let &TcpPath { rtt, min_rtt, retransmitted, duplicates, delivered, mss } = path;
        let path = tcp::TcpSample { rtt, min_rtt, retransmitted, duplicates, delivered, mss };
        self.tally[family].tcp.record(&path);
    }

    /// TLS failed on a connection, in its handshake or after it.
    pub(crate) fn tls_failed(&mut self, connection: &Connection, cause: Cause) {
        let tally = &mut self.tally[connection.family].tls;
        match connection.state {
            State::Opening(_) => tally.failed(Some(cause)),
            _ => tally.broke(cause),
        }
    }

    /// The peer sent what nobody had asked for.
    pub(crate) fn unsolicited(&mut self, connection: &Connection) {
        if connection.counted {
            self.tally[connection.family].connections.unsolicited += 1;
        }
    }

    /// How long a connection was held that is closed at `now`, whether it counts or not.
    pub(crate) fn held(&mut self, connection: &Connection, now: u64) {
        let held = now.saturating_sub(connection.opened.max(self.begin));
        self.tally[connection.family].connections.held_ns += held;
    }

    /// Tells of a connection that was established between `ends`, where anybody asked; without them
    /// nobody knows which one it is.
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
