//! What HTTP/2 and HTTP/3 have in common: the same requests and responses, framed differently
//! (RFC 9113, 8; RFC 9114, 4).

pub(crate) mod known;
pub(crate) mod request;
pub(crate) mod response;
