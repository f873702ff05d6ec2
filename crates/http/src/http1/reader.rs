//! The response reader: finds where a response begins, what it contains and where it ends.

use super::Http1Violation;
use super::chunked::Chunked;
use super::framing::{Coding, Length};
use super::head::{self, MessageHead, SplitHead};
use super::known::KnownHead;

/// The largest number of interim responses. RFC 9110, 15.2 sets no limit, but a peer that never
/// sends a final response must not occupy the client for ever.
const MAX_INTERIM: u8 = 64;
const MAX_EMPTY_LINES: u8 = 4;

/// The kind of the request, which decides whether the response has a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestKind {
    /// Any request whose response may have a body.
    #[default]
    Ordinary,
    /// HEAD: the response has the fields of a body but never the body (RFC 9110, 9.3.2).
    Head,
}

/// Reads responses, one after the other, from the bytes of one connection.
///
/// ```
/// use sixmark_http::http1::{RequestKind, ResponseReader};
///
/// let mut reader = ResponseReader::new();
/// reader.begin(RequestKind::Ordinary);
/// let fed = reader.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")?;
/// let complete = fed.complete.ok_or("more to come")?;
/// assert_eq!((complete.status, complete.body, complete.keep_alive), (200, 2, true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct ResponseReader {
    state: State,
    kind: RequestKind,
    /// Whether the requests use HTTP/1.0.
    old: bool,
    /// Whether any byte of the final response, or of an interim one that is not complete, was read.
    begun: bool,
    after_cr: bool,
    empty_lines: u8,
    interim: u8,
    status: u16,
    keep_alive: bool,
    body: u64,
    split: SplitHead,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Head,
    /// A body of known length, with this number of bytes still to come.
    Sized(u64),
    Chunked(Chunked),
    UntilClose,
    Done,
    Broken(Http1Violation),
}

/// Receives the fields and the content of a response, in the order of the response.
pub trait ResponseVisitor {
    /// A field of the final response's head, as received.
    fn field(&mut self, name: &[u8], value: &[u8]);

    /// A piece of the content, without chunk framing.
    fn content(&mut self, bytes: &[u8]);
}

/// The result of [`ResponseReader::feed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fed {
    /// The number of bytes read. It is less than the number given only if the response ended
    /// before.
    pub consumed: usize,
    /// The response, if these bytes ended it.
    pub complete: Option<Complete>,
}

/// A response read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complete {
    /// The final status code, 100..=999.
    pub status: u16,
    /// The length of the content in bytes, without chunk framing.
    pub body: u64,
    /// Whether the connection may carry another request.
    pub keep_alive: bool,
}

/// The error of a connection that ended before the response did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Early {
    /// Whether some of the response had been read.
    pub begun: bool,
}

impl ResponseReader {
    /// Creates a reader that waits for the response to an ordinary request.
    pub fn new() -> ResponseReader {
        ResponseReader::default()
    }

    /// Creates a reader for the responses to HTTP/1.0 requests: the peer keeps the connection only
    /// if it says so, whatever the version of its response (RFC 9112, 9.3 and C.2.2).
    pub fn of_http10() -> ResponseReader {
        ResponseReader { old: true, ..ResponseReader::default() }
    }

    /// Prepares for the next response, whatever the state of the last one.
    pub fn begin(&mut self, kind: RequestKind) {
        self.state = State::Head;
        self.kind = kind;
        self.begun = false;
        self.after_cr = false;
        self.empty_lines = 0;
        self.interim = 0;
        self.body = 0;
        self.split.clear();
    }

    /// Reads from `bytes` up to the end of this response and no further; the caller keeps what
    /// follows. Once a response is complete, nothing is consumed until
    /// [`begin`](ResponseReader::begin).
    ///
    /// # Errors
    /// The peer's first violation of HTTP, and the same error on every later call.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Fed, Http1Violation> {
        self.feed_knowing(bytes, &mut KnownHead::default())
    }

    /// Like [`feed`](ResponseReader::feed), but does not parse a head that equals the one in
    /// `known`. Afterwards `known` contains the head just read.
    ///
    /// # Errors
    /// The errors of [`feed`](ResponseReader::feed).
    pub fn feed_knowing(
        &mut self,
        bytes: &[u8],
        known: &mut KnownHead,
    ) -> Result<Fed, Http1Violation> {
        self.feed_all(bytes, known, None)
    }

    /// Like [`feed_knowing`](ResponseReader::feed_knowing), and also passes what is read to
    /// `visitor`, except content that is [`discarded`](ResponseReader::discarded).
    ///
    /// # Errors
    /// The errors of [`feed`](ResponseReader::feed).
    pub fn feed_seeing(
        &mut self,
        bytes: &[u8],
        known: &mut KnownHead,
        visitor: &mut dyn ResponseVisitor,
    ) -> Result<Fed, Http1Violation> {
        self.feed_all(bytes, known, Some(visitor))
    }

    fn feed_all(
        &mut self,
        bytes: &[u8],
        known: &mut KnownHead,
        mut visitor: Option<&mut dyn ResponseVisitor>,
    ) -> Result<Fed, Http1Violation> {
        let mut rest = bytes;
        let mut complete = None;
        while !rest.is_empty() && self.state != State::Done {
            let used = match &mut visitor {
                Some(visitor) => self.step(rest, known, Some(&mut **visitor)),
                None => self.step(rest, known, None),
            };
            let used = used.inspect_err(|&violation| self.fail(violation))?;
            rest = &rest[used..];
            complete = self.completed();
        }
        Ok(Fed { consumed: bytes.len() - rest.len(), complete })
    }

    /// Ends the response because the peer closed its side. That completes a body of unknown length
    /// (RFC 9112, 6.3).
    ///
    /// # Errors
    /// Any other response was cut short or had not begun.
    pub fn finish(&mut self) -> Result<Complete, Early> {
        if self.state != State::UntilClose {
            return Err(Early { begun: self.has_begun() });
        }
        self.state = State::Done;
        Ok(self.result())
    }

    /// Returns whether any byte of the (final or interim) response has been read since the last
    /// [`begin`](ResponseReader::begin). Empty lines before the status line do not count: they are
    /// the rest of the previous response.
    pub fn has_begun(&self) -> bool {
        self.begun || self.interim > 0
    }

    /// Returns the number of complete interim (1xx) responses since the last
    /// [`begin`](ResponseReader::begin).
    #[inline]
    pub fn interim(&self) -> u8 {
        self.interim
    }

    /// Returns whether any byte after the complete interim responses has been read: of the final
    /// response, or of another interim one.
    pub fn goes_on(&self) -> bool {
        self.begun
    }

    /// Returns the number of body bytes that may be discarded unread now: the rest of a body with
    /// `Content-Length`, `u64::MAX` if the body ends with the connection, otherwise 0.
    pub fn discardable(&self) -> u64 {
        match self.state {
            State::Sized(left) => left,
            State::UntilClose => u64::MAX,
            _ => 0,
        }
    }

    /// Records that `n` body bytes were received and dropped, at most
    /// [`discardable`](ResponseReader::discardable) of them. Returns the response if they complete
    /// it.
    pub fn discarded(&mut self, n: u64) -> Option<Complete> {
        let dropped = n.min(self.discardable());
        self.body = self.body.saturating_add(dropped);
        if let State::Sized(left) = self.state {
            self.state = sized(left - dropped);
            return self.completed();
        }
        None
    }

    /// Reads some of `bytes`, which must not be empty.
    fn step(
        &mut self,
        bytes: &[u8],
        known: &mut KnownHead,
        visitor: Option<&mut dyn ResponseVisitor>,
    ) -> Result<usize, Http1Violation> {
        match &mut self.state {
            State::Head if self.split.is_empty() => self.start(bytes, known, visitor),
            State::Head => self.resume(bytes, visitor),
            State::Sized(_) | State::UntilClose => {
                let dropped = self.drop_body(bytes.len());
                visitor.into_iter().for_each(|visitor| visitor.content(&bytes[..dropped]));
                Ok(dropped)
            }
            State::Chunked(chunked) => {
                let (used, ended) = match visitor {
                    None => chunked.read(bytes, &mut self.body, |_| {})?,
                    Some(visitor) => chunked.read(bytes, &mut self.body, |b| visitor.content(b))?,
                };
                if ended {
                    self.state = State::Done;
                }
                Ok(used)
            }
            State::Broken(violation) => Err(*violation),
            State::Done => Ok(0),
        }
    }

    fn start(
        &mut self,
        bytes: &[u8],
        known: &mut KnownHead,
        visitor: Option<&mut dyn ResponseVisitor>,
    ) -> Result<usize, Http1Violation> {
        let skipped = self.skip_empty_lines(bytes)?;
        if skipped > 0 {
            return Ok(skipped);
        }
        self.begun = true;
        // Nearly every head comes in one piece. Errors are left to the slow path, so that a single
        // place decides which violation is reported.
        match known.parse(bytes) {
            Ok(Some((head, length))) => {
                self.accept(head)?;
                tell_fields(head, &bytes[..length], visitor);
                Ok(length)
            }
            Ok(None) | Err(_) => self.resume(bytes, visitor),
        }
    }

    fn resume(
        &mut self,
        bytes: &[u8],
        visitor: Option<&mut dyn ResponseVisitor>,
    ) -> Result<usize, Http1Violation> {
        let (used, whole) = self.split.add(bytes)?;
        if let Some((head, bytes)) = whole {
            self.accept(head)?;
            tell_fields(head, &bytes, visitor);
        }
        Ok(used)
    }

    fn skip_empty_lines(&mut self, bytes: &[u8]) -> Result<usize, Http1Violation> {
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'\n' if self.empty_lines == MAX_EMPTY_LINES => {
                    return Err(Http1Violation::EmptyLines);
                }
                b'\n' => {
                    self.empty_lines += 1;
                    self.after_cr = false;
                }
                _ if self.after_cr => return Err(Http1Violation::NotHttp),
                b'\r' => self.after_cr = true,
                _ => return Ok(at),
            }
        }
        Ok(bytes.len())
    }

    fn accept(&mut self, head: MessageHead) -> Result<(), Http1Violation> {
        match head.status {
            101 => Err(Http1Violation::Upgrade),
            100..=199 if self.interim == MAX_INTERIM => Err(Http1Violation::TooManyInterim),
            100..=199 => {
                self.interim += 1;
                self.begun = false;
                Ok(())
            }
            _ => self.accept_final(head),
        }
    }

    fn accept_final(&mut self, head: MessageHead) -> Result<(), Http1Violation> {
        self.status = head.status;
        self.state = self.framing(head)?;
        let agreed = head.keep_alive || !self.old;
        self.keep_alive = head.persists && agreed && self.state != State::UntilClose;
        Ok(())
    }

    /// Returns how the body is framed, by the rules of RFC 9112, 6.3 in their order.
    fn framing(&self, head: MessageHead) -> Result<State, Http1Violation> {
        if self.kind == RequestKind::Head || matches!(head.status, 204 | 304) {
            return Ok(State::Done);
        }
        match (head.coding, head.length) {
            (Coding::Faulty, _) => Err(Http1Violation::TransferEncoding),
            (Coding::Chunked, _) => Ok(State::Chunked(Chunked::new())),
            (Coding::Other, _) | (_, Length::Absent) => Ok(State::UntilClose),
            (_, Length::Known(length)) => Ok(sized(length)),
            (_, Length::Faulty(violation)) => Err(violation),
        }
    }

    fn drop_body(&mut self, available: usize) -> usize {
        let dropped = self.discardable().min(available as u64);
        self.discarded(dropped);
        // The number is at most `available`, so it fits.
        dropped as usize
    }

    fn completed(&self) -> Option<Complete> {
        (self.state == State::Done).then(|| self.result())
    }

    fn result(&self) -> Complete {
        Complete { status: self.status, body: self.body, keep_alive: self.keep_alive }
    }

    #[cfg(test)]
    pub(super) fn held_memory(&self) -> usize {
        self.split.memory()
    }

    fn fail(&mut self, violation: Http1Violation) {
        self.state = State::Broken(violation);
        self.split.clear();
    }
}

/// Passes the fields of a final response to `visitor`; those of an interim response are omitted.
fn tell_fields(head: MessageHead, bytes: &[u8], visitor: Option<&mut dyn ResponseVisitor>) {
    if let Some(visitor) = visitor.filter(|_| head.status >= 200) {
        head::tell_fields(bytes, |name, value| visitor.field(name, value));
    }
}

fn sized(left: u64) -> State {
    if left == 0 { State::Done } else { State::Sized(left) }
}
