//! The outcome of an exchange that failed with an error number of the kernel.

use libc::{
    EADDRINUSE, EADDRNOTAVAIL, ECONNABORTED, ECONNREFUSED, ECONNRESET, EHOSTDOWN, EHOSTUNREACH,
    ENETDOWN, ENETUNREACH, EPIPE, ETIMEDOUT,
};
use sixmark_tally::outcome::{FailurePhase, Outcome};

/// Returns the outcome of an exchange that ended with `errno` in `phase`.
pub(super) fn outcome(errno: i32, phase: FailurePhase) -> Outcome {
    match errno {
        ECONNREFUSED => Outcome::Refused,
        ECONNRESET | EPIPE | ECONNABORTED => Outcome::Reset,
        ETIMEDOUT => Outcome::Timeout,
        ENETUNREACH | EHOSTUNREACH | ENETDOWN | EHOSTDOWN => Outcome::Unreachable,
        EADDRNOTAVAIL | EADDRINUSE if phase == FailurePhase::Connect => Outcome::NoPort,
        _ => Outcome::Local,
    }
}
