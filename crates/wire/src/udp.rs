//! Datagrams of UDP (RFC 768).

use super::Skipped;
use super::span::{Span, half};

/// A datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udp<'a> {
    /// The sender's port.
    pub source: u16,
    /// The receiver's port.
    pub destination: u16,
    /// What it carries.
    pub payload: Span<'a>,
}

/// Reads one, or what is there of it where it only `begins`.
pub(super) fn read_udp(datagram: Span<'_>, begins: bool) -> Result<Udp<'_>, Skipped> {
    let header: &[u8; 8] = datagram.head()?;
    let rest = datagram.behind(header.len())?;
    let payload = match usize::from(half(header, 4)) {
        // Longer than the field can tell (RFC 2675, 4), or cut up only later.
        0 => rest,
        _ if begins => rest,
        length => rest.only(length.checked_sub(header.len()).ok_or(Skipped::Malformed)?)?,
    };
    Ok(Udp { source: half(header, 0), destination: half(header, 2), payload })
}
