//! The header that Linux puts before packets captured on all interfaces at once (LINKTYPE_LINUX_SLL
//! and its successor, LINKTYPE_LINUX_SLL2). Unlike an Ethernet header written by tcpdump, it
//! contains no VLAN tag, but a tag may follow it.

use super::Skipped;
use super::span::{Span, half};

/// Returns the EtherType and the payload.
pub(super) fn payload(packet: Span<'_>) -> Result<(u16, Span<'_>), Skipped> {
    let header: &[u8; 16] = packet.head()?;
    Ok((half(header, 14), packet.behind(header.len())?))
}

/// Returns the same for LINKTYPE_LINUX_SLL2.
pub(super) fn payload2(packet: Span<'_>) -> Result<(u16, Span<'_>), Skipped> {
    let header: &[u8; 20] = packet.head()?;
    Ok((half(header, 0), packet.behind(header.len())?))
}
