//! What is spoken on a connection.

use sixmark_core::http1::Reader;

use super::places::Place;

/// The state of a connection's protocol.
#[derive(Debug)]
pub(super) enum Talk {
    Http1(Http1),
}

/// One exchange after the other.
#[derive(Debug, Default)]
pub(super) struct Http1 {
    pub(super) reader: Reader,
    /// The exchange on it, where there is one.
    pub(super) place: Place,
}

impl Default for Talk {
    fn default() -> Talk {
        Talk::Http1(Http1::default())
    }
}
