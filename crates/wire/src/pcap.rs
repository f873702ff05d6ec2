//! The classic files of captures (draft-ietf-opsawg-pcap): read in pieces as they come, in either byte
//! order, with microseconds or nanoseconds; written with nanoseconds.

use super::Link;

/// How long a file's own header is.
pub const HEADER: usize = 24;
/// How long the header of a packet is.
const RECORD: usize = 16;
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
/// A packet that claims more was never captured: nothing behind it can be trusted.
const LONGEST: u32 = 1 << 24;

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    big_endian: bool,
    /// Nanoseconds that the smaller part of a time counts.
    unit_ns: u32,
    /// What its packets begin with.
    pub link: Link,
    /// How many bytes of a packet are kept at most.
    pub snap: u32,
}

/// A packet of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// When it was seen, in nanoseconds since 1970.
    pub at_ns: u64,
    /// How long it was on the wire.
    pub length: u32,
    /// Its first bytes.
    pub bytes: &'a [u8],
}

/// What comes next in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextRecord<'a> {
    /// A packet, and the bytes behind it.
    Record(Record<'a>, &'a [u8]),
    /// The file ends here, as it should.
    End,
    /// So many bytes have to be there for the next packet; a file without them was cut.
    More(usize),
    /// No file of packets has this; nothing behind it can be read.
    Broken,
}

impl Format {
    /// That of the file that begins with these bytes.
    ///
    /// # Errors
    /// It is no such file, or one of packets that can't be read; in words that follow its name.
    pub fn read(header: &[u8]) -> Result<Format, String> {
        let header: &[u8; HEADER] =
            header.first_chunk().ok_or("is too short for a capture (pcap, pcapng)")?;
        let magic = number_at(header, 0, true);
        let big_endian = [MICROSECONDS, NANOSECONDS].contains(&magic);
        let unit_ns = match if big_endian { magic } else { magic.swap_bytes() } {
            MICROSECONDS => 1_000,
            NANOSECONDS => 1,
            _ => return Err("is no capture (pcap, pcapng)".into()),
        };
        // The upper half tells of checksums behind frames, which nobody keeps.
        let kind = number_at(header, 20, big_endian) & 0xffff;
        let unread = || format!("has packets of link type {kind}, which can't be read");
        let link = Link::of_number(kind).ok_or_else(unread)?;
        Ok(Format { big_endian, unit_ns, link, snap: number_at(header, 16, big_endian) })
    }

    /// What the rest of a file begins with.
    pub fn next<'a>(&self, rest: &'a [u8]) -> NextRecord<'a> {
        let Some((header, behind)) = rest.split_at_checked(RECORD) else {
            return if rest.is_empty() { NextRecord::End } else { NextRecord::More(RECORD) };
        };
        let field = |at| number_at(header, at, self.big_endian);
        let (kept, length) = (field(8), field(12));
        if kept > LONGEST || kept > length {
            return NextRecord::Broken;
        }
        let Some((bytes, behind)) = behind.split_at_checked(kept as usize) else {
            return NextRecord::More(RECORD + kept as usize);
        };
        let part_ns = u64::from(field(4)) * u64::from(self.unit_ns);
        let at_ns = u64::from(field(0)) * 1_000_000_000 + part_ns;
        NextRecord::Record(Record { at_ns, length, bytes }, behind)
    }
}

/// The header of a file of packets of which `snap` bytes are kept.
pub fn header(snap: u32, link: Link) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    for (at, value) in [(0, NANOSECONDS), (16, snap), (20, link.number())] {
        header[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    // Version 2.4.
    (header[4], header[6]) = (2, 4);
    header
}

/// Writes a packet behind others.
pub fn write_record(record: &Record<'_>, to: &mut Vec<u8>) {
    let seconds = (record.at_ns / 1_000_000_000) as u32;
    let part_ns = (record.at_ns % 1_000_000_000) as u32;
    let kept = record.bytes.len() as u32;
    for value in [seconds, part_ns, kept, record.length.max(kept)] {
        to.extend(value.to_le_bytes());
    }
    to.extend_from_slice(record.bytes);
}

/// Four bytes as a number.
fn number_at(bytes: &[u8], at: usize, big_endian: bool) -> u32 {
    let four = bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
    if big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
}

#[cfg(test)]
mod tests;
