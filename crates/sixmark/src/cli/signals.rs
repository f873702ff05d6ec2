//! Signals that end a command early, and its exit status in that case.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sixmark_document::provenance::Ended;

use sixmark_sys::command_error::CommandError;
use sixmark_sys::command_error::INTERRUPTED;

/// Returns a flag that SIGINT, SIGTERM and SIGHUP set. A SIGINT or SIGTERM more than a second after
/// the first signal ends the process at once.
///
/// # Errors
/// The kernel does not accept a signal handler. The message is one line.
pub(super) fn stop_flag() -> Result<Arc<AtomicBool>, CommandError> {
    sixmark_sys::ending::flag()
        .map_err(|error| CommandError::Measure(format!("can't watch for signals: {error}")))
}

/// Returns the exit status of a command that has written its results. `done` is the status that it
/// has otherwise; an interruption by a signal takes precedence over it.
pub(super) fn status_after(
    ended: Ended,
    done: Result<u8, CommandError>,
) -> Result<u8, CommandError> {
    match (ended, done) {
        (Ended::Interrupted, Ok(_)) => Ok(INTERRUPTED),
        (Ended::Interrupted, Err(CommandError::Measure(line))) => {
            Err(CommandError::Interrupted(line))
        }
        (_, done) => done,
    }
}
