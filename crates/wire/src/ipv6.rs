//! IPv6 packets with their extension headers (RFC 8200).

use std::net::Ipv6Addr;

use super::span::{Span, half, word_at};
use super::{Fragment, Ip, Skipped};

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
/// Authentication Header (RFC 4302).
const AUTHENTICATION: u8 = 51;
/// Nothing follows the header (RFC 8200, 4.7).
const NOTHING: u8 = 59;
const DESTINATION: u8 = 60;
/// The option that pads with one byte, without a length, and the option with the length of a
/// jumbogram (RFC 2675).
const PAD_1: u8 = 0;
const JUMBO: u8 = 0xc2;
/// The maximum number of extension headers. A packet with more is considered malformed.
const MOST_HEADERS: usize = 16;

pub(super) fn read_ipv6(packet: Span<'_>) -> Result<Ip<'_>, Skipped> {
    let header: &[u8; 40] = packet.head()?;
    if header[0] >> 4 != 6 {
        return Err(Skipped::Malformed);
    }
    let mut found = Ip {
        source: address_at(header, 8).into(),
        destination: address_at(header, 24).into(),
        protocol: header[6],
        fragment: None,
        payload: payload(packet.behind(header.len())?, header)?,
    };
    for _ in 0..MOST_HEADERS {
        if found.fragment.is_some_and(|fragment| fragment.offset > 0) || !skip(&mut found)? {
            return Ok(found);
        }
    }
    Err(Skipped::Malformed)
}

/// Returns the payload without the padding of a short frame.
fn payload<'a>(rest: Span<'a>, header: &[u8; 40]) -> Result<Span<'a>, Skipped> {
    match (half(header, 4), header[6]) {
        (0, NOTHING) => rest.only(0),
        (0, HOP_BY_HOP) => match jumbo(rest.bytes) {
            Some(length) => rest.only(length),
            None => Ok(rest),
        },
        // Linux writes 0 for packets that exceed the field and are segmented later (BIG TCP).
        (0, _) => Ok(rest),
        (length, _) => rest.only(length.into()),
    }
}

/// Returns the length in the options of a jumbogram, whose hop-by-hop header these bytes begin with
/// (RFC 2675).
fn jumbo(bytes: &[u8]) -> Option<usize> {
    let end = (usize::from(*bytes.get(1)?) + 1) * 8;
    let mut options = bytes.get(2..end)?;
    loop {
        options = match options {
            [PAD_1, rest @ ..] => rest,
            [JUMBO, 4, a, b, c, d, ..] => {
                return usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).ok();
            }
            [_, length, rest @ ..] => rest.get(usize::from(*length)..)?,
            _ => return None,
        };
    }
}

/// Skips an extension header. Returns false if the next header is not one.
fn skip(found: &mut Ip<'_>) -> Result<bool, Skipped> {
    let head = || found.payload.head::<2>();
    let length = match found.protocol {
        HOP_BY_HOP | ROUTING | DESTINATION => (usize::from(head()?[1]) + 1) * 8,
        AUTHENTICATION => (usize::from(head()?[1]) + 2) * 4,
        FRAGMENT => 8,
        _ => return Ok(false),
    };
    if found.protocol == FRAGMENT {
        found.fragment = fragment(found.payload.head()?);
    }
    found.protocol = head()?[0];
    found.payload = found.payload.behind(length)?;
    Ok(true)
}

/// Returns the position of a fragment, or `None` for an atomic fragment (RFC 6946).
fn fragment(header: &[u8; 8]) -> Option<Fragment> {
    let field = half(header, 2);
    let (offset, more) = (u32::from(field & !7), field & 1 != 0);
    (offset > 0 || more).then_some(Fragment { id: word_at(header, 4), offset, more })
}

fn address_at(header: &[u8; 40], at: usize) -> Ipv6Addr {
    let sixteen = header.get(at..).and_then(<[u8]>::first_chunk::<16>);
    sixteen.map_or(Ipv6Addr::UNSPECIFIED, |bytes| Ipv6Addr::from(*bytes))
}
