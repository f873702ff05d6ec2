//! The totals of a capture.

use super::unread_counts::UnreadCounts;
use sixmark_units::family::PerFamily;

/// The totals of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets of any kind. Each is counted either in `followed` or in `unread`.
    pub packets: u64,
    /// Packets that carried segments and datagrams of followed connections; their number is that
    /// of the packets of all connections.
    pub followed: u64,
    /// All other packets, by kind.
    pub unread: UnreadCounts,
    /// TCP segments to or from the ports that are followed.
    pub segments: u64,
    /// IP fragments, whatever their payload.
    pub fragments: u64,
    /// Connections seen, of TCP and of QUIC.
    pub connections: u64,
    /// Connections that were evicted while still open, to make room for others.
    pub evicted: u64,
    /// The totals of each address family.
    pub families: PerFamily<FamilyCounts>,
}

/// The totals of an address family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FamilyCounts {
    /// Packets whose outermost IP header is of this family. The other counts are by the header that
    /// precedes the payload.
    pub packets: u64,
    /// Bytes of their frames, including the link-layer header.
    pub bytes: u64,
    /// TCP segments, to any port. A segment in fragments counts once, when it is reassembled.
    pub tcp: u64,
    /// UDP datagrams, to any port. A datagram in fragments counts once, when it is reassembled.
    pub udp: u64,
    /// ICMP or ICMPv6 messages.
    pub icmp: u64,
    /// Packets with another payload.
    pub other: u64,
    /// Packets that are fragments.
    pub fragments: u64,
    /// Packets reassembled from fragments.
    pub reassembled: u64,
    /// Messages about a packet that was too big: ICMPv6 Packet Too Big, or ICMP "fragmentation
    /// needed".
    pub too_big: u64,
    /// The smallest MTU in those messages, in bytes.
    pub smallest_mtu: Option<u32>,
}
