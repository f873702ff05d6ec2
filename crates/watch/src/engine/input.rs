//! Reading and decompressing a capture file or standard input.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use sixmark_sys::command_error::CommandError;
use sixmark_sys::threads::no_thread;
use sixmark_sys::unpacked::{PACKING_BYTES, Packing};

/// The number of bytes that are decompressed at once, and the most decompressed pieces that wait.
const PIECE: usize = 1 << 20;
const READY: usize = 2;

/// A capture file or standard input, decompressed.
pub(super) struct Input {
    from: Box<dyn Read + Send>,
    /// The name for messages.
    pub(super) name: String,
    /// Whether the file has been read to its end. If it has, missing bytes will not follow.
    ended: Arc<AtomicBool>,
}

impl Input {
    /// Opens a file, or standard input if the path is `-`.
    pub(super) fn open(path: &Path) -> Result<Input, CommandError> {
        if path.as_os_str() == "-" {
            return Input::of("standard input".to_owned(), Box::new(io::stdin()));
        }
        let name = format!("'{}'", path.display());
        let unable = |error: io::Error| CommandError::Usage(format!("can't read {name}: {error}"));
        let file = File::open(path).map_err(unable)?;
        if file.metadata().map_err(unable)?.is_dir() {
            return Err(CommandError::Usage(format!("{name} is a folder; name a capture file")));
        }
        Input::of(name, Box::new(file))
    }

    fn of(name: String, from: Box<dyn Read + Send>) -> Result<Input, CommandError> {
        let ended = Arc::new(AtomicBool::new(false));
        let mut from = Marked { from, ended: Arc::clone(&ended) };
        let begin = read_beginning(&mut from)
            .map_err(|error| CommandError::Usage(format!("can't read {name}: {error}")))?;
        let packing = Packing::of(&begin);
        let whole = Cursor::new(begin).chain(from);
        let from: Box<dyn Read + Send> = match packing {
            Some(packing) => {
                read_in_a_thread(packing.unpack(BufReader::with_capacity(PIECE, whole)))?
            }
            None => Box::new(whole),
        };
        Ok(Input { from, name, ended })
    }

    /// Reports whether the file has been read to its end.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }
}

impl Read for Input {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.from.read(to)
    }
}

/// Reads the first bytes, fewer if the input is shorter.
fn read_beginning(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut begin = Vec::new();
    from.take(PACKING_BYTES as u64).read_to_end(&mut begin)?;
    Ok(begin)
}

/// A reader that records whether its end was reached.
struct Marked<R> {
    from: R,
    ended: Arc<AtomicBool>,
}

impl<R: Read> Read for Marked<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(to)?;
        if read == 0 && !to.is_empty() {
            self.ended.store(true, Ordering::Relaxed);
        }
        Ok(read)
    }
}

/// Decompresses in a separate thread, which ends when its output is no longer read.
fn read_in_a_thread(
    from: impl Read + Send + 'static,
) -> Result<Box<dyn Read + Send>, CommandError> {
    let ((ready, pieces), (back, used)) = (sync_channel(READY), channel());
    std::thread::Builder::new()
        .name("decompress".into())
        .spawn(move || decompress(from, &ready, &used))
        .map_err(|error| CommandError::Measure(no_thread(&error).to_string()))?;
    Ok(Box::new(Pieces { pieces, back, piece: Vec::new(), at: 0 }))
}

type Piece = io::Result<Vec<u8>>;

fn decompress(mut from: impl Read, ready: &SyncSender<Piece>, used: &Receiver<Vec<u8>>) {
    loop {
        let mut piece = used.try_recv().unwrap_or_default();
        piece.clear();
        let read = from.by_ref().take(PIECE as u64).read_to_end(&mut piece);
        // The bytes before an error are good.
        let ends = read.is_err() || piece.is_empty();
        if !piece.is_empty() && ready.send(Ok(piece)).is_err() {
            return;
        }
        if let Err(error) = read {
            // Sending fails only if nobody reads any more.
            let _ = ready.send(Err(error));
        }
        if ends {
            return;
        }
    }
}

/// A reader of decompressed pieces.
struct Pieces {
    pieces: Receiver<Piece>,
    back: Sender<Vec<u8>>,
    piece: Vec<u8>,
    at: usize,
}

impl Read for Pieces {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() {
            let Ok(next) = self.pieces.recv() else { return Ok(0) };
            // Sending fails only if the thread has ended and needs no buffers.
            let _ = self.back.send(std::mem::replace(&mut self.piece, next?));
            self.at = 0;
        }
        let read = to.len().min(self.piece.len() - self.at);
        to[..read].copy_from_slice(&self.piece[self.at..self.at + read]);
        self.at += read;
        Ok(read)
    }
}
