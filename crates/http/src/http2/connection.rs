//! A connection and its exchanges, as the caller uses them.

use super::Http2Violation;
use super::credit::Credit;
use super::frame::{MAX_31, code, kind};
use super::output::FrameOutput;
use super::progress::Receiving;
use super::settings::{FIRST_WINDOW, LIST_SIZE, Settings, TABLE_SIZE, own};
use super::streams::Streams;
use super::turns::Sending;
use crate::hpack::Decoder;
use crate::observer::Token;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A client's options for its connections.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The largest number of concurrent exchanges; the peer may allow fewer.
    pub streams: u32,
    /// The initial receive window of each stream and of the connection, in bytes of content: at
    /// least 65,535 and below 2^31.
    pub window: u32,
}

impl Default for Options {
    /// One exchange at a time, and a window of 1 GiB: that of h2load, which no peer exhausts.
    fn default() -> Options {
        Options { streams: 1, window: 1 << 30 }
    }
}

/// The client's side of a connection.
///
/// ```
/// use sixmark_http::http2::{Connection, Http2Request, Options, Parts};
/// use sixmark_http::observer::{Answer, Loss, Observer, Token};
///
/// struct Print;
///
/// impl Observer for Print {
///     fn begun(&mut self, _: Token) {}
///     fn field(&mut self, _: Token, _: &[u8], _: &[u8]) {}
///     fn content(&mut self, _: Token, _: &[u8]) {}
///     fn complete(&mut self, token: Token, answer: Answer) {
///         assert_eq!((token, answer), (7, Answer { status: 204, body: 0 }));
///     }
///     fn lost(&mut self, _: Token, _: Loss) {}
/// }
///
/// let (scheme, authority) = ("http", "[::1]");
/// let parts = Parts { method: "GET", scheme, authority, path: "/", headers: &[] };
/// let request = Http2Request::new(&parts, None, false)?;
/// let mut connection = Connection::new(&Options::default());
/// assert!(connection.begin(7, &request));
/// connection.output().clear(); // Sent.
/// assert_eq!(connection.next_written(), Some(7));
/// connection.feed(b"\0\0\0\x04\0\0\0\0\0", &mut Print)?;
/// connection.feed(b"\0\0\x01\x01\x05\0\0\0\x01\x89", &mut Print)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Connection {
    pub(super) own: Options,
    pub(super) peer: Settings,
    pub(super) streams: Streams,
    pub(super) next_id: u32,
    /// Late frames are accepted for closed streams up to this one.
    pub(super) late_up_to: u32,
    /// Streams below this one were begun before the peer had announced its limit of streams.
    pub(super) unlimited_below: u32,
    pub(super) output: FrameOutput,
    pub(super) sending: Sending,
    pub(super) receiving: Receiving,
    pub(super) credit: Credit,
    pub(super) decoder: Decoder,
    /// The next field block must confirm that the table became smaller.
    pub(super) resize_due: bool,
    pub(super) goaway: Option<u32>,
    pub(super) closing: bool,
    pub(super) broken: Option<Http2Violation>,
}

impl Connection {
    /// Creates a new connection. Its output contains the first bytes to send.
    pub fn new(options: &Options) -> Connection {
        let window = options.window.clamp(FIRST_WINDOW, MAX_31);
        let mut output = FrameOutput::default();
        output.push(PREFACE);
        output.frame(kind::SETTINGS, 0, 0, &own(window));
        if window > FIRST_WINDOW {
            output.number(kind::WINDOW_UPDATE, 0, window - FIRST_WINDOW);
        }
        Connection {
            own: Options { streams: options.streams, window },
            peer: Settings::new(),
            streams: Streams::new(),
            next_id: 1,
            late_up_to: 0,
            unlimited_below: 0,
            output,
            sending: Sending::new(),
            receiving: Receiving::default(),
            credit: Credit::new(window),
            decoder: Decoder::new(TABLE_SIZE as usize, LIST_SIZE as usize),
            resize_due: false,
            goaway: None,
            closing: false,
            broken: None,
        }
    }

    /// Returns how many more exchanges may begin now.
    pub fn room(&self) -> u32 {
        if self.is_draining() {
            return 0;
        }
        let open = u32::try_from(self.streams.open()).unwrap_or(u32::MAX);
        self.own.streams.min(self.peer.streams).saturating_sub(open)
    }

    /// Returns whether no further exchange may begin, though those in flight continue: either side
    /// sent GOAWAY, the connection is broken, or there are no more stream identifiers.
    pub fn is_draining(&self) -> bool {
        self.goaway.is_some() || self.closing || self.broken.is_some() || self.next_id > MAX_31
    }

    /// Returns the error code of the peer's GOAWAY, which is 0 if the peer only wants to close.
    pub fn goaway(&self) -> Option<u32> {
        self.goaway
    }

    /// Returns whether the peer's first frame, SETTINGS, has been read.
    pub fn is_greeted(&self) -> bool {
        self.peer.known
    }

    /// Returns the number of exchanges that wait for the end of their response.
    pub fn in_flight(&self) -> usize {
        self.streams.open()
    }

    /// Returns the exchanges that wait for the end of their response, in no particular order. They
    /// are truncated if the connection ends.
    pub fn tokens(&self) -> impl Iterator<Item = Token> {
        self.streams.iter().map(|stream| stream.token)
    }

    /// Cancels an exchange. No further event of it is reported.
    pub fn cancel(&mut self, token: Token) {
        let id = self.streams.iter().find(|stream| stream.token == token).map(|stream| stream.id);
        if let Some(id) = id {
            self.reset(id, code::CANCEL);
        }
    }

    /// Sends GOAWAY to announce that this side will close, with an error code (RFC 9113, 7; 0 for
    /// no error).
    pub fn goodbye(&mut self, code: u32) {
        if !std::mem::replace(&mut self.closing, true) {
            // The last stream is 0, because no stream of the peer was ever accepted.
            let payload = [[0; 4], code.to_be_bytes()].concat();
            self.output.frame(kind::GOAWAY, 0, 0, &payload);
        }
    }

    /// Resets a stream and returns the token of its exchange.
    pub(super) fn reset(&mut self, id: u32, code: u32) -> Option<Token> {
        let stream = self.streams.remove(id)?;
        self.sending.unqueue(&stream);
        self.late_up_to = self.late_up_to.max(id);
        self.output.reset(id, code);
        Some(stream.token)
    }
}
