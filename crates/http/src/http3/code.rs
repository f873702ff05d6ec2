//! Error codes to reset streams and to close connections (RFC 9114, 8.1; RFC 9204, 6).

/// No error; the connection is no longer needed.
pub const NO_ERROR: u64 = 0x100;
/// The peer opened a stream that it must not open.
pub const STREAM_CREATION: u64 = 0x103;
/// A stream that the connection requires has ended.
pub const CLOSED_CRITICAL_STREAM: u64 = 0x104;
/// A frame is not allowed where it occurred.
pub const FRAME_UNEXPECTED: u64 = 0x105;
/// A frame has an invalid length.
pub const FRAME: u64 = 0x106;
/// The peer causes work that no response needs.
pub const EXCESSIVE_LOAD: u64 = 0x107;
/// The identifier of a stream or push is invalid.
pub const ID: u64 = 0x108;
/// A setting is invalid.
pub const SETTINGS: u64 = 0x109;
/// The control stream does not begin with SETTINGS.
pub const MISSING_SETTINGS: u64 = 0x10a;
/// The server did not process the request, which may be sent again.
pub const REQUEST_REJECTED: u64 = 0x10b;
/// The request or its response is no longer wanted.
pub const REQUEST_CANCELLED: u64 = 0x10c;
/// A response breaks the rules of HTTP.
pub const MESSAGE: u64 = 0x10e;
/// Fields cannot be decompressed.
pub const QPACK_DECOMPRESSION_FAILED: u64 = 0x200;
/// The peer's encoder sent an instruction that is invalid without a dynamic table.
pub const QPACK_ENCODER_STREAM: u64 = 0x201;
/// The peer's decoder acknowledged what was never sent.
pub const QPACK_DECODER_STREAM: u64 = 0x202;

/// The names of the codes from [`NO_ERROR`] on.
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

/// Returns the name of an error code, if it has one.
pub fn name_of_code(code: u64) -> Option<&'static str> {
    match code {
        QPACK_DECOMPRESSION_FAILED => Some("QPACK_DECOMPRESSION_FAILED"),
        QPACK_ENCODER_STREAM => Some("QPACK_ENCODER_STREAM_ERROR"),
        QPACK_DECODER_STREAM => Some("QPACK_DECODER_STREAM_ERROR"),
        _ => NAMES.get(usize::try_from(code.checked_sub(NO_ERROR)?).ok()?).copied(),
    }
}
