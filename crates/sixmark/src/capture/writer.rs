//! The file in which packets are kept.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;

use sixmark_wire::Link;
use sixmark_wire::pcap::{self, Record};

use super::taker::Taken;
use crate::output;
use sixmark_machine::CommandError;

/// Packets are collected until they are so many bytes.
const FULL: usize = 1 << 18;

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct CaptureWriter {
    path: PathBuf,
    file: File,
    collected: Vec<u8>,
}

impl CaptureWriter {
    /// A file for packets of which `snap` bytes are kept; one that is there is overwritten.
    pub(crate) fn create(
        path: PathBuf,
        snap: u32,
        link: Link,
    ) -> Result<CaptureWriter, CommandError> {
        let file = output::create(&path).map_err(|error| unable(&path, &error))?;
        Ok(CaptureWriter { path, file, collected: pcap::header(snap, link).to_vec() })
    }

    /// Takes a packet.
    pub(crate) fn write(&mut self, packet: &Taken<'_>) -> Result<(), CommandError> {
        let Taken { at_ns, length, bytes, .. } = *packet;
        pcap::write_record(&Record { at_ns, length, bytes }, &mut self.collected);
        if self.collected.len() >= FULL { self.flush() } else { Ok(()) }
    }

    /// Writes what is left.
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
