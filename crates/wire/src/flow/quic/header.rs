//! The unprotected headers of QUIC packets (RFC 8999; RFC 9000, 17; RFC 9369).

/// QUIC version 1.
pub(super) const VERSION_1: u32 = 1;
/// QUIC version 2.
pub(super) const VERSION_2: u32 = 0x6b33_43cf;
/// The maximum length of a connection ID in both versions.
const LONGEST_ID: usize = 20;

/// The type of a packet with a long header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LongPacketKind {
    /// An Initial packet, which contains the beginning of the handshake.
    Initial,
    /// A packet with early data (0-RTT), which only clients send and which may overtake their Initial.
    ZeroRtt,
    /// Another type.
    Other,
}

/// A long header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Long<'a> {
    pub(super) kind: LongPacketKind,
    pub(super) version: u32,
    pub(super) destination: &'a [u8],
}

/// Returns whether a packet has a short header, which is used after the handshake.
pub(super) fn is_short(packet: &[u8]) -> bool {
    packet.first().is_some_and(|first| first & 0xc0 == 0x40)
}

/// Returns the long header of a packet in version 1 or 2, or `None` if it has none.
pub(super) fn long(packet: &[u8]) -> Option<Long<'_>> {
    let (head, rest) = packet.split_first_chunk::<5>()?;
    let version = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
    if head[0] & 0xc0 != 0xc0 || ![VERSION_1, VERSION_2].contains(&version) {
        return None;
    }
    let (destination, rest) = id(rest)?;
    id(rest)?;
    // Version 2 counts from 1 (RFC 9369, 3.2).
    let initial = if version == VERSION_1 { 0 } else { 1 };
    let kind = match head[0] >> 4 & 3 {
        kind if kind == initial => LongPacketKind::Initial,
        kind if kind == initial + 1 => LongPacketKind::ZeroRtt,
        _ => LongPacketKind::Other,
    };
    Some(Long { kind, version, destination })
}

/// Returns the offset of the packet number of a packet of this kind, and the length of the whole
/// packet. Of the two kinds with names, only an Initial has a token.
pub(super) fn bounds(kind: LongPacketKind, packet: &[u8]) -> Option<(usize, usize)> {
    let (_, rest) = packet.split_at_checked(5)?;
    let (_, rest) = id(rest)?;
    let (_, rest) = id(rest)?;
    let token = if kind == LongPacketKind::Initial { varint(rest)? } else { (0, rest) };
    let rest = token.1.get(usize::try_from(token.0).ok()?..)?;
    let (length, rest) = varint(rest)?;
    let number = packet.len() - rest.len();
    let end = number.checked_add(usize::try_from(length).ok()?)?;
    (end <= packet.len()).then_some((number, end))
}

/// Returns a variable-length integer (RFC 9000, 16), and the bytes after it.
pub(super) fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = 1usize << (bytes.first()? >> 6);
    let (number, rest) = bytes.split_at_checked(length)?;
    let value = number.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
    // The two highest bits encode the length.
    Some((value & (u64::MAX >> (64 - (8 * length as u32 - 2))), rest))
}

fn id(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first()?;
    let length = usize::from(*length);
    if length > LONGEST_ID { None } else { rest.split_at_checked(length) }
}
