//! IPv4 packets (RFC 791).

use std::net::Ipv4Addr;

use super::span::{Span, half, word_at};
use super::{Fragment, Ip, Skipped};

/// The bits of the fragment field: the "more fragments" flag and the offset.
const MORE: u16 = 0x2000;
const OFFSET: u16 = 0x1fff;

pub(super) fn read_ipv4(packet: Span<'_>) -> Result<Ip<'_>, Skipped> {
    let header: &[u8; 20] = packet.head()?;
    let length = usize::from(header[0] & 15) * 4;
    if header[0] >> 4 != 4 || length < header.len() {
        return Err(Skipped::Malformed);
    }
    Ok(Ip {
        source: Ipv4Addr::from(word_at(header, 12)).into(),
        destination: Ipv4Addr::from(word_at(header, 16)).into(),
        protocol: header[9],
        fragment: fragment(header),
        // The payload follows the header with its options, which are ignored.
        payload: check_length(packet, header)?.behind(length)?,
    })
}

/// Removes the padding of a short frame.
fn check_length<'a>(packet: Span<'a>, header: &[u8; 20]) -> Result<Span<'a>, Skipped> {
    match half(header, 2) {
        // Linux writes 0 for packets that exceed the field and are segmented later.
        0 => Ok(packet),
        length => packet.only(length.into()),
    }
}

fn fragment(header: &[u8; 20]) -> Option<Fragment> {
    let field = half(header, 6);
    let (offset, more) = (u32::from(field & OFFSET) * 8, field & MORE != 0);
    let id = half(header, 4).into();
    (offset > 0 || more).then_some(Fragment { id, offset, more })
}
