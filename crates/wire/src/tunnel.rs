//! Packets within IP packets. The outer header is then not that of a connection.

use super::span::{Span, half, word_at};
use super::via::{Layer, Via};
use super::{Ip, Skipped, Udp, Unread, ethernet, of_type};

/// The IP protocol numbers of IPv4, IPv6 and GRE.
const IPV4: u8 = 4;
const IPV6: u8 = 41;
const GRE: u8 = 47;
/// The EtherType of Ethernet within GRE and Geneve. GRE with it is NVGRE (RFC 7637) as well.
const ETHERNET: u16 = 0x6558;
/// The lowest number that is an EtherType.
const LOWEST_TYPE: u16 = 0x600;
/// Bits of the first two bytes of GRE: a checksum, a key and a sequence number follow.
const CHECKSUM: u16 = 0x8000;
const KEY: u16 = 0x2000;
const SEQUENCE: u16 = 0x1000;
/// The bits of GRE that are 0 in the version that is read: source routing and the version.
const OTHER_GRE: u16 = 0x4007;

/// The UDP ports of VXLAN: that of RFC 7348, and that of Linux before.
const VXLAN: [u16; 2] = [4_789, 8_472];
/// The bit of VXLAN that says that the number of the network is valid.
const VXLAN_VALID: u8 = 0x08;
const GENEVE: u16 = 6_081;
const GTP: u16 = 2_152;
/// The first byte of GTP-U, version 1, with its three flags masked, and the type of its messages
/// with a packet.
const GTP_VERSION: u8 = 0x30;
const GTP_FLAGS: u8 = 0x07;
const GTP_PACKET: u8 = 255;
/// The maximum number of extension headers of GTP-U.
const MOST_EXTENSIONS: usize = 4;

/// The beginning of an inner packet, by its EtherType. An Ethernet frame has that of
/// [`ETHERNET`].
type Inner<'a> = (Layer, u16, Span<'a>);

/// Returns the packet within an IP packet of a protocol other than TCP, UDP and ICMP, or the reason
/// why it can't be read. Returns `None` if there is none.
pub(crate) fn in_packet<'a>(ip: &Ip<'a>, via: &mut Via) -> Option<Result<Ip<'a>, Skipped>> {
    let outer_is_six = ip.source.is_ipv6();
    let inner = match (ip.protocol, outer_is_six) {
        (IPV4, false) => (Layer::Ipv4InIpv4, ethernet::IPV4, ip.payload),
        (IPV4, true) => (Layer::Ipv4InIpv6, ethernet::IPV4, ip.payload),
        (IPV6, false) => (Layer::Ipv6InIpv4, ethernet::IPV6, ip.payload),
        (IPV6, true) => (Layer::Ipv6InIpv6, ethernet::IPV6, ip.payload),
        (GRE, _) => match gre(ip.payload) {
            Ok(inner) => inner?,
            Err(skipped) => return Some(Err(skipped)),
        },
        _ => return None,
    };
    Some(read_inner(inner, via))
}

/// Returns the packet within a UDP datagram. Only the destination port identifies these protocols.
/// It may also be that of something else, so that a datagram with another beginning has none.
pub(crate) fn in_datagram<'a>(udp: &Udp<'a>, via: &mut Via) -> Option<Result<Ip<'a>, Skipped>> {
    let inner = match udp.destination {
        port if VXLAN.contains(&port) => vxlan(udp.payload)?,
        GENEVE => geneve(udp.payload)?,
        GTP => gtp(udp.payload)?,
        _ => return None,
    };
    Some(read_inner(inner, via))
}

fn read_inner<'a>((layer, kind, rest): Inner<'a>, via: &mut Via) -> Result<Ip<'a>, Skipped> {
    via.push(layer)?;
    match kind {
        ETHERNET => of_type(ethernet::payload(rest)?, via),
        kind if kind < LOWEST_TYPE => Err(Skipped::Other(Unread::EtherType(kind))),
        kind => of_type((kind, rest), via),
    }
}

/// Returns `None` for a version or an option that is not read.
fn gre(payload: Span<'_>) -> Result<Option<Inner<'_>>, Skipped> {
    let header: &[u8; 4] = payload.head()?;
    let flags = half(header, 0);
    if flags & OTHER_GRE > 0 {
        return Ok(None);
    }
    let (mut rest, mut key) = (payload.behind(header.len())?, None);
    if flags & CHECKSUM > 0 {
        rest = rest.behind(4)?;
    }
    if flags & KEY > 0 {
        key = Some(word_at(rest.head::<4>()?, 0));
        rest = rest.behind(4)?;
    }
    if flags & SEQUENCE > 0 {
        rest = rest.behind(4)?;
    }
    Ok(Some((Layer::Gre(key), half(header, 2), rest)))
}

fn vxlan(payload: Span<'_>) -> Option<Inner<'_>> {
    let header: &[u8; 8] = payload.head().ok()?;
    let network = word_at(header, 4) >> 8;
    let valid = header[0] & VXLAN_VALID > 0 && header[7] == 0;
    valid.then_some((Layer::Vxlan(network), ETHERNET, payload.behind(header.len()).ok()?))
}

fn geneve(payload: Span<'_>) -> Option<Inner<'_>> {
    let header: &[u8; 8] = payload.head().ok()?;
    let options = usize::from(header[0] & 0x3f) * 4;
    let valid = header[0] >> 6 == 0 && header[1] & 0x3f == 0 && header[7] == 0;
    let network = word_at(header, 4) >> 8;
    let rest = payload.behind(header.len() + options).ok()?;
    valid.then_some((Layer::Geneve(network), half(header, 2), rest))
}

fn gtp(payload: Span<'_>) -> Option<Inner<'_>> {
    let header: &[u8; 8] = payload.head().ok()?;
    if header[0] & !GTP_FLAGS != GTP_VERSION || header[1] != GTP_PACKET {
        return None;
    }
    let mut rest = payload.behind(header.len()).ok()?;
    if header[0] & GTP_FLAGS > 0 {
        let optional: &[u8; 4] = rest.head().ok()?;
        rest = rest.behind(optional.len()).ok()?;
        rest = extensions(optional[3], rest)?;
    }
    let kind = match rest.head::<1>().ok()?[0] >> 4 {
        4 => ethernet::IPV4,
        6 => ethernet::IPV6,
        _ => return None,
    };
    Some((Layer::Gtp, kind, rest))
}

/// Returns what follows the extension headers of GTP-U, the first of which has the type `next`. The
/// last byte of each is the type of the next one, 0 for none.
fn extensions(mut next: u8, mut rest: Span<'_>) -> Option<Span<'_>> {
    for _ in 0..MOST_EXTENSIONS {
        if next == 0 {
            return Some(rest);
        }
        let length = usize::from(rest.head::<1>().ok()?[0]) * 4;
        next = *rest.bytes.get(length.checked_sub(1)?)?;
        rest = rest.behind(length).ok()?;
    }
    (next == 0).then_some(rest)
}
