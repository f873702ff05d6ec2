//! Neighbour resolution, learned from received segments.
//!
//! smoltcp resolves a neighbour's MAC address when it first sends to it, makes at most one such
//! request per second in total, and forgets an entry after a minute. A first response that waits
//! for this would make a benchmark measure address resolution. Therefore, before a TCP segment is
//! passed to smoltcp, its sender is announced to smoltcp as a neighbour.

use std::collections::HashMap;
use std::time::Duration;

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol,
    Icmpv6Packet, Icmpv6Repr, IpAddress, IpCidr, IpProtocol, Ipv4Address, Ipv6Address, Ipv6Packet,
    Ipv6Repr, NdiscNeighborFlags, NdiscRepr,
};

use super::segment::Segment;

/// How long an announced neighbour counts as known. smoltcp keeps it for 60 s.
const FRESH: Duration = Duration::from_secs(20);

/// The maximum number of neighbours remembered: the size of smoltcp's cache (feature
/// `iface-neighbor-cache-count-64`).
const MOST: usize = 64;

/// The neighbours announced to smoltcp, with the time of the announcement.
#[derive(Debug)]
pub(super) struct Neighbours {
    own: EthernetAddress,
    networks: Vec<IpCidr>,
    gateways: Vec<IpAddress>,
    told: HashMap<IpAddress, (EthernetAddress, Duration)>,
}

impl Neighbours {
    /// Creates an empty table. Addresses outside `networks` are reached through the gateway of
    /// their family.
    pub(super) fn new(own: EthernetAddress, networks: &[IpCidr], gateways: &[IpAddress]) -> Self {
        let (networks, gateways) = (networks.to_vec(), gateways.to_vec());
        Neighbours { own, networks, gateways, told: HashMap::new() }
    }

    /// Returns a frame that announces the sender of a segment, or `None` if smoltcp knows it
    /// already.
    pub(super) fn lesson(&mut self, segment: &Segment, now: Duration) -> Option<Vec<u8>> {
        let hop = self.next_hop(segment.source.addr)?;
        let known = self.told.get(&hop);
        if known.is_some_and(|&(who, when)| who == segment.from && now < when + FRESH) {
            return None;
        }
        if self.told.len() >= MOST {
            self.told.clear();
        }
        self.told.insert(hop, (segment.from, now));
        Some(self.tell(hop, segment))
    }

    fn next_hop(&self, to: IpAddress) -> Option<IpAddress> {
        if self.networks.iter().any(|network| network.contains_addr(&to)) {
            return Some(to);
        }
        self.gateways.iter().find(|gateway| gateway.version() == to.version()).copied()
    }

    fn tell(&self, hop: IpAddress, segment: &Segment) -> Vec<u8> {
        match (hop, segment.target.addr) {
            (IpAddress::Ipv4(hop), IpAddress::Ipv4(own)) => self.arp(hop, segment.from, own),
            (IpAddress::Ipv6(hop), IpAddress::Ipv6(own)) => self.advertise(hop, segment.from, own),
            _ => Vec::new(),
        }
    }

    fn arp(&self, hop: Ipv4Address, from: EthernetAddress, own: Ipv4Address) -> Vec<u8> {
        let reply = ArpRepr::EthernetIpv4 {
            operation: ArpOperation::Reply,
            source_hardware_addr: from,
            source_protocol_addr: hop,
            target_hardware_addr: self.own,
            target_protocol_addr: own,
        };
        self.frame(from, EthernetProtocol::Arp, reply.buffer_len(), |bytes| {
            reply.emit(&mut ArpPacket::new_unchecked(bytes));
        })
    }

    fn advertise(&self, hop: Ipv6Address, from: EthernetAddress, own: Ipv6Address) -> Vec<u8> {
        let advert = Icmpv6Repr::Ndisc(NdiscRepr::NeighborAdvert {
            flags: NdiscNeighborFlags::SOLICITED | NdiscNeighborFlags::OVERRIDE,
            target_addr: hop,
            lladdr: Some(from.into()),
        });
        let header = Ipv6Repr {
            src_addr: hop,
            dst_addr: own,
            next_header: IpProtocol::Icmpv6,
            payload_len: advert.buffer_len(),
            hop_limit: 255,
        };
        let length = header.buffer_len() + advert.buffer_len();
        self.frame(from, EthernetProtocol::Ipv6, length, |bytes| {
            let mut packet = Ipv6Packet::new_unchecked(bytes);
            header.emit(&mut packet);
            let mut inner = Icmpv6Packet::new_unchecked(packet.payload_mut());
            advert.emit(&hop, &own, &mut inner, &ChecksumCapabilities::default());
        })
    }

    fn frame(
        &self,
        from: EthernetAddress,
        kind: EthernetProtocol,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Vec<u8> {
        let mut bytes = vec![0; EthernetFrame::<&[u8]>::buffer_len(length)];
        let mut frame = EthernetFrame::new_unchecked(&mut bytes[..]);
        frame.set_src_addr(from);
        frame.set_dst_addr(self.own);
        frame.set_ethertype(kind);
        fill(frame.payload_mut());
        bytes
    }
}
