//! Violations of HTTP/3 by a peer.

use std::fmt;

use super::code;
use crate::hpack;
/// A violation of HTTP/3 for which the connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Http3Violation {
    /// A frame on a stream, or at a place in it, where its type is not allowed.
    UnexpectedFrame,
    /// A frame that is cut off by the end of its stream, or whose length is invalid for its type.
    FrameLength,
    /// A second control stream, or a second QPACK stream of a kind.
    SecondStream,
    /// A bidirectional stream opened by the server: only clients may open request streams.
    ServerRequest,
    /// The end of the control stream or of a QPACK stream.
    CriticalStream,
    /// A push, which was never allowed.
    Push,
    /// A GOAWAY whose number is not that of a request stream, or is higher than in the GOAWAY
    /// before.
    Goaway,
    /// A setting of HTTP/2, or a repeated setting.
    Setting,
    /// A control stream that does not begin with SETTINGS.
    NoSettings,
    /// Fields that cannot be decompressed.
    Compression(hpack::HpackError),
    /// An instruction to fill a dynamic table, which does not exist.
    EncoderStream,
    /// An acknowledgement of fields that required none.
    DecoderStream,
    /// A field section of more than 256 KiB.
    FieldsTooLong,
    /// A very large number of frames or settings that carry nothing.
    Flood,
}

impl Http3Violation {
    /// Returns whether the response exceeds a limit of this client that HTTP/3 does not have.
    pub fn is_own_limit(self) -> bool {
        self == Http3Violation::FieldsTooLong
    }

    /// Returns the error code with which to close the connection.
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

    /// Returns a short description of the violation.
    pub fn text(self) -> &'static str {
        match self {
            Http3Violation::UnexpectedFrame => "frame where its type is not allowed",
            Http3Violation::FrameLength => "frame of an invalid length",
            Http3Violation::SecondStream => "second stream of a type that must be unique",
            Http3Violation::ServerRequest => "stream for requests opened by the server",
            Http3Violation::CriticalStream => {
                "end of a stream that the connection cannot do without"
            }
            Http3Violation::Push => "push, although none was allowed",
            Http3Violation::Goaway => "GOAWAY with an invalid number",
            Http3Violation::Setting => "setting that is repeated or of HTTP/2",
            Http3Violation::NoSettings => "control stream without settings",
            Http3Violation::Compression(_) => "header fields that cannot be decompressed",
            Http3Violation::EncoderStream => {
                "instruction to fill a dynamic table that does not exist"
            }
            Http3Violation::DecoderStream => "acknowledgement of fields that required none",
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
