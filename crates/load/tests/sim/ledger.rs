//! What the simulated servers saw, to hold a worker's counts against.

use sixmark_sys::driver::{Close, TcpHandshake, TcpInfo};
use sixmark_units::family::Family;

#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) connections: Vec<Connection>,
    /// Exchanges in the order of their beginning.
    pub(crate) begun: Vec<Begun>,
    pub(crate) waits: u64,
    pub(crate) most_in_flight: usize,
    pub(crate) most_open: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    /// The connection's number.
    pub(crate) connection: usize,
    /// When the driver had woken before.
    pub(crate) woke: u64,
}

#[derive(Debug)]
pub(crate) struct Connection {
    /// The peer's; before it is known, that of the address dialled.
    pub(crate) family: Family,
    pub(crate) established: Option<u64>,
    pub(crate) closed: Option<Close>,
    pub(crate) requests: Vec<Asked>,
    /// What is told of its handshake, where that was to be asked.
    pub(crate) handshake: Option<TcpHandshake>,
    /// What was told of its path.
    pub(crate) path: Option<TcpInfo>,
}

/// A request.
#[derive(Debug)]
pub(crate) struct Asked {
    /// When the driver had woken before the exchange's begin.
    pub(crate) begun: u64,
    /// Method and path.
    pub(crate) line: String,
    pub(crate) length: usize,
    /// The kernel took all of it, and told so.
    pub(crate) taken: bool,
    /// It said `Connection: close`.
    pub(crate) last: bool,
    /// Bytes told while it was in flight.
    pub(crate) received: usize,
    /// The complete response was told.
    pub(crate) answered: bool,
}

impl Ledger {
    /// The connections to a family that were established at `from` or later.
    pub(crate) fn established(
        &self,
        family: Family,
        from: u64,
    ) -> impl Iterator<Item = &Connection> {
        self.of(family).filter(move |page| page.established.is_some_and(|at| at >= from))
    }

    /// The requests to a family whose exchanges began at `from` or later.
    pub(crate) fn requests(&self, family: Family, from: u64) -> impl Iterator<Item = &Asked> {
        self.of(family).flat_map(|page| &page.requests).filter(move |asked| asked.begun >= from)
    }

    /// How many exchanges with a family began at `from` or later, those included that had no
    /// connection.
    pub(crate) fn begun(&self, family: Family, from: u64) -> u64 {
        self.families(from).filter(|&other| other == family).count() as u64
    }

    /// The families of exchanges begun at `from` or later, in that order.
    pub(crate) fn families(&self, from: u64) -> impl Iterator<Item = Family> {
        let since = self.begun.iter().filter(move |begun| begun.woke >= from);
        since.map(|begun| self.connections[begun.connection].family)
    }

    fn of(&self, family: Family) -> impl Iterator<Item = &Connection> {
        self.connections.iter().filter(move |page| page.family == family)
    }
}
