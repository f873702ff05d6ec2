//! Frames of HTTP/2, read and written by hand so that the tests share nothing with what they test.

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const ACK: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A frame as it came.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) id: u32,
    /// What the head says of the payload's length.
    pub(crate) length: usize,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    pub(crate) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The number that begins so many bytes behind the payload's start.
    pub(crate) fn number(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }
}

pub(crate) fn frame(kind: u8, flags: u8, id: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &id.to_be_bytes(), payload].concat()
}

/// One way of a connection, cut into frames.
#[derive(Debug, Default)]
pub(crate) struct Frames(Vec<u8>);

impl Frames {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Takes the client's first bytes off.
    pub(crate) fn preface(&mut self) {
        assert_eq!(&self.0[..PREFACE.len()], PREFACE, "no preface");
        self.0.drain(..PREFACE.len());
    }

    pub(crate) fn next(&mut self) -> Option<Frame> {
        let frame = self.peek()?;
        (frame.payload.len() == frame.length).then(|| self.0.drain(..9 + frame.length));
        (frame.payload.len() == frame.length).then_some(frame)
    }

    /// The next frame, its payload perhaps not whole.
    pub(crate) fn peek(&self) -> Option<Frame> {
        let &[a, b, c, kind, flags, ref id @ ..] = self.0.first_chunk::<9>()?;
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        let until = self.0.len().min(9 + length);
        let payload = self.0[9..until].to_vec();
        Some(Frame { kind, flags, id: u32::from_be_bytes(*id), length, payload })
    }
}
