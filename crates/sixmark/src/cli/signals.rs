//! Signals that end a command with what it has so far, and the exit status of what they ended.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sixmark_document::provenance::Ended;

use sixmark_sys::command_error::CommandError;
use sixmark_sys::command_error::INTERRUPTED;

/// A flag that SIGINT, SIGTERM and SIGHUP set. A SIGINT or SIGTERM more than a second after the first
/// signal ends the process at once.
///
/// # Errors
/// In one line: the kernel takes no handler.
pub(super) fn stop_flag() -> Result<Arc<AtomicBool>, CommandError> {
    sixmark_sys::ending::flag()
        .map_err(|error| CommandError::Measure(format!("can't watch for signals: {error}")))
}

/// The exit status of a command that has written what it has, where `done` is that of one that went on
/// to its end: what a signal cut short is that before all else.
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
