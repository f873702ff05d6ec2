//! Connections followed packet by packet from where they were captured, and what they say: how long a
//! handshake took, what was lost and sent again, how long each exchange took, and how many bytes went
//! each way. Nothing is kept of what is over, so that a capture may be as long as it likes.

mod budget;
mod closing;
mod connection;
mod counts;
mod hello;
mod http;
mod key;
mod observed;
mod reassembly;
mod rtt;
mod seen;
mod settings;
mod side;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod tls;
mod transfer;
mod transfers;

use std::net::SocketAddr;

use budget::Budget;
use connection::Connection;
pub use counts::{Counts, FamilyCounts};
use http::Hands;
use key::Key;
pub use observed::{Closure, Doubts, Hello, Observed, Opening, RoundTrips, Sent, Sink, Spoken};
pub use settings::Settings;
use table::{List, Table};
pub use transfer::{Ends, Repeated, Transfer, Unmeasured, Way};
pub use transfers::Transfers;

use crate::family::Family;
use crate::wire::{self, Carried, Flags, Ip, Link, Skipped, Span, Tcp};

/// For each flow that is followed, so many that are over are remembered by their ends.
const REMEMBERED: usize = 4;

/// Follows connections, and tells a sink what it finds.
#[derive(Debug)]
pub struct Follower<S> {
    settings: Settings,
    sink: S,
    flows: Table<Flow>,
    budget: Budget,
    counts: Counts,
    /// The latest time that was seen.
    now_ns: u64,
    /// Before this nothing can have been idle for too long.
    due_ns: u64,
}

/// A flow and which of its key's ends is the client.
#[derive(Debug)]
struct Flow {
    client_first: bool,
    connection: Connection,
}

impl<S: Sink> Follower<S> {
    /// One that has seen nothing yet.
    pub fn new(settings: Settings, sink: S) -> Follower<S> {
        let counts = Counts::default();
        let budget = Budget::new(settings.buffer_bytes);
        let flows = Table::new();
        Follower { settings, sink, flows, budget, counts, now_ns: 0, due_ns: 0 }
    }

    /// A packet that was seen at `at_ns`, in nanoseconds of any one clock. Its length on the wire is
    /// what counts as its bytes. What this ends is told to the sink before it returns.
    pub fn packet(&mut self, link: Link, at_ns: u64, frame: Span<'_>) {
        self.pass(at_ns);
        self.counts.packets += 1;
        match wire::ip(link, frame) {
            Ok(ip) => self.ip(at_ns, frame, &ip),
            Err(skipped) => self.skip(skipped),
        }
    }

    /// Time passes, though no packet came: what was idle for too long is told to the sink.
    pub fn pass(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
        if self.now_ns >= self.due_ns {
            self.expire();
        }
    }

    /// What came by so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// How many connections are being followed, those counted that are over and may get something late.
    pub fn followed(&self) -> usize {
        self.flows.len()
    }

    /// Who is told.
    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Whether nothing is to be expected any more: each connection is over, or its client has
    /// acknowledged all that it asked for. Looks at all of them.
    pub fn is_settled(&self) -> bool {
        self.flows.values().all(|flow| flow.connection.is_settled())
    }

    /// The capture is over: tells the sink of all that is left, that which was idle longest first.
    pub fn finish(mut self) -> (S, Counts) {
        for list in [List::Over, List::Open] {
            while let Some((id, _)) = self.flows.oldest(list) {
                self.end(id, Closure::Open);
            }
        }
        (self.sink, self.counts)
    }

    fn skip(&mut self, skipped: Skipped) {
        match skipped {
            Skipped::Other => self.counts.other += 1,
            Skipped::Cut => self.counts.cut += 1,
            Skipped::Malformed => self.counts.malformed += 1,
        }
    }

    fn ip(&mut self, at_ns: u64, frame: Span<'_>, ip: &Ip<'_>) {
        let is_fragment = ip.fragment.is_some();
        self.counts.fragments += u64::from(is_fragment);
        let family = &mut self.counts.families[family(ip)];
        family.packets += 1;
        family.bytes += frame.length as u64;
        family.fragments += u64::from(is_fragment);
        let carried = match wire::carried(ip) {
            Ok(carried) => carried,
            Err(skipped) => return self.skip(skipped),
        };
        match carried {
            Carried::Tcp(tcp) => {
                family.tcp += 1;
                let (length, fragments) = (frame.length as u64, u64::from(is_fragment));
                self.segment(ip, &Segment { at_ns, length, packets: 1, fragments, tcp });
            }
            Carried::Udp(_) => family.udp += 1,
            Carried::Icmp(icmp) => {
                family.icmp += 1;
                if let Some(too_big) = icmp.too_big {
                    family.too_big += 1;
                    let least = family.smallest_mtu.unwrap_or(u32::MAX);
                    family.smallest_mtu = Some(least.min(too_big.mtu));
                }
            }
            Carried::Other => family.other += 1,
            Carried::Rest => {}
        }
    }

    fn segment(&mut self, ip: &Ip<'_>, segment: &Segment<'_>) {
        let tcp = &segment.tcp;
        let (from, to) = ((ip.source, tcp.source).into(), (ip.destination, tcp.destination).into());
        if !self.is_asked_for(from, to) {
            return;
        }
        self.counts.segments += 1;
        let (key, straight) = Key::new(wire::TCP, from, to);
        let (id, by_client) = self.flow(key, straight, from, to, segment);
        let Some(flow) = self.flows.get(id) else { return };
        if segment.fragments > 0 {
            flow.connection.in_pieces += 1;
        }
        let hands = &mut Hands { sink: &mut self.sink, budget: &mut self.budget };
        flow.connection.take(by_client, segment, hands);
        let list = if flow.connection.is_over() { List::Over } else { List::Open };
        if list == List::Over {
            self.due_ns = self.due_ns.min(self.now_ns.saturating_add(self.settings.linger_ns));
        }
        self.flows.touch(id, list, self.now_ns);
    }

    fn is_asked_for(&self, from: SocketAddr, to: SocketAddr) -> bool {
        let ports = &self.settings.ports;
        ports.is_empty() || ports.contains(&to.port()) || ports.contains(&from.port())
    }

    /// The flow of a segment, and whether the client sent it.
    fn flow(
        &mut self,
        key: Key,
        straight: bool,
        from: SocketAddr,
        to: SocketAddr,
        segment: &Segment<'_>,
    ) -> (u32, bool) {
        let flags = segment.tcp.flags;
        let begins = flags.syn() && !flags.ack();
        if let Some(id) = self.flows.find(&key)
            && let Some(flow) = self.flows.get(id)
        {
            let by_client = flow.client_first == straight;
            let other = match by_client {
                true => begins && flow.connection.is_other(segment),
                false => begins && self.settings.ports.is_empty() && flow.connection.is_over(),
            };
            if !other {
                return (id, by_client);
            }
            self.end(id, Closure::Open);
        }
        let by_client = self.is_client(from.port(), to.port(), flags);
        let ends = if by_client {
            Ends { client: from, server: to }
        } else {
            Ends { client: to, server: from }
        };
        self.make_room();
        self.counts.connections += 1;
        let connection = Connection::new(ends, self.flows.before(&key));
        let flow = Flow { client_first: by_client == straight, connection };
        (self.flows.insert(key, flow, self.now_ns), by_client)
    }

    /// Whether a segment that is the first of its connection is the client's.
    fn is_client(&self, from: u16, to: u16, flags: Flags) -> bool {
        let asked = |port| self.settings.ports.contains(&port);
        match (asked(to), asked(from)) {
            (true, false) => true,
            (false, true) => false,
            _ if flags.syn() => !flags.ack(),
            _ => to <= from,
        }
    }

    fn make_room(&mut self) {
        while self.flows.len() >= self.settings.max_flows.max(1) {
            let over = self.flows.oldest(List::Over);
            let Some((id, _)) = over.or_else(|| self.flows.oldest(List::Open)) else { return };
            self.counts.evicted += u64::from(over.is_none());
            self.end(id, Closure::Evicted);
        }
    }

    fn expire(&mut self) {
        let Settings { idle_ns, linger_ns, .. } = self.settings;
        self.due_ns = self.now_ns.saturating_add(idle_ns.min(linger_ns));
        for (list, patience_ns) in [(List::Over, linger_ns), (List::Open, idle_ns)] {
            while let Some((id, last_ns)) = self.flows.oldest(list) {
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
        if let Some(flow) = self.flows.remove(id, remembered) {
            let hands = &mut Hands { sink: &mut self.sink, budget: &mut self.budget };
            flow.connection.finish(closure, hands);
        }
    }
}

/// That of the packet itself: a mapped address is one of IPv6 here.
fn family(ip: &Ip<'_>) -> Family {
    if ip.source.is_ipv6() { Family::Ipv6 } else { Family::Ipv4 }
}

/// A segment as it was seen.
#[derive(Clone, Copy, Debug)]
struct Segment<'a> {
    at_ns: u64,
    /// Bytes of its frames.
    length: u64,
    /// Packets that brought it: several where it came in fragments.
    packets: u64,
    /// How many of them were fragments.
    fragments: u64,
    tcp: Tcp<'a>,
}
