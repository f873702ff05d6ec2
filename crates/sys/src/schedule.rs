//! The scheduling policy of threads.

use std::io;

use crate::check_return;

/// Gives the calling thread the policy SCHED_FIFO (sched(7)), so that it runs as soon as it is
/// ready and before every thread of the default policy. Threads and processes that it starts have
/// the default policy.
///
/// # Errors
/// Returns an error if CAP_SYS_NICE and RLIMIT_RTPRIO do not allow it, or if the control group has
/// no real-time budget.
pub fn at_once(priority: u8) -> io::Result<()> {
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    set_policy(policy, priority.into())
}

/// Has the kernel run this thread only on cores that no other thread wants (SCHED_IDLE): its wakeups
/// preempt nobody, and it still gets a small share of a core that is busy all the time.
///
/// # Errors
/// The kernel refuses.
pub fn run_when_idle() -> io::Result<()> {
    set_policy(libc::SCHED_IDLE, 0)
}

/// Sets the policy of the calling thread. musl's sched_setscheduler(2) always fails, because POSIX
/// means a process by it and Linux a thread. So the system call is made without it.
fn set_policy(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    // SAFETY: The kernel's sched_param is one int, which the call only reads; 0 is the calling
    // thread.
    let done =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) };
    check_return(done as libc::c_int).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the calling thread's policy as a number: field 41 of proc_pid_stat(5).
    fn policy() -> String {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let behind_the_name = stat.rsplit(')').next().unwrap();
        behind_the_name.split_whitespace().nth(41 - 3).unwrap().to_owned()
    }

    #[test]
    fn the_policy_applies_to_one_thread_and_is_not_inherited() {
        let of_both = || match at_once(1) {
            Ok(()) => [policy(), std::thread::spawn(policy).join().unwrap()],
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
                ["1", "0"].map(str::to_owned)
            }
        };
        assert_eq!(std::thread::spawn(of_both).join().unwrap(), ["1", "0"]);
        assert_eq!(policy(), "0");
    }
}
