//! The server's side of HTTP/2, by hand: it keeps to no rule unless a test does.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;

/// `:status: 200`, from HPACK's own table.
pub(super) const OK: &[u8] = &[0x88];

const PREFACE: usize = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".len();

/// A frame, well-formed or not.
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A setting in the payload of SETTINGS.
pub(super) fn setting(name: u16, value: u32) -> Vec<u8> {
    [&name.to_be_bytes()[..], &value.to_be_bytes()].concat()
}

/// The payload of GOAWAY.
pub(super) fn goaway(last: u32, code: u32) -> Vec<u8> {
    [last.to_be_bytes(), code.to_be_bytes()].concat()
}

/// A client, as a server sees it. What can't be said to it any more is not said.
pub(super) struct Peer(TcpStream);

impl Peer {
    pub(super) fn new(stream: TcpStream) -> Peer {
        Peer(stream)
    }

    /// Reads the client's preface; to be done once.
    pub(super) fn preface(&mut self) {
        let _ = self.0.read_exact(&mut [0; PREFACE]);
    }

    /// Says this; false where the client has gone.
    pub(super) fn say(&mut self, bytes: &[u8]) -> bool {
        self.0.write_all(bytes).is_ok()
    }

    /// Begins as every server does.
    pub(super) fn greet(&mut self) {
        self.preface();
        self.say(&frame(SETTINGS, 0, 0, &[]));
    }

    /// The next frame: its kind, flags and stream. None where the client has gone.
    pub(super) fn next(&mut self) -> Option<(u8, u8, u32)> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).ok()?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.0.read_exact(&mut payload).ok()?;
        Some((kind, flags, u32::from_be_bytes(stream)))
    }

    /// The stream of the next request.
    pub(super) fn request(&mut self) -> Option<u32> {
        loop {
            if let (HEADERS, _, stream) = self.next()? {
                return Some(stream);
            }
        }
    }

    /// Answers with a status and nothing else.
    pub(super) fn answer(&mut self, stream: u32) -> bool {
        self.say(&frame(HEADERS, END_HEADERS | END_STREAM, stream, OK))
    }

    /// Reads until the client goes.
    pub(super) fn listen(&mut self) {
        while self.next().is_some() {}
    }

    /// Says that nothing more comes. It goes on reading: an end with something unread is a reset.
    pub(super) fn end(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
        self.listen();
    }

    /// Says the same for ever, whatever the client says meanwhile.
    pub(super) fn repeat(&mut self, bytes: &[u8]) {
        let mut other = Peer(self.0.try_clone().unwrap());
        std::thread::spawn(move || other.listen());
        let many = bytes.repeat(100);
        while self.say(&many) {}
    }
}
