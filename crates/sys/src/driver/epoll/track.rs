//! The state of one connection's timestamps.

use std::os::fd::OwnedFd;

use crate::stamp;

/// The awaited and the latest timestamp of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Track {
    /// The number of bytes sent on the connection, modulo 2^32 like the numbers in the timestamps.
    pub(super) sent: u32,
    /// The timestamp of the last sent byte has not been read yet.
    pub(super) awaits: bool,
    /// Nothing was received since the last send.
    pub(super) fresh: bool,
    /// The latest timestamp of received bytes, nanoseconds.
    pub(super) latest: u64,
}

/// Enables timestamps for a connection that has been begun. Returns `None` if the kernel refuses,
/// as it does if the connection has already failed. Over loopback it may have failed when the
/// connect call returns.
pub(super) fn track(fd: &OwnedFd) -> Option<Track> {
    stamp::enable(fd).ok().map(|()| Track::default())
}

impl Track {
    /// Records that `count` more bytes are sent.
    pub(super) fn send(&mut self, count: usize) {
        self.sent = self.sent.wrapping_add(count as u32);
        self.awaits = true;
        self.fresh = true;
    }

    /// Returns the number of bytes to receive at once. The timestamp of a receive is that of its
    /// last segment, so that the first byte of a response is received alone to obtain its own.
    pub(super) fn room(&self, buffer: usize) -> usize {
        if self.fresh { 1 } else { buffer }
    }
}
