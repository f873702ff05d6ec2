//! A file of packets of whichever kind, read in pieces as they come.

use super::pcap::{self, Format, NextRecord};
use super::pcapng::{self, Sections};
use super::{Link, pcap::HEADER};

pub use super::step::{Packet, ReadStep};

/// A file that is being read.
#[derive(Clone, Debug)]
pub enum CaptureFile {
    /// The classic kind, whose header has been read.
    Pcap(Format),
    /// The newer kind.
    PcapNg(Box<Sections>),
}

impl CaptureFile {
    /// So many bytes tell what kind of file it is.
    pub const BEGIN: usize = HEADER;

    /// The file that begins with these bytes, and how many of them are not to be given to
    /// [`step`](CaptureFile::step).
    ///
    /// # Errors
    /// It is no such file, or one of packets that can't be read; in words that follow its name.
    pub fn begin(bytes: &[u8]) -> Result<(CaptureFile, usize), String> {
        if bytes.starts_with(&pcapng::SECTION.to_be_bytes()) {
            return Ok((CaptureFile::PcapNg(Box::default()), 0));
        }
        Format::read(bytes).map(|format| (CaptureFile::Pcap(format), pcap::HEADER))
    }

    /// What the rest of the file begins with.
    #[inline]
    pub fn step<'a>(&mut self, rest: &'a [u8]) -> ReadStep<'a> {
        match self {
            CaptureFile::Pcap(format) => of_pcap(*format, rest),
            CaptureFile::PcapNg(sections) => sections.step(rest),
        }
    }

    /// `pcap` or `pcapng`.
    pub fn kind(&self) -> &'static str {
        match self {
            CaptureFile::Pcap(_) => "pcap",
            CaptureFile::PcapNg(_) => "pcapng",
        }
    }

    /// What its packets have begun with so far; none of a kind that can't be read.
    pub fn links(&self) -> Vec<Option<Link>> {
        match self {
            CaptureFile::Pcap(format) => vec![Some(format.link)],
            CaptureFile::PcapNg(sections) => sections.links().to_vec(),
        }
    }

    /// How many bytes of a packet were kept at most; 0: all.
    pub fn snap(&self) -> u32 {
        match self {
            CaptureFile::Pcap(format) => format.snap,
            CaptureFile::PcapNg(sections) => sections.snap(),
        }
    }

    /// Packets that the capturing program says were lost; none where it says nothing.
    pub fn dropped(&self) -> Option<u64> {
        match self {
            CaptureFile::Pcap(_) => None,
            CaptureFile::PcapNg(sections) => sections.dropped(),
        }
    }

    /// Packets that have no time of their own.
    pub fn untimed(&self) -> u64 {
        match self {
            CaptureFile::Pcap(_) => 0,
            CaptureFile::PcapNg(sections) => sections.untimed(),
        }
    }
}

#[inline]
fn of_pcap(format: Format, rest: &[u8]) -> ReadStep<'_> {
    match format.next(rest) {
        NextRecord::Record(record, behind) => {
            let pcap::Record { at_ns, length, bytes } = record;
            let packet = Packet { link: Some(format.link), at_ns, length, bytes };
            ReadStep::Packet(packet, rest.len() - behind.len())
        }
        NextRecord::End => ReadStep::End,
        NextRecord::More(bytes) => ReadStep::More(bytes),
        NextRecord::Broken => ReadStep::Broken("a packet is longer than it can be"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcap::Record;

    #[test]
    fn a_file_is_known_by_its_first_bytes() {
        let mut file = pcap::header(64, Link::Ethernet).to_vec();
        pcap::write_record(&Record { at_ns: 5, length: 9, bytes: b"abc" }, &mut file);
        let (mut read, used) = CaptureFile::begin(&file).unwrap();
        let packet = Packet { link: Some(Link::Ethernet), at_ns: 5, length: 9, bytes: b"abc" };
        assert_eq!(read.step(&file[used..]), ReadStep::Packet(packet, 19));
        assert_eq!((read.kind(), read.snap(), read.dropped()), ("pcap", 64, None));
        let (read, used) = CaptureFile::begin(&[0x0a, 0x0d, 0x0d, 0x0a]).unwrap();
        assert_eq!((read.kind(), used), ("pcapng", 0));
        assert!(CaptureFile::begin(b"GET / HTTP/1.1\r\nHost: example.net\r\n").is_err());
    }
}
