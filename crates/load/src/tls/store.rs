//! Session tickets. Each worker has a store for each endpoint, so that no family sees tickets of
//! another.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;

/// Maximum number of tickets kept for an endpoint, the newest ones. Each may be used once (RFC
/// 8446, C.4).
const MOST: usize = 256;

/// The sessions of one endpoint. Only the thread of its worker uses it, so the lock that the
/// library's interface requires is never contended.
#[derive(Default)]
pub(super) struct Store {
    kept: Mutex<Kept>,
    taken: AtomicBool,
}

#[derive(Default)]
struct Kept {
    group: Option<NamedGroup>,
    tls12: Option<Tls12ClientSessionValue>,
    tls13: VecDeque<Tls13ClientSessionValue>,
}

impl Store {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if a session was taken since the last call.
    pub(super) fn was_taken(&self) -> bool {
        self.taken.swap(false, Ordering::Relaxed)
    }

    fn taking<T>(&self, found: Option<T>) -> Option<T> {
        self.taken.fetch_or(found.is_some(), Ordering::Relaxed);
        found
    }
}

impl std::fmt::Debug for Store {
    /// Omits the tickets, with which the sessions could be decrypted.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

impl ClientSessionStore for Store {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        self.kept().group = Some(group);
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        self.kept().group
    }

    fn set_tls12_session(&self, _: ServerName<'static>, session: Tls12ClientSessionValue) {
        self.kept().tls12 = Some(session);
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        let session = self.kept().tls12.clone();
        self.taking(session)
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        self.kept().tls12 = None;
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        let mut kept = self.kept();
        if kept.tls13.len() == MOST {
            kept.tls13.pop_front();
        }
        kept.tls13.push_back(ticket);
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        let ticket = self.kept().tls13.pop_back();
        self.taking(ticket)
    }
}

/// The same store for handshakes that must be full. It accepts what they receive but returns
/// nothing, not even a hint of the group to use, which a first-time visitor does not have either.
#[derive(Debug)]
pub(super) struct WriteOnlyStore(pub(super) Arc<Store>);

impl ClientSessionStore for WriteOnlyStore {
    fn set_kx_hint(&self, name: ServerName<'static>, group: NamedGroup) {
        self.0.set_kx_hint(name, group);
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        None
    }

    fn set_tls12_session(&self, name: ServerName<'static>, session: Tls12ClientSessionValue) {
        self.0.set_tls12_session(name, session);
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        None
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {}

    fn insert_tls13_ticket(&self, name: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        self.0.insert_tls13_ticket(name, ticket);
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        None
    }
}
