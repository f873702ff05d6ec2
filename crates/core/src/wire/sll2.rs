//! What Linux puts before packets that are captured on all interfaces at once (LINKTYPE_LINUX_SLL2).

use super::Skipped;
use super::span::{Span, half};

/// What it carries and which kind of thing that is, by Ethernet's numbers.
pub(super) fn payload(packet: Span<'_>) -> Result<(u16, Span<'_>), Skipped> {
    let header: &[u8; 20] = packet.head()?;
    Ok((half(header, 0), packet.behind(header.len())?))
}
