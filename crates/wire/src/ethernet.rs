//! Ethernet frames (IEEE 802.3).

use super::Skipped;
use super::span::{Span, half};

pub(super) const IPV4: u16 = 0x0800;
pub(super) const IPV6: u16 = 0x86dd;

/// Returns the EtherType of a frame and its payload, which may begin with tags.
pub(super) fn payload(frame: Span<'_>) -> Result<(u16, Span<'_>), Skipped> {
    let header: &[u8; 14] = frame.head()?;
    Ok((half(header, 12), frame.behind(header.len())?))
}
