//! A block of captured packets that the kernel has handed over.

use std::mem::{offset_of, size_of};

use libc::{tpacket_block_desc, tpacket_hdr_v1, tpacket_hdr_variant1, tpacket3_hdr};

use super::map::RingMap;

/// Offsets of fields in the block header.
const COUNT: usize = offset_of!(tpacket_block_desc, hdr) + offset_of!(tpacket_hdr_v1, num_pkts);
const FIRST: usize =
    offset_of!(tpacket_block_desc, hdr) + offset_of!(tpacket_hdr_v1, offset_to_first_pkt);
/// Offsets of the VLAN tag in a packet's header.
const TCI: usize = offset_of!(tpacket3_hdr, hv1) + offset_of!(tpacket_hdr_variant1, tp_vlan_tci);
const TPID: usize = offset_of!(tpacket3_hdr, hv1) + offset_of!(tpacket_hdr_variant1, tp_vlan_tpid);
/// The TPID of IEEE 802.1Q, used if the kernel does not report the TPID.
const DOT1Q: u16 = 0x8100;

/// Packets in the order of their capture. The block is returned to the kernel when it is dropped.
#[derive(Debug)]
pub struct Block<'a> {
    map: &'a mut RingMap,
    at: usize,
}

/// A captured packet, which may be truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The time of capture in nanoseconds since 1970 (CLOCK_REALTIME).
    pub at_ns: u64,
    /// The original length in bytes, without `vlan`.
    pub length: u32,
    /// The captured bytes, from the Ethernet or IP header on.
    pub bytes: &'a [u8],
    /// The VLAN tag that the kernel removed from behind the Ethernet addresses: TPID and TCI in
    /// network byte order.
    pub vlan: Option<[u8; 4]>,
}

impl<'a> Block<'a> {
    pub(super) fn new(map: &'a mut RingMap, at: usize) -> Block<'a> {
        Block { map, at }
    }

    /// Returns an iterator over the packets.
    pub fn frames(&self) -> Frames<'_> {
        let bytes = self.map.bytes(self.at);
        let left = word_at(bytes, COUNT).unwrap_or(0);
        Frames { bytes, at: word_at(bytes, FIRST).unwrap_or(0) as usize, left }
    }
}

impl Drop for Block<'_> {
    fn drop(&mut self) {
        self.map.give_back(self.at);
    }
}

/// An iterator over the packets of a block.
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    bytes: &'a [u8],
    at: usize,
    left: u32,
}

impl<'a> Iterator for Frames<'a> {
    type Item = Frame<'a>;

    fn next(&mut self) -> Option<Frame<'a>> {
        self.left = self.left.checked_sub(1)?;
        let header = self.bytes.get(self.at..)?;
        self.at += word_at(header, offset_of!(tpacket3_hdr, tp_next_offset))? as usize;
        frame(header)
    }
}

/// Parses a frame, which begins with its header.
fn frame(header: &[u8]) -> Option<Frame<'_>> {
    if header.len() < size_of::<tpacket3_hdr>() {
        return None;
    }
    let seconds = word_at(header, offset_of!(tpacket3_hdr, tp_sec))?;
    let nanoseconds = word_at(header, offset_of!(tpacket3_hdr, tp_nsec))?;
    let start = usize::from(half(header, offset_of!(tpacket3_hdr, tp_mac))?);
    let kept = word_at(header, offset_of!(tpacket3_hdr, tp_snaplen))? as usize;
    Some(Frame {
        at_ns: u64::from(seconds) * 1_000_000_000 + u64::from(nanoseconds),
        length: word_at(header, offset_of!(tpacket3_hdr, tp_len))?,
        bytes: header.get(start..)?.get(..kept)?,
        vlan: vlan(header),
    })
}

fn vlan(header: &[u8]) -> Option<[u8; 4]> {
    let status = word_at(header, offset_of!(tpacket3_hdr, tp_status))?;
    if status & libc::TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let known = status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
    let kind = if known { half(header, TPID)? } else { DOT1Q }.to_be_bytes();
    let value = (word_at(header, TCI)? as u16).to_be_bytes();
    Some([kind[0], kind[1], value[0], value[1]])
}

fn word_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}
