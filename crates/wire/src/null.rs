//! What BSD and macOS put before packets of the loopback: the number of an address family, in the byte
//! order of the machine that captured, or the network's (LINKTYPE_NULL, LINKTYPE_LOOP).

use super::span::{Span, word_at};
use super::{Skipped, ethernet};

/// IPv6's numbers: of Linux, of NetBSD and OpenBSD, of FreeBSD, of macOS.
const IPV6: [u32; 4] = [10, 24, 28, 30];
/// IPv4 has the same everywhere.
const IPV4: u32 = 2;

/// What it carries and which kind of thing that is, by Ethernet's numbers.
pub(super) fn payload(packet: Span<'_>) -> Result<(u16, Span<'_>), Skipped> {
    let header: &[u8; 4] = packet.head()?;
    let family = word_at(header, 0);
    // Families are below 2^16: of the two ways to read it one is small.
    let kind = match family.min(family.swap_bytes()) {
        IPV4 => ethernet::IPV4,
        other if IPV6.contains(&other) => ethernet::IPV6,
        _ => return Err(Skipped::Other),
    };
    Ok((kind, packet.behind(header.len())?))
}
