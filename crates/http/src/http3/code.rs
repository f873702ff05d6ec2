//! Error codes with which streams are reset and connections closed (RFC 9114, 8.1; RFC 9204, 6).

/// Nothing is wrong; the connection is no longer needed.
pub const NO_ERROR: u64 = 0x100;
/// A stream that the peer may not open.
pub const STREAM_CREATION: u64 = 0x103;
/// A stream ended that the connection cannot do without.
pub const CLOSED_CRITICAL_STREAM: u64 = 0x104;
/// A frame where it may not be.
pub const FRAME_UNEXPECTED: u64 = 0x105;
/// A frame of a wrong length.
pub const FRAME: u64 = 0x106;
/// Work that no response needs.
pub const EXCESSIVE_LOAD: u64 = 0x107;
/// The number of a stream or push that cannot be.
pub const ID: u64 = 0x108;
/// A wrong setting.
pub const SETTINGS: u64 = 0x109;
/// No settings at the start of the control stream.
pub const MISSING_SETTINGS: u64 = 0x10a;
/// The server did nothing with the request, which may be sent again.
pub const REQUEST_REJECTED: u64 = 0x10b;
/// The request or its response is no longer wanted.
pub const REQUEST_CANCELLED: u64 = 0x10c;
/// A response that breaks the rules of HTTP.
pub const MESSAGE: u64 = 0x10e;
/// Fields that cannot be decompressed.
pub const QPACK_DECOMPRESSION_FAILED: u64 = 0x200;
/// The peer's compressor wants to fill a table that is not there.
pub const QPACK_ENCODER_STREAM: u64 = 0x201;
/// The peer's decompressor confirms what was never sent.
pub const QPACK_DECODER_STREAM: u64 = 0x202;

/// From [`NO_ERROR`] on.
const NAMES: [&str; 17] = [
    "H3_NO_ERROR",
    "H3_GENERAL_PROTOCOL_ERROR",
    "H3_INTERNAL_ERROR",
    "H3_STREAM_CREATION_ERROR",
    "H3_CLOSED_CRITICAL_STREAM",
    "H3_FRAME_UNEXPECTED",
    "H3_FRAME_ERROR",
    "H3_EXCESSIVE_LOAD",
    "H3_ID_ERROR",
    "H3_SETTINGS_ERROR",
    "H3_MISSING_SETTINGS",
    "H3_REQUEST_REJECTED",
    "H3_REQUEST_CANCELLED",
    "H3_REQUEST_INCOMPLETE",
    "H3_MESSAGE_ERROR",
    "H3_CONNECT_ERROR",
    "H3_VERSION_FALLBACK",
];

/// The name of an error code, where it has one.
pub fn name_of_code(code: u64) -> Option<&'static str> {
    match code {
        QPACK_DECOMPRESSION_FAILED => Some("QPACK_DECOMPRESSION_FAILED"),
        QPACK_ENCODER_STREAM => Some("QPACK_ENCODER_STREAM_ERROR"),
        QPACK_DECODER_STREAM => Some("QPACK_DECODER_STREAM_ERROR"),
        _ => NAMES.get(usize::try_from(code.checked_sub(NO_ERROR)?).ok()?).copied(),
    }
}
