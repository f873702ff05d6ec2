//! What is spoken on a connection.

mod http3;

use std::collections::VecDeque;

use sixmark_http::http1::Reader;
use sixmark_http::http2;

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

impl Talk {
    /// One exchange after the other, where the peer agrees to that.
    pub(super) fn http10() -> Talk {
        Talk::Http1(Http1 { reader: Reader::of_http10(), ..Http1::default() })
    }

    /// Exchanges that wait for the connection, or for the peer to have room for them.
    pub(super) fn waiting(&mut self) -> Option<&mut VecDeque<Place>> {
        match self {
            Talk::Http1(_) => None,
            Talk::Http2(talk) => Some(&mut talk.waiting),
            Talk::Http3(talk) => Some(&mut talk.waiting),
        }
    }

    /// True where no more exchanges may begin, though those in flight go on.
    pub(super) fn is_draining(&self) -> bool {
        match self {
            Talk::Http1(_) => false,
            Talk::Http2(talk) => talk.machine.is_draining(),
            Talk::Http3(talk) => talk.control.goaway().is_some(),
        }
    }

    /// True where the peer said so.
    pub(super) fn said_goaway(&self) -> bool {
        match self {
            Talk::Http1(_) => false,
            Talk::Http2(talk) => talk.machine.goaway().is_some(),
            Talk::Http3(talk) => talk.control.goaway().is_some(),
        }
    }

    /// Why the peer takes no more exchanges, as far as it has said: HTTP/3 has no word for it.
    pub(super) fn goaway_code(&self) -> u64 {
        match self {
            Talk::Http1(_) | Talk::Http3(_) => 0,
            Talk::Http2(talk) => talk.machine.goaway().map_or(0, u64::from),
        }
    }

    /// Gives up one exchange of several.
    pub(super) fn cancel(&mut self, place: Place) {
        if let Some(waiting) = self.waiting()
            && let Some(at) = waiting.iter().position(|&waiting| waiting == place)
        {
            waiting.remove(at);
            return;
        }
        match self {
            Talk::Http1(_) => {}
            Talk::Http2(talk) => talk.machine.cancel(place),
            Talk::Http3(talk) => talk.cancel(place),
        }
    }
}

impl Default for Talk {
    fn default() -> Talk {
        Talk::Http1(Http1::default())
    }
}
