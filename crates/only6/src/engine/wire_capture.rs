//! The packets of a program: captured at its interface, read, and kept within bounds.

use std::time::Duration;

use sixmark_lab::Host;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::packets::{PacketRing, PacketRingSettings};
use sixmark_wire::Link;
use sixmark_wire::pcap::{self, Record};

use crate::app_wire::AppWire;
use crate::scenario_lab::ROUTER;
use crate::wire_reader::{ObservedHost, WireReader};

use super::cannot;

/// The bytes of each packet that are kept: answers of DNS are read whole, and headers of requests.
pub(super) const SNAP: u32 = 600;
/// The most bytes of packets that are kept of a start.
const MOST_KEPT: usize = 4 << 20;
/// The most blocks of captured packets that are read between two looks at the time.
const MOST_BLOCKS: usize = 32;

/// A capture at the interface of a host.
pub(super) struct WireCapture {
    ring: PacketRing,
    reader: WireReader,
    kept: Vec<u8>,
    unkept: u64,
}

/// What a capture has.
pub(super) struct CaptureEnd {
    /// What was read in the packets that were kept.
    pub(super) wire: AppWire,
    /// These packets, as a file.
    pub(super) file: Vec<u8>,
    /// The packets that the kernel lost.
    pub(super) lost: u64,
    /// The packets that were not kept, and not read either: what is filed shows all that is judged.
    pub(super) unkept: u64,
}

impl WireCapture {
    /// Starts a capture at a host's interface toward the router.
    ///
    /// # Errors
    /// Returns an error if packets can't be captured.
    pub(super) fn start(host: &Host, observed: ObservedHost) -> Result<WireCapture, CommandError> {
        let settings = PacketRingSettings { snap: SNAP, ..PacketRingSettings::default() };
        let open = || PacketRing::open(ROUTER, &settings);
        let ring =
            host.net().within(open).map_err(|error| cannot("packets can't be captured", error))?;
        let kept = pcap::header(SNAP, Link::Ethernet).to_vec();
        Ok(WireCapture { ring, reader: WireReader::new(observed), kept, unkept: 0 })
    }

    /// Waits for packets, for at most `most`, and reads them. Returns true if there were any.
    ///
    /// # Errors
    /// Returns an error if the capture fails.
    pub(super) fn read(&mut self, most: Duration) -> Result<bool, CommandError> {
        self.ring.wait(None, most).map_err(|error| cannot("packets can't be captured", error))?;
        let mut has_any = false;
        // A program that sends without end must not keep the time from being looked at.
        for _ in 0..MOST_BLOCKS {
            let Some(block) = self.ring.block() else { break };
            for frame in block.frames() {
                has_any = true;
                if self.kept.len() + frame.bytes.len() > MOST_KEPT {
                    self.unkept += 1;
                    continue;
                }
                let length = frame.length;
                let record = Record { at_ns: frame.at_ns, length, bytes: frame.bytes };
                pcap::write_record(&record, &mut self.kept);
                self.reader.take(frame.bytes, length as usize, frame.at_ns);
            }
        }
        Ok(has_any)
    }

    /// Returns what was seen so far.
    pub(super) fn wire(&self) -> &AppWire {
        self.reader.wire()
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// Returns an error if the packets can't be counted.
    pub(super) fn end(self) -> Result<CaptureEnd, CommandError> {
        let counts =
            self.ring.counts().map_err(|error| cannot("the capture can't be counted", error))?;
        Ok(CaptureEnd {
            wire: self.reader.wire().clone(),
            file: self.kept,
            lost: counts.dropped,
            unkept: self.unkept,
        })
    }
}
