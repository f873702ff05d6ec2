//! Violations of HTTP/2 by a peer.

use std::fmt;

use super::frame::code;
use crate::hpack;
/// A violation of HTTP/2 after which the rest of the connection has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Http2Violation {
    /// The first bytes are not those of an HTTP/2 server.
    NotHttp2,
    /// A frame of more than 16,384 bytes, the maximum allowed.
    FrameTooLong,
    /// A frame whose length is invalid for its type.
    FrameLength,
    /// A frame on the connection that belongs on a stream, the reverse, or a frame on a server's
    /// stream.
    WrongStream,
    /// A frame on a stream that was never opened.
    IdleStream,
    /// A frame on a stream whose response has ended.
    ClosedStream,
    /// A push, although it was disabled.
    Push,
    /// More padding than the frame is long.
    Padding,
    /// A field block that is interrupted, or continued without having begun.
    Continuation,
    /// A setting with an invalid value.
    Setting,
    /// A WINDOW_UPDATE of 0 bytes.
    EmptyIncrement,
    /// A window of more than 2^31 - 1 bytes.
    WindowOverflow,
    /// More content than the window had room for.
    WindowExceeded,
    /// Fields that cannot be decompressed.
    Compression(hpack::HpackError),
    /// Field sections of more than 256 KiB.
    FieldsTooLong,
    /// A very large number of frames that carry nothing, that require an answer, or that belong to
    /// one field block.
    Flood,
}

impl Http2Violation {
    /// Returns whether the response exceeds a limit of this client that HTTP/2 does not have.
    pub fn is_own_limit(self) -> bool {
        self == Http2Violation::FieldsTooLong
    }

    /// Returns the error code with which to end the connection (RFC 9113, 7).
    pub fn code(self) -> u32 {
        match self {
            Http2Violation::FrameTooLong | Http2Violation::FrameLength => code::FRAME_SIZE,
            Http2Violation::ClosedStream => code::STREAM_CLOSED,
            Http2Violation::WindowOverflow | Http2Violation::WindowExceeded => code::FLOW_CONTROL,
            Http2Violation::Compression(_) => code::COMPRESSION,
            Http2Violation::FieldsTooLong | Http2Violation::Flood => code::ENHANCE_YOUR_CALM,
            _ => code::PROTOCOL,
        }
    }

    /// Returns a short description of the violation.
    pub const fn text(self) -> &'static str {
        match self {
            Http2Violation::NotHttp2 => "the peer's answer is not HTTP/2",
            Http2Violation::FrameTooLong => "frame longer than 16384 bytes",
            Http2Violation::FrameLength => "frame of a length that its type cannot have",
            Http2Violation::WrongStream => "frame on a stream where its type is not allowed",
            Http2Violation::IdleStream => "frame on a stream that was never opened",
            Http2Violation::ClosedStream => "frame on a stream whose response had ended",
            Http2Violation::Push => "push, although it was disabled",
            Http2Violation::Padding => "padding longer than the frame",
            Http2Violation::Continuation => "interrupted block of header fields",
            Http2Violation::Setting => "setting with an invalid value",
            Http2Violation::EmptyIncrement => "window update of 0 bytes",
            Http2Violation::WindowOverflow => "window of more than 2^31 - 1 bytes",
            Http2Violation::WindowExceeded => "more content than the window had room for",
            Http2Violation::Compression(_) => "header fields that cannot be decompressed",
            Http2Violation::FieldsTooLong => "header fields longer than 256 KiB",
            Http2Violation::Flood => "flood of frames that carry next to nothing",
        }
    }
}

impl From<hpack::HpackError> for Http2Violation {
    fn from(error: hpack::HpackError) -> Http2Violation {
        match error {
            hpack::HpackError::TooLong => Http2Violation::FieldsTooLong,
            other => Http2Violation::Compression(other),
        }
    }
}

impl fmt::Display for Http2Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

impl std::error::Error for Http2Violation {}
