//! What a connection sends that is made anew each time: through TLS, or by a machine of HTTP/2.

use sixmark_sys::driver::Message;

use super::places::Place;
use crate::tls::Session;

/// The way of bytes out of a connection, and of what comes in through TLS.
#[derive(Debug, Default)]
pub(super) struct Outlet {
    pub(super) tls: Option<Box<Session>>,
    /// To be handed to the driver, as the peer gets them.
    pub(super) bytes: Vec<u8>,
    /// The driver has not told yet that the last bytes are sent.
    pub(super) busy: bool,
    /// It is on the list of those that have something to send.
    pub(super) touched: bool,
    /// Exchanges whose request ends in what was handed over last, or will be next.
    pub(super) leaving: Vec<Place>,
    /// A request that is not encrypted yet from this byte on.
    pub(super) message: Option<(Message, usize)>,
    /// The peer ended the connection: what is sent now nobody reads.
    pub(super) ended: bool,
    /// When anything came last.
    pub(super) heard: u64,
}

impl Outlet {
    /// No longer wants to know when an exchange's request has left.
    pub(super) fn forget(&mut self, place: Place) {
        self.leaving.retain(|&leaving| leaving != place);
    }
}
