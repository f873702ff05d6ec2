//! HTTP/1.1, HTTP/2 and HTTP/3 as a client speaks them: state machines that are given bytes and give
//! events back, and what they share (URLs, redirects, cookies, compressed fields).
//!
//! No socket, no TLS, no clock, and nothing of a run, its plan or its figures belongs here.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod cookies;
pub mod hpack;
pub mod http1;
pub mod http2;
pub mod http3;
pub mod observer;
mod qpack;
pub mod redirect;
pub mod semantics;
pub mod url;
mod version;

pub use version::HttpVersion;
