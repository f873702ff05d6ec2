//! A request and its response, as a worker tracks them.

use sixmark_http::observer::Token;
use sixmark_record::outcome::FailurePhase;
use sixmark_sys::driver::Slot;

/// The number of a permit, which is the right to have one exchange in flight. On a connection with
/// several exchanges it is also the exchange's token.
pub(super) type Permit = Token;

/// One request and its response. Times are in nanoseconds of the driver's clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    /// The connection that carries it, or that is being opened for it.
    pub(super) slot: Slot,
    /// Its phase, valid once its connection is established.
    pub(super) phase: FailurePhase,
    /// True if it started during the measurement, so that it counts.
    pub(super) counted: bool,
    /// The time at which it was due. `None` in a closed loop.
    pub(super) due: Option<u64>,
    /// True if no permit or no connection was free when it was due.
    pub(super) waited: bool,
    pub(super) start: u64,
    /// The time at which the last byte of the request was handed to the kernel.
    pub(super) sent: u64,
    /// The time at which the first byte of the response was received.
    pub(super) first: Option<u64>,
    /// The number of times that a peer left the request unprocessed.
    pub(super) tries: u8,
    /// True if a redirect led to it.
    pub(super) followed: bool,
    /// The number of its request in the plan, and the length of that request in bytes. The length
    /// is set only for HTTP/1.1 without TLS.
    pub(super) request: u32,
    pub(super) length: u64,
}

impl Exchange {
    /// Records the first byte of the response, which ends the wait.
    pub(super) fn note_first(&mut self, at: u64) {
        if self.first.is_some() {
            return;
        }
        self.first = Some(at);
        match self.phase {
            // The response began before the request was sent completely, so there is no wait.
            FailurePhase::Send => self.sent = at,
            _ => self.phase = FailurePhase::Transfer,
        }
    }

    /// Records that the last byte of the request was handed over.
    pub(super) fn note_sent(&mut self, at: u64) {
        // If the response has already begun, there is no wait.
        self.phase = if self.first.is_some() { FailurePhase::Transfer } else { FailurePhase::Wait };
        if self.first.is_none() {
            self.sent = at;
        }
    }
}
