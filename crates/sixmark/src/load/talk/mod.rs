//! What is spoken on a connection.

mod http3;

use std::collections::VecDeque;

use sixmark_core::http1::Reader;
use sixmark_core::http2;

use super::places::Place;
pub(super) use http3::Http3;

/// The state of a connection's protocol.
#[derive(Debug)]
pub(super) enum Talk {
    Http1(Http1),
    Http2(Box<Http2>),
    Http3(Box<Http3>),
}

/// One exchange after the other.
#[derive(Debug, Default)]
pub(super) struct Http1 {
    pub(super) reader: Reader,
    /// The exchange on it, where there is one.
    pub(super) place: Place,
}

/// Several exchanges at once.
#[derive(Debug)]
pub(super) struct Http2 {
    pub(super) machine: http2::Connection,
    /// Exchanges that the peer has no room for yet, or that wait for the connection.
    pub(super) waiting: VecDeque<Place>,
}

impl Http2 {
    pub(super) fn new(streams: u32) -> Http2 {
        let options = http2::Options { streams, ..http2::Options::default() };
        Http2 { machine: http2::Connection::new(&options), waiting: VecDeque::new() }
    }
}

impl Default for Talk {
    fn default() -> Talk {
        Talk::Http1(Http1::default())
    }
}
