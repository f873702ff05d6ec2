//! One worker's connections: which slots are taken, which have room for more, and in what order.

use std::collections::BTreeSet;

use crate::slot_list::{SlotLinks, SlotList};
use sixmark_record::outcome::FailurePhase;
use sixmark_record::plan::ratio::PlanRatio;
use sixmark_sys::driver::Slot;
use sixmark_units::family::{Family, PerFamily};

use super::exchange::Permit;
use super::prepare::PreparedLoad;
use super::protocol::Protocol;
use super::send_buffer::SendBuffer;

/// A connection. Times are the driver's nanoseconds.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) state: State,
    /// The peer's, once connected; before, the endpoint's.
    pub(super) family: Family,
    pub(super) endpoint: usize,
    /// What is spoken on it.
    pub(super) protocol: Protocol,
    /// How bytes leave that are made anew each time; absent where requests are sent as they are.
    pub(super) send_buffer: Option<Box<SendBuffer>>,
    /// When the connect call began, and when the kernel said established.
    pub(super) opened: u64,
    pub(super) connected: u64,
    /// How long connecting took, by the clock that the run's connect times are from.
    pub(super) connect_took: u64,
    /// Established during the measurement, so that it counts.
    pub(super) counted: bool,
    /// Exchanges that were put on it, and those of them that are still there.
    pub(super) requests: u32,
    pub(super) in_flight: u32,
    /// No more exchanges are put on it.
    pub(super) retiring: bool,
    listed: Listed,
}

/// How far a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Vacant,
    /// Not established yet, in this phase.
    Opening(FailurePhase),
    Open,
}

/// Where a connection can be found that may take another exchange.
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
    /// Exchanges that a connection may carry at once.
    streams: u32,
    links: SlotLinks,
    idle_at: Vec<SlotList>,
    /// Those that carry exchanges and have room beside them.
    roomy_at: Vec<BTreeSet<Slot>>,
    /// The idle ones again, over all endpoints.
    idle_links: SlotLinks,
    idle: SlotList,
    idle_count: usize,
    /// Connections that are to be used at once, and that may be open at once.
    usual: usize,
    most: usize,
    /// Idle ones are used in turn, since all were opened to be used.
    in_turn: bool,
    /// How many are open or being opened to each endpoint, and to each family's, and whose these are.
    at: Vec<usize>,
    of_family: PerFamily<usize>,
    families: Vec<Family>,
    /// How many of those that may be open are each family's by the ratio.
    share: PerFamily<usize>,
}

impl Connection {
    /// Where what comes of it is counted: its family, and its endpoint's number.
    pub(super) fn counted_at(&self) -> (Family, usize) {
        (self.family, self.endpoint)
    }
}

/// How an exchange can go to an endpoint: on this connection, or on a new one.
pub(super) type Carrier = Option<Slot>;

impl Connections {
    /// None yet of those that are to be used at once and that may be open at once.
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

    /// How many are open or being opened.
    pub(super) fn count(&self) -> usize {
        self.slots.len() - self.vacant.len()
    }

    /// How many of them carry exchanges, or are being opened for some.
    fn in_use(&self) -> usize {
        self.count() - self.idle_count
    }

    /// As many are open as may be.
    pub(super) fn are_most(&self) -> bool {
        self.count() >= self.most
    }

    /// There is a connection to `endpoint`, or one being opened.
    pub(super) fn has_any(&self, endpoint: usize) -> bool {
        self.at[endpoint] > 0
    }

    /// A family has as many of the connections as the ratio gives it.
    pub(super) fn has_share(&self, family: Family) -> bool {
        self.of_family[family] >= self.share[family]
    }

    /// How an exchange can go to `endpoint` now, if it can.
    pub(super) fn way(&self, endpoint: usize) -> Option<Carrier> {
        match self.room(endpoint) {
            None if self.are_most() => None,
            there => Some(there),
        }
    }

    /// A connection to `endpoint` that can take another exchange: an idle one, the one used last
    /// or, where all were opened to be used, the one used least recently; where there are enough
    /// connections, one that carries others. Where enough are in use, that comes first: no more than
    /// were asked for are used only since the families' shares of what is in flight go up and down.
    ///
    /// Nothing is drawn here. A family's exchanges come in a drawn order, and which of its connections
    /// is idle, or the first with room for another stream, is the doing of the responses.
    pub(super) fn room(&self, endpoint: usize) -> Option<Slot> {
        let idle = match self.in_turn {
            true => self.idle_at[endpoint].oldest(),
            false => self.idle_at[endpoint].newest(),
        };
        let roomy = || self.roomy(endpoint);
        if self.in_use() >= self.usual {
            return roomy().or(idle);
        }
        let enough = self.count() >= self.usual;
        idle.or_else(|| roomy().filter(|_| enough))
    }

    /// An idle connection that can make room for one to an endpoint of `family`: the one that has
    /// been idle for longest, but with `keep_last` not the other family's last one.
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

    /// Takes a slot for a new connection, without an exchange yet.
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

    /// A connection to `endpoint` that carries exchanges and has room for more: always the first
    /// such one, so that those are filled that there are, and one too many is left idle.
    fn roomy(&self, endpoint: usize) -> Option<Slot> {
        self.roomy_at[endpoint].first().copied()
    }

    /// Those to `endpoint` that are not established yet.
    pub(super) fn opening_to(&self, endpoint: usize) -> Vec<Slot> {
        let opening =
            |of: &Connection| of.endpoint == endpoint && matches!(of.state, State::Opening(_));
        let slots = (0..).zip(&self.slots).filter(|(_, of)| opening(of));
        slots.map(|(slot, _)| slot).collect()
    }

    /// The connection that has been idle for longest.
    pub(super) fn longest_idle(&self) -> Option<Slot> {
        self.idle.oldest()
    }

    /// Puts another exchange on a connection.
    pub(super) fn join(&mut self, slot: Slot) {
        let connection = self.get(slot);
        connection.requests += 1;
        connection.in_flight += 1;
        self.list(slot);
    }

    /// Takes an exchange off a connection.
    pub(super) fn part(&mut self, slot: Slot) {
        self.get(slot).in_flight -= 1;
        self.list(slot);
    }

    /// A connection on which nothing came since an exchange on it began, which has lasted too long, gets
    /// no more: the peer may be gone.
    pub(super) fn doubt(&mut self, slot: Slot, since: u64) {
        let connection = self.get(slot);
        if connection.send_buffer.as_ref().is_some_and(|buffer| buffer.heard <= since) {
            connection.retiring = true;
            self.list(slot);
        }
    }

    /// An exchange is over, so that nobody wants to know any more when its request has left.
    pub(super) fn forget(&mut self, slot: Slot, permit: Permit) {
        if let Some(buffer) = &mut self.get(slot).send_buffer {
            buffer.forget(permit);
        }
    }

    /// How many are to be used at once.
    pub(super) fn usual(&self) -> usize {
        self.usual
    }

    /// Lists a connection that changed where it now belongs.
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

    /// Gives a slot back whose exchanges have left it.
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
            connect_took: 0,
            counted: false,
            requests: 0,
            in_flight: 0,
            retiring: false,
            listed: Listed::Nowhere,
        }
    }

    /// How long connecting took by this client's clock.
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

/// How many of `most` connections the ratio gives each family, rounded down, but one at least.
fn shares_of_families(ratio: PlanRatio, most: usize) -> PerFamily<usize> {
    let (v6, all) = ratio.lowest();
    PerFamily::from_fn(|family| {
        let part = if family == Family::Ipv6 { v6 } else { all - v6 };
        let share = most as u64 * part / all;
        (share as usize).max(1)
    })
}
