//! The state shared by all connections to one address, and that shared by all requests of one
//! connection.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use super::Limits;
use super::pause::Pauses;
use super::queue::Queue;

/// A listening address, over TCP and optionally over UDP.
pub(super) struct Place {
    /// The pauses during which responses are held.
    pub(super) pauses: Pauses,
    /// The queue of `/capacity` requests at this address.
    pub(super) queue: Queue,
    /// The limits of a connection.
    pub(super) limits: Limits,
    /// The TLS acceptor of TCP connections; `None` for plain text.
    pub(super) tls: Option<TlsAcceptor>,
}

/// The state of a connection.
pub(super) struct Session {
    /// The client's address.
    pub(super) peer: SocketAddr,
    pub(super) place: Arc<Place>,
    ending: OnceLock<Ending>,
    requests: AtomicU64,
    enough: Notify,
}

/// How to end a connection once all bytes passed to it so far are in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// With a FIN: the client reads the end of the stream.
    Finish,
    /// With a RST: the client's read fails with ECONNRESET.
    Reset,
}

impl Session {
    pub(super) fn new(peer: SocketAddr, place: &Arc<Place>) -> Self {
        Session {
            peer,
            place: Arc::clone(place),
            ending: OnceLock::new(),
            requests: AtomicU64::new(0),
            enough: Notify::new(),
        }
    }

    /// Ends the connection at the next flush. If called again, the first call applies.
    pub(super) fn end(&self, ending: Ending) {
        let _ = self.ending.set(ending);
    }

    /// Returns how the connection is to end, or `None` if it is to continue.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.ending.get().copied()
    }

    /// Counts a request. Returns true if the connection has reached its limit of requests.
    pub(super) fn count(&self) -> bool {
        let Some(most) = self.place.limits.goaway_after else { return false };
        let count = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        if count == most {
            self.enough.notify_one();
        }
        count >= most
    }

    /// Waits until the connection has reached its limit of requests.
    pub(super) async fn enough(&self) {
        self.enough.notified().await;
    }
}
