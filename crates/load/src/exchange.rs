//! A request and its response, as a worker follows them.

use sixmark_http::observer::Token;
use sixmark_record::outcome::FailurePhase;
use sixmark_sys::driver::Slot;

/// The number of a permit, the right to have one exchange in flight; with several exchanges on a connection it is the exchange's token there.
pub(super) type Permit = Token;

/// One request and its response. Times are the driver's nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    /// The connection that it is on, or that is being opened for it.
    pub(super) slot: Slot,
    /// Where it has come to, once its connection is established.
    pub(super) phase: FailurePhase,
    /// Begun during the measurement, so that it counts.
    pub(super) counted: bool,
    /// When it was to start, in an open loop.
    pub(super) due: Option<u64>,
    /// It was due while no permit was free.
    pub(super) waited: bool,
    pub(super) start: u64,
    /// When the request's last byte was handed to the kernel.
    pub(super) sent: u64,
    /// When the response's first byte came.
    pub(super) first: Option<u64>,
    /// How often a peer did nothing with it.
    pub(super) tries: u8,
    /// A redirect led to it.
    pub(super) followed: bool,
    /// The number of the plan's request that it sends, and how long that is, in bytes, where it is
    /// sent without TLS over HTTP/1.1.
    pub(super) request: u32,
    pub(super) length: u64,
}

impl Exchange {
    /// The response's first byte ends the wait.
    pub(super) fn note_first(&mut self, at: u64) {
        if self.first.is_some() {
            return;
        }
        self.first = Some(at);
        match self.phase {
            // A response before the request's end: there was no wait.
            FailurePhase::Send => self.sent = at,
            _ => self.phase = FailurePhase::Transfer,
        }
    }

    /// The request's last byte was handed over.
    pub(super) fn note_sent(&mut self, at: u64) {
        // A response that has begun already was not waited for.
        self.phase = if self.first.is_some() { FailurePhase::Transfer } else { FailurePhase::Wait };
        if self.first.is_none() {
            self.sent = at;
        }
    }
}
