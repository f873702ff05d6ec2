//! The entry point of the module: takes packets and reports connections.

use super::Segment;
use super::connection_report::FlowObserver;
use super::counts::Counts;
use super::flows::{Flows, Pair};
use super::fragments::Fragments;
use super::quic::{Datagram, InitialOpener};
use super::settings::Settings;
use crate::{
    self as wire, Fragment, Icmp, Ip, IpPayload, Link, Skipped, Span, Tcp, Udp, Unread, Via,
};
use sixmark_units::family::Family;

/// Follows the connections in a capture and reports them to a sink, a [`FlowObserver`].
#[derive(Debug)]
pub struct Follower<S> {
    pub(super) flows: Flows<S>,
    fragments: Fragments,
    /// The layers before the packet that is being processed.
    via: Via,
    opener: Option<Box<dyn InitialOpener + Send>>,
    counts: Counts,
    /// Packets with fragments of packets that are not reassembled.
    waiting: u64,
}

/// The frames that carried a packet: the time of the last one, their bytes, and their number.
#[derive(Clone, Copy, Debug)]
struct Frames {
    at_ns: u64,
    length: u64,
    packets: u64,
    fragments: u64,
}

impl<S: FlowObserver> Follower<S> {
    /// Returns a follower that has seen no packets.
    pub fn new(settings: Settings, sink: S) -> Follower<S> {
        Follower {
            flows: Flows::new(settings, sink),
            fragments: Fragments::default(),
            via: Via::default(),
            opener: None,
            counts: Counts::default(),
            waiting: 0,
        }
    }

    /// Sets the opener of QUIC Initial packets. Without one, the server names of QUIC connections
    /// are unknown.
    pub fn with_opener(mut self, opener: Box<dyn InitialOpener + Send>) -> Follower<S> {
        self.opener = Some(opener);
        self
    }

    /// Processes a packet that was captured at `at_ns`, in nanoseconds of an arbitrary clock. Its
    /// bytes count with their length on the wire. Exchanges and connections that end are reported
    /// to the sink before this method returns.
    pub fn packet(&mut self, link: Link, at_ns: u64, frame: Span<'_>) {
        self.flows.pass(at_ns);
        self.counts.packets += 1;
        self.via.clear();
        let length = frame.length as u64;
        let ip = wire::ip_via(link, frame, &mut self.via);
        if let Ok(ip) = &ip {
            let family = &mut self.counts.families[family_of_packet(ip)];
            family.packets += 1;
            family.bytes += length;
        }
        self.read(ip, Frames { at_ns, length, packets: 1, fragments: 0 });
    }

    /// Advances the clock without a packet. Connections that have been idle for too long are
    /// reported to the sink.
    pub fn pass(&mut self, now_ns: u64) {
        self.flows.pass(now_ns);
    }

    /// Returns the totals so far.
    pub fn counts(&self) -> Counts {
        let Flows { connections, evicted, .. } = self.flows;
        let mut counts = Counts { connections, evicted, ..self.counts.clone() };
        counts.unread.add(Unread::Fragment, self.waiting);
        counts
    }

    /// Returns the number of connections being followed, including those that are over but may
    /// still receive late packets.
    pub fn followed(&self) -> usize {
        self.flows.len()
    }

    /// Returns the sink.
    pub fn sink(&mut self) -> &mut S {
        &mut self.flows.sink
    }

    /// Returns whether no more data is expected: each connection is over, or its client has
    /// received a response to every request and acknowledged it. Examines all connections.
    pub fn is_settled(&self) -> bool {
        self.flows.are_settled()
    }

    /// Returns whether every TCP connection is over. Examines all connections.
    pub fn is_over(&self) -> bool {
        self.flows.are_over()
    }

    /// Ends the capture and reports all remaining connections to the sink: those that are over
    /// first, then the others, each group longest idle first.
    pub fn finish(mut self) -> (S, Counts) {
        self.flows.finish();
        let counts = self.counts();
        debug_assert_eq!(counts.packets, counts.followed + counts.unread.total());
        (self.flows.sink, counts)
    }

    /// Counts packets that belong to no followed connection.
    fn skip(&mut self, skipped: Skipped, frames: Frames) {
        let kind = match skipped {
            Skipped::Other(kind) => kind,
            Skipped::Cut => Unread::Cut,
            Skipped::Malformed => Unread::Malformed,
        };
        self.counts.unread.add(kind, frames.packets);
    }

    /// Processes the packet in a frame or in an outer packet. The outer packets of a packet are as
    /// many as layers are read at most, so that the depth of the recursion is limited.
    fn read(&mut self, ip: Result<Ip<'_>, Skipped>, frames: Frames) {
        match ip {
            Ok(ip) => match ip.fragment {
                Some(fragment) => self.fragment(&ip, fragment, frames),
                None => self.whole(&ip, frames),
            },
            Err(skipped) => self.skip(skipped, frames),
        }
    }

    /// Processes a packet that is whole or has been reassembled.
    fn whole(&mut self, ip: &Ip<'_>, frames: Frames) {
        let family = &mut self.counts.families[family_of_packet(ip)];
        match wire::find_payload(ip) {
            Ok(IpPayload::Tcp(tcp)) => {
                family.tcp += 1;
                self.segment(ip, frames, tcp);
            }
            Ok(IpPayload::Udp(udp)) => match wire::in_datagram(&udp, &mut self.via) {
                Some(inner) => self.read(inner, frames),
                None => {
                    family.udp += 1;
                    self.datagram(ip, frames, udp);
                }
            },
            Ok(IpPayload::Icmp(icmp)) => self.icmp(ip, &icmp, frames),
            Ok(IpPayload::Other | IpPayload::Rest) => match wire::in_packet(ip, &mut self.via) {
                Some(inner) => self.read(inner, frames),
                None => {
                    family.other += 1;
                    self.skip(Skipped::Other(Unread::Protocol(ip.protocol)), frames);
                }
            },
            Err(skipped) => self.skip(skipped, frames),
        }
    }

    /// Processes a fragment. Until its packet is reassembled, the connection has an incomplete
    /// segment.
    fn fragment(&mut self, ip: &Ip<'_>, fragment: Fragment, frames: Frames) {
        let Frames { at_ns, length, packets, .. } = frames;
        self.counts.fragments += packets;
        self.waiting += packets;
        self.counts.families[family_of_packet(ip)].fragments += packets;
        self.in_pieces(ip, 1);
        let network = self.flows.networks.number(&self.via);
        let whole = self.fragments.take(network, ip, fragment, (length, packets), at_ns);
        let Some(whole) = whole else { return };
        self.waiting -= whole.packets;
        self.counts.families[family_of_packet(ip)].reassembled += 1;
        let payload = Span::new(&whole.bytes, whole.total);
        let ip = Ip { fragment: None, protocol: whole.protocol, payload, ..*ip };
        self.in_pieces(&ip, -1);
        let (length, packets) = (whole.length, whole.packets);
        self.whole(&ip, Frames { at_ns, length, packets, fragments: packets });
    }

    fn in_pieces(&mut self, ip: &Ip<'_>, more: i32) {
        if let Ok(IpPayload::Tcp(tcp)) = wire::find_payload(ip) {
            let pair = self.pair(wire::TCP, ip, (tcp.source, tcp.destination));
            self.flows.in_pieces(&pair, more);
        }
    }

    /// Returns the endpoints of the packet that is being processed, in its network.
    fn pair(&mut self, protocol: u8, ip: &Ip<'_>, ports: (u16, u16)) -> Pair {
        Pair::new(protocol, self.flows.networks.number(&self.via), ip, ports)
    }

    fn segment(&mut self, ip: &Ip<'_>, frames: Frames, tcp: Tcp<'_>) {
        if !self.flows.is_asked_for(tcp.source, tcp.destination) {
            return self.skip(Skipped::Other(Unread::TcpPorts), frames);
        }
        let Frames { at_ns, length, packets, fragments } = frames;
        self.counts.segments += 1;
        self.counts.followed += packets;
        let pair = self.pair(wire::TCP, ip, (tcp.source, tcp.destination));
        self.flows.segment(pair, &self.via, &Segment { at_ns, length, packets, fragments, tcp });
    }

    fn datagram(&mut self, ip: &Ip<'_>, frames: Frames, udp: Udp<'_>) {
        if !self.flows.is_asked_for(udp.source, udp.destination) {
            return self.skip(Skipped::Other(Unread::UdpPorts), frames);
        }
        let Frames { at_ns, length, packets, fragments } = frames;
        let datagram = Datagram { at_ns, length, packets, fragments, udp };
        let pair = self.pair(wire::UDP, ip, (udp.source, udp.destination));
        match self.flows.quic(pair, &self.via, &datagram) {
            Some((by_client, quic, budget)) => {
                self.counts.followed += packets;
                let opener =
                    self.opener.as_deref_mut().map(|opener| opener as &mut dyn InitialOpener);
                quic.take(by_client, &datagram, opener, budget);
            }
            None => self.skip(Skipped::Other(Unread::Udp), frames),
        }
    }

    fn icmp(&mut self, ip: &Ip<'_>, icmp: &Icmp, frames: Frames) {
        let six = ip.source.is_ipv6();
        let kind = if six { Unread::Icmpv6 } else { Unread::Icmp };
        self.skip(Skipped::Other(kind), frames);
        let family = &mut self.counts.families[family_of_packet(ip)];
        family.icmp += 1;
        if let Some(too_big) = icmp.too_big {
            family.too_big += 1;
            let least = family.smallest_mtu.unwrap_or(u32::MAX);
            family.smallest_mtu = Some(least.min(too_big.mtu));
        }
    }
}

/// Returns the family of the packet itself: an IPv4-mapped address counts as IPv6 here.
fn family_of_packet(ip: &Ip<'_>) -> Family {
    if ip.source.is_ipv6() { Family::Ipv6 } else { Family::Ipv4 }
}
