//! Ethernet frames, with VLAN tags (IEEE 802.3, 802.1Q).

use super::Skipped;
use super::span::{Span, half};

pub(super) const IPV4: u16 = 0x0800;
pub(super) const IPV6: u16 = 0x86dd;
/// The EtherTypes of a customer tag, a provider tag, and the provider tag before standardization.
const TAGS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// The maximum number of tags to skip. Real networks stack fewer.
const MOST_TAGS: usize = 4;

/// Returns the payload of a frame and its EtherType.
pub(super) fn payload(frame: Span<'_>) -> Result<(u16, Span<'_>), Skipped> {
    let header: &[u8; 14] = frame.head()?;
    untagged(half(header, 12), frame.behind(header.len())?)
}

/// Returns the payload after all VLAN tags and its EtherType.
pub(super) fn untagged(mut ethertype: u16, mut rest: Span<'_>) -> Result<(u16, Span<'_>), Skipped> {
    for _ in 0..MOST_TAGS {
        if !TAGS.contains(&ethertype) {
            break;
        }
        ethertype = half(rest.head::<4>()?, 2);
        rest = rest.behind(4)?;
    }
    Ok((ethertype, rest))
}
