//! What Linux puts before packets that are captured on all interfaces at once (LINKTYPE_LINUX_SLL and
//! its successor, LINKTYPE_LINUX_SLL2). Unlike tcpdump's of Ethernet, these have no VLAN tags of their
//! own, but the tag may follow.

use super::span::{Span, half};
use super::{Skipped, ethernet};

/// What it carries and which kind of thing that is, by Ethernet's numbers.
pub(super) fn payload(packet: Span<'_>) -> Result<(u16, Span<'_>), Skipped> {
    let header: &[u8; 16] = packet.head()?;
    ethernet::untagged(half(header, 14), packet.behind(header.len())?)
}

/// The same of the successor.
pub(super) fn payload2(packet: Span<'_>) -> Result<(u16, Span<'_>), Skipped> {
    let header: &[u8; 20] = packet.head()?;
    ethernet::untagged(half(header, 0), packet.behind(header.len())?)
}
