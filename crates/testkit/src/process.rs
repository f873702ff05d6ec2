//! Programs that a test starts and that end with it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{DEADLINE, signal};

/// Between two looks at something that no call waits for.
const LOOK: Duration = Duration::from_millis(2);

/// A running program. It is stopped and reaped when dropped.
pub struct Process {
    child: Child,
    said: PathBuf,
}

/// A program by name, found where daemons are too.
pub fn program(name: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(name);
    command.env("PATH", format!("{path}:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin"));
    command
}

impl Process {
    /// Starts `command`; what it says on standard error goes to a file in `dir`. `package` is the
    /// Debian package that has the program, `skip` the name that leaves its tests out.
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

    /// Looks until `ready`; false where the program ended before.
    pub fn wait_until(&mut self, ready: impl FnMut() -> bool) -> bool {
        Process::wait_for_all(std::slice::from_mut(self), ready)
    }

    /// The same, until it has said `words` on standard error.
    pub fn wait_until_it_says(&mut self, words: &str) -> bool {
        let file = self.said.clone();
        self.wait_until(|| fs::read_to_string(&file).is_ok_and(|said| said.contains(words)))
    }

    /// The same for several programs, none of which may end.
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

    /// What it said on standard error up to now.
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.said).unwrap_or_default()).into_owned()
    }

    /// Asks it to end and waits until it has.
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
        // An error means that there is no such child any more.
        !matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop("TERM");
    }
}
