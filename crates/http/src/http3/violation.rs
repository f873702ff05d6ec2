//! What a peer can do wrong.

use std::fmt;

use super::code;
use crate::hpack;
/// A breach of HTTP/3 for which the connection is to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Violation {
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
    Compression(hpack::Error),
    /// An instruction to fill a table of fields that is not there.
    EncoderStream,
    /// An acknowledgement of fields that needed none.
    DecoderStream,
    /// A section of fields of more than 256 KiB.
    FieldsTooLong,
    /// Very many frames or settings that carry nothing.
    Flood,
}

impl Violation {
    /// True if the response exceeds a limit that this side sets and HTTP/3 does not have.
    pub fn is_own_limit(self) -> bool {
        self == Violation::FieldsTooLong
    }

    /// The error code with which to close the connection.
    pub fn code(self) -> u64 {
        match self {
            Violation::UnexpectedFrame => code::FRAME_UNEXPECTED,
            Violation::FrameLength => code::FRAME,
            Violation::SecondStream | Violation::ServerRequest => code::STREAM_CREATION,
            Violation::CriticalStream => code::CLOSED_CRITICAL_STREAM,
            Violation::Push | Violation::Goaway => code::ID,
            Violation::Setting => code::SETTINGS,
            Violation::NoSettings => code::MISSING_SETTINGS,
            Violation::Compression(_) => code::QPACK_DECOMPRESSION_FAILED,
            Violation::EncoderStream => code::QPACK_ENCODER_STREAM,
            Violation::DecoderStream => code::QPACK_DECODER_STREAM,
            Violation::FieldsTooLong | Violation::Flood => code::EXCESSIVE_LOAD,
        }
    }

    /// What is wrong, in a few words.
    pub fn text(self) -> &'static str {
        match self {
            Violation::UnexpectedFrame => "frame where its type cannot be",
            Violation::FrameLength => "frame of a wrong length",
            Violation::SecondStream => "second stream of a type that comes once",
            Violation::ServerRequest => "stream for requests opened by the server",
            Violation::CriticalStream => "end of a stream that the connection cannot do without",
            Violation::Push => "push, though none was allowed",
            Violation::Goaway => "GOAWAY with a number that it cannot have",
            Violation::Setting => "setting that cannot be",
            Violation::NoSettings => "control stream without settings",
            Violation::Compression(_) => "header fields that cannot be decompressed",
            Violation::EncoderStream => "instruction to fill a table of fields that is not there",
            Violation::DecoderStream => "acknowledgement of fields that needed none",
            Violation::FieldsTooLong => "header fields longer than 256 KiB",
            Violation::Flood => "flood of frames that carry nothing",
        }
    }
}

impl From<hpack::Error> for Violation {
    fn from(error: hpack::Error) -> Violation {
        match error {
            hpack::Error::TooLong => Violation::FieldsTooLong,
            other => Violation::Compression(other),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

impl std::error::Error for Violation {}
