//! System clocks and timer slack.

/// Returns the time of CLOCK_MONOTONIC in nanoseconds. The clock is common to all threads and is
/// never set back.
#[inline]
pub fn now() -> u64 {
    read_clock(libc::CLOCK_MONOTONIC)
}

/// Returns the time of CLOCK_REALTIME in nanoseconds since 1970. The clock may be set at any time.
/// It serves to interpret the timestamps of the kernel and of other hosts.
pub fn real() -> u64 {
    read_clock(libc::CLOCK_REALTIME)
}

fn read_clock(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec that the call may write; both clocks always exist.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sets the timer slack of the calling thread to the minimum, so that the kernel wakes it as close
/// to its deadlines as the timers allow. A thread starts with a slack of 50 us, by which the kernel
/// may delay a wake-up to save wake-ups (prctl(2), PR_SET_TIMERSLACK).
pub fn wake_precisely() {
    let slack_ns: libc::c_ulong = 1;
    // If the kernel refuses, wake-ups are late. That lateness is measured.
    // SAFETY: this prctl takes a number and no pointers.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, slack_ns) };
}
