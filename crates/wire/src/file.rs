//! Capture files of either format, read incrementally.

use super::pcap::{self, Format, NextRecord};
use super::pcapng::{self, Sections};
use super::{Link, pcap::HEADER};

pub use super::step::{Packet, ReadStep};

/// The state of a capture file that is being read.
#[derive(Clone, Debug)]
pub enum CaptureFile {
    /// A classic file, whose header has been read.
    Pcap(Format),
    /// A file in the newer format.
    PcapNg(Box<Sections>),
}

impl CaptureFile {
    /// The number of bytes required to detect the format of a file.
    pub const BEGIN: usize = HEADER;

    /// Detects the format of the file that begins with `bytes`. Also returns how many of them to
    /// omit from the first call of [`step`](CaptureFile::step).
    ///
    /// # Errors
    /// Returns a message, to be appended to the file's name, if the file is not a capture or its
    /// link type is not supported.
    pub fn begin(bytes: &[u8]) -> Result<(CaptureFile, usize), String> {
        if bytes.starts_with(&pcapng::SECTION.to_be_bytes()) {
            return Ok((CaptureFile::PcapNg(Box::default()), 0));
        }
        Format::read(bytes).map(|format| (CaptureFile::Pcap(format), pcap::HEADER))
    }

    /// Reads the next item from the rest of the file.
    #[inline]
    pub fn step<'a>(&mut self, rest: &'a [u8]) -> ReadStep<'a> {
        match self {
            CaptureFile::Pcap(format) => of_pcap(*format, rest),
            CaptureFile::PcapNg(sections) => sections.step(rest),
        }
    }

    /// Returns the name of the format: `pcap` or `pcapng`.
    pub fn kind(&self) -> &'static str {
        match self {
            CaptureFile::Pcap(_) => "pcap",
            CaptureFile::PcapNg(_) => "pcapng",
        }
    }

    /// Returns the link types of the packets so far; `None` stands for all that are not supported.
    pub fn links(&self) -> Vec<Option<Link>> {
        match self {
            CaptureFile::Pcap(format) => vec![Some(format.link)],
            CaptureFile::PcapNg(sections) => sections.links().to_vec(),
        }
    }

    /// Returns the snapshot length, the maximum number of bytes captured of a packet; 0 if there is
    /// no limit.
    pub fn snap(&self) -> u32 {
        match self {
            CaptureFile::Pcap(format) => format.snap,
            CaptureFile::PcapNg(sections) => sections.snap(),
        }
    }

    /// Returns the number of packets that the capturing program reports as lost, or `None` if it
    /// reports nothing.
    pub fn dropped(&self) -> Option<u64> {
        match self {
            CaptureFile::Pcap(_) => None,
            CaptureFile::PcapNg(sections) => sections.dropped(),
        }
    }

    /// Returns the number of packets without a timestamp.
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
        NextRecord::Broken => ReadStep::Broken("a packet has an impossible length"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcap::Record;

    #[test]
    fn recognises_pcap_and_pcapng_by_their_first_bytes() {
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
