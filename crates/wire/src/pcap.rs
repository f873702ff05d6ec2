//! Classic capture files (draft-ietf-opsawg-pcap). They are read incrementally, in either byte
//! order, with microsecond or nanosecond timestamps, and written with nanosecond timestamps.

use super::Link;

/// The length of the file header in bytes.
pub const HEADER: usize = 24;
/// The length of a packet's record header in bytes.
const RECORD: usize = 16;
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
/// The largest plausible length of a captured packet. If a record claims more, neither it nor the
/// rest of the file can be trusted.
const LONGEST: u32 = 1 << 24;

/// The format of a file, as declared by its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    big_endian: bool,
    /// The number of nanoseconds in one unit of the fractional part of a timestamp.
    unit_ns: u32,
    /// The link type of the packets.
    pub link: Link,
    /// The snapshot length: the maximum number of bytes captured of a packet.
    pub snap: u32,
}

/// A packet in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The capture time, in nanoseconds since 1970.
    pub at_ns: u64,
    /// The length of the packet on the wire, in bytes.
    pub length: u32,
    /// The captured bytes, a prefix of the packet.
    pub bytes: &'a [u8],
}

/// The next item in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextRecord<'a> {
    /// A packet, and the bytes that follow it.
    Record(Record<'a>, &'a [u8]),
    /// The file ends here, between two records.
    End,
    /// The number of bytes required to read the next packet. A file that ends before them is
    /// truncated.
    More(usize),
    /// The record is invalid, and nothing after it can be read.
    Broken,
}

impl Format {
    /// Reads the format from the first bytes of a file.
    ///
    /// # Errors
    /// Returns a message, to be appended to the file's name, if the file is not a classic capture
    /// or its link type is not supported.
    pub fn read(header: &[u8]) -> Result<Format, String> {
        let header: &[u8; HEADER] =
            header.first_chunk().ok_or("is too short to be a capture file (pcap or pcapng)")?;
        let magic = number_at(header, 0, true);
        let big_endian = [MICROSECONDS, NANOSECONDS].contains(&magic);
        let unit_ns = match if big_endian { magic } else { magic.swap_bytes() } {
            MICROSECONDS => 1_000,
            NANOSECONDS => 1,
            _ => return Err("is not a capture file (pcap or pcapng)".into()),
        };
        // The upper half describes checksums after frames, which are not used.
        let kind = number_at(header, 20, big_endian) & 0xffff;
        let unread = || format!("has packets of link type {kind}, which is not supported");
        let link = Link::of_number(kind).ok_or_else(unread)?;
        Ok(Format { big_endian, unit_ns, link, snap: number_at(header, 16, big_endian) })
    }

    /// Reads the next item from the rest of a file.
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

/// Returns the header of a file with the snapshot length `snap`.
pub fn header(snap: u32, link: Link) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    for (at, value) in [(0, NANOSECONDS), (16, snap), (20, link.number())] {
        header[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    // Version 2.4.
    (header[4], header[6]) = (2, 4);
    header
}

/// Appends a packet to `to`.
pub fn write_record(record: &Record<'_>, to: &mut Vec<u8>) {
    let seconds = (record.at_ns / 1_000_000_000) as u32;
    let part_ns = (record.at_ns % 1_000_000_000) as u32;
    let kept = record.bytes.len() as u32;
    for value in [seconds, part_ns, kept, record.length.max(kept)] {
        to.extend(value.to_le_bytes());
    }
    to.extend_from_slice(record.bytes);
}

/// Reads a four-byte number. Returns 0 if the bytes are absent.
fn number_at(bytes: &[u8], at: usize, big_endian: bool) -> u32 {
    let four = bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
    if big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
}

#[cfg(test)]
mod tests;
