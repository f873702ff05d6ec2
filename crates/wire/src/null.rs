//! The header that BSD and macOS put before packets of the loopback interface: an address family
//! number, in the byte order of the capturing machine (LINKTYPE_NULL) or the network
//! (LINKTYPE_LOOP).

use super::span::{Span, word_at};
use super::{Skipped, Unread, ethernet};

/// The numbers of IPv6: Linux, NetBSD and OpenBSD, FreeBSD, macOS.
const IPV6: [u32; 4] = [10, 24, 28, 30];
/// The number of IPv4, which is the same on all systems.
const IPV4: u32 = 2;

/// Returns the payload and its EtherType.
pub(super) fn payload(packet: Span<'_>) -> Result<(u16, Span<'_>), Skipped> {
    let header: &[u8; 4] = packet.head()?;
    let family = word_at(header, 0);
    // Families are below 2^16, so only the correct byte order gives a small number.
    let kind = match family.min(family.swap_bytes()) {
        IPV4 => ethernet::IPV4,
        other if IPV6.contains(&other) => ethernet::IPV6,
        other => return Err(Skipped::Other(Unread::AddressFamily(other))),
    };
    Ok((kind, packet.behind(header.len())?))
}
