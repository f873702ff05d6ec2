//! The unidirectional streams of a connection (RFC 9114, 6.2).

use std::collections::HashMap;

use super::Http3Violation;
use super::frame::{FrameHead, is_of_http2, kind, stream, take, write_head};
use super::reader::MAX_SECTION;
use super::varint::{self, Varint};
use crate::qpack::{DecoderStream, EncoderStream};

const QPACK_MAX_TABLE_CAPACITY: u64 = 1;
const MAX_FIELD_SECTION_SIZE: u64 = 6;
const QPACK_BLOCKED_STREAMS: u64 = 7;

/// The largest payload that is processed as a whole. A longer one is not a list of settings, or is
/// a flood of them.
const MAX_HELD: u64 = 4_096;
/// The largest number of frames without a meaning.
const MAX_EMPTY: u32 = 100_000;

/// A connection except for its requests: this side's settings, and the streams that the peer opens,
/// by their identifiers.
///
/// This side opens one unidirectional stream, which begins with [`opening`](Control::opening), and
/// never ends it. It need not open the two QPACK streams, because it has nothing to send on them
/// (RFC 9204, 4.2).
#[derive(Debug, Default)]
pub struct Control {
    /// The peer's streams whose type is known, or not yet received.
    streams: HashMap<u64, PeerStream>,
    /// Whether a stream of each type that must be unique has been opened.
    seen: [bool; 4],
    greeted: bool,
    goaway: Option<u64>,
}

#[derive(Debug)]
enum PeerStream {
    /// A stream whose type has not been received completely.
    New(Varint),
    Control(Frames),
    Encoder(EncoderStream),
    Decoder(DecoderStream),
}

/// The frames of the control stream.
#[derive(Debug, Default)]
struct Frames {
    head: FrameHead,
    place: ControlState,
    /// The bytes read so far of a payload that is processed as a whole.
    held: Vec<u8>,
    empty: u32,
}

#[derive(Clone, Copy, Debug, Default)]
enum ControlState {
    #[default]
    Head,
    /// A frame of this type, processed as a whole, with this number of bytes to come.
    Whole(u64, u64),
    Skip(u64),
}

impl Control {
    /// Creates the state of a new connection.
    pub fn new() -> Control {
        Control::default()
    }

    /// Returns the bytes of this side's control stream.
    pub fn opening() -> Vec<u8> {
        let mut settings = Vec::new();
        for (name, value) in [
            (QPACK_MAX_TABLE_CAPACITY, 0),
            (MAX_FIELD_SECTION_SIZE, MAX_SECTION),
            (QPACK_BLOCKED_STREAMS, 0),
        ] {
            varint::write_varint(&mut settings, name);
            varint::write_varint(&mut settings, value);
        }
        let mut bytes = Vec::new();
        varint::write_varint(&mut bytes, stream::CONTROL);
        write_head(&mut bytes, kind::SETTINGS, settings.len() as u64);
        bytes.append(&mut settings);
        bytes
    }

    /// Reads more bytes of stream `id`, which the peer opened. Returns false if the type of the
    /// stream is unknown: nothing of it is kept, and the caller asks the peer to stop (RFC 9114,
    /// 6.2.3) and reads no more of it.
    ///
    /// # Errors
    /// A violation for which the connection must be closed.
    pub fn feed(&mut self, id: u64, bytes: &[u8]) -> Result<bool, Http3Violation> {
        // A server must not open bidirectional streams (RFC 9114, 6.1).
        if id & 0b10 == 0 {
            return Err(Http3Violation::ServerRequest);
        }
        let mut rest = bytes;
        let before = self.streams.remove(&id).unwrap_or_else(|| PeerStream::New(Varint::default()));
        let Some(mut stream) = self.type_of(before, &mut rest)? else { return Ok(false) };
        let fits = match &mut stream {
            PeerStream::Encoder(stream) => {
                stream.feed(rest).then_some(()).ok_or(Http3Violation::EncoderStream)
            }
            PeerStream::Decoder(stream) => {
                stream.feed(rest).then_some(()).ok_or(Http3Violation::DecoderStream)
            }
            PeerStream::Control(frames) => frames.feed(rest, &mut self.greeted, &mut self.goaway),
            PeerStream::New(_) => Ok(()),
        };
        self.streams.insert(id, stream);
        fits.map(|()| true)
    }

    /// Records that the peer ended or reset stream `id`.
    ///
    /// # Errors
    /// The connection requires the stream.
    pub fn finish(&mut self, id: u64) -> Result<(), Http3Violation> {
        match self.streams.remove(&id) {
            None | Some(PeerStream::New(_)) => Ok(()),
            Some(_) => Err(Http3Violation::CriticalStream),
        }
    }

    /// Returns whether the peer's settings have been received.
    pub fn is_greeted(&self) -> bool {
        self.greeted
    }

    /// Returns the stream identifier in the peer's GOAWAY: requests on this stream and on later
    /// ones were not processed, and no more may begin (RFC 9114, 5.2).
    pub fn goaway(&self) -> Option<u64> {
        self.goaway
    }

    /// Reads the type of a stream as far as it has been received. Returns `None` if the type is
    /// unknown.
    fn type_of(
        &mut self,
        stream: PeerStream,
        rest: &mut &[u8],
    ) -> Result<Option<PeerStream>, Http3Violation> {
        let PeerStream::New(mut number) = stream else { return Ok(Some(stream)) };
        let Some(kind) = number.read(rest) else { return Ok(Some(PeerStream::New(number))) };
        if let Ok(at) = usize::try_from(kind)
            && let Some(seen) = self.seen.get_mut(at)
            && std::mem::replace(seen, true)
        {
            return Err(Http3Violation::SecondStream);
        }
        match kind {
            stream::CONTROL => Ok(Some(PeerStream::Control(Frames::default()))),
            stream::PUSH => Err(Http3Violation::Push),
            stream::QPACK_ENCODER => Ok(Some(PeerStream::Encoder(EncoderStream))),
            stream::QPACK_DECODER => Ok(Some(PeerStream::Decoder(DecoderStream::default()))),
            _ => Ok(None),
        }
    }

    /// Returns the number of streams whose state is kept.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.streams.len()
    }
}

impl Frames {
    fn feed(
        &mut self,
        bytes: &[u8],
        greeted: &mut bool,
        goaway: &mut Option<u64>,
    ) -> Result<(), Http3Violation> {
        let mut rest = bytes;
        while !rest.is_empty() {
            self.step(&mut rest, greeted, goaway)?;
        }
        Ok(())
    }

    fn step(
        &mut self,
        rest: &mut &[u8],
        greeted: &mut bool,
        goaway: &mut Option<u64>,
    ) -> Result<(), Http3Violation> {
        if let ControlState::Head = self.place {
            let Some((kind, length)) = self.head.read(rest) else { return Ok(()) };
            self.place = self.begin(kind, length, *greeted)?;
        }
        match self.place {
            ControlState::Head => Ok(()),
            ControlState::Whole(kind, left) => {
                let piece = take(rest, left);
                self.held.extend_from_slice(piece);
                let left = left - piece.len() as u64;
                self.place =
                    if left == 0 { ControlState::Head } else { ControlState::Whole(kind, left) };
                if left > 0 {
                    return Ok(());
                }
                let held = std::mem::take(&mut self.held);
                obey(kind, &held, greeted, goaway)
            }
            ControlState::Skip(left) => {
                let left = left - take(rest, left).len() as u64;
                self.place = if left == 0 { ControlState::Head } else { ControlState::Skip(left) };
                Ok(())
            }
        }
    }

    /// Returns how to read a frame on the control stream, or an error if its type is not allowed
    /// there. SETTINGS must come first (RFC 9114, 7.2).
    fn begin(
        &mut self,
        kind: u64,
        length: u64,
        greeted: bool,
    ) -> Result<ControlState, Http3Violation> {
        match kind {
            kind::SETTINGS if greeted => Err(Http3Violation::UnexpectedFrame),
            kind::SETTINGS if length > MAX_HELD => Err(Http3Violation::Flood),
            kind::SETTINGS => Ok(ControlState::Whole(kind, length)),
            _ if !greeted => Err(Http3Violation::NoSettings),
            kind::GOAWAY | kind::CANCEL_PUSH if !(1..=8).contains(&length) => {
                Err(Http3Violation::FrameLength)
            }
            // There is no push that could be cancelled.
            kind::CANCEL_PUSH => Err(Http3Violation::Push),
            kind::GOAWAY => Ok(ControlState::Whole(kind, length)),
            kind::DATA | kind::HEADERS | kind::PUSH_PROMISE | kind::MAX_PUSH_ID => {
                Err(Http3Violation::UnexpectedFrame)
            }
            _ if is_of_http2(kind) => Err(Http3Violation::UnexpectedFrame),
            _ => {
                self.empty += 1;
                match length {
                    _ if self.empty > MAX_EMPTY => Err(Http3Violation::Flood),
                    0 => Ok(ControlState::Head),
                    _ => Ok(ControlState::Skip(length)),
                }
            }
        }
    }
}

fn obey(
    kind: u64,
    payload: &[u8],
    greeted: &mut bool,
    goaway: &mut Option<u64>,
) -> Result<(), Http3Violation> {
    if kind == kind::SETTINGS {
        *greeted = true;
        return check_settings(payload);
    }
    let mut rest = payload;
    let id = Varint::default().read(&mut rest).filter(|_| rest.is_empty());
    let id = id.ok_or(Http3Violation::FrameLength)?;
    // RFC 9114, 5.2: the identifier is that of a request stream and never rises.
    if id % 4 != 0 || goaway.is_some_and(|before| id > before) {
        return Err(Http3Violation::Goaway);
    }
    *goaway = Some(id);
    Ok(())
}

/// Checks the peer's settings. None of them changes what this side sends, but they may be invalid
/// (RFC 9114, 7.2.4).
fn check_settings(payload: &[u8]) -> Result<(), Http3Violation> {
    let mut rest = payload;
    let mut names = Vec::new();
    while !rest.is_empty() {
        let name = Varint::default().read(&mut rest).ok_or(Http3Violation::FrameLength)?;
        Varint::default().read(&mut rest).ok_or(Http3Violation::FrameLength)?;
        if matches!(name, 0 | 2..=5) {
            return Err(Http3Violation::Setting);
        }
        names.push(name);
    }
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        Err(Http3Violation::Setting)
    } else {
        Ok(())
    }
}
