//! What comes back on the stream of a request.

use super::frame::{FrameHead, is_of_http2, kind, take};
use super::{Http3Request, Http3Violation, code};
use crate::observer::{Loss, Observer, Token};
use crate::qpack;
use crate::semantics::MAX_HEAD;
use crate::semantics::known::EncodedHead;
use crate::semantics::response::{FieldSection, Malformed, Response, ResponseHead, Section};

/// A section of fields may take as much as an HTTP/1.1 head.
pub(super) const MAX_SECTION: u64 = MAX_HEAD as u64;
/// Frames that carry nothing, one after the other.
const MAX_EMPTY: u32 = 100_000;

/// Memory for reading heads, and the head read last, so that one like it need not be read again. One
/// for all connections of a thread is best.
#[derive(Debug, Default)]
pub struct Heads {
    known: EncodedHead,
    scratch: qpack::Scratch,
}

/// Reads the response on one stream.
///
/// ```
/// use sixmark_http::http3::{Heads, Http3Request, Parts, StreamReader};
/// use sixmark_http::observer::{Answer, Loss, Observer, Token};
///
/// struct Print;
///
/// impl Observer for Print {
///     fn begun(&mut self, _: Token) {}
///     fn field(&mut self, _: Token, _: &[u8], _: &[u8]) {}
///     fn content(&mut self, _: Token, _: &[u8]) {}
///     fn complete(&mut self, token: Token, answer: Answer) {
///         assert_eq!((token, answer), (7, Answer { status: 200, body: 2 }));
///     }
///     fn lost(&mut self, _: Token, _: Loss) {}
/// }
///
/// let (scheme, authority) = ("https", "[::1]");
/// let parts = Parts { method: "GET", scheme, authority, path: "/", headers: &[] };
/// let request = Http3Request::new(&parts, None, false)?;
/// let mut heads = Heads::default();
/// let mut reader = StreamReader::new(7, &request);
/// reader.feed(b"\x01\x03\0\0\xd9\0\x02hi", &mut heads, &mut Print)?;
/// reader.finish(&mut Print)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct StreamReader {
    token: Token,
    observed: bool,
    begun: bool,
    trailed: bool,
    over: bool,
    broken: Option<Http3Violation>,
    response: Response,
    place: ReaderState,
    head: FrameHead,
    /// A section of fields, as far as it came.
    held: Vec<u8>,
    empty: u32,
}

#[derive(Clone, Copy, Debug)]
enum ReaderState {
    Head,
    /// A section of fields of this length.
    Fields(u64),
    /// So many bytes of content.
    Content(u64),
    /// So many bytes that mean nothing.
    Skip(u64),
}

impl StreamReader {
    /// A reader of the response to `request`, which is told of as `token`.
    pub fn new(token: Token, request: &Http3Request) -> StreamReader {
        StreamReader {
            token,
            observed: request.observed,
            begun: false,
            trailed: false,
            over: false,
            broken: None,
            response: Response::new(request.is_head),
            place: ReaderState::Head,
            head: FrameHead::default(),
            held: Vec::new(),
            empty: 0,
        }
    }

    /// Reads `bytes`, which come behind those fed before, and tells `observer` what they say. An
    /// exchange lost as [`Malformed`](Loss::Malformed) has its stream reset, and stopped, by the
    /// caller with that code; what still comes is ignored.
    ///
    /// # Errors
    /// The peer's first breach of HTTP/3, again on every later call.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        heads: &mut Heads,
        observer: &mut impl Observer,
    ) -> Result<(), Http3Violation> {
        let mut rest = bytes;
        while !rest.is_empty() && !self.over {
            if let Some(violation) = self.broken {
                return Err(violation);
            }
            self.broken = self.step(&mut rest, heads, observer).err();
        }
        self.broken.map_or(Ok(()), Err)
    }

    /// The peer ended the stream, and with it the response.
    ///
    /// # Errors
    /// It ended within a frame, or had been broken before.
    pub fn finish(&mut self, observer: &mut impl Observer) -> Result<(), Http3Violation> {
        if self.over {
            return Ok(());
        }
        if let Some(violation) = self.broken {
            return Err(violation);
        }
        if !matches!(self.place, ReaderState::Head) || self.head.is_begun() {
            self.broken = Some(Http3Violation::FrameLength);
            return Err(Http3Violation::FrameLength);
        }
        match self.response.end() {
            Ok(answer) => {
                self.over = true;
                observer.complete(self.token, answer);
            }
            Err(Malformed(why)) => self.malformed(why, observer),
        }
        Ok(())
    }

    /// The peer reset the stream with `code`.
    pub fn reset(&mut self, code: u64, observer: &mut impl Observer) {
        self.lose(Loss::Reset(code), observer);
    }

    /// The connection said in a [`goaway`](super::Control::goaway) that the request was not looked at.
    pub fn disown(&mut self, observer: &mut impl Observer) {
        self.lose(Loss::Unprocessed, observer);
    }

    /// Nothing more is told of the exchange.
    pub fn is_over(&self) -> bool {
        self.over
    }

    fn lose(&mut self, loss: Loss, observer: &mut impl Observer) {
        if !std::mem::replace(&mut self.over, true) {
            observer.lost(self.token, loss);
        }
    }

    fn malformed(&mut self, why: &'static str, observer: &mut impl Observer) {
        self.lose(Loss::Malformed { code: code::MESSAGE, why }, observer);
    }

    fn step(
        &mut self,
        rest: &mut &[u8],
        heads: &mut Heads,
        observer: &mut impl Observer,
    ) -> Result<(), Http3Violation> {
        if let ReaderState::Head = self.place {
            let Some((kind, length)) = self.head.read(rest) else { return Ok(()) };
            self.place = self.begin(kind, length, observer)?;
        }
        match self.place {
            ReaderState::Head => Ok(()),
            ReaderState::Fields(length) => self.fields(length, rest, heads, observer),
            ReaderState::Content(left) => {
                let piece = take(rest, left);
                self.place = part_or_whole(left - piece.len() as u64, ReaderState::Content);
                if self.observed && !piece.is_empty() && !self.over {
                    observer.content(self.token, piece);
                }
                Ok(())
            }
            ReaderState::Skip(left) => {
                let left = left - take(rest, left).len() as u64;
                self.place = part_or_whole(left, ReaderState::Skip);
                Ok(())
            }
        }
    }

    /// How the payload of a frame is to be read (RFC 9114, 4.1 and 7.2).
    fn begin(
        &mut self,
        kind: u64,
        length: u64,
        observer: &mut impl Observer,
    ) -> Result<ReaderState, Http3Violation> {
        match kind {
            kind::HEADERS if self.trailed => Err(Http3Violation::UnexpectedFrame),
            kind::HEADERS if length > MAX_SECTION => Err(Http3Violation::FieldsTooLong),
            kind::HEADERS => {
                if !std::mem::replace(&mut self.begun, true) {
                    observer.begun(self.token);
                }
                Ok(ReaderState::Fields(length))
            }
            kind::DATA if self.trailed || self.response.section() == Section::Head => {
                Err(Http3Violation::UnexpectedFrame)
            }
            kind::DATA => {
                self.count(length > 0)?;
                // All at once, so that what is told does not depend on how the frame is cut.
                if let Err(Malformed(why)) = self.response.content(length) {
                    self.malformed(why, observer);
                }
                Ok(part_or_whole(length, ReaderState::Content))
            }
            kind::PUSH_PROMISE => Err(Http3Violation::Push),
            kind::SETTINGS | kind::GOAWAY | kind::CANCEL_PUSH | kind::MAX_PUSH_ID => {
                Err(Http3Violation::UnexpectedFrame)
            }
            _ if is_of_http2(kind) => Err(Http3Violation::UnexpectedFrame),
            _ => {
                self.count(false)?;
                Ok(part_or_whole(length, ReaderState::Skip))
            }
        }
    }

    fn count(&mut self, useful: bool) -> Result<(), Http3Violation> {
        self.empty = if useful { 0 } else { self.empty + 1 };
        if self.empty > MAX_EMPTY { Err(Http3Violation::Flood) } else { Ok(()) }
    }

    fn fields(
        &mut self,
        length: u64,
        rest: &mut &[u8],
        heads: &mut Heads,
        observer: &mut impl Observer,
    ) -> Result<(), Http3Violation> {
        let missing = length - self.held.len() as u64;
        let piece = take(rest, missing);
        let complete = piece.len() as u64 == missing;
        if !complete || !self.held.is_empty() {
            self.held.extend_from_slice(piece);
        }
        if !complete {
            return Ok(());
        }
        self.place = ReaderState::Head;
        let held = std::mem::take(&mut self.held);
        self.section(if held.is_empty() { piece } else { &held }, heads, observer)
    }

    fn section(
        &mut self,
        section: &[u8],
        heads: &mut Heads,
        observer: &mut impl Observer,
    ) -> Result<(), Http3Violation> {
        self.trailed = self.response.section() == Section::Trailers;
        let verdict = self.read_section(section, heads, observer)?;
        let trailed = self.trailed;
        let taken = verdict.and_then(|head| self.response.fields(head, trailed));
        if let Err(Malformed(why)) = taken {
            self.malformed(why, observer);
        }
        Ok(())
    }

    fn read_section(
        &self,
        section: &[u8],
        heads: &mut Heads,
        observer: &mut impl Observer,
    ) -> Result<Result<Option<ResponseHead>, Malformed>, Http3Violation> {
        let known = !self.trailed && !self.observed;
        if known && let Some(head) = heads.known.find(section, 0) {
            return Ok(Ok(Some(head)));
        }
        let mut fields = FieldSection::of(self.response.section());
        qpack::decode_section(section, MAX_SECTION as usize, &mut heads.scratch, |name, value| {
            if fields.add(name, value) && self.observed {
                observer.field(self.token, name, value);
            }
        })?;
        let verdict = fields.verdict();
        if let Ok(head) = verdict
            && known
        {
            heads.known.learn(section, 0, head);
        }
        Ok(verdict)
    }
}

fn part_or_whole(left: u64, place: fn(u64) -> ReaderState) -> ReaderState {
    if left == 0 { ReaderState::Head } else { place(left) }
}
