//! Packets built by tests.

use std::net::{IpAddr, SocketAddr};

use super::Flags;

pub(crate) const FIN: u8 = 1;
pub(crate) const SYN: u8 = 2;
pub(crate) const RST: u8 = 4;
pub(crate) const ACK: u8 = 16;

/// A TCP segment to build.
#[derive(Clone, Debug)]
pub(crate) struct MadeSegment {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) sequence: u32,
    pub(crate) acknowledgement: u32,
    pub(crate) flags: Flags,
    /// The length is a multiple of four bytes.
    pub(crate) options: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

impl MadeSegment {
    /// Returns the segment as an Ethernet frame.
    pub(crate) fn frame(&self) -> Vec<u8> {
        let mut frame = vec![2; 12];
        let ip = self.ip();
        frame.extend(if ip[0] >> 4 == 6 { [0x86, 0xdd] } else { [0x08, 0x00] });
        frame.extend(ip);
        frame
    }

    /// Returns the segment as an IP packet.
    pub(crate) fn ip(&self) -> Vec<u8> {
        self.ip_with(super::TCP, &self.tcp())
    }

    /// Returns a UDP datagram with the same ports and payload, in an IP packet.
    pub(crate) fn udp_ip(&self) -> Vec<u8> {
        let mut udp = [self.from.port().to_be_bytes(), self.to.port().to_be_bytes()].concat();
        udp.extend((8 + self.payload.len() as u16).to_be_bytes());
        udp.extend([0, 0]);
        udp.extend(&self.payload);
        self.ip_with(super::UDP, &udp)
    }

    /// Returns an IP packet between the same addresses with another payload.
    pub(crate) fn ip_with(&self, protocol: u8, payload: &[u8]) -> Vec<u8> {
        match (self.from.ip(), self.to.ip()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                let length = ((20 + payload.len()) as u16).to_be_bytes();
                let head = [0x45, 0, length[0], length[1], 0, 7, 0x40, 0, 64, protocol, 0, 0];
                [&head[..], &from.octets(), &to.octets(), payload].concat()
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                let length = (payload.len() as u16).to_be_bytes();
                let head = [0x60, 0, 0, 0, length[0], length[1], protocol, 64];
                [&head[..], &from.octets(), &to.octets(), payload].concat()
            }
            _ => panic!("two families"),
        }
    }

    /// Returns Ethernet frames that each carry a fragment of `size` bytes of the segment; `size` is
    /// a multiple of eight.
    pub(crate) fn fragments(&self, size: usize) -> Vec<Vec<u8>> {
        fragments(&self.ip(), size)
    }

    fn tcp(&self) -> Vec<u8> {
        let mut tcp = [self.from.port().to_be_bytes(), self.to.port().to_be_bytes()].concat();
        tcp.extend(self.sequence.to_be_bytes());
        tcp.extend(self.acknowledgement.to_be_bytes());
        let length = (20 + self.options.len()) as u8 / 4;
        tcp.extend([length << 4, self.flags.0, 0xff, 0xff, 0, 0, 0, 0]);
        tcp.extend(&self.options);
        tcp.extend(&self.payload);
        tcp
    }
}

/// Returns Ethernet frames that each carry a fragment of `size` bytes of an IP packet without
/// options; `size` is a multiple of eight.
pub(crate) fn fragments(whole: &[u8], size: usize) -> Vec<Vec<u8>> {
    let six = whole[0] >> 4 == 6;
    let (head, rest) = whole.split_at(if six { 40 } else { 20 });
    let count = rest.len().div_ceil(size);
    let part = |(n, part): (usize, &[u8])| {
        let (offset, more) = ((n * size) as u16, n + 1 < count);
        let mut head = head.to_vec();
        let mut frame = vec![2; 12];
        if six {
            head[4..6].copy_from_slice(&(part.len() as u16 + 8).to_be_bytes());
            let next = std::mem::replace(&mut head[6], 44);
            let field = (offset | u16::from(more)).to_be_bytes();
            head.extend([next, 0, field[0], field[1], 0, 0, 0, 7]);
            frame.extend([0x86, 0xdd]);
        } else {
            head[2..4].copy_from_slice(&(part.len() as u16 + 20).to_be_bytes());
            let field = (offset / 8) | if more { 0x2000 } else { 0 };
            head[6..8].copy_from_slice(&field.to_be_bytes());
            frame.extend([8, 0]);
        }
        [frame, head, part.to_vec()].concat()
    };
    rest.chunks(size).enumerate().map(part).collect()
}
