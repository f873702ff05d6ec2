//! What the connections to one address share, and what the requests of one connection do.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use super::Limits;
use super::pause::Pauses;
use super::queue::Queue;

/// An address that is listened on, over TCP and perhaps over UDP.
pub(super) struct Place {
    /// When answers are held.
    pub(super) pauses: Pauses,
    /// The line at this address.
    pub(super) queue: Queue,
    /// How much a connection may ask for.
    pub(super) limits: Limits,
    /// Makes TLS of what is accepted over TCP; plain text without.
    pub(super) tls: Option<TlsAcceptor>,
}

/// One connection.
pub(super) struct Session {
    /// The client's address, as the kernel gave it to accept.
    pub(super) peer: SocketAddr,
    pub(super) place: Arc<Place>,
    ending: OnceLock<Ending>,
    requests: AtomicU64,
    enough: Notify,
}

/// How a connection ends once the bytes handed to it so far are in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// With a FIN: the client reads the end of the stream.
    Finish,
    /// With a RST: the client reads ECONNRESET.
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

    /// Ends the connection at the next flush. The first call decides.
    pub(super) fn end(&self, ending: Ending) {
        let _ = self.ending.set(ending);
    }

    /// How it is to end, where that is decided.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.ending.get().copied()
    }

    /// Counts a request; true where it is the last that the connection is to carry, or comes after.
    pub(super) fn count(&self) -> bool {
        let Some(most) = self.place.limits.goaway_after else { return false };
        let count = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        if count == most {
            self.enough.notify_one();
        }
        count >= most
    }

    /// Waits until the connection has carried as many requests as it is to.
    pub(super) async fn enough(&self) {
        self.enough.notified().await;
    }
}
