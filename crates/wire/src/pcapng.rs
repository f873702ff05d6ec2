//! The newer files of captures (draft-ietf-opsawg-pcapng): sections in either byte order, each with
//! interfaces of its own. Blocks that carry no packets are passed over, whatever they are.

mod interface;

use super::Link;
use super::step::{Packet, ReadStep};
use interface::Interface;

/// What a file begins with, the same in either byte order.
pub(super) const SECTION: u32 = 0x0a0d_0d0a;
/// What tells of a section's byte order.
const ORDER: u32 = 0x1a2b_3c4d;

const INTERFACE: u32 = 1;
/// A packet as files had it before there was [`ENHANCED`].
const OBSOLETE: u32 = 2;
const SIMPLE: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED: u32 = 6;

/// Type and length before a block, its length once more behind it.
const AROUND: usize = 12;
/// Where a section has its byte order and its version; a shorter one has neither.
const SECTION_LEAST: usize = 28;
/// A block that is to be read and claims more was never written by a capture.
const LONGEST: u32 = 1 << 24;
/// More interfaces than a section has.
const MOST_INTERFACES: usize = 1 << 16;

/// What was lost before an interface's packet, or by it in all (options of blocks).
const OPTION_DROPPED_BEFORE: u16 = 4;
const OPTION_DROPPED: u16 = 5;
const OPTION_DROPPED_BY_SYSTEM: u16 = 7;

/// A file that is being read.
#[derive(Clone, Debug, Default)]
pub struct Sections {
    big_endian: bool,
    /// Of the section that is being read.
    interfaces: Vec<Interface>,
    /// What sections before it have told of losses.
    dropped_before: Option<u64>,
    /// The links of all sections.
    links: Vec<Option<Link>>,
    /// The largest number of bytes kept of a packet; 0: all.
    snap: u32,
    /// When the last packet was seen: some have no time.
    last_ns: u64,
    untimed: u64,
}

/// What is between a block's lengths, and how long it all is.
#[derive(Clone, Copy)]
struct BlockBody<'a> {
    bytes: &'a [u8],
    big_endian: bool,
    used: usize,
}

impl Sections {
    /// Packets that the capturing program says were lost; none where it says nothing.
    pub fn dropped(&self) -> Option<u64> {
        let here = self.interfaces.iter().filter_map(Interface::dropped);
        here.chain(self.dropped_before).reduce(u64::saturating_add)
    }

    /// What packets begin with, each kind once; none of a kind that can't be read.
    pub fn links(&self) -> &[Option<Link>] {
        &self.links
    }

    /// How many bytes of a packet were kept at most; 0: all.
    pub fn snap(&self) -> u32 {
        self.snap
    }

    /// Packets that have no time of their own (Simple Packet Blocks).
    pub fn untimed(&self) -> u64 {
        self.untimed
    }

    /// What the rest of a file begins with.
    pub(super) fn step<'a>(&mut self, rest: &'a [u8]) -> ReadStep<'a> {
        if rest.is_empty() {
            return ReadStep::End;
        }
        let Some(kind) = number_at(rest, 0, self.big_endian).filter(|_| rest.len() >= AROUND)
        else {
            return ReadStep::More(AROUND);
        };
        if kind == SECTION {
            match number_at(rest, 8, true) {
                Some(ORDER) => self.big_endian = true,
                Some(order) if order.swap_bytes() == ORDER => self.big_endian = false,
                _ => return ReadStep::Broken("a section has no byte order"),
            }
        }
        let length = number_at(rest, 4, self.big_endian).unwrap_or(0);
        if length < AROUND as u32 || !length.is_multiple_of(4) {
            return ReadStep::Broken("a block has an impossible length");
        }
        if !matches!(kind, SECTION | INTERFACE | OBSOLETE | SIMPLE | STATISTICS | ENHANCED) {
            return ReadStep::Nothing(length as usize);
        }
        if length > LONGEST {
            return ReadStep::Broken("a block is impossibly long");
        }
        let used = length as usize;
        let Some(block) = rest.get(..used) else { return ReadStep::More(used) };
        if number_at(block, used - 4, self.big_endian) != Some(length) {
            return ReadStep::Broken("a block's two lengths differ");
        }
        let body = BlockBody { bytes: &block[8..used - 4], big_endian: self.big_endian, used };
        self.block(kind, body)
    }

    fn block<'a>(&mut self, kind: u32, body: BlockBody<'a>) -> ReadStep<'a> {
        let step = match kind {
            SECTION => self.section(body),
            INTERFACE => self.interface(body),
            STATISTICS => self.statistics(body),
            ENHANCED => return self.enhanced(body).unwrap_or(TOO_SHORT),
            OBSOLETE => return self.obsolete(body).unwrap_or(TOO_SHORT),
            _ => return self.simple(body).unwrap_or(TOO_SHORT),
        };
        match step {
            Ok(()) => ReadStep::Nothing(body.used),
            Err(wrong) => ReadStep::Broken(wrong),
        }
    }

    fn section(&mut self, body: BlockBody<'_>) -> Result<(), &'static str> {
        if body.used < SECTION_LEAST {
            return Err("a section's header is too short");
        }
        if body.half(4) != Some(1) {
            return Err("a section is of a version that is not known");
        }
        self.dropped_before = self.dropped();
        self.interfaces.clear();
        Ok(())
    }

    fn interface(&mut self, body: BlockBody<'_>) -> Result<(), &'static str> {
        if self.interfaces.len() >= MOST_INTERFACES {
            return Err("a section has too many interfaces");
        }
        let (Some(kind), Some(snap)) = (body.half(0), body.word(4)) else {
            return Err("an interface's block is too short");
        };
        let link = Link::of_number(kind.into());
        let mut interface = Interface::new(link, snap);
        body.options(8, |code, value| interface.option(code, value, body.big_endian));
        let first = self.links.is_empty();
        self.snap = if (snap == 0 || self.snap == 0) && !first { 0 } else { self.snap.max(snap) };
        if !self.links.contains(&link) {
            self.links.push(link);
        }
        self.interfaces.push(interface);
        Ok(())
    }

    /// What is said of losses at the end, or now and then: each time of all since the beginning.
    fn statistics(&mut self, body: BlockBody<'_>) -> Result<(), &'static str> {
        let index = body.word(0).ok_or("an interface's statistics are too short")?;
        let Some(interface) = self.interfaces.get_mut(index as usize) else {
            return Err("there are statistics of an interface that is not there");
        };
        let (mut by_interface, mut by_system) = (None, None);
        body.options(12, |code, value| match code {
            OPTION_DROPPED => by_interface = body.long(value),
            OPTION_DROPPED_BY_SYSTEM => by_system = body.long(value),
            _ => {}
        });
        let both = by_interface.into_iter().chain(by_system).reduce(u64::saturating_add);
        interface.told = both.or(interface.told);
        Ok(())
    }

    fn enhanced<'a>(&mut self, body: BlockBody<'a>) -> Option<ReadStep<'a>> {
        let index = body.word(0)? as usize;
        let units = u64::from(body.word(4)?) << 32 | u64::from(body.word(8)?);
        let (kept, length) = (body.word(12)?, body.word(16)?);
        let bytes = body.bytes.get(20..)?.get(..kept as usize);
        let Some(interface) = self.interfaces.get_mut(index) else { return Some(NO_INTERFACE) };
        let Some(bytes) = bytes.filter(|_| kept <= length) else { return Some(LONGER) };
        let behind = 20 + bytes.len().next_multiple_of(4);
        // Most have no options, and that is seen at once.
        if body.bytes.len() > behind {
            body.options(behind, |code, value| {
                if code == OPTION_DROPPED_BEFORE {
                    interface.lost_before(body.long(value));
                }
            });
        }
        let (at_ns, link) = (interface.at_ns(units), interface.link);
        self.last_ns = at_ns;
        Some(ReadStep::Packet(Packet { link, at_ns, length, bytes }, body.used))
    }

    fn obsolete<'a>(&mut self, body: BlockBody<'a>) -> Option<ReadStep<'a>> {
        let (index, lost) = (usize::from(body.half(0)?), body.half(2)?);
        let units = u64::from(body.word(4)?) << 32 | u64::from(body.word(8)?);
        let (kept, length) = (body.word(12)?, body.word(16)?);
        let bytes = body.bytes.get(20..)?.get(..kept as usize);
        let Some(interface) = self.interfaces.get_mut(index) else { return Some(NO_INTERFACE) };
        let Some(bytes) = bytes.filter(|_| kept <= length) else { return Some(LONGER) };
        // All bits set: nobody knows.
        interface.lost_before((lost != u16::MAX).then(|| lost.into()));
        let (at_ns, link) = (interface.at_ns(units), interface.link);
        self.last_ns = at_ns;
        Some(ReadStep::Packet(Packet { link, at_ns, length, bytes }, body.used))
    }

    /// Of the first interface, without a time: that of the packet before it.
    fn simple<'a>(&mut self, body: BlockBody<'a>) -> Option<ReadStep<'a>> {
        let length = body.word(0)?;
        let Some(interface) = self.interfaces.first() else { return Some(NO_INTERFACE) };
        let snap = if interface.snap == 0 { u32::MAX } else { interface.snap };
        let rest = body.bytes.get(4..)?;
        let bytes = rest.get(..(length.min(snap) as usize).min(rest.len()))?;
        let (link, at_ns) = (interface.link, self.last_ns);
        self.untimed += 1;
        Some(ReadStep::Packet(Packet { link, at_ns, length, bytes }, body.used))
    }
}

const TOO_SHORT: ReadStep<'static> = ReadStep::Broken("a packet's block is too short");
const NO_INTERFACE: ReadStep<'static> =
    ReadStep::Broken("a packet is of an interface that is not there");
const LONGER: ReadStep<'static> = ReadStep::Broken("a packet is longer than it can be");

impl<'a> BlockBody<'a> {
    fn word(&self, at: usize) -> Option<u32> {
        number_at(self.bytes, at, self.big_endian)
    }

    fn half(&self, at: usize) -> Option<u16> {
        let two = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.big_endian { u16::from_be_bytes(two) } else { u16::from_le_bytes(two) })
    }

    /// An option's eight bytes.
    fn long(&self, value: &[u8]) -> Option<u64> {
        let eight = *value.first_chunk()?;
        Some(if self.big_endian { u64::from_be_bytes(eight) } else { u64::from_le_bytes(eight) })
    }

    /// Hands out options from there on, as far as they are whole.
    fn options(&self, mut at: usize, mut each: impl FnMut(u16, &'a [u8])) {
        while let (Some(code @ 1..), Some(length)) = (self.half(at), self.half(at + 2)) {
            let length = usize::from(length);
            let Some(value) = self.bytes.get(at + 4..).and_then(|rest| rest.get(..length)) else {
                return;
            };
            each(code, value);
            at += 4 + length.next_multiple_of(4);
        }
    }
}

/// Four bytes as a number.
fn number_at(bytes: &[u8], at: usize, big_endian: bool) -> Option<u32> {
    let four = *bytes.get(at..)?.first_chunk()?;
    Some(if big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) })
}

#[cfg(test)]
mod tests;
