//! Resources that this process has used.

use serde::{Deserialize, Serialize};

/// Processor time and memory of the whole process since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Processor time in user mode, seconds.
    pub user_s: f64,
    /// Processor time in the kernel, seconds.
    pub system_s: f64,
    /// The peak of resident memory, bytes.
    pub peak_rss_bytes: u64,
}

impl Usage {
    /// Returns the processor time, in seconds.
    pub fn cpu_s(self) -> f64 {
        self.user_s + self.system_s
    }

    /// Returns the processor time used since `before`, with the current peak of memory.
    pub fn since(self, before: Usage) -> Usage {
        let (user_s, system_s) = (self.user_s - before.user_s, self.system_s - before.system_s);
        Usage { user_s, system_s, ..self }
    }
}

/// Returns the resources that this process has used so far.
pub fn usage() -> Usage {
    // SAFETY: rusage is a struct of integers, for which all zeros is a valid value.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `used` is a valid rusage that the call may write.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut used) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Usage {
        user_s: seconds(used.ru_utime),
        system_s: seconds(used.ru_stime),
        peak_rss_bytes: peak_rss_kib().unwrap_or(used.ru_maxrss as u64) * 1024,
    }
}

/// Returns the processor time that this process has used so far, in microseconds. Cheaper than
/// [`usage`], which also reads a file.
pub fn processor_us() -> u64 {
    // SAFETY: rusage is a struct of integers, for which all zeros is a valid value.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `used` is a valid rusage that the call may write.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut used) };
    let us = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    us(used.ru_utime) + us(used.ru_stime)
}

/// Returns the peak memory of this program alone. `ru_maxrss` survives exec, so that it may be the
/// peak of the program that started this one (proc_pid_status(5), VmHWM).
fn peak_rss_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
