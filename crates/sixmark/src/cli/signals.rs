//! Signals that end a command with what it has so far.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::Error;

/// A flag that SIGINT, SIGTERM and SIGHUP set. A second SIGINT or SIGTERM ends the process at once.
///
/// # Errors
/// In one line: the kernel takes no handler.
pub(super) fn stop_flag() -> Result<Arc<AtomicBool>, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let register = || -> std::io::Result<()> {
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_default(signal, Arc::clone(&stop))?;
            flag::register(signal, Arc::clone(&stop))?;
        }
        // A terminal that is gone may be told of twice, by the kernel and by a shell. nohup(1) and
        // those who start a daemon have it ignored.
        if !is_ignored(SIGHUP) {
            flag::register(SIGHUP, Arc::clone(&stop))?;
        }
        Ok(())
    };
    register().map_err(|error| Error::Measure(format!("can't watch for signals: {error}")))?;
    Ok(stop)
}

/// True where the process was started with a signal ignored (proc_pid_status(5)).
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find_map(|line| line.strip_prefix("SigIgn:")).is_some_and(|mask| {
        u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask >> (signal - 1) & 1 == 1)
    })
}
