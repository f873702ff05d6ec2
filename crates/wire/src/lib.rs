//! Parsers of untrusted network input: packets layer by layer, capture files, TCP and QUIC flows
//! with the HTTP exchanges on them, and X.509 certificates. Any input is accepted. Bytes that are
//! not a valid packet, or that the capture truncated, are reported as such and never trusted.
//!
//! This crate is pure: bytes and timestamps go in, values come out. It contains no capture socket
//! and no file handle, and no types of results.
//!
//! Start with [`ip`] and [`find_payload`] for a single packet, [`file::CaptureFile`] for a capture file,
//! [`flow::Follower`] for connections, and [`x509`] for certificates.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod ethernet;
pub mod file;
pub mod flow;
mod icmp;
mod ipv4;
mod ipv6;
mod link;
mod null;
pub mod pcap;
pub mod pcapng;
mod sll;
mod span;
mod step;
mod tags;
mod tcp;
mod tunnel;
mod udp;
mod unread;
mod via;
pub mod x509;

use std::net::IpAddr;

pub use icmp::{Icmp, TooBig};
pub use link::Link;
pub use span::Span;
pub use tcp::{Flags, Options, Tcp};
pub use udp::Udp;
pub use unread::Unread;
pub use via::Via;

pub(crate) use tunnel::{in_datagram, in_packet};

/// The IP protocol number of TCP.
pub const TCP: u8 = 6;
/// The IP protocol number of UDP.
pub const UDP: u8 = 17;
/// The IP protocol number of ICMP for IPv4.
pub const ICMP: u8 = 1;
/// The IP protocol number of ICMPv6.
pub const ICMPV6: u8 = 58;

/// The reason why a packet cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// It carries another protocol, such as ARP, or UDP where TCP was expected.
    Other(Unread),
    /// The capture truncated it before the end of its headers.
    Cut,
    /// Its headers are invalid or contradict each other.
    Malformed,
}

/// An IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip<'a> {
    /// The source address.
    pub source: IpAddr,
    /// The destination address.
    pub destination: IpAddr,
    /// The protocol of the payload (IANA protocol number). For IPv6 it is the protocol after the
    /// extension headers.
    pub protocol: u8,
    /// The position of this fragment if the packet is one.
    pub fragment: Option<Fragment>,
    /// The payload. In a fragment other than the first it is a later part of the original payload.
    pub payload: Span<'a>,
}

/// The payload of an IP packet, parsed if this crate supports its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpPayload<'a> {
    /// A TCP segment. If the packet is a first fragment, the part of the segment in that fragment.
    Tcp(Tcp<'a>),
    /// A UDP datagram. If the packet is a first fragment, the part of the datagram in that
    /// fragment.
    Udp(Udp<'a>),
    /// An ICMP or ICMPv6 message.
    Icmp(Icmp),
    /// The continuation of a fragmented payload: the packet is a fragment other than the first.
    Rest,
    /// Another protocol.
    Other,
}

/// The position of a fragment within the original packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The identification that all fragments of a packet share.
    pub id: u32,
    /// The offset of this fragment in the original payload, in bytes.
    pub offset: u32,
    /// True if more fragments follow.
    pub more: bool,
}

/// Returns the IP packet in a frame, the outermost one if there are several.
///
/// # Errors
/// Returns the reason if the frame contains no IP packet or the packet cannot be parsed.
pub fn ip(link: Link, frame: Span<'_>) -> Result<Ip<'_>, Skipped> {
    ip_via(link, frame, &mut Via::default())
}

/// Returns the same as [`ip`], and adds the tags and labels before the packet to `via`.
///
/// # Errors
/// Returns the same errors.
#[inline]
pub fn ip_via<'a>(link: Link, frame: Span<'a>, via: &mut Via) -> Result<Ip<'a>, Skipped> {
    match link {
        Link::Ethernet => of_type(ethernet::payload(frame)?, via),
        Link::Sll => of_type(sll::payload(frame)?, via),
        Link::Sll2 => of_type(sll::payload2(frame)?, via),
        Link::Null => of_type(null::payload(frame)?, via),
        Link::Ip => of_version(frame),
    }
}

/// Parses a packet by the version field of its IP header.
fn of_version(packet: Span<'_>) -> Result<Ip<'_>, Skipped> {
    match packet.head::<1>()?[0] >> 4 {
        4 => ipv4::read_ipv4(packet),
        6 => ipv6::read_ipv6(packet),
        _ => Err(Skipped::Malformed),
    }
}

/// Parses a packet by the EtherType that precedes it, which may be that of a tag.
#[inline]
fn of_type<'a>((ethertype, payload): (u16, Span<'a>), via: &mut Via) -> Result<Ip<'a>, Skipped> {
    match ethertype {
        ethernet::IPV4 => ipv4::read_ipv4(payload),
        ethernet::IPV6 => ipv6::read_ipv6(payload),
        other => match tags::behind(other, payload, via)? {
            (ethernet::IPV4, packet) => ipv4::read_ipv4(packet),
            (_, packet) => ipv6::read_ipv6(packet),
        },
    }
}

/// Parses the payload of a packet without allocating or copying.
///
/// # Errors
/// Returns the reason if the headers of the payload cannot be parsed.
pub fn find_payload<'a>(ip: &Ip<'a>) -> Result<IpPayload<'a>, Skipped> {
    if ip.fragment.is_some_and(|fragment| fragment.offset > 0) {
        return Ok(IpPayload::Rest);
    }
    let begins = ip.fragment.is_some();
    Ok(match (ip.protocol, ip.source) {
        (TCP, _) => IpPayload::Tcp(tcp::read_tcp(ip.payload)?),
        (UDP, _) => IpPayload::Udp(udp::read_udp(ip.payload, begins)?),
        (ICMP, IpAddr::V4(_)) | (ICMPV6, IpAddr::V6(_)) => IpPayload::Icmp(icmp::read_icmp(ip)?),
        _ => IpPayload::Other,
    })
}

/// Returns the TCP segment of a packet that is whole or is a first fragment.
///
/// # Errors
/// Returns the reason if the packet carries something else or cannot be parsed.
pub fn tcp<'a>(ip: &Ip<'a>) -> Result<Tcp<'a>, Skipped> {
    match (ip.protocol, ip.fragment) {
        (_, Some(Fragment { offset: 1.., .. })) => Err(Skipped::Other(Unread::Fragment)),
        (TCP, _) => tcp::read_tcp(ip.payload),
        (protocol, _) => Err(Skipped::Other(Unread::Protocol(protocol))),
    }
}

#[cfg(test)]
pub(crate) mod made;
#[cfg(test)]
mod tests;
