//! What others put on the wire, read with suspicion: packets by layer, capture files, the flows and
//! exchanges that packets make up, certificates. Any bytes may come. Those that are no packet, or of which
//! not all was captured, are reported as such and never trusted.
//!
//! No capture socket, no file handle, and nothing of results belongs here.

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
mod tcp;
mod udp;
pub mod x509;

use std::net::IpAddr;

pub use icmp::{Icmp, TooBig};
pub use link::Link;
pub use span::Span;
pub use tcp::{Flags, Options, Tcp};
pub use udp::Udp;

/// The number of TCP among IP's protocols.
pub const TCP: u8 = 6;
/// That of UDP.
pub const UDP: u8 = 17;
/// That of ICMP for IPv4.
pub const ICMP: u8 = 1;
/// That of ICMPv6.
pub const ICMPV6: u8 = 58;

/// Why a packet's insides can't be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// It holds something else: ARP, say, or UDP where TCP was looked for.
    Other,
    /// Too little of it was kept.
    Cut,
    /// Its headers contradict each other.
    Malformed,
}

/// An IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip<'a> {
    /// Who sent it.
    pub source: IpAddr,
    /// To whom.
    pub destination: IpAddr,
    /// What it carries (IANA's protocol numbers); of IPv6 what follows the extension headers.
    pub protocol: u8,
    /// Which part of a packet it is, where it is a part.
    pub fragment: Option<Fragment>,
    /// What it carries; in a fragment but the first, the middle of it.
    pub payload: Span<'a>,
}

/// What an IP packet carries, as far as that is of use here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried<'a> {
    /// A segment of TCP; of a packet's first fragment as much as that has.
    Tcp(Tcp<'a>),
    /// A datagram of UDP; of a packet's first fragment as much as that has.
    Udp(Udp<'a>),
    /// A message of ICMP or ICMPv6.
    Icmp(Icmp),
    /// The middle or the end of something: a fragment but the first.
    Rest,
    /// Something else.
    Other,
}

/// A part of a packet that was too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// What all parts of a packet have in common.
    pub id: u32,
    /// Where in the packet's payload this one begins, in bytes.
    pub offset: u32,
    /// Others follow.
    pub more: bool,
}

/// The IP packet in a frame.
///
/// # Errors
/// There is none, or it can't be read.
pub fn ip(link: Link, frame: Span<'_>) -> Result<Ip<'_>, Skipped> {
    match link {
        Link::Ethernet => of_type(ethernet::payload(frame)?),
        Link::Sll => of_type(sll::payload(frame)?),
        Link::Sll2 => of_type(sll::payload2(frame)?),
        Link::Null => of_type(null::payload(frame)?),
        Link::Ip => of_version(frame),
    }
}

/// By the version that it begins with.
fn of_version(packet: Span<'_>) -> Result<Ip<'_>, Skipped> {
    match packet.head::<1>()?[0] >> 4 {
        4 => ipv4::read_ipv4(packet),
        6 => ipv6::read_ipv6(packet),
        _ => Err(Skipped::Malformed),
    }
}

/// By the number that Ethernet has for what follows.
fn of_type((ethertype, payload): (u16, Span<'_>)) -> Result<Ip<'_>, Skipped> {
    match ethertype {
        ethernet::IPV4 => ipv4::read_ipv4(payload),
        ethernet::IPV6 => ipv6::read_ipv6(payload),
        _ => Err(Skipped::Other),
    }
}

/// What a packet carries. Nothing is allocated or copied.
///
/// # Errors
/// Its headers can't be read.
pub fn carried<'a>(ip: &Ip<'a>) -> Result<Carried<'a>, Skipped> {
    if ip.fragment.is_some_and(|fragment| fragment.offset > 0) {
        return Ok(Carried::Rest);
    }
    let begins = ip.fragment.is_some();
    Ok(match (ip.protocol, ip.source) {
        (TCP, _) => Carried::Tcp(tcp::read_tcp(ip.payload)?),
        (UDP, _) => Carried::Udp(udp::read_udp(ip.payload, begins)?),
        (ICMP, IpAddr::V4(_)) | (ICMPV6, IpAddr::V6(_)) => Carried::Icmp(icmp::read_icmp(ip)?),
        _ => Carried::Other,
    })
}

/// Where the TCP segment of a packet is whole, or begins.
///
/// # Errors
/// It carries something else, or can't be read.
pub fn tcp<'a>(ip: &Ip<'a>) -> Result<Tcp<'a>, Skipped> {
    match ip.protocol == TCP && ip.fragment.is_none_or(|fragment| fragment.offset == 0) {
        true => tcp::read_tcp(ip.payload),
        false => Err(Skipped::Other),
    }
}

#[cfg(test)]
pub(crate) mod made;
#[cfg(test)]
mod tests;
