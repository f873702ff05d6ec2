//! Counters of a network namespace.

use serde::{Deserialize, Serialize};

use super::counter::{Counter, Counters as _, counters};
use super::host::{add, since};
use sixmark_units::family::PerFamily;

counters! {
    /// IP, ICMP and UDP counters of one family.
    pub struct Ip {
        /// Packets received.
        in_packets,
        /// Packets that this host submitted for sending; forwarded packets are not included.
        out_packets,
        /// Bytes received, IP headers included.
        in_octets,
        /// Bytes sent, IP headers included.
        out_octets,
        /// Packets delivered to TCP, UDP and other upper protocols.
        delivered,
        /// Packets forwarded for other hosts.
        forwarded,
        /// Received packets with a bad header.
        in_header_errors,
        /// Received packets addressed to another host.
        in_address_errors,
        /// Received packets dropped for lack of buffer space.
        in_discards,
        /// Packets to be sent that were dropped for lack of buffer space.
        out_discards,
        /// Packets for which there was no route.
        out_no_routes,
        /// Fragments received.
        reassembly_needed,
        /// Packets reassembled from fragments.
        reassembled,
        /// Failures to reassemble a packet.
        reassembly_failed,
        /// Packets that were fragmented.
        fragmented,
        /// Packets that needed fragmentation but could not or must not be fragmented.
        fragmentation_failed,
        /// Fragments created.
        fragments_made,
        /// ICMP Destination Unreachable messages received. For IPv4 this includes "fragmentation
        /// needed".
        unreachable_in,
        /// ICMP Destination Unreachable messages sent.
        unreachable_out,
        /// ICMPv6 Packet Too Big messages received; always 0 for IPv4, for which the kernel does
        /// not count ICMP codes.
        packet_too_big_in,
        /// ICMPv6 Packet Too Big messages sent; always 0 for IPv4.
        packet_too_big_out,
        /// UDP datagrams received.
        udp_in,
        /// UDP datagrams sent.
        udp_out,
        /// UDP datagrams received for a port without a listener.
        udp_no_ports,
        /// UDP datagrams dropped because the socket's receive buffer was full.
        udp_receive_buffer_errors,
        /// UDP datagrams that could not be sent because the send buffer was full.
        udp_send_buffer_errors,
    }
}

counters! {
    /// TCP counters. The kernel counts **both families together** here.
    pub struct Tcp {
        /// Connections opened by this host.
        active_opens,
        /// Connections opened by peers.
        passive_opens,
        /// Connection attempts that failed.
        attempt_fails,
        /// Established connections that ended with a reset.
        established_resets,
        /// Segments received.
        in_segments,
        /// Segments sent, without retransmissions.
        out_segments,
        /// Segments retransmitted.
        retransmitted,
        /// Retransmitted SYN and SYN-ACK segments.
        syn_retransmitted,
        /// Fast retransmissions: those after duplicate ACKs or SACKs.
        fast_retransmitted,
        /// Expirations of a retransmission timer.
        timeouts,
        /// Retransmissions that were lost in turn.
        lost_retransmitted,
        /// Bad segments received.
        in_errors,
        /// Resets sent.
        out_resets,
        /// Connections that did not fit into the queue of a listener.
        listen_overflows,
        /// SYNs that a listener dropped, including those for which its queue was full.
        listen_drops,
        /// SYN cookies sent.
        syn_cookies_sent,
        /// Segments dropped because the socket's backlog was full.
        backlog_drops,
        /// Segments received out of order.
        out_of_order,
        /// Times that this host began to advertise a zero window.
        zero_windows,
        /// Times that TCP ran short of memory.
        memory_pressures,
    }
}

counters! {
    /// Counters of an interface.
    pub struct InterfaceCounters {
        /// Packets received.
        in_packets,
        /// Packets sent.
        out_packets,
        /// Bytes received.
        in_bytes,
        /// Bytes sent.
        out_bytes,
        /// Bad packets received.
        in_errors,
        /// Packets that could not be sent.
        out_errors,
        /// Received packets that the kernel dropped.
        in_dropped,
        /// Packets to be sent that were dropped.
        out_dropped,
        /// Packets that the device dropped because it had no free buffer.
        in_missed,
        /// Packets lost in overruns of the device's receive FIFO.
        in_fifo_errors,
    }
}

/// One interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interface {
    /// The name of the interface.
    pub name: String,
    /// Its counters.
    #[serde(flatten)]
    pub counters: InterfaceCounters,
}

counters! {
    /// Counters of connection tracking.
    pub struct ConntrackCounters {
        /// Connections that could not be inserted into the table.
        insert_failed,
        /// Packets dropped because their connection could not be inserted.
        dropped,
        /// Connections evicted from the table to make room for new ones.
        early_dropped,
    }
}

/// The state of connection tracking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conntrack {
    /// Connections in the table at the moment.
    pub entries: u64,
    /// The most connections that the table may hold.
    pub limit: u64,
    /// Its counters.
    #[serde(flatten)]
    pub counters: ConntrackCounters,
}

/// TCP sockets by state, and UDP sockets, at one moment. An IPv6 socket whose peer has an
/// IPv4-mapped address counts as IPv4.
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
    /// TIME-WAIT, at the last reading of these sockets: because there may be very many, they are
    /// read less often than the others.
    pub time_wait: u64,
    /// CLOSED, but not released yet.
    pub closed: u64,
    /// CLOSE-WAIT.
    pub close_wait: u64,
    /// LAST-ACK.
    pub last_ack: u64,
    /// LISTEN. A socket bound to `[::]` that also accepts IPv4 counts as IPv6.
    pub listening: u64,
    /// CLOSING.
    pub closing: u64,
    /// UDP sockets.
    pub udp: u64,
    /// Sums of the counters in TCP_INFO of the observed sockets.
    #[serde(flatten)]
    pub counters: SocketCounters,
}

impl Sockets {
    /// Returns the number of sockets in each state, and of UDP sockets.
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
    /// Counters of live sockets (TCP_INFO), summed over all readings.
    pub struct SocketCounters {
        /// Segments retransmitted. What a socket retransmits between the last reading and its close
        /// is missed.
        retransmitted,
        /// Segments sent, retransmissions included; the last ones of a socket that closes are
        /// missed likewise.
        segments_out,
    }
}

/// The network counters of a namespace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Network {
    /// IP, ICMP and UDP counters of each family.
    pub families: PerFamily<Ip>,
    /// TCP counters, both families together.
    pub tcp: Tcp,
    /// Sockets of each family; null if they were not read for this sample.
    pub sockets: Option<PerFamily<Sockets>>,
    /// The interfaces.
    pub interfaces: Vec<Interface>,
    /// Connection tracking; null if the kernel has none.
    pub conntrack: Option<Conntrack>,
    /// Entries of the neighbour table, over all namespaces; null if the kernel does not report it,
    /// as in all namespaces but the initial one.
    pub neighbours: PerFamily<Option<u64>>,
}

impl Network {
    /// Returns the growth of the counters since `before`; all other values are the current ones.
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

    /// Adds the counters of a later change; all other values are replaced by the later ones.
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

    /// Returns the share (0 to 1) of retransmissions among the segments that a family's live
    /// sockets sent, or `None` if they sent none or were not read.
    pub fn retransmitted_share(&self, family: sixmark_units::family::Family) -> Option<f64> {
        let SocketCounters { retransmitted: Counter(again), segments_out: Counter(out) } =
            self.sockets?[family].counters;
        (out > 0).then(|| again as f64 / out as f64)
    }
}
