//! Packets that came in fragments, put together (RFC 791, RFC 8200, 4.5): as many at once as a table
//! holds, the rest is given up. Fragments that overlap are an attack or a fault, and take the whole packet
//! with them (RFC 5722; the same is done here with IPv4's). One that comes twice does no harm.

use std::collections::VecDeque;
use std::net::IpAddr;

use crate::{Fragment, Ip};

/// So many packets are put together at once.
const MOST: usize = 64;
/// In so many parts at most.
const MOST_PARTS: usize = 64;
/// No packet is longer (RFC 8200, 4.5).
const LONGEST: u32 = 65_535;
/// A packet whose last part is not there after so long never gets whole: twice what Linux waits.
const PATIENCE_NS: u64 = 60_000_000_000;

/// Packets of which parts are there.
#[derive(Debug, Default)]
pub(super) struct Fragments(VecDeque<Parts>);

/// What all fragments of a packet have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Name {
    source: IpAddr,
    destination: IpAddr,
    /// IPv6's fragments but the first need not tell what they carry (RFC 8200, 4.5).
    protocol: Option<u8>,
    id: u32,
}

/// A packet on its way.
#[derive(Debug)]
struct Parts {
    name: Name,
    began_ns: u64,
    /// Where each part begins and ends, and what was kept of it; in order.
    parts: Vec<(u32, u32, Box<[u8]>)>,
    /// How long it will be.
    total: Option<u32>,
    /// What the first says that it carries.
    protocol: u8,
    /// Bytes of all frames, and how many there were.
    length: u64,
    packets: u64,
    /// Parts overlapped: none of them counts.
    spoilt: bool,
}

/// A packet that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Whole {
    /// What it carries.
    pub(super) protocol: u8,
    /// Its payload, as far as it was kept from the beginning on.
    pub(super) bytes: Vec<u8>,
    /// How long that was on the wire.
    pub(super) total: usize,
    /// Bytes of all frames that brought it, and how many there were.
    pub(super) length: u64,
    pub(super) packets: u64,
}

impl Fragments {
    /// A fragment in a frame of so many bytes. The packet, where it is whole with that.
    pub(super) fn take(
        &mut self,
        ip: &Ip<'_>,
        fragment: Fragment,
        length: u64,
        at_ns: u64,
    ) -> Option<Whole> {
        let protocol = ip.source.is_ipv4().then_some(ip.protocol);
        let (source, destination) = (ip.source, ip.destination);
        let name = Name { source, destination, protocol, id: fragment.id };
        let at = self.place(name, at_ns);
        let parts = self.0.get_mut(at)?;
        parts.take(ip, fragment, length);
        if !parts.is_whole() {
            return None;
        }
        self.0.remove(at).map(Parts::join)
    }

    /// Where the packet of that name is, or begins.
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

    fn take(&mut self, ip: &Ip<'_>, fragment: Fragment, length: u64) {
        let begin = fragment.offset;
        let end = begin.saturating_add(u32::try_from(ip.payload.length).unwrap_or(LONGEST));
        self.packets += 1;
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
        // All but the last are multiples of eight bytes.
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
        // They don't overlap: they are all there if they are long enough together.
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
        all.take(&ip, fragment, 100, at_ns)
    }

    #[test]
    fn parts_in_any_order_and_doubled_make_the_packet() {
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
    fn parts_that_overlap_spoil_their_packet() {
        for addresses in ADDRESSES {
            let (mut all, bytes) = (Fragments::default(), [1; 2_000]);
            for (begin, end) in [(0, 800), (792, 1_600), (800, 1_600), (0, 792), (1_600, 2_000)] {
                assert_eq!(give(&mut all, addresses, 1, (&bytes, begin, end), 0), None);
            }
            // Long after that its name is another packet's.
            assert_eq!(give(&mut all, addresses, 1, (&bytes, 0, 800), PATIENCE_NS), None);
            assert!(give(&mut all, addresses, 1, (&bytes, 800, 2_000), PATIENCE_NS).is_some());
        }
    }

    #[test]
    fn packets_without_end_take_no_memory_without_end() {
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
