//! The reader of the response on a request stream.

use super::frame::{FrameHead, is_of_http2, kind, take};
use super::{Http3Request, Http3Violation, code};
use crate::observer::{Loss, Observer, Token};
use crate::qpack;
use crate::semantics::MAX_HEAD;
use crate::semantics::known::EncodedHead;
use crate::semantics::response::{FieldSection, Malformed, Response, ResponseHead, Section};

/// The largest field section, in bytes: that of an HTTP/1.1 head.
pub(super) const MAX_SECTION: u64 = MAX_HEAD as u64;
/// The largest number of consecutive frames that carry nothing.
const MAX_EMPTY: u32 = 100_000;

/// Buffers for reading heads, and a cache of the head read last, so that an equal one need not be
/// parsed again. All connections of a thread should share one.
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
    /// Whether any byte of the final response's head, or of an interim one that is not complete,
    /// was read.
    begun: bool,
    trailed: bool,
    over: bool,
    broken: Option<Http3Violation>,
    response: Response,
    place: ReaderState,
    head: FrameHead,
    /// The bytes of a field section read so far.
    held: Vec<u8>,
    empty: u32,
}

#[derive(Clone, Copy, Debug)]
enum ReaderState {
    Head,
    /// A field section of this length.
    Fields(u64),
    /// This number of bytes of content.
    Content(u64),
    /// This number of bytes to ignore.
    Skip(u64),
}

impl StreamReader {
    /// Creates a reader of the response to `request`, whose events are reported with `token`.
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

    /// Reads `bytes`, which follow those fed before, and reports events to `observer`. If an
    /// exchange is lost as [`Malformed`](Loss::Malformed), the caller resets its stream and stops
    /// receiving on it, both with that code; later bytes are ignored.
    ///
    /// # Errors
    /// The peer's first violation of HTTP/3, and the same error on every later call.
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

    /// Ends the response because the peer ended the stream.
    ///
    /// # Errors
    /// The stream ended within a frame, or had been broken before.
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

    /// Ends the exchange because the peer reset the stream with `code`.
    pub fn reset(&mut self, code: u64, observer: &mut impl Observer) {
        self.lose(Loss::Reset(code), observer);
    }

    /// Ends the exchange because a [`goaway`](super::Control::goaway) excluded the request, which
    /// was not processed.
    pub fn disown(&mut self, observer: &mut impl Observer) {
        self.lose(Loss::Unprocessed, observer);
    }

    /// Returns whether the exchange has ended. No further event of it is reported.
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

    /// Returns how to read the payload of a frame (RFC 9114, 4.1 and 7.2).
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
                // The whole length at once, so that the result does not depend on how the frame is
                // split.
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
        match taken {
            Err(Malformed(why)) => self.malformed(why, observer),
            Ok(()) if self.response.section() == Section::Head => {
                self.begun = false;
                observer.interim(self.token);
            }
            Ok(()) => {}
        }
        Ok(())
    }

    fn read_section(
        &self,
        section: &[u8],
        heads: &mut Heads,
        observer: &mut impl Observer,
    ) -> Result<Result<Option<ResponseHead>, Malformed>, Http3Violation> {
        let is_told = self.observed || observer.samples_fields();
        let known = !self.trailed && !is_told;
        if known && let Some(head) = heads.known.find(section, 0) {
            return Ok(Ok(Some(head)));
        }
        let mut fields = FieldSection::of(self.response.section());
        qpack::decode_section(section, MAX_SECTION as usize, &mut heads.scratch, |name, value| {
            if fields.add(name, value) && is_told {
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
