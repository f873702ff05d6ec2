//! IPv6 packets with their extension headers (RFC 8200).

use std::net::Ipv6Addr;

use super::span::{Span, half, word_at};
use super::{Fragment, Ip, Skipped};

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
/// Authentication Header (RFC 4302).
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;
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
    match half(header, 4) {
        // A jumbogram: a hop-by-hop option contains the length (RFC 2675).
        0 if header[6] == HOP_BY_HOP => Ok(rest),
        length => rest.only(length.into()),
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
