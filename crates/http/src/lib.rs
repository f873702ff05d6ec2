//! HTTP/1.1, HTTP/2 and HTTP/3 as spoken by a client: state machines that take bytes and return
//! events, and what the versions share (URLs, redirects, cookies, field compression).
//!
//! This crate contains no socket, TLS or clock, and it knows no run, Plan or metric. Begin with
//! [`http1::ResponseReader`]; [`http2`] and [`http3`] report their exchanges to an
//! [`observer::Observer`].

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
