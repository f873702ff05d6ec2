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
    let priority = libc::sched_param { sched_priority: priority.into() };
    // SAFETY: `priority` is a valid sched_param that the call only reads; 0 is the calling thread.
    check_return(unsafe { libc::sched_setscheduler(0, policy, &raw const priority) }).map(drop)
}

/// Has the kernel run this thread only on cores that no other thread wants (SCHED_IDLE): its wakeups
/// preempt nobody, and it still gets a small share of a core that is busy all the time.
///
/// # Errors
/// The kernel refuses.
pub fn run_when_idle() -> io::Result<()> {
    let none = libc::sched_param { sched_priority: 0 };
    // SAFETY: thread 0 is the caller, and the parameter is read only.
    check_return(unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const none) })
        .map(drop)
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
    fn it_is_the_threads_own_and_not_inherited() {
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
