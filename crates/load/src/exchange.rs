//! A request and its response, as a worker tracks them.

use sixmark_http::observer::Token;
use sixmark_sys::driver::Slot;
use sixmark_tally::outcome::FailurePhase;

use crate::pauses::PauseSums;

/// The number of a concurrency slot, which is the right to have one exchange in flight. On a
/// connection with several exchanges it is also the exchange's token.
pub(super) type ConcurrencySlot = Token;

/// One request and its response. Times are in nanoseconds of the driver's clock.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    /// The connection that carries it, or that is being opened for it.
    pub(super) slot: Slot,
    /// Its phase, valid once its connection is established.
    pub(super) phase: FailurePhase,
    /// True if it started during the measurement, so that it counts.
    pub(super) counted: bool,
    /// The time at which it was due. `None` in a closed loop.
    pub(super) due: Option<u64>,
    /// True if no concurrency slot or no connection was free when it was due.
    pub(super) was_queued: bool,
    pub(super) start: u64,
    /// The time at which the last byte of the request was handed to the kernel.
    pub(super) sent: u64,
    /// The time at which the first byte of the response was received. An interim response does not
    /// count once its head is complete.
    pub(super) first: Option<u64>,
    /// When the first byte of the TLS record was received that [`first`](Exchange::first) completed;
    /// without TLS, `first` itself. Valid if there is a first byte.
    pub(super) arrived: u64,
    /// How long before [`first`](Exchange::first) the kernel had received that byte, or bytes after
    /// it that were read together with it, in nanoseconds. `None` unless the connection is one of
    /// those with timestamps.
    pub(super) late: Option<u64>,
    /// The pauses within the response so far. Most responses have none: a larger exchange would take
    /// longer to copy.
    pub(super) paused: Option<Box<PauseSums>>,
    /// The number of complete interim responses, and the time at which the first byte of the first
    /// one was received.
    pub(super) interims: u8,
    pub(super) interim: Option<u64>,
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
    /// Records the first byte of the response, which ends the wait and had arrived `late`
    /// nanoseconds before, if that is known. The bytes of its TLS record began to arrive at
    /// `arrived`.
    pub(super) fn note_first(&mut self, at: u64, late: Option<u64>, arrived: Option<u64>) {
        if self.first.is_some() {
            return;
        }
        self.arrived = arrived.unwrap_or(at);
        (self.first, self.late) = (Some(at), late);
        match self.phase {
            // The response began before the request was sent completely, so there is no wait.
            FailurePhase::Send => self.sent = at,
            _ => self.phase = FailurePhase::Transfer,
        }
    }

    /// Records that what began at `first`, or at `at` if that is unset, was an interim response.
    pub(super) fn note_interim(&mut self, at: u64) {
        self.interims = self.interims.saturating_add(1);
        let first = self.take_back_first().unwrap_or(at);
        self.interim.get_or_insert(first);
    }

    /// Records that `count` interim responses are complete by `at`. With `goes_on`, the bytes
    /// received at that time are also those of what follows them.
    #[cold]
    pub(super) fn note_interims(&mut self, count: u8, goes_on: bool, at: u64, late: Option<u64>) {
        while self.interims < count {
            self.note_interim(at);
        }
        if goes_on {
            self.note_first(at, late, None);
        } else {
            self.take_back_first();
        }
    }

    /// Continues the wait, because the response has not begun after all.
    fn take_back_first(&mut self) -> Option<u64> {
        if self.phase == FailurePhase::Transfer {
            self.phase = FailurePhase::Wait;
        }
        self.paused = None;
        self.first.take()
    }

    /// Returns true if any byte of a response was received, even if of an interim one.
    pub(super) fn has_response(&self) -> bool {
        self.first.is_some() || self.interims > 0
    }

    /// Forgets what was received, because the request is sent again: it does not belong to the new
    /// response.
    pub(super) fn start_over(&mut self) {
        self.phase = FailurePhase::Send;
        (self.first, self.interim, self.interims) = (None, None, 0);
        self.paused = None;
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

// What is at most so large is copied without a call of memcpy.
const _: () = assert!(size_of::<Exchange>() <= 128);
