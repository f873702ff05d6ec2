//! Watching the packets of a capture file.

use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::PacketSource;
use crate::watch_result::WatchResult;
use sixmark_document::provenance::Ended;
use sixmark_wire::Span;
use sixmark_wire::file::{CaptureFile, ReadStep};

use super::assemble::{CaptureFacts, assemble};
use super::capture_state::{CaptureState, Clock};
use super::input::Input;
use super::{WatchProgress, WatchSettings};
use sixmark_sys::command_error::CommandError;

/// The number of bytes that are read at once, few enough to stay in the processor's cache.
const PIECE: usize = 1 << 20;

/// Follows the packets of a file or of standard input (`-`), compressed or not. Setting `stop` ends
/// it early; `see` is called with the progress from time to time.
///
/// # Errors
/// Returns an error if the input can't be read, is not a capture file or is inconsistent, or if a
/// file for lines can't be opened.
pub fn watch_file(
    path: &Path,
    settings: &WatchSettings,
    stop: &AtomicBool,
    mut see: impl FnMut(WatchProgress),
) -> Result<WatchResult, CommandError> {
    let mut reader = Reader::open(path)?;
    let mut state = CaptureState::new(settings, None)?;
    let mut clock = Clock::default();
    let (mut ended, mut lost_files) = (Ended::Complete, Vec::new());
    while reader.piece(&mut state, &mut clock)? {
        let new = state.lost_files();
        lost_files.extend_from_slice(&new);
        let progress = state.progress(reader.file.dropped().unwrap_or(0), state.last_ns);
        see(WatchProgress { lost_files: new, ..progress });
        if stop.load(Ordering::Relaxed) {
            ended = Ended::Interrupted;
            break;
        }
    }
    let facts = CaptureFacts {
        ended,
        end_ns: state.last_ns,
        clock_went_back: clock.went_back,
        untimed: reader.file.untimed(),
        sources: vec![reader.source(state.packets)],
        lost: Vec::new(),
        lost_files,
    };
    Ok(assemble(state, facts))
}

/// A capture file that is being read.
struct Reader {
    input: Input,
    file: CaptureFile,
    buffer: Vec<u8>,
    /// The range of the buffer that has not been processed.
    begin: usize,
    end: usize,
    /// The offset in the file of the beginning of the buffer.
    offset: u64,
    /// The number of following bytes to skip.
    pass_over: usize,
    /// Whether the file ended in the middle of a block.
    cut: bool,
}

impl Reader {
    fn open(path: &Path) -> Result<Reader, CommandError> {
        let mut input = Input::open(path)?;
        let mut buffer = vec![0; PIECE];
        let mut end = 0;
        while end < CaptureFile::BEGIN {
            match input.read(&mut buffer[end..]) {
                Ok(0) => break,
                Ok(read) => end += read,
                Err(error) => return Err(unreadable(&input.name, &error.to_string())),
            }
        }
        let (file, begin) = CaptureFile::begin(&buffer[..end])
            .map_err(|why| CommandError::Usage(format!("{} {why}", input.name)))?;
        Ok(Reader { input, file, buffer, begin, end, offset: 0, pass_over: 0, cut: false })
    }

    /// Processes all complete packets in the buffer, then reads more. Returns false at the end.
    fn piece(&mut self, state: &mut CaptureState, clock: &mut Clock) -> Result<bool, CommandError> {
        let needed = self.look(state, clock)?;
        self.make_room(needed);
        match self.input.read(&mut self.buffer[self.end..]) {
            Ok(0) => {
                self.cut = self.begin < self.end || self.pass_over > 0;
                Ok(false)
            }
            Ok(read) => {
                self.end += read;
                Ok(true)
            }
            // A truncated compressed file looks corrupt at its end.
            Err(_) if self.input.has_ended() => {
                self.cut = true;
                // The data decompressed before that is complete.
                self.look(state, clock)?;
                Ok(false)
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(unreadable(&self.input.name, &error.to_string())),
        }
    }

    /// Processes all complete packets in the buffer. Returns how many bytes the next packet needs.
    fn look(&mut self, state: &mut CaptureState, clock: &mut Clock) -> Result<usize, CommandError> {
        loop {
            let here = self.pass_over.min(self.end - self.begin);
            self.begin += here;
            self.pass_over -= here;
            if self.pass_over > 0 {
                return Ok(0);
            }
            match self.file.step(&self.buffer[self.begin..self.end]) {
                ReadStep::Packet(packet, used) => {
                    let frame = Span::new(packet.bytes, packet.length as usize);
                    state.packet(clock, packet.link, packet.at_ns, frame);
                    self.begin += used;
                }
                ReadStep::Nothing(bytes) => self.pass_over = bytes,
                ReadStep::More(needed) => return Ok(needed),
                ReadStep::End => return Ok(0),
                ReadStep::Broken(why) => return Err(self.broken(why)),
            }
        }
    }

    /// Moves the unprocessed bytes to the front so that `needed` bytes fit.
    fn make_room(&mut self, needed: usize) {
        self.buffer.copy_within(self.begin..self.end, 0);
        self.offset += self.begin as u64;
        (self.begin, self.end) = (0, self.end - self.begin);
        if self.buffer.len() < needed.max(self.end + 1) {
            self.buffer.resize(needed.max(self.end + 1).next_power_of_two(), 0);
        }
    }

    fn broken(&self, why: &str) -> CommandError {
        let at = self.offset + self.begin as u64;
        unreadable(&self.input.name, &format!("{why}, at byte {at}"))
    }

    fn source(&self, packets: u64) -> PacketSource {
        let links = self.file.links();
        let words = links.iter().map(|link| link.map_or("unknown", |link| link.word()));
        let links = words.collect::<Vec<_>>().join(", ");
        PacketSource {
            name: self.input.name.trim_matches('\'').to_owned(),
            kind: self.file.kind().to_owned(),
            link: if links.is_empty() { "none".to_owned() } else { links },
            snap: self.file.snap(),
            packets,
            dropped: self.file.dropped(),
            whole: !self.cut,
        }
    }
}

fn unreadable(name: &str, why: &str) -> CommandError {
    CommandError::Usage(format!("can't read {name}: {why}"))
}
