//! What HTTP/2 and HTTP/3 have in common: the same requests and responses, framed differently
//! (RFC 9113, 8; RFC 9114, 4).

/// The most that is read of a response's head, or of its trailers: a limit of this side's, not of HTTP's.
/// What curl, nginx and Node accept lies between 8 and 300 KiB; cookies rarely reach 16 KiB.
pub(crate) const MAX_HEAD: usize = 256 * 1024;

pub(crate) mod known;
pub mod request;
pub(crate) mod response;
