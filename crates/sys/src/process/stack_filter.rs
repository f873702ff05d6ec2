//! Programs without the stack of an address family: socket(2) fails as on a kernel that was built without it.
//!
//! Linux has no switch for that by network namespace, and a host without an address of a family still has the
//! family: programs that need IPv4 for their own loopback work there. The filter is one of seccomp(2). It does not
//! see sockets that io_uring opens, and not those of 32-bit programs.

use std::io;

use sixmark_units::family::Family;

use crate::check_return;

/// The number of this machine's architecture in seccomp's data (linux/audit.h); 0 if it is not known here.
const ARCHITECTURE: u32 = if cfg!(target_arch = "x86_64") {
    0xc000_003e
} else if cfg!(target_arch = "aarch64") {
    0xc000_00b7
} else {
    0
};

/// The offsets in seccomp's data (struct seccomp_data): the number of the call, the architecture, and the
/// first argument, whose lower half comes first.
const NUMBER: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;

/// A filter that lets socket(2) fail with EAFNOSUPPORT for one family.
#[derive(Clone, Copy, Debug)]
pub struct StackFilter {
    program: [libc::sock_filter; 8],
}

const fn load(at: u32) -> libc::sock_filter {
    let code = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    libc::sock_filter { code, jt: 0, jf: 0, k: at }
}

/// Goes on if the loaded value is `value`, else skips `otherwise` instructions.
const fn expect(value: u32, otherwise: u8) -> libc::sock_filter {
    let code = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    libc::sock_filter { code, jt: 0, jf: otherwise, k: value }
}

const fn answer(value: u32) -> libc::sock_filter {
    libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: value }
}

impl StackFilter {
    /// Creates the filter of programs without the stack of a family.
    pub const fn without(family: Family) -> StackFilter {
        let domain = match family {
            Family::Ipv6 => libc::AF_INET6,
            Family::Ipv4 => libc::AF_INET,
        };
        StackFilter {
            program: [
                load(ARCHITECTURE_AT),
                // Calls of another architecture, as of 32-bit programs, have other numbers.
                expect(ARCHITECTURE, 5),
                load(NUMBER),
                expect(libc::SYS_socket as u32, 3),
                load(FIRST_ARGUMENT),
                expect(domain as u32, 1),
                answer(libc::SECCOMP_RET_ERRNO | libc::EAFNOSUPPORT as u32),
                answer(libc::SECCOMP_RET_ALLOW),
            ],
        }
    }

    /// Applies the filter to the calling thread and the programs that it starts, for good. It makes system
    /// calls alone and may be called between fork and exec.
    ///
    /// # Errors
    /// Returns an error if the thread has no privilege in its user namespace, the kernel no seccomp, or the
    /// machine is neither x86-64 nor AArch64.
    pub fn apply(&self) -> io::Result<()> {
        if ARCHITECTURE == 0 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut program = self.program;
        let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
        let mode: libc::c_ulong = libc::SECCOMP_MODE_FILTER as libc::c_ulong;
        // SAFETY: the kernel copies the program, which lives until the call returns.
        check_return(unsafe { libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const filter) })
            .map(drop)
    }
}
