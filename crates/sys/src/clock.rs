//! The clocks.

/// Nanoseconds of CLOCK_MONOTONIC: the same for all threads, never set back.
#[inline]
pub fn now() -> u64 {
    read_clock(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds of CLOCK_REALTIME since 1970, which anybody may set: to make sense of the kernel's
/// stamps, and of those of another host.
pub fn real() -> u64 {
    read_clock(libc::CLOCK_REALTIME)
}

fn read_clock(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec that the call may write; both clocks always exist.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Has the kernel wake this thread as close to the times it waits for as its timers can: threads
/// begin with 50 us that the kernel may add to save wake-ups (prctl(2), PR_SET_TIMERSLACK).
pub fn wake_precisely() {
    let slack_ns: libc::c_ulong = 1;
    // A kernel that refuses leaves wake-ups late, which is measured.
    // SAFETY: this prctl takes a number and no pointers.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, slack_ns) };
}
