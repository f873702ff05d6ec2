//! What a network namespace counts.

use serde::{Deserialize, Serialize};

use super::counter::{Counter, Counters as _, counters};
use super::host::{add, since};
use sixmark_units::family::PerFamily;

counters! {
    /// IP, ICMP and UDP of one family.
    pub struct Ip {
        /// Packets that came.
        in_packets,
        /// Packets that were to be sent; those forwarded are not among them.
        out_packets,
        /// Bytes that came, IP headers included.
        in_octets,
        /// Bytes that were sent, IP headers included.
        out_octets,
        /// Packets handed to TCP, UDP and the like.
        delivered,
        /// Packets sent on for others.
        forwarded,
        /// Packets with a bad header.
        in_header_errors,
        /// Packets to addresses that are not this host's.
        in_address_errors,
        /// Packets that came and were dropped for want of room.
        in_discards,
        /// Packets that were to be sent and were dropped for want of room.
        out_discards,
        /// Packets that no route was found for.
        out_no_routes,
        /// Fragments that came.
        reassembly_needed,
        /// Packets put together from fragments.
        reassembled,
        /// Packets that could not be.
        reassembly_failed,
        /// Packets that were cut into fragments.
        fragmented,
        /// Packets that should have been and must not be.
        fragmentation_failed,
        /// Fragments made.
        fragments_made,
        /// ICMP: destination unreachable, received. Over IPv4 "fragmentation needed" is among these.
        unreachable_in,
        /// The same, sent.
        unreachable_out,
        /// ICMPv6 Packet Too Big, received; always 0 of IPv4, whose kernel counts no codes.
        packet_too_big_in,
        /// The same, sent.
        packet_too_big_out,
        /// Datagrams of UDP that came.
        udp_in,
        /// Datagrams of UDP sent.
        udp_out,
        /// Datagrams to ports that nobody listens at.
        udp_no_ports,
        /// Datagrams that found no room in the socket's buffer.
        udp_receive_buffer_errors,
        /// Datagrams that found no room when they were sent.
        udp_send_buffer_errors,
    }
}

counters! {
    /// TCP. The kernel counts **both families together** here.
    pub struct Tcp {
        /// Connections begun by this side.
        active_opens,
        /// Connections begun by others.
        passive_opens,
        /// Connections that could not be established.
        attempt_fails,
        /// Established ones that ended by a reset.
        established_resets,
        /// Segments that came.
        in_segments,
        /// Segments sent, those sent again left out.
        out_segments,
        /// Segments sent again.
        retransmitted,
        /// SYNs and SYN-ACKs among them.
        syn_retransmitted,
        /// Among them, fast ones: after duplicate ACKs or SACKs.
        fast_retransmitted,
        /// Times that a retransmission timer ran out.
        timeouts,
        /// Retransmissions that were lost too.
        lost_retransmitted,
        /// Segments that came and were bad.
        in_errors,
        /// Resets sent.
        out_resets,
        /// Connections that found the queue of a listener full.
        listen_overflows,
        /// SYNs that a listener dropped, those above included.
        listen_drops,
        /// SYN cookies sent.
        syn_cookies_sent,
        /// Segments dropped since the socket's backlog was full.
        backlog_drops,
        /// Segments that came out of order.
        out_of_order,
        /// Times that this side told of a window of 0.
        zero_windows,
        /// Times that memory for TCP was short.
        memory_pressures,
    }
}

counters! {
    /// An interface.
    pub struct InterfaceCounters {
        /// Packets that came.
        in_packets,
        /// Packets sent.
        out_packets,
        /// Bytes that came.
        in_bytes,
        /// Bytes sent.
        out_bytes,
        /// Packets that came and were bad.
        in_errors,
        /// Packets that could not be sent.
        out_errors,
        /// Packets that came and were dropped by the kernel.
        in_dropped,
        /// Packets that were to be sent and were dropped.
        out_dropped,
        /// Packets that the device had no room for.
        in_missed,
        /// The same, as its FIFO counts them.
        in_fifo_errors,
    }
}

/// One interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// What it did.
    #[serde(flatten)]
    pub counters: InterfaceCounters,
}

counters! {
    /// What connection tracking did.
    pub struct ConntrackCounters {
        /// Connections that found no place in the table.
        insert_failed,
        /// Packets dropped, since a connection found no place.
        dropped,
        /// Connections that left before their time to make room.
        early_dropped,
    }
}

/// Connection tracking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conntrack {
    /// Connections in the table at the moment.
    pub entries: u64,
    /// How many it may hold.
    pub limit: u64,
    /// What it did.
    #[serde(flatten)]
    pub counters: ConntrackCounters,
}

/// Sockets of TCP by state, and of UDP, at the moment. A socket of IPv6 whose peer is an IPv4-mapped
/// address is IPv4's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sockets {
    /// ESTABLISHED.
    pub established: u64,
    /// SYN-SENT.
    pub syn_sent: u64,
    /// SYN-RECEIVED.
    pub syn_received: u64,
    /// FIN-WAIT-1.
    pub fin_wait_1: u64,
    /// FIN-WAIT-2.
    pub fin_wait_2: u64,
    /// TIME-WAIT.
    pub time_wait: u64,
    /// CLOSED and not gone yet.
    pub closed: u64,
    /// CLOSE-WAIT.
    pub close_wait: u64,
    /// LAST-ACK.
    pub last_ack: u64,
    /// LISTEN; one of `[::]` that takes IPv4 too is IPv6's.
    pub listening: u64,
    /// CLOSING.
    pub closing: u64,
    /// Sockets of UDP.
    pub udp: u64,
    /// What TCP_INFO says of those that were there.
    #[serde(flatten)]
    pub counters: SocketCounters,
}

impl Sockets {
    /// How many there are in each state.
    pub fn states(&self) -> [(&'static str, u64); 12] {
        [
            ("established", self.established),
            ("syn_sent", self.syn_sent),
            ("syn_received", self.syn_received),
            ("fin_wait_1", self.fin_wait_1),
            ("fin_wait_2", self.fin_wait_2),
            ("time_wait", self.time_wait),
            ("closed", self.closed),
            ("close_wait", self.close_wait),
            ("last_ack", self.last_ack),
            ("listening", self.listening),
            ("closing", self.closing),
            ("udp", self.udp),
        ]
    }
}

counters! {
    /// What live sockets say of themselves (TCP_INFO), summed up from one reading to the next.
    pub struct SocketCounters {
        /// Segments sent again; of a socket that closes, those since the last reading are missed.
        retransmitted,
        /// Segments sent, those sent again included; missed likewise.
        segments_out,
    }
}

/// The network of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Network {
    /// IP, ICMP and UDP of each family.
    pub families: PerFamily<Ip>,
    /// TCP, both families together.
    pub tcp: Tcp,
    /// Sockets of each family; `null` where they were not read at this moment.
    pub sockets: Option<PerFamily<Sockets>>,
    /// Each interface.
    pub interfaces: Vec<Interface>,
    /// Connection tracking; `null` where there is none.
    pub conntrack: Option<Conntrack>,
    /// Neighbours known, of all namespaces together; `null` where the kernel does not tell, as in
    /// namespaces other than the first.
    pub neighbours: PerFamily<Option<u64>>,
}

impl Network {
    /// How much its counters grew since `before`; the rest is as it is now.
    #[must_use]
    pub fn since(&self, before: &Network, resets: &mut u64) -> Network {
        let families = PerFamily::from_fn(|family| {
            self.families[family].since(&before.families[family], resets)
        });
        Network {
            families,
            tcp: self.tcp.since(&before.tcp, resets),
            sockets: self.sockets_since(before, resets),
            interfaces: self.interfaces_since(before, resets),
            conntrack: self.conntrack.map(|now| {
                let before = before.conntrack.map(|before| before.counters);
                let counters = since(Some(now.counters), before, resets);
                Conntrack { counters: counters.unwrap_or_default(), ..now }
            }),
            neighbours: self.neighbours,
        }
    }

    fn sockets_since(&self, before: &Network, resets: &mut u64) -> Option<PerFamily<Sockets>> {
        let now = self.sockets?;
        Some(PerFamily::from_fn(|family| {
            let mut of = now[family];
            let known = before.sockets.map(|before| before[family].counters);
            of.counters = known
                .map_or_else(SocketCounters::default, |known| of.counters.since(&known, resets));
            of
        }))
    }

    fn interfaces_since(&self, before: &Network, resets: &mut u64) -> Vec<Interface> {
        let of = |interface: &Interface| {
            let known = before.interfaces.iter().find(|known| known.name == interface.name);
            let counters = known.map_or(interface.counters, |known| {
                interface.counters.since(&known.counters, resets)
            });
            Interface { name: interface.name.clone(), counters }
        };
        self.interfaces.iter().map(of).collect()
    }

    /// Adds the counters of a later change; the rest becomes the later one's.
    pub fn add(&mut self, later: &Network) {
        let before = std::mem::replace(self, later.clone());
        self.families.ipv6.add(&before.families.ipv6);
        self.families.ipv4.add(&before.families.ipv4);
        self.tcp.add(&before.tcp);
        match (&mut self.sockets, before.sockets) {
            (Some(sum), Some(by)) => {
                sum.ipv6.counters.add(&by.ipv6.counters);
                sum.ipv4.counters.add(&by.ipv4.counters);
            }
            (sum, by) => *sum = sum.or(by),
        }
        for interface in &mut self.interfaces {
            let known = before.interfaces.iter().find(|known| known.name == interface.name);
            known.into_iter().for_each(|known| interface.counters.add(&known.counters));
        }
        let mut counters = self.conntrack.map(|now| now.counters);
        add(&mut counters, before.conntrack.map(|before| before.counters));
        if let (Some(now), Some(counters)) = (&mut self.conntrack, counters) {
            now.counters = counters;
        }
    }

    /// The part of the segments of a family's live sockets that was sent again; none where none were
    /// sent.
    pub fn retransmitted_share(&self, family: sixmark_units::family::Family) -> Option<f64> {
        let SocketCounters { retransmitted: Counter(again), segments_out: Counter(out) } =
            self.sockets?[family].counters;
        (out > 0).then(|| again as f64 / out as f64)
    }
}
