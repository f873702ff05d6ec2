//! UDP datagrams (RFC 768).

use super::Skipped;
use super::span::{Span, half};

/// A UDP datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udp<'a> {
    /// The source port.
    pub source: u16,
    /// The destination port.
    pub destination: u16,
    /// The payload.
    pub payload: Span<'a>,
}

/// Parses a datagram, or the first fragment of one if `begins` is true.
pub(super) fn read_udp(datagram: Span<'_>, begins: bool) -> Result<Udp<'_>, Skipped> {
    let header: &[u8; 8] = datagram.head()?;
    let rest = datagram.behind(header.len())?;
    let payload = match usize::from(half(header, 4)) {
        // A jumbogram exceeds the length field (RFC 2675, 4); Linux also writes 0 if it segments
        // the payload later.
        0 => rest,
        _ if begins => rest,
        length => rest.only(length.checked_sub(header.len()).ok_or(Skipped::Malformed)?)?,
    };
    Ok(Udp { source: half(header, 0), destination: half(header, 2), payload })
}
