//! Waiting for the effects of programs on the network of a lab.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::service::Services;
use sixmark_sys::command_error::CommandError;

/// The maximum time to wait. BGP among four routers takes one second, everything else less.
const PATIENCE: Duration = Duration::from_secs(30);
/// The interval between two checks.
const LOOK: Duration = Duration::from_millis(10);

/// Waits until `lacking` returns `None`, and returns how long that took. `lacking` describes what
/// is still missing. Returns `None` if `stop` was set first.
///
/// # Errors
/// Fails if a program has ended, if something is still missing after the maximum time, or if the
/// check fails.
pub(super) fn until(
    programs: &mut Services,
    stop: &AtomicBool,
    mut lacking: impl FnMut() -> Result<Option<String>, CommandError>,
) -> Result<Option<Duration>, CommandError> {
    let begin = Instant::now();
    loop {
        let Some(what) = lacking()? else { return Ok(Some(begin.elapsed())) };
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        programs.check()?;
        if begin.elapsed() > PATIENCE {
            let after = PATIENCE.as_secs();
            return Err(CommandError::Measure(format!(
                "can't build the lab: after {after} s {what}"
            )));
        }
        std::thread::sleep(LOOK);
    }
}
