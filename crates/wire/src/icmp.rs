//! Messages of ICMP (RFC 792, RFC 1191) and ICMPv6 (RFC 4443), of which those matter that tell a sender
//! that its packets are too big.

use std::net::{IpAddr, SocketAddr};

use super::span::{Span, half, word_at};
use super::{Ip, Skipped, TCP, UDP, of_version};

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Icmp {
    /// Its type, which means different things in the two families.
    pub kind: u8,
    /// Its code.
    pub code: u8,
    /// What it says of a packet that was too big: Packet Too Big of ICMPv6; of ICMP that it would have
    /// to be fragmented and must not be.
    pub too_big: Option<TooBig>,
}

/// What is said of a packet that was too big.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooBig {
    /// How long it may be, in bytes. 0 of routers older than RFC 1191.
    pub mtu: u32,
    /// The packet's own source, destination and protocol, as far as it was sent back and kept.
    pub packet: Option<(IpAddr, IpAddr, u8)>,
    /// The ports that it came from and went to, where it was TCP or UDP.
    pub ports: Option<(u16, u16)>,
}

impl TooBig {
    /// Where the packet came from and went to.
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

/// The packet that was too big is never sent back whole.
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
