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
