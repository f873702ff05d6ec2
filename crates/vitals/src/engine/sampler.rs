//! Sampling at an interval.

use sixmark_document::provenance::Ended;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::VitalsSample;

use super::sources::Sources;
use sixmark_sys::command_error::CommandError;

/// The interval at which `stop` is checked.
const LOOK: Duration = Duration::from_millis(50);

/// How sampling ended.
#[derive(Clone, Copy, Debug)]
pub struct SamplingEnd {
    /// The reason.
    pub why: Ended,
    /// Samples that were skipped because the one before them took too long.
    pub missed: u64,
}

/// Takes a sample at once and then at each interval, until `stop` is set or the duration is over. A
/// last sample follows then, which includes the sockets.
///
/// # Errors
/// Returns an error if the kernel's counters can no longer be read, or the error of `see`.
pub fn every(
    sources: &mut Sources,
    interval: Duration,
    duration: Option<Duration>,
    stop: &AtomicBool,
    mut see: impl FnMut(VitalsSample) -> Result<(), CommandError>,
) -> Result<SamplingEnd, CommandError> {
    let began = Instant::now();
    let end = duration.map(|duration| began + duration);
    let (mut number, mut missed) = (0_u32, 0);
    loop {
        let is_last = stop.load(Ordering::Relaxed) || end.is_some_and(|end| Instant::now() >= end);
        if is_last {
            sources.want_all();
        }
        let sample = sources.sample().map_err(|error| {
            CommandError::Measure(format!("can't read kernel counters any longer: {error}"))
        })?;
        see(sample)?;
        if is_last {
            let interrupted = duration.is_some() && stop.load(Ordering::Relaxed);
            let why = if interrupted { Ended::Interrupted } else { Ended::Complete };
            return Ok(SamplingEnd { why, missed });
        }
        // Samples whose time has passed are skipped, so that the others are taken on time.
        let due = |number: u32| began + interval * number;
        number += 1;
        while due(number) <= Instant::now() {
            number += 1;
            missed += 1;
        }
        wait_until(end.map_or(due(number), |end| end.min(due(number))), stop);
    }
}

fn wait_until(until: Instant, stop: &AtomicBool) {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || stop.load(Ordering::Relaxed) {
            return;
        }
        std::thread::sleep(left.min(LOOK));
    }
}
