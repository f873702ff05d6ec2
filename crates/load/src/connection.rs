//! The connections of a worker: their slots, their capacity, and the order in which they are used.

use std::collections::BTreeSet;

use crate::slot_list::{SlotLinks, SlotList};
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_sys::driver::{Slot, TcpHandshake};
use sixmark_tally::outcome::FailurePhase;
use sixmark_units::family::{Family, PerFamily};

use super::exchange::ConcurrencySlot;
use super::pauses::PauseClock;
use super::prepare::PreparedLoad;
use super::protocol::Protocol;
use super::send_buffer::SendBuffer;

/// A connection. Times are in nanoseconds of the driver's clock.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) state: State,
    /// The peer's family once connected; before, that of the endpoint.
    pub(super) family: Family,
    pub(super) endpoint: usize,
    /// The state of its protocol.
    pub(super) protocol: Protocol,
    /// The buffer for bytes that are generated anew each time. `None` if requests are sent as they
    /// are.
    pub(super) send_buffer: Option<Box<SendBuffer>>,
    /// The times at which the connect call was made and at which the kernel reported the connection
    /// established.
    pub(super) opened: u64,
    pub(super) connected: u64,
    /// The time at which the TLS or QUIC handshake was over; without TLS, at which it was established.
    pub(super) secured: u64,
    /// What the kernel reported about its TCP handshake, if it was asked.
    pub(super) handshake: Option<TcpHandshake>,
    /// Duration of connecting in nanoseconds, by the clock that the run uses for connect times.
    pub(super) connect_took: u64,
    /// When the first byte of an incomplete TLS record was received.
    pub(super) record_since: Option<u64>,
    /// What its pauses are measured against.
    pub(super) pause_clock: PauseClock,
    /// True if it was established during the measurement, so that it counts.
    pub(super) counted: bool,
    /// The number of exchanges put on it so far, and of those still in flight.
    pub(super) requests: u32,
    pub(super) in_flight: u32,
    /// True if it carried an exchange of the measurement.
    pub(super) carries: bool,
    /// True if no more exchanges are put on it.
    pub(super) retiring: bool,
    listed: Listed,
}

/// When a connection became usable. Times are in nanoseconds of the driver's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpeningTimes {
    /// When TCP established it; over QUIC, when its handshake began.
    pub(super) connected: u64,
    /// When its TLS or QUIC handshake was over; without one, when it was established.
    pub(super) secured: u64,
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Vacant,
    /// Not established yet; it is in this phase.
    Opening(FailurePhase),
    Open,
}

/// The list that contains a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listed {
    Nowhere,
    Idle,
    Roomy,
}

/// All connections of a worker.
#[derive(Debug, Default)]
pub(super) struct Connections {
    slots: Vec<Connection>,
    vacant: Vec<Slot>,
    /// Maximum number of concurrent exchanges per connection.
    streams: u32,
    links: SlotLinks,
    idle_at: Vec<SlotList>,
    /// By endpoint: the connections that carry exchanges and have room for more.
    roomy_at: Vec<BTreeSet<Slot>>,
    /// All idle connections, of all endpoints, in the order in which they became idle.
    idle_links: SlotLinks,
    idle: SlotList,
    idle_count: usize,
    /// The number of connections to use at once, and the maximum number that may be open.
    usual: usize,
    most: usize,
    /// True if idle connections are used in turn (`--preopen`).
    in_turn: bool,
    /// The number of connections open or being opened to each endpoint and to the endpoints of each
    /// family, and the family of each endpoint.
    at: Vec<usize>,
    of_family: PerFamily<usize>,
    families: Vec<Family>,
    /// Each family's share of `most`, by the ratio.
    share: PerFamily<usize>,
}

impl Connection {
    /// Returns where its events are counted: its family and the number of its endpoint.
    pub(super) fn counted_at(&self) -> (Family, usize) {
        (self.family, self.endpoint)
    }
}

/// How an exchange reaches an endpoint: on this connection, or on a new one if `None`.
pub(super) type Carrier = Option<Slot>;

impl Connections {
    /// Creates an empty set. `usual` connections are to be used at once, and `most` may be open.
    pub(super) fn new(prepared: &PreparedLoad, [usual, most]: [usize; 2]) -> Connections {
        let families: Vec<_> = prepared.endpoints.iter().map(|endpoint| endpoint.family).collect();
        let endpoints = families.len();
        let most = most.max(usual);
        Connections {
            share: shares_of_families(prepared.plan.ratio, most),
            streams: prepared.plan.http.streams.get(),
            idle_at: vec![SlotList::default(); endpoints],
            roomy_at: vec![BTreeSet::new(); endpoints],
            usual,
            most,
            in_turn: prepared.plan.connection.preopen,
            at: vec![0; endpoints],
            families,
            ..Connections::default()
        }
    }

    /// Returns the number of connections that are open or being opened.
    pub(super) fn count(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    /// Returns the number of connections that carry exchanges or are being opened.
    fn in_use(&self) -> usize {
        self.count() - self.idle_count
    }

    /// Returns true if no more connections may be opened.
    pub(super) fn are_most(&self) -> bool {
        self.count() >= self.most
    }

    /// Returns true if a connection to `endpoint` is open or being opened.
    pub(super) fn has_any(&self, endpoint: usize) -> bool {
        self.at[endpoint] > 0
    }

    /// Returns true if a family has all the connections that the ratio gives it.
    pub(super) fn has_share(&self, family: Family) -> bool {
        self.of_family[family] >= self.share[family]
    }

    /// Returns how an exchange can go to `endpoint` now. `None` if it can't.
    pub(super) fn way(&self, endpoint: usize) -> Option<Carrier> {
        match self.room(endpoint) {
            None if self.are_most() => None,
            there => Some(there),
        }
    }

    /// Returns a connection to `endpoint` that can take another exchange. Preferred is an idle one:
    /// the most recently used or, if connections are used in turn, the least recently used. If
    /// there are `usual` connections, one that carries other exchanges is the second choice. If
    /// `usual` connections are in use, it is the first choice: more of them would be in use only
    /// because the families' shares of the exchanges in flight vary.
    ///
    /// This needs no random choice. The exchanges of a family come in random order, and which of
    /// its connections is idle, or is the first with room for another stream, depends on the
    /// responses.
    pub(super) fn room(&self, endpoint: usize) -> Option<Slot> {
        let idle = if self.in_turn {
            self.idle_at[endpoint].oldest()
        } else {
            self.idle_at[endpoint].newest()
        };
        let roomy = || self.roomy(endpoint);
        if self.in_use() >= self.usual {
            return roomy().or(idle);
        }
        let enough = self.count() >= self.usual;
        idle.or_else(|| roomy().filter(|_| enough))
    }

    /// Returns an idle connection to close in favour of one to an endpoint of `family`: the one
    /// idle for longest. With `keep_last`, the last connection of the other family is not returned.
    pub(super) fn spare(&self, family: Family, keep_last: bool) -> Option<Slot> {
        let last = |slot: Slot| {
            let home = self.families[self.slots[slot as usize].endpoint];
            home != family && self.of_family[home] == 1 && keep_last && self.most > 1
        };
        let oldest = self.idle.oldest()?;
        let next = self.idle.after(&self.idle_links, oldest);
        [Some(oldest), next].into_iter().flatten().find(|&slot| !last(slot))
    }

    pub(super) fn get(&mut self, slot: Slot) -> &mut Connection {
        &mut self.slots[slot as usize]
    }

    /// Creates a connection without exchanges and returns its slot.
    pub(super) fn open(
        &mut self,
        endpoint: usize,
        family: Family,
        protocol: Protocol,
        now: u64,
    ) -> Slot {
        let connection = Connection::new(endpoint, family, protocol, now);
        self.at[endpoint] += 1;
        self.of_family[family] += 1;
        match self.vacant.pop() {
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
        }
    }

    /// Returns the first connection to `endpoint` that carries exchanges and has room for more.
    /// Always taking the first fills existing connections, so that surplus ones become idle.
    fn roomy(&self, endpoint: usize) -> Option<Slot> {
        self.roomy_at[endpoint].first().copied()
    }

    /// Returns the connections to `endpoint` that are not established yet.
    pub(super) fn opening_to(&self, endpoint: usize) -> Vec<Slot> {
        let opening =
            |of: &Connection| of.endpoint == endpoint && matches!(of.state, State::Opening(_));
        let slots = (0..).zip(&self.slots).filter(|(_, of)| opening(of));
        slots.map(|(slot, _)| slot).collect()
    }

    /// Returns the connection that has been idle for longest.
    pub(super) fn longest_idle(&self) -> Option<Slot> {
        self.idle.oldest()
    }

    /// Adds an exchange to a connection.
    pub(super) fn join(&mut self, slot: Slot) {
        let connection = self.get(slot);
        connection.requests += 1;
        connection.in_flight += 1;
        self.list(slot);
    }

    /// Removes an exchange from a connection.
    pub(super) fn part(&mut self, slot: Slot) {
        self.get(slot).in_flight -= 1;
        self.list(slot);
    }

    /// Puts no more exchanges on a connection if nothing was received on it since `since`, the
    /// start of an exchange that has timed out: the peer may be gone.
    pub(super) fn suspect(&mut self, slot: Slot, since: u64) {
        let connection = self.get(slot);
        if connection.send_buffer.as_ref().is_some_and(|buffer| buffer.heard <= since) {
            connection.retiring = true;
            self.list(slot);
        }
    }

    /// Stops tracking when the request of an exchange, which is over, is sent.
    pub(super) fn forget(&mut self, slot: Slot, concurrency_slot: ConcurrencySlot) {
        if let Some(buffer) = &mut self.get(slot).send_buffer {
            buffer.forget(concurrency_slot);
        }
    }

    /// Returns the number of connections to use at once.
    pub(super) fn usual(&self) -> usize {
        self.usual
    }

    /// Moves a connection whose state has changed to the list to which it now belongs.
    pub(super) fn list(&mut self, slot: Slot) {
        let listed = self.slots[slot as usize].belongs(self.streams);
        if listed == self.slots[slot as usize].listed {
            return;
        }
        self.unlist(slot);
        let connection = &mut self.slots[slot as usize];
        connection.listed = listed;
        let endpoint = connection.endpoint;
        match listed {
            Listed::Nowhere => {}
            Listed::Roomy => {
                self.roomy_at[endpoint].insert(slot);
            }
            Listed::Idle => {
                self.idle_at[endpoint].push(&mut self.links, slot);
                self.idle.push(&mut self.idle_links, slot);
                self.idle_count += 1;
            }
        }
    }

    fn unlist(&mut self, slot: Slot) {
        let connection = &self.slots[slot as usize];
        let endpoint = connection.endpoint;
        match connection.listed {
            Listed::Nowhere => {}
            Listed::Roomy => {
                self.roomy_at[endpoint].remove(&slot);
            }
            Listed::Idle => {
                self.idle_at[endpoint].remove(&mut self.links, slot);
                self.idle.remove(&mut self.idle_links, slot);
                self.idle_count -= 1;
            }
        }
    }

    /// Frees a slot that has no exchanges any more.
    pub(super) fn vacate(&mut self, slot: Slot) {
        let connection = self.get(slot);
        if connection.state == State::Vacant {
            return;
        }
        debug_assert_eq!(connection.in_flight, 0);
        connection.state = State::Vacant;
        let endpoint = connection.endpoint;
        (connection.protocol, connection.send_buffer) = (Protocol::default(), None);
        self.at[endpoint] -= 1;
        self.of_family[self.families[endpoint]] -= 1;
        self.list(slot);
        self.vacant.push(slot);
    }
}

impl Connection {
    fn new(endpoint: usize, family: Family, protocol: Protocol, now: u64) -> Connection {
        Connection {
            state: State::Opening(FailurePhase::Connect),
            family,
            endpoint,
            protocol,
            send_buffer: None,
            opened: now,
            connected: 0,
            secured: 0,
            handshake: None,
            connect_took: 0,
            record_since: None,
            pause_clock: PauseClock::default(),
            counted: false,
            requests: 0,
            in_flight: 0,
            carries: false,
            retiring: false,
            listed: Listed::Nowhere,
        }
    }

    /// Returns when it was established, and when it was secured.
    #[inline]
    pub(super) fn opening_times(&self) -> OpeningTimes {
        OpeningTimes { connected: self.connected, secured: self.secured }
    }

    /// Returns the duration of connecting by this client's clock, in nanoseconds.
    pub(super) fn client_took(&self) -> u64 {
        self.connected.saturating_sub(self.opened)
    }

    fn belongs(&self, streams: u32) -> Listed {
        match (self.state, self.in_flight) {
            (State::Vacant, _) => Listed::Nowhere,
            _ if self.retiring => Listed::Nowhere,
            (State::Open, 0) => Listed::Idle,
            (_, some) if some > 0 && some < streams => Listed::Roomy,
            _ => Listed::Nowhere,
        }
    }
}

/// Returns each family's share of `most` connections by the ratio, rounded down, but at least one.
fn shares_of_families(ratio: PlanRatio, most: usize) -> PerFamily<usize> {
    let (v6, all) = ratio.lowest();
    PerFamily::from_fn(|family| {
        let part = if family == Family::Ipv6 { v6 } else { all - v6 };
        let share = most as u64 * part / all;
        (share as usize).max(1)
    })
}
