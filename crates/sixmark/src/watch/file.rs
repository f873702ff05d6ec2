//! Reading a file of packets.

use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use sixmark_model::provenance::Ended;
use sixmark_model::watch::PacketSource;
use sixmark_model::watch::document::WatchResult;
use sixmark_wire::Span;
use sixmark_wire::file::{CaptureFile, ReadStep};

use super::assemble::{Told, assemble};
use super::eye::{Clock, Eye};
use super::input::Input;
use super::{Sight, WatchSettings};
use sixmark_machine::CommandError;

/// So much is read at once: it stays in the processor's cache while it is looked at.
const PIECE: usize = 1 << 20;

/// Follows what a file has, or standard input (`-`), compressed or not. `stop` ends it early; `see` is
/// told now and then how far it has come.
///
/// # Errors
/// It can't be read, is no file of packets, or contradicts itself; a file of lines can't be opened.
pub fn watch_file(
    path: &Path,
    settings: &WatchSettings,
    stop: &AtomicBool,
    mut see: impl FnMut(Sight),
) -> Result<WatchResult, CommandError> {
    let mut reader = Reader::open(path)?;
    let mut eye = Eye::new(settings, None)?;
    let mut clock = Clock::default();
    let (mut ended, mut lost_files) = (Ended::Complete, Vec::new());
    while reader.piece(&mut eye, &mut clock)? {
        let new = eye.lost_files();
        lost_files.extend_from_slice(&new);
        let sight = eye.sight(reader.file.dropped().unwrap_or(0), eye.last_ns);
        see(Sight { lost_files: new, ..sight });
        if stop.load(Ordering::Relaxed) {
            ended = Ended::Interrupted;
            break;
        }
    }
    let told = Told {
        ended,
        end_ns: eye.last_ns,
        clock_went_back: clock.went_back,
        untimed: reader.file.untimed(),
        sources: vec![reader.source(eye.packets)],
        lost: Vec::new(),
        lost_files,
    };
    Ok(assemble(eye, told))
}

/// A file that is being read.
struct Reader {
    input: Input,
    file: CaptureFile,
    buffer: Vec<u8>,
    /// Where in the buffer that is which was not looked at.
    begin: usize,
    end: usize,
    /// Where in the file the buffer begins.
    offset: u64,
    /// So many bytes hold nothing of use.
    pass_over: usize,
    /// It ended in the middle of something.
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

    /// Looks at all packets that are there, then reads on. False at the end.
    fn piece(&mut self, eye: &mut Eye, clock: &mut Clock) -> Result<bool, CommandError> {
        let needed = self.look(eye, clock)?;
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
            // A compressed file that was cut looks broken where it ends.
            Err(_) if self.input.has_ended() => {
                self.cut = true;
                // What came out of it before is whole.
                self.look(eye, clock)?;
                Ok(false)
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(unreadable(&self.input.name, &error.to_string())),
        }
    }

    /// Says how many bytes the next packet needs.
    fn look(&mut self, eye: &mut Eye, clock: &mut Clock) -> Result<usize, CommandError> {
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
                    eye.packet(clock, packet.link, packet.at_ns, frame);
                    self.begin += used;
                }
                ReadStep::Nothing(bytes) => self.pass_over = bytes,
                ReadStep::More(needed) => return Ok(needed),
                ReadStep::End => return Ok(0),
                ReadStep::Broken(why) => return Err(self.broken(why)),
            }
        }
    }

    /// Moves the rest to the front, so that `needed` bytes have room.
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
