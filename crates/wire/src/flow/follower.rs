//! Packets in, what they say out.

use super::Segment;
use super::counts::Counts;
use super::flows::{Flows, Pair};
use super::fragments::Fragments;
use super::observed::FlowObserver;
use super::quic::{Datagram, InitialOpener};
use super::settings::Settings;
use crate::{self as wire, Carried, Fragment, Icmp, Ip, Link, Skipped, Span, Tcp, Udp};
use sixmark_units::family::Family;

/// Follows connections, and tells a sink what it finds.
#[derive(Debug)]
pub struct Follower<S> {
    pub(super) flows: Flows<S>,
    fragments: Fragments,
    opener: Option<Box<dyn InitialOpener + Send>>,
    counts: Counts,
}

/// The frames that brought a packet: when the last was seen, their bytes, and how many there were.
#[derive(Clone, Copy, Debug)]
struct Frames {
    at_ns: u64,
    length: u64,
    packets: u64,
    fragments: u64,
}

impl<S: FlowObserver> Follower<S> {
    /// One that has seen nothing yet.
    pub fn new(settings: Settings, sink: S) -> Follower<S> {
        let (flows, counts) = (Flows::new(settings, sink), Counts::default());
        Follower { flows, fragments: Fragments::default(), opener: None, counts }
    }

    /// With somebody who opens Initial packets of QUIC. Without, nothing is known of names there.
    pub fn with_opener(mut self, opener: Box<dyn InitialOpener + Send>) -> Follower<S> {
        self.opener = Some(opener);
        self
    }

    /// A packet that was seen at `at_ns`, in nanoseconds of any one clock. Its length on the wire is
    /// what counts as its bytes. What this ends is told to the sink before it returns.
    pub fn packet(&mut self, link: Link, at_ns: u64, frame: Span<'_>) {
        self.flows.pass(at_ns);
        self.counts.packets += 1;
        match wire::ip(link, frame) {
            Ok(ip) => self.ip(at_ns, frame, &ip),
            Err(skipped) => self.skip(skipped),
        }
    }

    /// Time passes, though no packet came: what was idle for too long is told to the sink.
    pub fn pass(&mut self, now_ns: u64) {
        self.flows.pass(now_ns);
    }

    /// What came by so far.
    pub fn counts(&self) -> Counts {
        let Flows { connections, evicted, .. } = self.flows;
        Counts { connections, evicted, ..self.counts }
    }

    /// How many connections are being followed, those counted that are over and may get something late.
    pub fn followed(&self) -> usize {
        self.flows.len()
    }

    /// Who is told.
    pub fn sink(&mut self) -> &mut S {
        &mut self.flows.sink
    }

    /// Whether nothing is to be expected any more: each connection is over, or its client has
    /// acknowledged all that it asked for. Looks at all of them.
    pub fn is_settled(&self) -> bool {
        self.flows.are_settled()
    }

    /// The capture is over: tells the sink of all that is left, that which was idle longest first.
    pub fn finish(mut self) -> (S, Counts) {
        self.flows.finish();
        let counts = self.counts();
        (self.flows.sink, counts)
    }

    fn skip(&mut self, skipped: Skipped) {
        match skipped {
            Skipped::Other => self.counts.other += 1,
            Skipped::Cut => self.counts.cut += 1,
            Skipped::Malformed => self.counts.malformed += 1,
        }
    }

    fn ip(&mut self, at_ns: u64, frame: Span<'_>, ip: &Ip<'_>) {
        let length = frame.length as u64;
        let family = &mut self.counts.families[family_of_packet(ip)];
        family.packets += 1;
        family.bytes += length;
        match ip.fragment {
            Some(fragment) => self.fragment(ip, fragment, length, at_ns),
            None => self.whole(ip, Frames { at_ns, length, packets: 1, fragments: 0 }),
        }
    }

    /// A packet that is in one piece, by now.
    fn whole(&mut self, ip: &Ip<'_>, frames: Frames) {
        let family = &mut self.counts.families[family_of_packet(ip)];
        match wire::carried(ip) {
            Ok(Carried::Tcp(tcp)) => {
                family.tcp += 1;
                self.segment(ip, frames, tcp);
            }
            Ok(Carried::Udp(udp)) => {
                family.udp += 1;
                self.datagram(ip, frames, udp);
            }
            Ok(Carried::Icmp(icmp)) => self.icmp(ip, &icmp),
            Ok(Carried::Other | Carried::Rest) => family.other += 1,
            Err(skipped) => self.skip(skipped),
        }
    }

    /// A fragment: its connection has a part of something until it is whole.
    fn fragment(&mut self, ip: &Ip<'_>, fragment: Fragment, length: u64, at_ns: u64) {
        self.counts.fragments += 1;
        self.counts.families[family_of_packet(ip)].fragments += 1;
        self.in_pieces(ip, 1);
        let Some(whole) = self.fragments.take(ip, fragment, length, at_ns) else { return };
        self.counts.families[family_of_packet(ip)].reassembled += 1;
        let payload = Span::new(&whole.bytes, whole.total);
        let ip = Ip { fragment: None, protocol: whole.protocol, payload, ..*ip };
        self.in_pieces(&ip, -1);
        let (length, packets) = (whole.length, whole.packets);
        self.whole(&ip, Frames { at_ns, length, packets, fragments: packets });
    }

    fn in_pieces(&mut self, ip: &Ip<'_>, more: i32) {
        if let Ok(Carried::Tcp(tcp)) = wire::carried(ip) {
            let pair = Pair::new(wire::TCP, ip, (tcp.source, tcp.destination));
            self.flows.in_pieces(&pair, more);
        }
    }

    fn segment(&mut self, ip: &Ip<'_>, frames: Frames, tcp: Tcp<'_>) {
        if self.flows.is_asked_for(tcp.source, tcp.destination) {
            self.counts.segments += 1;
            let Frames { at_ns, length, packets, fragments } = frames;
            let pair = Pair::new(wire::TCP, ip, (tcp.source, tcp.destination));
            self.flows.segment(pair, &Segment { at_ns, length, packets, fragments, tcp });
        }
    }

    fn datagram(&mut self, ip: &Ip<'_>, frames: Frames, udp: Udp<'_>) {
        if !self.flows.is_asked_for(udp.source, udp.destination) {
            return;
        }
        let Frames { at_ns, length, packets, fragments } = frames;
        let datagram = Datagram { at_ns, length, packets, fragments, udp };
        let pair = Pair::new(wire::UDP, ip, (udp.source, udp.destination));
        if let Some((by_client, quic, budget)) = self.flows.quic(pair, &datagram) {
            let opener = self.opener.as_deref_mut().map(|opener| opener as &mut dyn InitialOpener);
            quic.take(by_client, &datagram, opener, budget);
        }
    }

    fn icmp(&mut self, ip: &Ip<'_>, icmp: &Icmp) {
        let family = &mut self.counts.families[family_of_packet(ip)];
        family.icmp += 1;
        if let Some(too_big) = icmp.too_big {
            family.too_big += 1;
            let least = family.smallest_mtu.unwrap_or(u32::MAX);
            family.smallest_mtu = Some(least.min(too_big.mtu));
        }
    }
}

/// That of the packet itself: a mapped address is one of IPv6 here.
fn family_of_packet(ip: &Ip<'_>) -> Family {
    if ip.source.is_ipv6() { Family::Ipv6 } else { Family::Ipv4 }
}
