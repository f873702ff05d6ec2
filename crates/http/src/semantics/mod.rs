//! What HTTP/2 and HTTP/3 share: the same requests and responses, framed differently (RFC 9113, 8;
//! RFC 9114, 4).

/// The largest head or trailer section that is read, in bytes. This is a limit of sixmark, not of
/// HTTP: curl, nginx and Node accept between 8 and 300 KiB, and cookies rarely reach 16 KiB.
pub(crate) const MAX_HEAD: usize = 256 * 1024;

pub(crate) mod known;
pub mod request;
pub(crate) mod response;
