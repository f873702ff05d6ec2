//! The streams beside those of requests (RFC 9114, 6.2).

use std::collections::HashMap;

use super::Http3Violation;
use super::frame::{FrameHead, is_of_http2, kind, stream, take, write_head};
use super::reader::MAX_SECTION;
use super::varint::{self, Varint};
use crate::qpack::{DecoderStream, EncoderStream};

const QPACK_MAX_TABLE_CAPACITY: u64 = 1;
const MAX_FIELD_SECTION_SIZE: u64 = 6;
const QPACK_BLOCKED_STREAMS: u64 = 7;

/// A payload that is longer is no list of settings, or a flood of them.
const MAX_HELD: u64 = 4_096;
/// Frames that mean nothing.
const MAX_EMPTY: u32 = 100_000;

/// A connection but for its requests: what this side says of itself, and the streams that the peer
/// opens, by their numbers.
///
/// This side opens one stream in one direction, for [`opening`](Control::opening), and never ends it.
/// QPACK's two it may leave unopened, because it has nothing to say there (RFC 9204, 4.2).
#[derive(Debug, Default)]
pub struct Control {
    /// The peer's streams that are of a known type, or whose type has not come yet.
    streams: HashMap<u64, PeerStream>,
    /// Types of which there may be one stream, by type.
    seen: [bool; 4],
    greeted: bool,
    goaway: Option<u64>,
}

#[derive(Debug)]
enum PeerStream {
    /// Its type is still to come.
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
    /// A payload that is needed as a whole, as far as it came.
    held: Vec<u8>,
    empty: u32,
}

#[derive(Clone, Copy, Debug, Default)]
enum ControlState {
    #[default]
    Head,
    /// A frame of this type, needed as a whole, with so many bytes to come.
    Whole(u64, u64),
    Skip(u64),
}

impl Control {
    /// What a connection begins with.
    pub fn new() -> Control {
        Control::default()
    }

    /// The bytes of this side's control stream.
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

    /// Reads more of stream number `id`, which the peer opened. Returns false if its type is unknown:
    /// nothing of it is kept, and the caller tells the peer to stop (RFC 9114, 6.2.3) and reads no more.
    ///
    /// # Errors
    /// A breach for which the connection is to be closed.
    pub fn feed(&mut self, id: u64, bytes: &[u8]) -> Result<bool, Http3Violation> {
        // Streams in both directions are not the server's to open (RFC 9114, 6.1).
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

    /// The peer ended or reset stream number `id`.
    ///
    /// # Errors
    /// The connection cannot do without it.
    pub fn finish(&mut self, id: u64) -> Result<(), Http3Violation> {
        match self.streams.remove(&id) {
            None | Some(PeerStream::New(_)) => Ok(()),
            Some(_) => Err(Http3Violation::CriticalStream),
        }
    }

    /// True once the peer's settings are here.
    pub fn is_greeted(&self) -> bool {
        self.greeted
    }

    /// The stream number in the peer's GOAWAY: requests on it and on later streams were not looked
    /// at, and no more may begin (RFC 9114, 5.2).
    pub fn goaway(&self) -> Option<u64> {
        self.goaway
    }

    /// A stream with its type as far as that has come; none where the type is unknown.
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

    /// Streams of which something is kept.
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

    /// RFC 9114, 7.2: what may come on the control stream, and first of all settings.
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
            // There is no push to cancel.
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
    // RFC 9114, 5.2: a request's stream, and none behind one that was named before.
    if id % 4 != 0 || goaway.is_some_and(|before| id > before) {
        return Err(Http3Violation::Goaway);
    }
    *goaway = Some(id);
    Ok(())
}

/// None of the peer's settings changes what this side sends; they may still be wrong (RFC 9114,
/// 7.2.4).
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
