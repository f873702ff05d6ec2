//! Capture files in the newer format (draft-ietf-opsawg-pcapng). A file consists of sections in
//! either byte order, each with interfaces of its own. Blocks without packets are skipped, whatever
//! their type.

mod interface;

use super::Link;
use super::step::{Packet, ReadStep};
use interface::Interface;

/// The type of the block that begins a file, the same in either byte order.
pub(super) const SECTION: u32 = 0x0a0d_0d0a;
/// The byte-order magic of a section.
const ORDER: u32 = 0x1a2b_3c4d;

const INTERFACE: u32 = 1;
/// The obsolete Packet Block, replaced by [`ENHANCED`].
const OBSOLETE: u32 = 2;
const SIMPLE: u32 = 3;
const STATISTICS: u32 = 5;
const ENHANCED: u32 = 6;

/// The length of a block without its body: type and length before the body, the length again after
/// it.
const AROUND: usize = 12;
/// The minimum length of a Section Header Block, which contains the byte order and the version.
const SECTION_LEAST: usize = 28;
/// The largest plausible length of a block that is parsed. No capture writes longer ones.
const LONGEST: u32 = 1 << 24;
/// The maximum number of interfaces in a section.
const MOST_INTERFACES: usize = 1 << 16;

/// Block options with the number of lost packets: before one packet of an interface, or in total.
const OPTION_DROPPED_BEFORE: u16 = 4;
const OPTION_DROPPED: u16 = 5;
const OPTION_DROPPED_BY_SYSTEM: u16 = 7;

/// The state of a file that is being read.
#[derive(Clone, Debug, Default)]
pub struct Sections {
    big_endian: bool,
    /// The interfaces of the current section.
    interfaces: Vec<Interface>,
    /// The number of lost packets that earlier sections report.
    dropped_before: Option<u64>,
    /// The link types of all sections.
    links: Vec<Option<Link>>,
    /// The largest snapshot length; 0 if there is no limit.
    snap: u32,
    /// The time of the last packet, used for packets without a timestamp.
    last_ns: u64,
    untimed: u64,
}

/// The body of a block and the length of the whole block.
#[derive(Clone, Copy)]
struct BlockBody<'a> {
    bytes: &'a [u8],
    big_endian: bool,
    used: usize,
}

impl Sections {
    /// Returns the number of packets that the capturing program reports as lost, or `None` if it
    /// reports nothing.
    pub fn dropped(&self) -> Option<u64> {
        let here = self.interfaces.iter().filter_map(Interface::dropped);
        here.chain(self.dropped_before).reduce(u64::saturating_add)
    }

    /// Returns the link types of the packets, each once; `None` stands for all that are not
    /// supported.
    pub fn links(&self) -> &[Option<Link>] {
        &self.links
    }

    /// Returns the largest snapshot length in bytes; 0 if there is no limit.
    pub fn snap(&self) -> u32 {
        self.snap
    }

    /// Returns the number of packets without a timestamp (Simple Packet Blocks).
    pub fn untimed(&self) -> u64 {
        self.untimed
    }

    /// Reads the next item from the rest of a file.
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
                _ => return ReadStep::Broken("a section's byte order is invalid"),
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
            return Err("a section has an unknown version");
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

    /// Reads an Interface Statistics Block. Each one counts losses since the beginning of the
    /// capture.
    fn statistics(&mut self, body: BlockBody<'_>) -> Result<(), &'static str> {
        let index = body.word(0).ok_or("an interface's statistics are too short")?;
        let Some(interface) = self.interfaces.get_mut(index as usize) else {
            return Err("statistics refer to an unknown interface");
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
        // Most packets have no options; this skips the search for them.
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
        // All bits set: the number of lost packets is unknown.
        interface.lost_before((lost != u16::MAX).then(|| lost.into()));
        let (at_ns, link) = (interface.at_ns(units), interface.link);
        self.last_ns = at_ns;
        Some(ReadStep::Packet(Packet { link, at_ns, length, bytes }, body.used))
    }

    /// Reads a Simple Packet Block. It belongs to the first interface and has no timestamp; the
    /// time of the previous packet is used.
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
const NO_INTERFACE: ReadStep<'static> = ReadStep::Broken("a packet refers to an unknown interface");
const LONGER: ReadStep<'static> = ReadStep::Broken("a packet has an impossible length");

impl<'a> BlockBody<'a> {
    fn word(&self, at: usize) -> Option<u32> {
        number_at(self.bytes, at, self.big_endian)
    }

    fn half(&self, at: usize) -> Option<u16> {
        let two = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.big_endian { u16::from_be_bytes(two) } else { u16::from_le_bytes(two) })
    }

    /// Returns the first eight bytes of an option's value as a number.
    fn long(&self, value: &[u8]) -> Option<u64> {
        let eight = *value.first_chunk()?;
        Some(if self.big_endian { u64::from_be_bytes(eight) } else { u64::from_le_bytes(eight) })
    }

    /// Calls `each` for every complete option from `at` on.
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

/// Reads a four-byte number. Returns `None` if the bytes are absent.
fn number_at(bytes: &[u8], at: usize, big_endian: bool) -> Option<u32> {
    let four = *bytes.get(at..)?.first_chunk()?;
    Some(if big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) })
}

#[cfg(test)]
mod tests;
