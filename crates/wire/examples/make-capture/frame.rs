//! Ethernet frames with a TCP segment, including checksums.

use std::net::{IpAddr, SocketAddr};

use crate::stream::Stream;

pub(crate) const FIN: u8 = 1;
pub(crate) const SYN: u8 = 2;
pub(crate) const RST: u8 = 4;
pub(crate) const PSH: u8 = 8;
pub(crate) const ACK: u8 = 16;

/// A segment to be written. Positions in streams count from 0, which follows the SYN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) at_ns: u64,
    pub(crate) by_client: bool,
    pub(crate) flags: u8,
    /// The position where its payload begins, and the position up to which it acknowledges.
    pub(crate) at: i64,
    pub(crate) ack: i64,
    pub(crate) length: u16,
    /// A block of data received beyond a gap.
    pub(crate) sack: Option<(u64, u64)>,
}

/// The endpoints of one direction, and the initial sequence numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectionEnds {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) first: u32,
    pub(crate) other: u32,
    pub(crate) mss: u16,
}

/// Writes the frame of a packet.
pub(crate) fn write(packet: &Packet, direction: &DirectionEnds, stream: &Stream, to: &mut Vec<u8>) {
    to.clear();
    to.extend([2, 0, 0, 0, 0, 1 + u8::from(packet.by_client)]);
    to.extend([2, 0, 0, 0, 0, 2 - u8::from(packet.by_client)]);
    let options = options(packet, direction);
    let length = 20 + options.len() + usize::from(packet.length);
    let pseudo = ip(direction, length as u16, packet, to);
    let tcp = to.len();
    to.extend(direction.from.port().to_be_bytes());
    to.extend(direction.to.port().to_be_bytes());
    to.extend(direction.first.wrapping_add(1).wrapping_add(packet.at as u32).to_be_bytes());
    let ack = direction.other.wrapping_add(1).wrapping_add(packet.ack as u32);
    to.extend(if packet.flags & ACK != 0 { ack } else { 0 }.to_be_bytes());
    to.extend([(20 + options.len() as u8) << 2, packet.flags, 0x01, 0xf5, 0, 0, 0, 0]);
    to.extend(&options);
    let payload = to.len();
    to.resize(payload + usize::from(packet.length), 0);
    if packet.length > 0 {
        stream.copy(packet.at as u64, &mut to[payload..]);
    }
    let sum = checksum(pseudo + 6 + length as u64, &to[tcp..]);
    to[tcp + 16..tcp + 18].copy_from_slice(&sum.to_be_bytes());
}

/// Writes the EtherType and an IP header. Returns the sum of its addresses for TCP's checksum.
fn ip(direction: &DirectionEnds, length: u16, packet: &Packet, to: &mut Vec<u8>) -> u64 {
    match (direction.from.ip(), direction.to.ip()) {
        (IpAddr::V4(from), IpAddr::V4(other)) => {
            to.extend([0x08, 0x00]);
            let start = to.len();
            let [high, low] = (length + 20).to_be_bytes();
            let [a, b] = (packet.at as u16).to_be_bytes();
            to.extend([0x45, 0, high, low, a, b, 0x40, 0, 64, 6, 0, 0]);
            to.extend([from.octets(), other.octets()].concat());
            let sum = checksum(0, &to[start..]);
            to[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
            sums(&to[start + 12..start + 20])
        }
        (IpAddr::V6(from), IpAddr::V6(other)) => {
            let [high, low] = length.to_be_bytes();
            to.extend([0x86, 0xdd, 0x60, 0, 0, 0, high, low, 6, 64]);
            let start = to.len();
            to.extend([from.octets(), other.octets()].concat());
            sums(&to[start..])
        }
        _ => panic!("two families"),
    }
}

fn options(packet: &Packet, direction: &DirectionEnds) -> Vec<u8> {
    let mut all = Vec::with_capacity(40);
    if packet.flags & SYN != 0 {
        let [high, low] = direction.mss.to_be_bytes();
        all.extend([2, 4, high, low, 4, 2]);
    } else {
        all.extend([1, 1]);
    }
    all.extend([8, 10]);
    all.extend(((packet.at_ns / 1_000_000) as u32).to_be_bytes());
    let echo = if packet.flags & ACK != 0 { packet.at_ns / 1_000_000 - 1 } else { 0 };
    all.extend((echo as u32).to_be_bytes());
    if packet.flags & SYN != 0 {
        all.extend([1, 3, 3, 7]);
    }
    if let Some((from, behind)) = packet.sack {
        let place = |at: u64| direction.other.wrapping_add(1).wrapping_add(at as u32).to_be_bytes();
        all.extend([1, 1, 5, 10]);
        all.extend([place(from), place(behind)].concat());
    }
    all
}

fn sums(bytes: &[u8]) -> u64 {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let last = rest.first().map_or(0, |byte| u64::from(*byte) << 8);
    pairs.iter().map(|pair| u64::from(u16::from_be_bytes(*pair))).sum::<u64>() + last
}

fn checksum(before: u64, bytes: &[u8]) -> u16 {
    let mut sum = before + sums(bytes);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
