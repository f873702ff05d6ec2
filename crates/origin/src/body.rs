//! Response bodies, streamed from a static block whatever their size.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::time::{Interval, MissedTickBehavior, Sleep, interval, sleep};

use super::place::{Ending, Session};

/// The length of the block that bodies repeat, in bytes.
const BLOCK_LEN: usize = 64 * 1024;

/// The delay before a stream is reset. A reset discards data that the server has not yet sent, over
/// HTTP/2 and QUIC alike. There is no notification when the data has been sent.
const BEFORE_RESET: Duration = Duration::from_millis(20);

/// The block of pseudo-random bytes. They can hardly be compressed on the path, and are the same in
/// every build, so that a client can check them.
pub(super) static BLOCK: [u8; BLOCK_LEN] = random_block();

/// Fills the block with the top bytes of a 32-bit linear congruential generator (Numerical
/// Recipes' constants).
const fn random_block() -> [u8; BLOCK_LEN] {
    let mut bytes = [0; BLOCK_LEN];
    let mut state: u32 = 6;
    let mut i = 0;
    while i < BLOCK_LEN {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        bytes[i] = state.to_be_bytes()[0];
        i += 1;
    }
    bytes
}

/// The error of a body that ends prematurely; it resets the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the client asked for a response that breaks off")
    }
}

impl std::error::Error for Broken {}

/// A response body.
pub(super) enum Payload {
    /// Bytes in memory; `None` after they have been sent.
    Text(Option<Bytes>),
    /// Bytes of the repeated block.
    Pattern(Pattern),
}

impl Payload {
    /// Creates a body from bytes in memory.
    pub(super) fn text(text: impl Into<Bytes>) -> Self {
        Payload::Text(Some(text.into()).filter(|bytes| !bytes.is_empty()))
    }

    /// Creates a body of `bytes` bytes with a Content-Length.
    pub(super) fn bytes(bytes: u64) -> Self {
        Payload::Pattern(Pattern::new(bytes, Length::Known(bytes)))
    }

    /// Creates a body of `bytes` bytes in chunks of at most `chunk` bytes.
    pub(super) fn chunked(bytes: u64, chunk: usize) -> Self {
        Payload::Pattern(Pattern { piece: chunk, ..Pattern::new(bytes, Length::Chunked) })
    }

    /// Creates a body of `bytes` bytes, of which the first is sent at once and each further one
    /// after an interval of `every`.
    pub(super) fn drip(bytes: u64, every: Duration) -> Self {
        let mut pace = interval(every);
        // After a client has stopped reading for a while, the remainder is still sent at this
        // interval.
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let pattern = Pattern::new(bytes, Length::Known(bytes));
        Payload::Pattern(Pattern { piece: 1, pace: Some(pace), ..pattern })
    }

    /// Creates a body that announces `declared` bytes and sends only `sent` of them, without
    /// ending.
    pub(super) fn stall(sent: u64, declared: u64) -> Self {
        let pattern = Pattern::new(sent, Length::Known(declared));
        Payload::Pattern(Pattern { end: BodyEnd::Stall, ..pattern })
    }

    /// Creates a body that announces `declared` bytes, sends only `sent` of them and then ends as
    /// if it were complete.
    pub(super) fn short(sent: u64, declared: u64) -> Self {
        Payload::Pattern(Pattern::new(sent, Length::Known(declared)))
    }

    /// Creates a body that announces `declared` bytes, sends only `sent` of them and fails shortly
    /// after.
    pub(super) fn broken(sent: u64, declared: u64) -> Self {
        let pattern = Pattern::new(sent, Length::Known(declared));
        Payload::Pattern(Pattern { end: BodyEnd::Break(Box::pin(sleep(BEFORE_RESET))), ..pattern })
    }

    /// Creates a body that announces `declared` bytes, sends only `sent` of them and ends the
    /// connection.
    pub(super) fn cut(sent: u64, declared: u64, ending: Ending, session: Arc<Session>) -> Self {
        let pattern = Pattern::new(sent, Length::Known(declared));
        Payload::Pattern(Pattern { end: BodyEnd::Cut(ending, session), ..pattern })
    }
}

/// A sequence of bytes of the repeated block.
pub(super) struct Pattern {
    sent: u64,
    until: u64,
    length: Length,
    /// The longest frame, in bytes.
    piece: usize,
    pace: Option<Interval>,
    end: BodyEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Length {
    Known(u64),
    Chunked,
}

/// The behaviour after the last byte.
enum BodyEnd {
    End,
    Stall,
    Break(Pin<Box<Sleep>>),
    Cut(Ending, Arc<Session>),
}

impl Pattern {
    fn new(until: u64, length: Length) -> Self {
        Pattern { sent: 0, until, length, piece: BLOCK_LEN, pace: None, end: BodyEnd::End }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Broken>>> {
        if self.sent == self.until {
            return self.end.poll(cx);
        }
        if let Some(pace) = &mut self.pace {
            ready!(pace.poll_tick(cx));
        }
        Poll::Ready(Some(Ok(self.next())))
    }

    fn next(&mut self) -> Bytes {
        // Both casts are exact: the values are at most BLOCK_LEN.
        let from = (self.sent % BLOCK_LEN as u64) as usize;
        let left = (self.until - self.sent).min(self.piece as u64) as usize;
        let piece = &BLOCK[from..BLOCK_LEN.min(from + left)];
        self.sent += piece.len() as u64;
        Bytes::from_static(piece)
    }

    fn is_at_end(&self) -> bool {
        // An empty chunked body must not count as ended, because hyper would then omit the chunked
        // coding.
        self.sent == self.until
            && matches!(self.end, BodyEnd::End)
            && (self.length != Length::Chunked || self.sent > 0)
    }

    fn left(&self) -> SizeHint {
        match self.length {
            Length::Known(declared) => SizeHint::with_exact(declared - self.sent),
            Length::Chunked => SizeHint::new(),
        }
    }
}

impl BodyEnd {
    /// Returns `Pending` without registering a waker. This is intentional: hyper flushes its
    /// buffer, after which the connection is ended as requested, or nothing happens until the
    /// client disconnects.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Broken>>> {
        match self {
            BodyEnd::End => Poll::Ready(None),
            BodyEnd::Stall => Poll::Pending,
            BodyEnd::Break(rest) => {
                ready!(rest.as_mut().poll(cx));
                Poll::Ready(Some(Err(Broken)))
            }
            BodyEnd::Cut(ending, session) => {
                session.end(*ending);
                Poll::Pending
            }
        }
    }
}

impl Body for Payload {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let bytes = match self.get_mut() {
            Payload::Text(text) => text.take().map(Ok),
            Payload::Pattern(pattern) => ready!(pattern.poll(cx)),
        };
        Poll::Ready(bytes.map(|bytes| bytes.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Payload::Text(text) => text.is_none(),
            Payload::Pattern(pattern) => pattern.is_at_end(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Payload::Text(text) => {
                SizeHint::with_exact(text.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Payload::Pattern(pattern) => pattern.left(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    #[test]
    fn the_largest_body_takes_no_memory_to_start() {
        let mut body = Payload::bytes(1 << 40);
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..10_000 {
            assert!(Pin::new(&mut body).poll_frame(&mut cx).is_ready());
        }
        assert_eq!(body.size_hint().exact(), Some((1 << 40) - 10_000 * BLOCK_LEN as u64));
    }

    #[test]
    fn the_block_contains_every_byte_value() {
        for byte in 0..=u8::MAX {
            assert!(BLOCK.contains(&byte), "{byte}");
        }
    }

    #[test]
    fn pieces_of_any_size_give_the_same_bytes() {
        for chunk in [1, 7, 1000, BLOCK_LEN] {
            let mut pattern =
                Pattern { piece: chunk, ..Pattern::new(BLOCK_LEN as u64 + 100, Length::Chunked) };
            let mut whole = Vec::new();
            while pattern.sent < pattern.until {
                whole.extend_from_slice(&pattern.next());
            }
            assert_eq!(whole[..BLOCK_LEN], BLOCK);
            assert_eq!(whole[BLOCK_LEN..], BLOCK[..100]);
        }
    }
}
