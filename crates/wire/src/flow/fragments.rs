//! Reassembly of fragmented IP packets (RFC 791; RFC 8200, 4.5). The number of packets reassembled
//! at once is limited; the oldest is discarded first. Overlapping fragments are an attack or a
//! fault and invalidate the whole packet (RFC 5722, applied here to IPv4 as well). Duplicate
//! fragments are ignored.

use std::collections::VecDeque;
use std::net::IpAddr;

use crate::{Fragment, Ip};

/// The maximum number of packets being reassembled at once.
const MOST: usize = 64;
/// The maximum number of fragments of a packet.
const MOST_PARTS: usize = 64;
/// The maximum length of the payload of a packet (RFC 8200, 4.5).
const LONGEST: u32 = 65_535;
/// The time after which an incomplete packet is discarded; twice the timeout of Linux.
const PATIENCE_NS: u64 = 60_000_000_000;

/// The packets being reassembled, oldest first.
#[derive(Debug, Default)]
pub(super) struct Fragments(VecDeque<Parts>);

/// The identification of a packet, which all its fragments share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Name {
    source: IpAddr,
    destination: IpAddr,
    /// `None` for IPv6, because only the first fragment identifies the protocol of the payload (RFC
    /// 8200, 4.5).
    protocol: Option<u8>,
    id: u32,
    network: u16,
}

/// A packet being reassembled.
#[derive(Debug)]
struct Parts {
    name: Name,
    began_ns: u64,
    /// The beginning and end of each fragment and its captured bytes, sorted by offset.
    parts: Vec<(u32, u32, Box<[u8]>)>,
    /// The length of the payload, once the last fragment has been seen.
    total: Option<u32>,
    /// The protocol of the payload, from the first fragment.
    protocol: u8,
    /// The bytes and the number of all frames.
    length: u64,
    packets: u64,
    /// True if the packet is invalid, for example because fragments overlap.
    spoilt: bool,
}

/// A reassembled packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Whole {
    /// The protocol of the payload.
    pub(super) protocol: u8,
    /// The captured bytes of the payload, up to the first that is absent.
    pub(super) bytes: Vec<u8>,
    /// The length of the payload on the wire.
    pub(super) total: usize,
    /// The bytes and the number of all frames that carried it.
    pub(super) length: u64,
    pub(super) packets: u64,
}

impl Fragments {
    /// Adds a fragment of a packet in a network. It came in `frames`, their bytes and their number,
    /// which is above 1 if the fragment itself was in fragments of an outer packet. Returns the
    /// packet if it is now complete.
    pub(super) fn take(
        &mut self,
        network: u16,
        ip: &Ip<'_>,
        fragment: Fragment,
        frames: (u64, u64),
        at_ns: u64,
    ) -> Option<Whole> {
        let protocol = ip.source.is_ipv4().then_some(ip.protocol);
        let (source, destination) = (ip.source, ip.destination);
        let name = Name { source, destination, protocol, id: fragment.id, network };
        let at = self.place(name, at_ns);
        let parts = self.0.get_mut(at)?;
        parts.take(ip, fragment, frames);
        if !parts.is_whole() {
            return None;
        }
        self.0.remove(at).map(Parts::join)
    }

    /// Returns the index of the packet with this identification. Adds an entry if there is none or
    /// it is too old.
    fn place(&mut self, name: Name, at_ns: u64) -> usize {
        let fresh = |parts: &Parts| at_ns.saturating_sub(parts.began_ns) < PATIENCE_NS;
        if let Some(at) = self.0.iter().position(|parts| parts.name == name) {
            if fresh(&self.0[at]) {
                return at;
            }
            self.0.remove(at);
        }
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back(Parts::new(name, at_ns));
        self.0.len() - 1
    }
}

impl Parts {
    fn new(name: Name, began_ns: u64) -> Parts {
        let (parts, total, protocol) = (Vec::new(), None, 0);
        Parts { name, began_ns, parts, total, protocol, length: 0, packets: 0, spoilt: false }
    }

    fn take(&mut self, ip: &Ip<'_>, fragment: Fragment, (length, packets): (u64, u64)) {
        let begin = fragment.offset;
        let end = begin.saturating_add(u32::try_from(ip.payload.length).unwrap_or(LONGEST));
        self.packets += packets;
        self.length += length;
        if begin == 0 {
            self.protocol = ip.protocol;
        }
        let at = self.parts.partition_point(|(known, ..)| *known < begin);
        if self.parts.get(at).is_some_and(|(a, b, _)| (*a, *b) == (begin, end)) {
            return;
        }
        let before = at.checked_sub(1).and_then(|at| self.parts.get(at));
        let overlaps = before.is_some_and(|(_, known, _)| *known > begin)
            || self.parts.get(at).is_some_and(|(known, ..)| *known < end);
        if !fragment.more && self.total.replace(end).is_some_and(|known| known != end) {
            self.spoilt = true;
        }
        let beyond = self.total.is_some_and(|total| end > total);
        // Every fragment but the last is a nonzero multiple of eight bytes.
        let odd = fragment.more && (end % 8 > 0 || end == begin);
        if overlaps || beyond || odd || end > LONGEST || self.parts.len() == MOST_PARTS {
            self.spoilt = true;
        }
        if self.spoilt {
            self.parts = Vec::new();
            return;
        }
        self.parts.insert(at, (begin, end, ip.payload.bytes.into()));
    }

    fn is_whole(&self) -> bool {
        // The fragments do not overlap, so they are complete if their lengths add up to the total.
        let there: u32 = self.parts.iter().map(|(begin, end, _)| end - begin).sum();
        !self.spoilt && self.total == Some(there)
    }

    fn join(self) -> Whole {
        let mut bytes = Vec::new();
        for (begin, _, part) in &self.parts {
            if bytes.len() < *begin as usize {
                break;
            }
            bytes.extend_from_slice(part);
        }
        let total = self.total.unwrap_or(0) as usize;
        let Parts { protocol, length, packets, .. } = self;
        Whole { protocol, bytes, total, length, packets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;
    use sixmark_units::random::Random;

    const ADDRESSES: [[&str; 2]; 2] = [["2001:db8::1", "2001:db8::2"], ["192.0.2.1", "192.0.2.2"]];

    fn give(
        all: &mut Fragments,
        addresses: [&str; 2],
        id: u32,
        (bytes, begin, end): (&[u8], usize, usize),
        at_ns: u64,
    ) -> Option<Whole> {
        let fragment = Fragment { id, offset: begin as u32, more: end < bytes.len() };
        let ip = Ip {
            source: addresses[0].parse().unwrap(),
            destination: addresses[1].parse().unwrap(),
            protocol: 6,
            fragment: Some(fragment),
            payload: Span::new(&bytes[begin..end], end - begin),
        };
        all.take(0, &ip, fragment, (100, 1), at_ns)
    }

    #[test]
    fn reassembles_fragments_in_any_order_and_with_duplicates() {
        let mut random = Random::new(8, 0);
        for addresses in ADDRESSES {
            for id in 0..2_000 {
                let bytes: Vec<u8> = (0..3_000).map(|_| random.bits() as u8).collect();
                let mut all = Fragments::default();
                let (mut given, mut packets) = ([false; 5], 0);
                loop {
                    let part = random.below(5) as usize;
                    given[part] = true;
                    packets += 1;
                    let (begin, end) = (part * 600, part * 600 + 600);
                    let whole = give(&mut all, addresses, id, (&bytes, begin, end), 0);
                    assert_eq!(whole.is_some(), given == [true; 5]);
                    if let Some(whole) = whole {
                        let length = packets * 100;
                        let expected = Whole { protocol: 6, bytes, total: 3_000, length, packets };
                        assert_eq!(whole, expected);
                        assert!(all.0.is_empty());
                        break;
                    }
                }
            }
        }
    }

    #[test]
    fn discards_a_packet_with_overlapping_fragments() {
        for addresses in ADDRESSES {
            let (mut all, bytes) = (Fragments::default(), [1; 2_000]);
            for (begin, end) in [(0, 800), (792, 1_600), (800, 1_600), (0, 792), (1_600, 2_000)] {
                assert_eq!(give(&mut all, addresses, 1, (&bytes, begin, end), 0), None);
            }
            // After the timeout the same identification is that of another packet.
            assert_eq!(give(&mut all, addresses, 1, (&bytes, 0, 800), PATIENCE_NS), None);
            assert!(give(&mut all, addresses, 1, (&bytes, 800, 2_000), PATIENCE_NS).is_some());
        }
    }

    #[test]
    fn limits_the_memory_for_incomplete_packets() {
        let (mut all, bytes) = (Fragments::default(), [1; 2_000]);
        for id in 0..10_000 {
            give(&mut all, ADDRESSES[0], id, (&bytes, 0, 8), 0);
            give(
                &mut all,
                ADDRESSES[0],
                77,
                (&bytes, 8 * (id as usize % 200), 8 + 8 * (id as usize % 200)),
                0,
            );
        }
        assert!(all.0.len() <= MOST && all.0.iter().all(|parts| parts.parts.len() <= MOST_PARTS));
    }
}
