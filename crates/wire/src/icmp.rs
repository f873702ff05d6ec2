//! ICMP (RFC 792, RFC 1191) and ICMPv6 (RFC 4443) messages, in particular those that inform a
//! sender that its packets are too big.

use std::net::{IpAddr, SocketAddr};

use super::span::{Span, half, word_at};
use super::{Ip, Skipped, TCP, UDP, of_version};

/// An ICMP or ICMPv6 message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Icmp {
    /// The type, whose meaning depends on the family.
    pub kind: u8,
    /// The code.
    pub code: u8,
    /// The details of a packet that was too big, from an ICMPv6 Packet Too Big or an ICMP
    /// "fragmentation needed and DF set".
    pub too_big: Option<TooBig>,
}

/// The details of a packet that was too big.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooBig {
    /// The MTU of the next hop in bytes; 0 from routers older than RFC 1191.
    pub mtu: u32,
    /// The source, destination and protocol of the packet, if its header was returned and captured.
    pub packet: Option<(IpAddr, IpAddr, u8)>,
    /// The source and destination ports of the packet if it carried TCP or UDP.
    pub ports: Option<(u16, u16)>,
}

impl TooBig {
    /// Returns the source and destination of the packet.
    pub fn ends(&self) -> Option<(SocketAddr, SocketAddr)> {
        let ((source, destination, _), (from, to)) = (self.packet?, self.ports?);
        Some(((source, from).into(), (destination, to).into()))
    }
}

pub(super) fn read_icmp(ip: &Ip<'_>) -> Result<Icmp, Skipped> {
    let header: &[u8; 8] = ip.payload.head()?;
    let (kind, code) = (header[0], header[1]);
    let mtu = match (ip.source, kind, code) {
        (IpAddr::V6(_), 2, _) => Some(word_at(header, 4)),
        (IpAddr::V4(_), 3, 4) => Some(half(header, 6).into()),
        _ => None,
    };
    let too_big = mtu.map(|mtu| inner(mtu, &ip.payload.bytes[header.len()..]));
    Ok(Icmp { kind, code, too_big })
}

/// Parses the returned packet, of which only the beginning is present.
fn inner(mtu: u32, bytes: &[u8]) -> TooBig {
    let Ok(ip) = of_version(Span { bytes, length: usize::MAX / 2 }) else {
        return TooBig { mtu, packet: None, ports: None };
    };
    let begins = ip.fragment.is_none_or(|fragment| fragment.offset == 0);
    let ports = ip.payload.bytes.first_chunk::<4>();
    let ports = ports.filter(|_| begins && [TCP, UDP].contains(&ip.protocol));
    let ports = ports.map(|four| (half(four, 0), half(four, 2)));
    TooBig { mtu, packet: Some((ip.source, ip.destination, ip.protocol)), ports }
}
