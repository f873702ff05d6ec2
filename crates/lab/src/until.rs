//! Waiting for what programs of a lab do to its network.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::service::Services;
use sixmark_machine::CommandError;

/// BGP among four routers takes one second, everything else less.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// Waits until nothing is lacking, and says how long that took. None where it was to stop.
///
/// # Errors
/// A program ended, something is lacking for too long, or it can't be told.
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
