//! The stamps that the kernel gives one connection: the one it waits for, and the latest one.

use std::os::fd::OwnedFd;

use crate::stamp;

/// Where a connection is with its stamps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Track {
    /// Bytes that were to be sent on it, modulo 2^32: so are the numbers in the stamps.
    pub(super) sent: u32,
    /// The stamp of the last one has not come yet.
    pub(super) awaits: bool,
    /// Nothing was received since the last send.
    pub(super) fresh: bool,
    /// The latest one, nanoseconds.
    pub(super) latest: u64,
}

/// Asks for stamps of a connection that was begun. None where they are refused, as they are to one
/// that has failed already: over loopback that is so when the connect call returns.
pub(super) fn track(fd: &OwnedFd) -> Option<Track> {
    stamp::enable(fd).ok().map(|()| Track::default())
}

impl Track {
    /// That many bytes more are to be sent.
    pub(super) fn send(&mut self, count: usize) {
        self.sent = self.sent.wrapping_add(count as u32);
        self.awaits = true;
        self.fresh = true;
    }

    /// How many bytes to receive at once: a stamp is that of the last segment received from, so the
    /// first byte of a response is received alone to have its own.
    pub(super) fn room(&self, buffer: usize) -> usize {
        if self.fresh { 1 } else { buffer }
    }
}
