//! Tags, labels and session headers between a link-layer header and an IP packet.

use super::span::{Span, half, word_at};
use super::via::{Layer, Via};
use super::{Skipped, Unread, ethernet};

/// The maximum number of headers that are read one after another. Real networks stack fewer.
const MOST_HEADERS: usize = 12;
/// The EtherTypes of a customer tag, a provider tag, and the provider tags before standardization.
const VLAN: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
/// The bits of a tag that contain the number of the VLAN.
const VLAN_NUMBER: u16 = 0x0fff;
const VN_TAG: u16 = 0x8926;
const MPLS: [u16; 2] = [0x8847, 0x8848];
/// The bit of a label that marks the last one.
const BOTTOM: u32 = 0x100;
/// The maximum number of labels.
const MOST_LABELS: usize = 16;
const PPPOE: u16 = 0x8864;
/// The numbers of IPv4 and IPv6 over PPP.
const PPP_IPV4: u16 = 0x0021;
const PPP_IPV6: u16 = 0x0057;
/// Numbers up to this are the length of an IEEE 802.3 frame, not an EtherType.
const LONGEST_FRAME: u16 = 1_500;
/// LLC and SNAP before an EtherType (RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];

/// An EtherType and what follows it.
type Typed<'a> = (u16, Span<'a>);

/// Returns the IP packet behind the header that an EtherType announces, with the EtherType of IPv4
/// or IPv6. The headers are added to `via`.
pub(super) fn behind<'a>(
    ethertype: u16,
    payload: Span<'a>,
    via: &mut Via,
) -> Result<Typed<'a>, Skipped> {
    let mut found = (ethertype, payload);
    for _ in 0..MOST_HEADERS {
        let (kind, rest) = found;
        found = match kind {
            ethernet::IPV4 | ethernet::IPV6 => return Ok(found),
            PPPOE => session(rest, via)?,
            VN_TAG => {
                via.push(Layer::VnTag)?;
                (half(rest.head::<6>()?, 4), rest.behind(6)?)
            }
            kind if VLAN.contains(&kind) => tag(rest, via)?,
            kind if MPLS.contains(&kind) => labels(rest, via)?,
            kind if kind <= LONGEST_FRAME => llc(rest)?,
            kind => return Err(Skipped::Other(Unread::EtherType(kind))),
        };
    }
    Err(Skipped::Other(Unread::Nested))
}

/// Reads a VLAN tag. Number 0 is no VLAN: the tag has only a priority.
fn tag<'a>(rest: Span<'a>, via: &mut Via) -> Result<Typed<'a>, Skipped> {
    let tag: &[u8; 4] = rest.head()?;
    match half(tag, 0) & VLAN_NUMBER {
        0 => {}
        number => via.push(Layer::Vlan(number))?,
    }
    Ok((half(tag, 2), rest.behind(tag.len())?))
}

/// Reads a stack of labels. No field names the protocol behind it, but the first half byte of an IP
/// packet is its version.
fn labels<'a>(mut rest: Span<'a>, via: &mut Via) -> Result<Typed<'a>, Skipped> {
    via.push(Layer::Mpls)?;
    for _ in 0..MOST_LABELS {
        let label = word_at(rest.head::<4>()?, 0);
        rest = rest.behind(4)?;
        if label & BOTTOM > 0 {
            return match rest.head::<1>()?[0] >> 4 {
                4 => Ok((ethernet::IPV4, rest)),
                6 => Ok((ethernet::IPV6, rest)),
                _ => Err(Skipped::Other(Unread::Mpls)),
            };
        }
    }
    Err(Skipped::Other(Unread::Nested))
}

/// Reads the header of a PPPoE session and the protocol of the PPP frame in it.
fn session<'a>(rest: Span<'a>, via: &mut Via) -> Result<Typed<'a>, Skipped> {
    let header: &[u8; 6] = rest.head()?;
    let frame = rest.behind(header.len())?.only(half(header, 4).into())?;
    via.push(Layer::Pppoe(half(header, 2)))?;
    let kind = match half(frame.head::<2>()?, 0) {
        PPP_IPV4 => ethernet::IPV4,
        PPP_IPV6 => ethernet::IPV6,
        other => return Err(Skipped::Other(Unread::Ppp(other))),
    };
    Ok((kind, frame.behind(2)?))
}

/// Reads the header of a frame with a length in place of the EtherType (IEEE 802.2).
fn llc(rest: Span<'_>) -> Result<Typed<'_>, Skipped> {
    let access_point = rest.head::<1>()?[0];
    match rest.head::<8>() {
        Ok(header) if header.starts_with(&SNAP) => Ok((half(header, 6), rest.behind(8)?)),
        _ => Err(Skipped::Other(Unread::Llc(access_point))),
    }
}
