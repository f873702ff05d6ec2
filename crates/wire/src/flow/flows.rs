//! Assigns packets to connections, and decides when a connection is no longer followed.

use std::net::SocketAddr;

use super::Segment;
use super::budget::Budget;
use super::connection::Connection;
use super::connection_report::{Closure, FlowObserver};
use super::http::FollowerOutput;
use super::http_exchange::Ends;
use super::key::Key;
use super::networks::Networks;
use super::quic::{self, Datagram, Quic};
use super::settings::Settings;
use super::table::{List, Table};
use crate::{Ip, Via};

/// The number of past flows remembered by their endpoints, per flow that may be followed at once.
const REMEMBERED: usize = 4;
/// The maximum number of networks that are searched for the SYN of a SYN-ACK.
const MOST_NETWORKS: u16 = 16;

/// The flows being followed.
#[derive(Debug)]
pub(super) struct Flows<S> {
    pub(super) settings: Settings,
    pub(super) sink: S,
    pub(super) budget: Budget,
    pub(super) networks: Networks,
    table: Table<Flow>,
    /// The number of connections seen, and of those that were evicted while still open.
    pub(super) connections: u64,
    pub(super) evicted: u64,
    /// The latest time seen.
    now_ns: u64,
    /// The earliest time at which a flow can have expired.
    due_ns: u64,
}

/// A flow, and whether the client is the first endpoint of its key.
#[derive(Debug)]
struct Flow {
    client_first: bool,
    kind: FlowKind,
}

/// The protocol of a flow and its state. The larger variant is by far the more frequent one.
#[derive(Debug)]
#[expect(clippy::large_enum_variant)]
enum FlowKind {
    Tcp(Connection),
    Quic(Quic),
}

/// The endpoints of a packet and their key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    from: SocketAddr,
    to: SocketAddr,
    key: Key,
    /// True if `from` is the first endpoint of the key.
    straight: bool,
}

impl Pair {
    pub(super) fn new(protocol: u8, network: u16, ip: &Ip<'_>, (from, to): (u16, u16)) -> Pair {
        let (from, to) = ((ip.source, from).into(), (ip.destination, to).into());
        let (key, straight) = Key::new(protocol, network, from, to);
        Pair { from, to, key, straight }
    }

    fn ends(&self, by_client: bool) -> Ends {
        if by_client {
            Ends { client: self.from, server: self.to }
        } else {
            Ends { client: self.to, server: self.from }
        }
    }
}

impl<S: FlowObserver> Flows<S> {
    pub(super) fn new(settings: Settings, sink: S) -> Flows<S> {
        let budget = Budget::new(settings.buffer_bytes);
        let (connections, evicted, now_ns, due_ns) = (0, 0, 0, 0);
        let (table, networks) = (Table::new(), Networks::default());
        Flows { settings, sink, budget, networks, table, connections, evicted, now_ns, due_ns }
    }

    /// Returns the number of flows being followed.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Returns whether no more data is expected on any flow.
    pub(super) fn are_settled(&self) -> bool {
        self.table.values().all(|flow| match &flow.kind {
            FlowKind::Tcp(connection) => connection.is_settled(),
            FlowKind::Quic(_) => true,
        })
    }

    /// Returns whether every TCP connection is over. The end of a QUIC connection can't be seen, so
    /// that it counts as over.
    pub(super) fn are_over(&self) -> bool {
        self.table.values().all(|flow| match &flow.kind {
            FlowKind::Tcp(connection) => connection.is_over(),
            FlowKind::Quic(_) => true,
        })
    }

    /// Advances the clock and removes the flows that have expired.
    pub(super) fn pass(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
        if self.now_ns >= self.due_ns {
            self.expire();
        }
    }

    /// Returns whether traffic between these ports is followed.
    pub(super) fn is_asked_for(&self, from: u16, to: u16) -> bool {
        let ports = &self.settings.ports;
        ports.is_empty() || ports.contains(&to) || ports.contains(&from)
    }

    /// Processes a TCP segment, whose packet was behind the layers `via`.
    pub(super) fn segment(&mut self, pair: Pair, via: &Via, segment: &Segment<'_>) {
        let (id, by_client) = self.connection(pair, via, segment);
        let Some(Flow { kind: FlowKind::Tcp(connection), .. }) = self.table.get(id) else { return };
        let output = &mut FollowerOutput { sink: &mut self.sink, budget: &mut self.budget };
        connection.take(by_client, segment, output);
        let list = if connection.is_over() { List::Over } else { List::Open };
        if list == List::Over {
            self.due_ns = self.due_ns.min(self.now_ns.saturating_add(self.settings.linger_ns));
        }
        self.table.touch(id, list, self.now_ns);
    }

    /// Returns the QUIC connection that a UDP datagram belongs to or begins, and whether the client
    /// sent the datagram. Returns `None` if the datagram is not QUIC.
    pub(super) fn quic(
        &mut self,
        pair: Pair,
        via: &Via,
        datagram: &Datagram<'_>,
    ) -> Option<(bool, &mut Quic, &mut Budget)> {
        let known = self.table.find(&pair.key);
        let id = known.or_else(|| self.begin_quic(&pair, via, datagram))?;
        self.table.touch(id, List::Open, self.now_ns);
        let flow = self.table.get(id)?;
        let by_client = flow.client_first == pair.straight;
        match &mut flow.kind {
            FlowKind::Quic(quic) => Some((by_client, quic, &mut self.budget)),
            FlowKind::Tcp(_) => None,
        }
    }

    /// Adds `more` to the number of a connection's segments that have arrived only in part.
    pub(super) fn in_pieces(&mut self, pair: &Pair, more: i32) {
        if let Some(id) = self.table.find(&pair.key)
            && let Some(Flow { kind: FlowKind::Tcp(connection), .. }) = self.table.get(id)
        {
            connection.in_pieces = connection.in_pieces.saturating_add_signed(more);
        }
    }

    /// Reports all remaining flows: those that are over first, and within each list the longest
    /// idle first.
    pub(super) fn finish(&mut self) {
        for list in [List::Over, List::Open] {
            while let Some((id, _)) = self.table.oldest(list) {
                self.end(id, Closure::Open);
            }
        }
    }

    /// Returns the flow of a segment, and whether the client sent the segment.
    fn connection(&mut self, pair: Pair, via: &Via, segment: &Segment<'_>) -> (u32, bool) {
        let flags = segment.tcp.flags;
        let begins = flags.syn() && !flags.ack();
        let known = self.table.find(&pair.key).or_else(|| self.answered(&pair, segment));
        if let Some(id) = known
            && let Some(Flow { client_first, kind: FlowKind::Tcp(connection) }) = self.table.get(id)
        {
            let by_client = *client_first == pair.straight;
            let other = begins
                && if by_client {
                    connection.is_other(segment)
                } else {
                    connection.is_over() && self.settings.ports.is_empty()
                };
            if !other {
                return (id, by_client);
            }
            self.end(id, Closure::Open);
        }
        let by_client = self.is_client(&pair, flags.syn().then_some(begins));
        let before = self.table.before(&pair.key);
        let connection = Connection::new(pair.ends(by_client), before, via.clone());
        (self.insert(&pair, by_client, FlowKind::Tcp(connection)), by_client)
    }

    /// Returns the connection in another network whose SYN this segment answers. Some switches copy
    /// packets with their tags in one direction only.
    fn answered(&mut self, pair: &Pair, segment: &Segment<'_>) -> Option<u32> {
        let flags = segment.tcp.flags;
        if !(flags.syn() && flags.ack()) {
            return None;
        }
        for network in 0..=self.networks.last().min(MOST_NETWORKS) {
            let found = self.table.find(&pair.key.in_network(network));
            if let Some(id) = found
                && let Some(Flow { client_first, kind: FlowKind::Tcp(connection) }) =
                    self.table.get(id)
                && *client_first != pair.straight
                && connection.is_answered_by(segment)
            {
                self.table.alias(id, pair.key);
                return Some(id);
            }
        }
        None
    }

    fn begin_quic(&mut self, pair: &Pair, via: &Via, datagram: &Datagram<'_>) -> Option<u32> {
        let initial = quic::begins(datagram)?;
        let by_client = self.is_client(pair, initial.then_some(true));
        let before = self.table.before(&pair.key);
        let quic = Quic::new(pair.ends(by_client), before, via.clone(), by_client, datagram);
        Some(self.insert(pair, by_client, FlowKind::Quic(quic)))
    }

    fn insert(&mut self, pair: &Pair, by_client: bool, kind: FlowKind) -> u32 {
        self.make_room();
        self.connections += 1;
        let flow = Flow { client_first: by_client == pair.straight, kind };
        self.table.insert(pair.key, flow, self.now_ns)
    }

    /// Returns whether the first packet of a connection is from the client. If exactly one of the
    /// ports is in the settings, that one is the server's. Otherwise the packet itself decides, or
    /// else the lower port is the server's.
    fn is_client(&self, pair: &Pair, says: Option<bool>) -> bool {
        let asked = |end: SocketAddr| self.settings.ports.contains(&end.port());
        match (asked(pair.to), asked(pair.from)) {
            (true, false) => true,
            (false, true) => false,
            _ => says.unwrap_or(pair.to.port() <= pair.from.port()),
        }
    }

    fn make_room(&mut self) {
        while self.table.len() >= self.settings.max_flows.max(1) {
            let over = self.table.oldest(List::Over);
            let Some((id, _)) = over.or_else(|| self.table.oldest(List::Open)) else { return };
            self.evicted += u64::from(over.is_none());
            self.end(id, Closure::Evicted);
        }
    }

    fn expire(&mut self) {
        let Settings { idle_ns, linger_ns, .. } = self.settings;
        self.due_ns = self.now_ns.saturating_add(idle_ns.min(linger_ns));
        for (list, patience_ns) in [(List::Over, linger_ns), (List::Open, idle_ns)] {
            while let Some((id, last_ns)) = self.table.oldest(list) {
                let until_ns = last_ns.saturating_add(patience_ns);
                if until_ns > self.now_ns {
                    self.due_ns = self.due_ns.min(until_ns);
                    break;
                }
                self.end(id, Closure::Timeout);
            }
        }
    }

    fn end(&mut self, id: u32, closure: Closure) {
        let remembered = self.settings.max_flows.saturating_mul(REMEMBERED);
        let Some(flow) = self.table.remove(id, remembered) else { return };
        let output = &mut FollowerOutput { sink: &mut self.sink, budget: &mut self.budget };
        match flow.kind {
            FlowKind::Tcp(connection) => connection.finish(closure, output),
            FlowKind::Quic(quic) => output.sink.connection(&quic.finish(closure, output.budget)),
        }
    }
}
