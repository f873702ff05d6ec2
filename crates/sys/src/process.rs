//! Other programs: started so that they end with this one, waited for with their resource usage,
//! and stopped by their process id.

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::check_return;
pub use inhabitants::{kill_processes_in, processes_in};
pub use place::{Account, Place, lead_among};
pub use stack_filter::StackFilter;

mod inhabitants;
mod place;
mod stack_filter;

/// A running program. It is stopped and reaped when this value is dropped.
#[derive(Debug)]
pub struct Running {
    pid: libc::pid_t,
    /// A descriptor that becomes readable when the program has ended (pidfd_open(2)).
    file: OwnedFd,
    exit: Option<Exit>,
}

/// The exit status and the resource usage of a program, including its children that it waited for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exit {
    /// The exit status.
    pub status: ExitStatus,
    /// Processor time in user mode, seconds.
    pub user_s: f64,
    /// Processor time in the kernel, seconds.
    pub system_s: f64,
}

/// The time that a dropped program has to end before it is killed.
const PATIENCE: Duration = Duration::from_secs(5);

impl Running {
    /// Starts a program in a process group of its own, so that a Ctrl-C at the terminal does not
    /// reach it.
    ///
    /// The kernel sends it SIGTERM when the calling **thread** ends, for whatever reason. Call this
    /// in the main thread, or in one that outlives the program.
    ///
    /// # Errors
    /// Returns an error if the program cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Running> {
        command.process_group(0);
        end_with_this_thread(command);
        let child = command.spawn()?;
        // std does not wait for the child, so that `reap` can read its usage. The id remains valid
        // until then.
        let pid = child.id() as libc::pid_t;
        match open_pidfd(pid) {
            Ok(file) => Ok(Running { pid, file, exit: None }),
            Err(error) => {
                signal(pid, libc::SIGKILL);
                let _ = reap(pid);
                Err(error)
            }
        }
    }

    /// Starts a program in another place: another network namespace, other mounts and, if wanted,
    /// an account that has no rights over either.
    ///
    /// # Errors
    /// Returns an error if the program cannot be started, or not in that place.
    pub fn start_in(command: &mut Command, place: &Place<'_>) -> io::Result<Running> {
        place.lead(command)?;
        Running::start(command)
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.pid as u32
    }

    /// Waits until the program has ended, for at most `most`. Returns `None` if it still runs.
    ///
    /// # Errors
    /// Returns an error if the kernel cannot report the state of the program.
    pub fn wait(&mut self, most: Duration) -> io::Result<Option<Exit>> {
        if self.exit.is_none() && self.has_ended(most)? {
            // Kills the rest of the process group first. The group id remains valid until the
            // leader is reaped.
            signal(-self.pid, libc::SIGKILL);
            self.exit = Some(reap(self.pid)?);
        }
        Ok(self.exit)
    }

    /// Sends SIGTERM and waits. Kills the program and its process group if it has not ended after
    /// `patience`.
    ///
    /// # Errors
    /// Returns an error if the kernel cannot report how the program ended.
    pub fn stop(&mut self, patience: Duration) -> io::Result<Exit> {
        if let Some(exit) = self.exit {
            return Ok(exit);
        }
        signal(self.pid, libc::SIGTERM);
        let end = Instant::now() + patience;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if let Some(exit) = self.wait(left)? {
                return Ok(exit);
            }
            if left.is_zero() {
                signal(-self.pid, libc::SIGKILL);
                signal(self.pid, libc::SIGKILL);
                let exit = reap(self.pid)?;
                self.exit = Some(exit);
                return Ok(exit);
            }
        }
    }

    /// Waits until the program has ended, for at most `most`, and leaves its process group alone. Returns
    /// whether it has.
    ///
    /// # Errors
    /// Returns an error if the kernel cannot report the state of the program.
    pub fn has_ended(&self, most: Duration) -> io::Result<bool> {
        let mut poll = libc::pollfd { fd: self.file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let milliseconds = i32::try_from(most.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: `poll` is one valid pollfd that the call may write; the descriptor is open.
        match check_return(unsafe { libc::poll(&mut poll, 1, milliseconds) }) {
            Ok(ready) => Ok(ready > 0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // There is nowhere to report a failure.
        let _ = self.stop(PATIENCE);
    }
}

/// Starts a program in a session of its own. It continues when this process and its terminal are
/// gone.
///
/// # Errors
/// Returns an error if the program cannot be started.
pub fn start_apart(command: &mut Command) -> io::Result<std::process::Child> {
    let apart = || {
        // SAFETY: setsid takes no arguments.
        check_return(unsafe { libc::setsid() }).map(drop)
    };
    // SAFETY: the closure makes one system call, which is safe in a signal handler.
    unsafe { command.pre_exec(apart) };
    command.spawn()
}

/// Makes the kernel send SIGTERM to the program when the thread that starts it ends.
fn end_with_this_thread(command: &mut Command) {
    let parent = std::process::id();
    let ask = move || {
        let term: libc::c_ulong = libc::SIGTERM as libc::c_ulong;
        // SAFETY: this prctl takes a number and no pointers.
        check_return(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, term) })?;
        // If the parent has ended before the call, no signal will ever be sent.
        // SAFETY: getppid takes no arguments and always succeeds.
        match unsafe { libc::getppid() } as u32 == parent {
            true => Ok(()),
            false => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        }
    };
    // SAFETY: between fork and exec the closure makes only system calls that are async-signal-safe.
    // It does not allocate and takes no lock.
    unsafe { command.pre_exec(ask) };
}

fn open_pidfd(pid: libc::pid_t) -> io::Result<OwnedFd> {
    let flags: libc::c_uint = 0;
    // SAFETY: pidfd_open takes two numbers; it returns a new descriptor or -1.
    let file = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, flags) };
    let file = check_return(file as libc::c_int)?;
    // SAFETY: the kernel has just opened `file` for this call, and nothing else closes it.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// Sends a signal to a process that has not been reaped, or to a group whose leader has not been
/// reaped.
fn signal(pid: libc::pid_t, number: libc::c_int) {
    // A process that has already ended needs no signal.
    // SAFETY: kill takes two numbers; the id is that of a child not yet reaped, or of its group.
    unsafe { libc::kill(pid, number) };
}

/// Waits for a child to end and returns its status and usage.
fn reap(pid: libc::pid_t) -> io::Result<Exit> {
    let mut status = 0;
    // SAFETY: rusage is a struct of integers, for which all zeros is a valid value.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: `status` and `used` are valid for the call to write.
        match check_return(unsafe { libc::wait4(pid, &mut status, 0, &mut used) }) {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Ok(Exit {
        status: ExitStatus::from_raw(status),
        user_s: seconds(used.ru_utime),
        system_s: seconds(used.ru_stime),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(text: &str) -> Running {
        Running::start(Command::new("sh").args(["-c", text])).unwrap()
    }

    #[test]
    fn reports_exit_status_and_processor_time_of_a_program() {
        let mut running = sh("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 3");
        let exit = running.wait(Duration::from_secs(60)).unwrap().unwrap();
        assert_eq!(exit.status.code(), Some(3));
        assert!(exit.user_s + exit.system_s > 0.0);
        assert_eq!(running.stop(Duration::ZERO).unwrap(), exit, "it has ended already");
    }

    #[test]
    fn kills_a_program_that_ignores_sigterm_with_its_children() {
        let folder = std::env::temp_dir().join(format!("sixmark-process-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let said = folder.join("pid");
        let text = format!("trap '' TERM; sleep 1000 & echo $! >{}; wait; wait", said.display());
        let mut running = sh(&text);
        let child = loop {
            match std::fs::read_to_string(&said) {
                Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
                _ => assert_eq!(running.wait(Duration::from_millis(5)).unwrap(), None),
            }
        };
        let exit = running.stop(Duration::from_millis(50)).unwrap();
        assert_eq!(exit.status.signal(), Some(libc::SIGKILL));
        let stat = || std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        while !(stat().is_empty() || stat().contains(") Z ")) {
            std::thread::yield_now();
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_program_ends_with_the_thread_that_started_it() {
        let mut running = std::thread::spawn(|| sh("exec sleep 1000")).join().unwrap();
        let exit = running.wait(Duration::from_secs(60)).unwrap().unwrap();
        assert_eq!(exit.status.signal(), Some(libc::SIGTERM));
    }

    #[test]
    fn reports_a_program_that_does_not_exist() {
        let error = Running::start(&mut Command::new("/no/such/program")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
