//! System calls that the kernel refuses to a thread and to the programs that it starts (seccomp(2)),
//! as containers and hardened services do. For tests of what a program does without them.

use std::io;

use libc::sock_filter;

use crate::check_return;

/// A system call, or the calls of it that have a certain argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedCall {
    /// The number of the system call (`libc::SYS_…`).
    pub number: libc::c_long,
    /// The index of an argument, 0 to 5, and the value of its lower 32 bits with which the call is
    /// refused. `None` refuses each call.
    pub only: Option<(u8, u32)>,
    /// The error that the call fails with.
    pub errno: u16,
}

/// Lets these calls fail from now on, in the calling thread and in what it starts. This cannot be
/// undone. It does not check the architecture: a call by another architecture's number is allowed.
///
/// # Errors
/// Returns an error if the kernel has no seccomp.
pub fn refuse_calls(refused: &[RefusedCall]) -> io::Result<()> {
    let filter = filter_of(refused);
    let program = libc::sock_fprog { len: filter.len() as _, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the option takes numbers alone. It lets an unprivileged thread set a filter.
    check_return(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    // SAFETY: `program` points to `len` instructions, which the kernel copies and checks.
    let set =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    check_return(set).map(drop)
}

/// The offsets in seccomp_data of the call's number and of its first argument (little-endian).
const NUMBER: u32 = 0;
const ARGUMENTS: u32 = 16;

/// Returns a program of classic BPF: a section for each call, then "allow".
fn filter_of(refused: &[RefusedCall]) -> Vec<sock_filter> {
    let load = |offset| instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0);
    let leave = |value| instruction(libc::BPF_RET | libc::BPF_K, value, 0);
    let skip_unless =
        |value, count| instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, count);
    let mut filter = Vec::new();
    for call in refused {
        let refusal = leave(libc::SECCOMP_RET_ERRNO | u32::from(call.errno));
        filter.push(load(NUMBER));
        match call.only {
            None => filter.extend([skip_unless(call.number as u32, 1), refusal]),
            Some((index, value)) => filter.extend([
                skip_unless(call.number as u32, 3),
                load(ARGUMENTS + 8 * u32::from(index)),
                skip_unless(value, 1),
                refusal,
            ]),
        }
    }
    filter.push(leave(libc::SECCOMP_RET_ALLOW));
    filter
}

/// An instruction; `else_skip` is the number of instructions that a comparison skips if it fails.
fn instruction(code: u32, k: u32, else_skip: u8) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: else_skip, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the error of setpriority(2) with the caller's own priority, for `which`.
    fn call(which: libc::c_int) -> Option<i32> {
        // SAFETY: the call takes numbers alone.
        let done = unsafe { libc::setpriority(which as _, 0, 19) };
        (done < 0).then(|| io::Error::last_os_error().raw_os_error().unwrap())
    }

    #[test]
    fn refuses_a_system_call_always_or_for_one_argument_value() {
        let refused = |only| RefusedCall { number: libc::SYS_setpriority, only, errno: 95 };
        let in_a_thread = |refused: Vec<RefusedCall>| {
            let work = move || {
                refuse_calls(&refused).unwrap();
                (call(libc::PRIO_PROCESS as _), call(77))
            };
            std::thread::spawn(work).join().unwrap()
        };
        assert_eq!(in_a_thread(vec![refused(None)]), (Some(95), Some(95)));
        assert_eq!(in_a_thread(vec![refused(Some((0, 77)))]), (None, Some(95)));
        assert_eq!(in_a_thread(vec![]), (None, Some(libc::EINVAL)));
    }
}
