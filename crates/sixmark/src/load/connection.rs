//! One worker's connections: which slots are taken, in flight or idle, and in what order.

use sixmark_core::chain::{Chain, Links};
use sixmark_core::family::Family;
use sixmark_core::http1::Reader;
use sixmark_core::outcome::Phase;
use sixmark_sys::driver::Slot;

/// A connection and the exchange on it. Times are the driver's nanoseconds.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) state: State,
    /// The peer's, once connected; before, the endpoint's.
    pub(super) family: Family,
    pub(super) endpoint: usize,
    pub(super) reader: Reader,
    /// When the connect call began, and when the kernel said established.
    pub(super) opened: u64,
    pub(super) connected: u64,
    /// Established during the measurement, so that it counts.
    pub(super) counted: bool,
    /// Requests begun on it.
    pub(super) requests: u32,
    pub(super) exchange: Exchange,
}

/// One request and its response.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Exchange {
    /// Begun during the measurement, so that it counts.
    pub(super) counted: bool,
    /// When it was to start, in an open loop.
    pub(super) due: Option<u64>,
    /// It was due while no place was free.
    pub(super) waited: bool,
    pub(super) start: u64,
    /// When the request's last byte was handed to the kernel.
    pub(super) sent: u64,
    /// When the response's first byte came.
    pub(super) first: Option<u64>,
}

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Vacant,
    /// In flight, in this phase of its exchange. TLS will have its own.
    Busy(Phase),
    Idle,
}

/// All connections of a worker.
#[derive(Debug, Default)]
pub(super) struct Connections {
    slots: Vec<Connection>,
    vacant: Vec<Slot>,
    /// A slot is in flight or idle at its endpoint, never both, so that these share their links.
    links: Links,
    in_flight: Chain,
    idle_at: Vec<Chain>,
    /// The idle ones again, over all endpoints.
    idle_links: Links,
    idle: Chain,
}

impl Connections {
    pub(super) fn new(endpoints: usize) -> Connections {
        Connections { idle_at: vec![Chain::default(); endpoints], ..Connections::default() }
    }

    /// How many are open or being opened.
    pub(super) fn count(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    pub(super) fn get(&mut self, slot: Slot) -> &mut Connection {
        &mut self.slots[slot as usize]
    }

    /// Takes a slot for a new connection that is in flight from now on.
    pub(super) fn open(&mut self, endpoint: usize, family: Family, now: u64) -> Slot {
        let connection = Connection::new(endpoint, family, now);
        let slot = match self.vacant.pop() {
            Some(slot) => {
                self.slots[slot as usize] = connection;
                slot
            }
            None => {
                self.slots.push(connection);
                self.links.grow(self.slots.len());
                self.idle_links.grow(self.slots.len());
                (self.slots.len() - 1) as Slot
            }
        };
        self.in_flight.push(&mut self.links, slot);
        slot
    }

    /// The idle connection to `endpoint` that was used last, now in flight.
    pub(super) fn reuse(&mut self, endpoint: usize) -> Option<Slot> {
        let slot = self.idle_at[endpoint].newest()?;
        self.remove_idle(slot);
        self.in_flight.push(&mut self.links, slot);
        Some(slot)
    }

    /// The idle connection to `endpoint` that was not used for longest, now in flight.
    pub(super) fn reuse_oldest(&mut self, endpoint: usize) -> Option<Slot> {
        let slot = self.idle_at[endpoint].oldest()?;
        self.remove_idle(slot);
        self.in_flight.push(&mut self.links, slot);
        Some(slot)
    }

    /// Sets a connection in flight aside for later.
    pub(super) fn rest(&mut self, slot: Slot) {
        self.in_flight.remove(&mut self.links, slot);
        let connection = &mut self.slots[slot as usize];
        connection.state = State::Idle;
        self.idle_at[connection.endpoint].push(&mut self.links, slot);
        self.idle.push(&mut self.idle_links, slot);
    }

    /// Gives a slot back.
    pub(super) fn vacate(&mut self, slot: Slot) {
        match self.slots[slot as usize].state {
            State::Vacant => return,
            State::Busy(_) => self.in_flight.remove(&mut self.links, slot),
            State::Idle => self.remove_idle(slot),
        }
        let connection = &mut self.slots[slot as usize];
        connection.state = State::Vacant;
        connection.reader = Reader::new();
        self.vacant.push(slot);
    }

    /// The connection whose exchange began first.
    pub(super) fn longest_in_flight(&self) -> Option<Slot> {
        self.in_flight.oldest()
    }

    /// The connection that has been idle for longest.
    pub(super) fn longest_idle(&self) -> Option<Slot> {
        self.idle.oldest()
    }

    fn remove_idle(&mut self, slot: Slot) {
        let endpoint = self.slots[slot as usize].endpoint;
        self.idle_at[endpoint].remove(&mut self.links, slot);
        self.idle.remove(&mut self.idle_links, slot);
    }
}

impl Connection {
    fn new(endpoint: usize, family: Family, now: u64) -> Connection {
        Connection {
            state: State::Busy(Phase::Connect),
            family,
            endpoint,
            reader: Reader::new(),
            opened: now,
            connected: 0,
            counted: false,
            requests: 0,
            exchange: Exchange::default(),
        }
    }
}
