//! What came by altogether.

use sixmark_units::family::PerFamily;

/// What came by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets of whatever kind.
    pub packets: u64,
    /// Segments of connections to the ports.
    pub segments: u64,
    /// Packets that are not of IP: ARP, say.
    pub other: u64,
    /// Packets of which too little was kept.
    pub cut: u64,
    /// Packets whose headers contradict each other.
    pub malformed: u64,
    /// Fragments of packets, whatever they carry.
    pub fragments: u64,
    /// Connections that were seen, of TCP and of QUIC.
    pub connections: u64,
    /// Connections that had to make room for others while they were going on.
    pub evicted: u64,
    /// What came by of each family.
    pub families: PerFamily<FamilyCounts>,
}

/// What came by of a family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FamilyCounts {
    /// Packets.
    pub packets: u64,
    /// Bytes of their frames, from the link layer's header on.
    pub bytes: u64,
    /// Segments of TCP, to whatever port; of those in fragments the first fragment.
    pub tcp: u64,
    /// Datagrams of UDP, in the same way.
    pub udp: u64,
    /// Messages of ICMP or ICMPv6.
    pub icmp: u64,
    /// Packets that carry something else.
    pub other: u64,
    /// Packets that are fragments.
    pub fragments: u64,
    /// Packets that were put together from fragments.
    pub reassembled: u64,
    /// Messages that a packet was too big: Packet Too Big of ICMPv6, of ICMP that fragmentation is needed.
    pub too_big: u64,
    /// The smallest MTU that they told, in bytes.
    pub smallest_mtu: Option<u32>,
}
