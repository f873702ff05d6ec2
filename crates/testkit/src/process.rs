//! Programs that a test starts and that end with it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{DEADLINE, signal};

/// The interval between two checks of a condition that cannot be waited for.
const LOOK: Duration = Duration::from_millis(2);

/// A running program. It is stopped and reaped when this value is dropped.
pub struct Process {
    child: Child,
    said: PathBuf,
}

/// Creates a command for a program by its name. The search path includes the folders of daemons.
pub fn program(name: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(name);
    command.env("PATH", format!("{path}:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin"));
    command
}

impl Process {
    /// Starts `command` with standard error redirected to a file in `dir`. `package` is the Debian
    /// package that contains the program. `skip` is the name that skips its tests in
    /// `SIXMARK_SKIP`.
    pub fn start(command: &mut Command, dir: &Path, package: &str, skip: &str) -> Process {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let said = dir.join(format!("said.{}", COUNT.fetch_add(1, Ordering::Relaxed)));
        let child = command.stdin(Stdio::null()).stderr(File::create(&said).unwrap()).spawn();
        let child = child.unwrap_or_else(|error| {
            let name = command.get_program().display();
            panic!(
                "can't start {name} ({error}): install the Debian package {package}, or leave \
                 these tests out with SIXMARK_SKIP={skip}"
            )
        });
        Process { child, said }
    }

    /// Returns its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Polls until `ready` returns true. Returns false if the program ended before.
    pub fn wait_until(&mut self, ready: impl FnMut() -> bool) -> bool {
        Process::wait_for_all(std::slice::from_mut(self), ready)
    }

    /// Waits like [`Process::wait_until`] until the program has written `words` to standard error.
    pub fn wait_until_it_says(&mut self, words: &str) -> bool {
        let file = self.said.clone();
        self.wait_until(|| fs::read_to_string(&file).is_ok_and(|said| said.contains(words)))
    }

    /// Waits like [`Process::wait_until`] for several programs. Returns false if any of them ended.
    pub fn wait_for_all(all: &mut [Process], mut ready: impl FnMut() -> bool) -> bool {
        let start = Instant::now();
        while !ready() {
            if all.iter_mut().any(Process::has_ended) {
                return false;
            }
            let said = || all.iter().map(Process::said).collect::<String>();
            assert!(start.elapsed() < DEADLINE, "not ready in time: {}", said());
            sleep(LOOK);
        }
        !all.iter_mut().any(Process::has_ended)
    }

    /// Returns what the program has written to standard error.
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.said).unwrap_or_default()).into_owned()
    }

    /// Sends the signal `by` to the program and waits until it has ended.
    pub fn stop(&mut self, by: &str) {
        if self.has_ended() {
            return;
        }
        signal(self.child.id(), by);
        let start = Instant::now();
        while !self.has_ended() {
            if start.elapsed() > DEADLINE {
                let _ = self.child.kill();
            }
            sleep(LOOK);
        }
    }

    fn has_ended(&mut self) -> bool {
        // An error means that the child does not exist any more.
        !matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop("TERM");
    }
}
