//! Reads captures: pcap files with times in nanoseconds, Ethernet frames as loopback has them, TCP
//! over both families.

use std::net::{IpAddr, SocketAddr};

/// The magic of such a file in this machine's byte order.
const NANO: u32 = 0xa1b2_3c4d;
/// LINKTYPE_ETHERNET.
const ETHERNET: u32 = 1;
const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;
const FRAME_HEADER: usize = 14;
const TCP: u8 = 6;

/// A TCP segment.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// Nanoseconds since 1970.
    pub(super) at: u64,
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    pub(super) sequence: u32,
    pub(super) acknowledgement: u32,
    /// Bytes of its frame on the wire, and of its payload.
    pub(super) frame: usize,
    pub(super) carries: usize,
    flags: u8,
    /// The beginning of its payload, as much as was captured.
    pub(super) payload: Vec<u8>,
}

impl Segment {
    pub(super) fn fin(&self) -> bool {
        self.flags & 1 != 0
    }

    pub(super) fn syn(&self) -> bool {
        self.flags & 2 != 0
    }

    pub(super) fn rst(&self) -> bool {
        self.flags & 4 != 0
    }

    pub(super) fn ack(&self) -> bool {
        self.flags & 16 != 0
    }
}

/// The segments of a capture in its order, without what is not written whole.
pub(super) fn segments(file: &[u8]) -> Vec<Segment> {
    let Some((header, mut rest)) = file.split_at_checked(FILE_HEADER) else { return Vec::new() };
    assert_eq!(
        (native(header, 0), native(header, 20)),
        (NANO, ETHERNET),
        "another kind of capture"
    );
    let mut found = Vec::new();
    while rest.len() >= RECORD_HEADER {
        let at = u64::from(native(rest, 0)) * 1_000_000_000 + u64::from(native(rest, 4));
        let length = native(rest, 8) as usize;
        let Some((record, behind)) = rest[RECORD_HEADER..].split_at_checked(length) else { break };
        let frame = native(rest, 12) as usize;
        found.extend(segment(at, frame, &record[FRAME_HEADER..], big(record, 12)));
        rest = behind;
    }
    found
}

/// The segment in a packet; none where it is not TCP.
fn segment(at: u64, frame: usize, packet: &[u8], protocol: u16) -> Option<Segment> {
    let (next, header, from, to, whole): (_, _, IpAddr, IpAddr, _) = match protocol {
        0x0800 => {
            let address = |start: usize| <[u8; 4]>::try_from(&packet[start..start + 4]).unwrap();
            let header = usize::from(packet[0] & 15) * 4;
            (packet[9], header, address(12).into(), address(16).into(), big(packet, 2).into())
        }
        0x86dd => {
            let address = |start: usize| <[u8; 16]>::try_from(&packet[start..start + 16]).unwrap();
            let whole = 40 + usize::from(big(packet, 4));
            (packet[6], 40, address(8).into(), address(24).into(), whole)
        }
        _ => return None,
    };
    if next != TCP {
        return None;
    }
    let tcp = &packet[header..packet.len().min(whole)];
    Some(Segment {
        at,
        from: (from, big(tcp, 0)).into(),
        to: (to, big(tcp, 2)).into(),
        sequence: u32::from_be_bytes(tcp[4..8].try_into().unwrap()),
        acknowledgement: u32::from_be_bytes(tcp[8..12].try_into().unwrap()),
        frame,
        carries: whole - header - usize::from(tcp[12] >> 4) * 4,
        flags: tcp[13],
        payload: tcp[usize::from(tcp[12] >> 4) * 4..].to_vec(),
    })
}

fn native(bytes: &[u8], start: usize) -> u32 {
    u32::from_ne_bytes(bytes[start..start + 4].try_into().unwrap())
}

fn big(bytes: &[u8], start: usize) -> u16 {
    u16::from_be_bytes(bytes[start..start + 2].try_into().unwrap())
}
