//! The framing of a tunnel: several byte streams, and one message of each side before them, over
//! one pair of pipes.
//!
//! Each side first writes a [`PREFACE`]. Then come frames: a byte for the kind, the stream (32 bits,
//! big-endian), the length of what follows (the same), and that content.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};

/// What each side writes first. The number is the version of the framing.
pub const PREFACE: &[u8] = b"\0sixmark tunnel 1\n";

/// The longest content of a data frame, bytes.
pub const LONGEST_DATA: usize = 64 * 1024;
/// The longest message of a side before the streams, bytes.
pub const LONGEST_MESSAGE: usize = 1024 * 1024;
/// What a login shell may print before the other side begins, bytes.
const MOST_NOISE: usize = 64 * 1024;

/// The bytes before the content.
const HEADER: usize = 9;

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The first frame of the controller: what the agent needs to start.
    Hello(Vec<u8>),
    /// The first frame of the agent.
    Answer(Vec<u8>),
    /// The agent opens a stream. Its number is higher than those before it.
    Open(u32),
    /// Bytes of a stream.
    Data(u32, Vec<u8>),
    /// The other side may send so many more bytes of a stream.
    Credit(u32, u32),
    /// No more bytes of this stream follow in this direction.
    Close(u32),
    /// The sender is alive.
    Alive,
}

/// Why a tunnel can't be used, or no longer.
#[derive(Debug)]
pub enum TunnelError {
    /// The other side ended, also in the middle of a frame.
    Gone,
    /// A pipe or a socket failed.
    Io(io::Error),
    /// The other side sent what it must not send.
    Protocol(String),
    /// The other side does not speak this protocol. What it wrote instead, at most a line.
    Stranger(String),
}

impl fmt::Display for TunnelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TunnelError::Gone => f.write_str("the other side of the tunnel ended"),
            TunnelError::Io(error) => write!(f, "the tunnel failed: {error}"),
            TunnelError::Protocol(line) => write!(f, "the tunnel's other side sent {line}"),
            TunnelError::Stranger(line) if line.is_empty() => {
                f.write_str("the other side is not the sixmark of this version")
            }
            TunnelError::Stranger(line) => {
                write!(f, "the other side is not the sixmark of this version; it wrote '{line}'")
            }
        }
    }
}

impl std::error::Error for TunnelError {}

impl From<io::Error> for TunnelError {
    fn from(error: io::Error) -> TunnelError {
        match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe => TunnelError::Gone,
            _ => TunnelError::Io(error),
        }
    }
}

impl Frame {
    /// Returns the frame as it is sent.
    pub fn to_bytes(&self) -> Vec<u8> {
        let credit;
        let (kind, stream, content): (u8, u32, &[u8]) = match self {
            Frame::Hello(content) => (1, 0, content),
            Frame::Answer(content) => (2, 0, content),
            Frame::Open(stream) => (3, *stream, &[]),
            Frame::Data(stream, content) => (4, *stream, content),
            Frame::Credit(stream, bytes) => {
                credit = bytes.to_be_bytes();
                (5, *stream, &credit)
            }
            Frame::Close(stream) => (6, *stream, &[]),
            Frame::Alive => (7, 0, &[]),
        };
        let mut bytes = Vec::with_capacity(HEADER + content.len());
        bytes.push(kind);
        bytes.extend(stream.to_be_bytes());
        // No content is longer than LONGEST_MESSAGE: `read` of the other side would refuse it.
        bytes.extend((content.len() as u32).to_be_bytes());
        bytes.extend(content);
        bytes
    }

    /// Reads a frame. Returns `None` if the other side ended before it.
    ///
    /// # Errors
    /// The other side ended within the frame, the pipe failed, or it is no frame.
    pub fn read(from: &mut impl Read) -> Result<Option<Frame>, TunnelError> {
        let mut header = [0; HEADER];
        if !begin(from, &mut header)? {
            return Ok(None);
        }
        let [kind, a, b, c, d, e, f, g, h] = header;
        let stream = u32::from_be_bytes([a, b, c, d]);
        let length = u32::from_be_bytes([e, f, g, h]) as usize;
        let lengths = match kind {
            1 | 2 => 0..=LONGEST_MESSAGE,
            3 | 6 | 7 => 0..=0,
            4 => 1..=LONGEST_DATA,
            5 => 4..=4,
            _ => return Err(TunnelError::Protocol(format!("a frame of unknown kind {kind}"))),
        };
        if !lengths.contains(&length) {
            let line = format!("a frame of kind {kind} with {length} bytes");
            return Err(TunnelError::Protocol(line));
        }
        let mut content = vec![0; length];
        from.read_exact(&mut content)?;
        Ok(Some(match kind {
            1 => Frame::Hello(content),
            2 => Frame::Answer(content),
            3 => Frame::Open(stream),
            4 => Frame::Data(stream, content),
            5 => Frame::Credit(stream, content.iter().fold(0, |n, &b| n << 8 | u32::from(b))),
            6 => Frame::Close(stream),
            _ => Frame::Alive,
        }))
    }
}

/// Reads a header. Returns false if the input ends before its first byte.
fn begin(from: &mut impl Read, header: &mut [u8; HEADER]) -> Result<bool, TunnelError> {
    let (first, rest) = header.split_at_mut(1);
    loop {
        match from.read(first) {
            Ok(0) => return Ok(false),
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    from.read_exact(rest)?;
    Ok(true)
}

/// Writes the preface.
///
/// # Errors
/// The pipe failed.
pub fn write_preface(to: &mut impl Write) -> Result<(), TunnelError> {
    to.write_all(PREFACE)?;
    Ok(to.flush()?)
}

/// Reads the other side's preface. `noise` bytes at most may precede it.
fn read_preface(from: &mut impl Read, noise: usize) -> Result<(), TunnelError> {
    let mut read = Vec::new();
    while !read.ends_with(PREFACE) {
        let mut byte = [0];
        match from.read(&mut byte) {
            Ok(0) if read.is_empty() => return Err(TunnelError::Gone),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
            Ok(1) if read.len() < noise + PREFACE.len() => read.extend(byte),
            Ok(_) => return Err(TunnelError::Stranger(first_line(&read))),
        }
    }
    Ok(())
}

/// Reads the preface of a controller, before which nothing may be written.
///
/// # Errors
/// The other side ended, or is not a controller of this version.
pub fn read_preface_only(from: &mut impl Read) -> Result<(), TunnelError> {
    read_preface(from, 0)
}

/// Reads the preface of an agent. Its login shell may have printed something before it, as
/// `.bashrc` does on many hosts.
///
/// # Errors
/// The other side ended, or is not an agent of this version.
pub fn read_preface_after_noise(from: &mut impl Read) -> Result<(), TunnelError> {
    read_preface(from, MOST_NOISE)
}

fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let short: String = line.trim().chars().take(100).collect();
    sixmark_units::visible::visible(&short).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Frame> {
        vec![
            Frame::Hello(b"credentials".to_vec()),
            Frame::Hello(vec![7; LONGEST_MESSAGE]),
            Frame::Answer(Vec::new()),
            Frame::Open(u32::MAX),
            Frame::Data(1, vec![0]),
            Frame::Data(2, vec![0xff; LONGEST_DATA]),
            Frame::Credit(3, 0x0102_0304),
            Frame::Close(0),
            Frame::Alive,
        ]
    }

    #[test]
    fn reads_back_the_frames_it_wrote() {
        let bytes: Vec<u8> = all().iter().flat_map(Frame::to_bytes).collect();
        let mut from = bytes.as_slice();
        for frame in all() {
            assert_eq!(Frame::read(&mut from).unwrap(), Some(frame));
        }
        assert_eq!(Frame::read(&mut from).unwrap(), None);
    }

    #[test]
    fn treats_a_truncated_frame_as_the_end_of_the_tunnel() {
        for frame in [Frame::Open(1), Frame::Data(2, vec![1, 2, 3]), Frame::Credit(3, 4)] {
            let bytes = frame.to_bytes();
            for length in 1..bytes.len() {
                let error = Frame::read(&mut &bytes[..length]).unwrap_err();
                assert!(matches!(error, TunnelError::Gone), "{frame:?} {length}: {error}");
            }
        }
    }

    #[test]
    fn rejects_invalid_frames_before_reading_their_content() {
        for (kind, length) in [
            (0, 0),
            (8, 0),
            (255, 0),
            (1, LONGEST_MESSAGE as u32 + 1),
            (2, u32::MAX),
            (3, 1),
            (4, 0),
            (4, LONGEST_DATA as u32 + 1),
            (4, u32::MAX),
            (5, 3),
            (5, 5),
            (6, 1),
            (7, u32::MAX),
        ] {
            let mut bytes = vec![kind, 0, 0, 0, 1];
            bytes.extend(length.to_be_bytes());
            let error = Frame::read(&mut bytes.as_slice()).unwrap_err();
            assert!(matches!(error, TunnelError::Protocol(_)), "{kind} {length}: {error}");
            assert_eq!(error.to_string().lines().count(), 1);
        }
    }

    #[test]
    fn reading_random_bytes_always_terminates() {
        let mut random = sixmark_units::random::Random::new(7, 0);
        for _ in 0..2000 {
            let mut bytes: Vec<u8> = (0..random.bits() % 60).map(|_| random.bits() as u8).collect();
            if let Some(kind) = bytes.first_mut() {
                *kind %= 9;
            }
            let mut from = bytes.as_slice();
            let mut frames = 0;
            while let Ok(Some(_)) = Frame::read(&mut from) {
                frames += 1;
            }
            assert!(frames * HEADER <= bytes.len());
        }
    }

    #[test]
    fn finds_the_preface_after_shell_output_and_quotes_foreign_output() {
        let noisy = [b"Welcome!\n\0sixmark".as_slice(), PREFACE, b"x"].concat();
        let mut from = noisy.as_slice();
        read_preface_after_noise(&mut from).unwrap();
        assert_eq!(from, b"x");
        assert!(read_preface_only(&mut noisy.as_slice()).is_err());
        let mut exact = PREFACE;
        read_preface_only(&mut exact).unwrap();
        assert_eq!(exact, b"");
        let error = read_preface_after_noise(&mut b"\n \x1b[1mno shell\nx".as_slice()).unwrap_err();
        assert!(error.to_string().ends_with("it wrote '\\u{1b}[1mno shell'"), "{error}");
        let endless = read_preface_after_noise(&mut io::repeat(b'y')).unwrap_err();
        assert!(matches!(endless, TunnelError::Stranger(_)), "{endless}");
        assert!(matches!(read_preface_only(&mut io::empty()), Err(TunnelError::Gone)));
    }
}
