//! Other programs: started so that they end when this one does, waited for with what they used, and
//! stopped by their id.

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::check_return;
pub use place::{Account, Place, lead_among};

mod place;

/// A program that runs. It is stopped and reaped when dropped.
#[derive(Debug)]
pub struct Running {
    pid: libc::pid_t,
    /// Becomes readable when it has ended (pidfd_open(2)).
    file: OwnedFd,
    exit: Option<Exit>,
}

/// How a program ended, and what it and its own children that it waited for used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exit {
    /// How it ended.
    pub status: ExitStatus,
    /// Processor time in user mode, seconds.
    pub user_s: f64,
    /// Processor time in the kernel, seconds.
    pub system_s: f64,
}

/// How long a program that is dropped may take to end before it is killed.
const PATIENCE: Duration = Duration::from_secs(5);

impl Running {
    /// Starts a program in a process group of its own, so that a Ctrl-C meant for this one is not
    /// meant for it.
    ///
    /// The kernel ends it (SIGTERM) when the calling **thread** ends, however that happens: call this
    /// in the main thread, or in one that outlives the program.
    ///
    /// # Errors
    /// It can't be started.
    pub fn start(command: &mut Command) -> io::Result<Running> {
        command.process_group(0);
        end_with_this_thread(command);
        let child = command.spawn()?;
        // Not waited for by std, so that its usage can be had: the id stays its own until `reap`.
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

    /// Starts it somewhere else: in a network namespace, with the mounts of another, as an account
    /// that has no rights over either.
    ///
    /// # Errors
    /// It can't be started, or not there.
    pub fn start_in(command: &mut Command, place: &Place<'_>) -> io::Result<Running> {
        place.lead(command)?;
        Running::start(command)
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.pid as u32
    }

    /// Waits until it has ended, at most so long. None where it goes on.
    ///
    /// # Errors
    /// The kernel can't say.
    pub fn wait(&mut self, most: Duration) -> io::Result<Option<Exit>> {
        if self.exit.is_none() && self.has_ended(most)? {
            // What it left behind in its group goes first: the group is its own until it is reaped.
            signal(-self.pid, libc::SIGKILL);
            self.exit = Some(reap(self.pid)?);
        }
        Ok(self.exit)
    }

    /// Asks it to end, and kills it and its group where it has not after `patience`.
    ///
    /// # Errors
    /// The kernel can't say how it ended.
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

    fn has_ended(&self, most: Duration) -> io::Result<bool> {
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
        // There is nobody to tell where even this fails.
        let _ = self.stop(PATIENCE);
    }
}

/// Starts a program in a session of its own: it goes on when this process and its terminal are gone.
///
/// # Errors
/// It can't be started.
pub fn start_apart(command: &mut Command) -> io::Result<std::process::Child> {
    let apart = || {
        // SAFETY: setsid takes nothing.
        check_return(unsafe { libc::setsid() }).map(drop)
    };
    // SAFETY: the closure makes one system call, which is safe in a signal handler.
    unsafe { command.pre_exec(apart) };
    command.spawn()
}

/// Has the kernel send SIGTERM when the thread that starts it ends.
fn end_with_this_thread(command: &mut Command) {
    let parent = std::process::id();
    let ask = move || {
        let term: libc::c_ulong = libc::SIGTERM as libc::c_ulong;
        // SAFETY: this prctl takes a number and no pointers.
        check_return(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, term) })?;
        // Had the parent ended before, nobody would send anything any more.
        // SAFETY: getppid takes nothing and always succeeds.
        match unsafe { libc::getppid() } as u32 == parent {
            true => Ok(()),
            false => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        }
    };
    // SAFETY: between fork and exec the closure makes system calls alone that are safe in a signal
    // handler; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(ask) };
}

fn open_pidfd(pid: libc::pid_t) -> io::Result<OwnedFd> {
    let flags: libc::c_uint = 0;
    // SAFETY: pidfd_open takes two numbers; it returns a new descriptor or -1.
    let file = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, flags) };
    let file = check_return(file as libc::c_int)?;
    // SAFETY: `file` was just opened by the kernel for us, and nobody else closes it.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// To a process that has not been reaped, or to a group whose leader has not.
fn signal(pid: libc::pid_t, number: libc::c_int) {
    // One that has ended already needs no signal.
    // SAFETY: kill takes two numbers; the id is that of a child not yet reaped, or of its group.
    unsafe { libc::kill(pid, number) };
}

/// Waits for a child to end.
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
    fn a_program_tells_how_it_ended_and_what_it_used() {
        let mut running = sh("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 3");
        let exit = running.wait(Duration::from_secs(60)).unwrap().unwrap();
        assert_eq!(exit.status.code(), Some(3));
        assert!(exit.user_s + exit.system_s > 0.0);
        assert_eq!(running.stop(Duration::ZERO).unwrap(), exit, "it has ended already");
    }

    #[test]
    fn one_that_does_not_heed_is_killed_with_its_children() {
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
    fn it_ends_with_the_thread_that_started_it() {
        let mut running = std::thread::spawn(|| sh("exec sleep 1000")).join().unwrap();
        let exit = running.wait(Duration::from_secs(60)).unwrap().unwrap();
        assert_eq!(exit.status.signal(), Some(libc::SIGTERM));
    }

    #[test]
    fn what_is_not_there_can_not_be_started() {
        let error = Running::start(&mut Command::new("/no/such/program")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
