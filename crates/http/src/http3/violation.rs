//! What a peer can do wrong.

use std::fmt;

use super::code;
use crate::hpack;
/// A breach of HTTP/3 for which the connection is to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Http3Violation {
    /// A frame on a stream, or at a place of it, where its type may not be.
    UnexpectedFrame,
    /// A frame that ends with its stream, or whose length is not one that its type has.
    FrameLength,
    /// A second control stream, or a second stream of QPACK.
    SecondStream,
    /// A stream for requests, which only clients make.
    ServerRequest,
    /// The end of the control stream or of one of QPACK.
    CriticalStream,
    /// A push, which was never allowed.
    Push,
    /// A GOAWAY with a number that cannot be a request's, or one higher than before.
    Goaway,
    /// A setting of HTTP/2, or one that is there twice.
    Setting,
    /// A control stream that doesn't begin with settings.
    NoSettings,
    /// Fields that cannot be decompressed.
    Compression(hpack::HpackError),
    /// An instruction to fill a table of fields that is not there.
    EncoderStream,
    /// An acknowledgement of fields that needed none.
    DecoderStream,
    /// A section of fields of more than 256 KiB.
    FieldsTooLong,
    /// Very many frames or settings that carry nothing.
    Flood,
}

impl Http3Violation {
    /// True if the response exceeds a limit that this side sets and HTTP/3 does not have.
    pub fn is_own_limit(self) -> bool {
        self == Http3Violation::FieldsTooLong
    }

    /// The error code with which to close the connection.
    pub fn code(self) -> u64 {
        match self {
            Http3Violation::UnexpectedFrame => code::FRAME_UNEXPECTED,
            Http3Violation::FrameLength => code::FRAME,
            Http3Violation::SecondStream | Http3Violation::ServerRequest => code::STREAM_CREATION,
            Http3Violation::CriticalStream => code::CLOSED_CRITICAL_STREAM,
            Http3Violation::Push | Http3Violation::Goaway => code::ID,
            Http3Violation::Setting => code::SETTINGS,
            Http3Violation::NoSettings => code::MISSING_SETTINGS,
            Http3Violation::Compression(_) => code::QPACK_DECOMPRESSION_FAILED,
            Http3Violation::EncoderStream => code::QPACK_ENCODER_STREAM,
            Http3Violation::DecoderStream => code::QPACK_DECODER_STREAM,
            Http3Violation::FieldsTooLong | Http3Violation::Flood => code::EXCESSIVE_LOAD,
        }
    }

    /// What is wrong, in a few words.
    pub fn text(self) -> &'static str {
        match self {
            Http3Violation::UnexpectedFrame => "frame where its type cannot be",
            Http3Violation::FrameLength => "frame of a wrong length",
            Http3Violation::SecondStream => "second stream of a type that comes once",
            Http3Violation::ServerRequest => "stream for requests opened by the server",
            Http3Violation::CriticalStream => {
                "end of a stream that the connection cannot do without"
            }
            Http3Violation::Push => "push, though none was allowed",
            Http3Violation::Goaway => "GOAWAY with a number that it cannot have",
            Http3Violation::Setting => "setting that cannot be",
            Http3Violation::NoSettings => "control stream without settings",
            Http3Violation::Compression(_) => "header fields that cannot be decompressed",
            Http3Violation::EncoderStream => {
                "instruction to fill a table of fields that is not there"
            }
            Http3Violation::DecoderStream => "acknowledgement of fields that needed none",
            Http3Violation::FieldsTooLong => "header fields longer than 256 KiB",
            Http3Violation::Flood => "flood of frames that carry nothing",
        }
    }
}

impl From<hpack::HpackError> for Http3Violation {
    fn from(error: hpack::HpackError) -> Http3Violation {
        match error {
            hpack::HpackError::TooLong => Http3Violation::FieldsTooLong,
            other => Http3Violation::Compression(other),
        }
    }
}

impl fmt::Display for Http3Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

impl std::error::Error for Http3Violation {}
