//! The file that captured packets are written to.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;

use sixmark_wire::Link;
use sixmark_wire::pcap::{self, Record};

use super::taker::Taken;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output;

/// Packets are buffered up to this number of bytes.
const FULL: usize = 1 << 18;

/// A capture file that is being written.
#[derive(Debug)]
pub(crate) struct CaptureWriter {
    path: PathBuf,
    file: File,
    collected: Vec<u8>,
}

impl CaptureWriter {
    /// Creates a file for packets of which `snap` bytes are kept. An existing file is overwritten.
    pub(crate) fn create(
        path: PathBuf,
        snap: u32,
        link: Link,
    ) -> Result<CaptureWriter, CommandError> {
        let file = output::create(&path).map_err(|error| unable(&path, &error))?;
        Ok(CaptureWriter { path, file, collected: pcap::header(snap, link).to_vec() })
    }

    /// Appends a packet to the buffer, which is written when it is full.
    pub(crate) fn write(&mut self, packet: &Taken<'_>) -> Result<(), CommandError> {
        let Taken { at_ns, length, bytes, .. } = *packet;
        pcap::write_record(&Record { at_ns, length, bytes }, &mut self.collected);
        if self.collected.len() >= FULL { self.flush() } else { Ok(()) }
    }

    /// Writes the buffered packets.
    pub(crate) fn finish(mut self) -> Result<(), CommandError> {
        self.flush()
    }

    fn flush(&mut self) -> Result<(), CommandError> {
        let written = self.file.write_all(&self.collected);
        self.collected.clear();
        written.map_err(|error| unable(&self.path, &error))
    }
}

fn unable(path: &std::path::Path, error: &io::Error) -> CommandError {
    CommandError::Measure(format!("can't write packets to '{}': {error}", path.display()))
}
