//! What is on the wire: checked views of a packet's headers, by layer. Any bytes may come: those that
//! are no packet, or whose end was not kept, are told apart and never trusted.

mod ethernet;
mod ipv4;
mod ipv6;
pub mod pcap;
mod sll2;
mod span;
mod tcp;

use std::net::IpAddr;

pub use span::Span;
pub use tcp::{Flags, Options, Tcp};

/// The number of TCP among IP's protocols.
pub const TCP: u8 = 6;

/// What a packet begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// An Ethernet header, with VLAN tags or without.
    Ethernet,
    /// An IP header, of either version.
    Ip,
    /// Linux's header of captures on all interfaces (LINKTYPE_LINUX_SLL2).
    Sll2,
}

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
        Link::Sll2 => of_type(sll2::payload(frame)?),
        Link::Ip => match frame.bytes.first().ok_or(Skipped::Cut)? >> 4 {
            4 => ipv4::read(frame),
            6 => ipv6::read(frame),
            _ => Err(Skipped::Malformed),
        },
    }
}

/// By the number that Ethernet has for what follows.
fn of_type((ethertype, payload): (u16, Span<'_>)) -> Result<Ip<'_>, Skipped> {
    match ethertype {
        ethernet::IPV4 => ipv4::read(payload),
        ethernet::IPV6 => ipv6::read(payload),
        _ => Err(Skipped::Other),
    }
}

/// Where the TCP segment of a packet is whole, or begins.
///
/// # Errors
/// It carries something else, or can't be read.
pub fn tcp<'a>(ip: &Ip<'a>) -> Result<Tcp<'a>, Skipped> {
    match ip.protocol == TCP && ip.fragment.is_none_or(|fragment| fragment.offset == 0) {
        true => tcp::read(ip.payload),
        false => Err(Skipped::Other),
    }
}

#[cfg(test)]
pub(crate) mod made;
#[cfg(test)]
mod tests;
