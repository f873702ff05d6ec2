//! A terminal of its own for a test: a shell in tmux, on which a test types and looks at the screen.

use std::cell::Cell;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::DEADLINE;
use crate::process::program;
use crate::program::program_path;

/// The interval between two looks at the screen.
const LOOK: Duration = Duration::from_millis(20);

/// A shell in a terminal. It ends when this is dropped.
pub struct TestScreen {
    folder: TempDir,
    /// The number of lines that were executed to their end.
    executed: Cell<u32>,
}

impl TestScreen {
    /// Starts a shell in a terminal of this size. In it, `sixmark` is the program, and its store is
    /// `none`.
    pub fn start(width: u16, height: u16) -> TestScreen {
        let screen = TestScreen { folder: TempDir::new().unwrap(), executed: Cell::new(0) };
        let (width, height) = (width.to_string(), height.to_string());
        let bin = program_path();
        let line = format!(
            "exec env PS1='$ ' SIXMARK_STORE=none PATH={}:\"$PATH\" bash --norc --noprofile -i",
            bin.parent().unwrap().display()
        );
        let size = ["-x", &width, "-y", &height];
        let line = format!("cd {}; {line}", bin.parent().unwrap().display());
        screen.tmux(&[&["new-session", "-d"], &size[..], &[&line]].concat());
        screen.wait_for("the prompt", |text| text.starts_with('$'));
        screen
    }

    /// Has the shell execute a line. Returns all that it prints, also what the screen has scrolled
    /// by; lines that the screen wrapped are one line.
    pub fn output_of(&self, line: &str) -> String {
        self.executed.set(self.executed.get() + 1);
        let number = self.executed.get();
        self.tmux(&["clear-history"]);
        // The shell adds, so that what is typed is not what is waited for.
        self.enter(&format!("clear; {line}; echo ended $((0+{number}))"));
        let start = Instant::now();
        let end = format!("\nended {number}\n");
        loop {
            let text = self.history();
            if text.contains(&end) {
                return text;
            }
            assert!(start.elapsed() < DEADLINE, "{line} does not end:\n{text}");
            sleep(LOOK);
        }
    }

    /// Types a line and Enter.
    pub fn enter(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line]);
        self.press("Enter");
    }

    /// Presses a key by tmux's name of it: `q`, `Tab`, `C-z`.
    pub fn press(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// Changes the size of the terminal.
    pub fn resize(&self, width: u16, height: u16) {
        let (width, height) = (width.to_string(), height.to_string());
        self.tmux(&["resize-window", "-x", &width, "-y", &height]);
    }

    /// Returns what is on the screen, without trailing spaces.
    pub fn text(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Returns all that was printed, also what the screen has scrolled by; lines that the screen
    /// wrapped are one line.
    pub fn history(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-J", "-S", "-"])
    }

    /// Returns what is on the screen, with the sequences that set colours.
    pub fn coloured_text(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-e"])
    }

    /// Returns the value of one of tmux's variables: `alternate_on`, `cursor_flag`.
    pub fn variable(&self, name: &str) -> String {
        self.tmux(&["display-message", "-p", &format!("#{{{name}}}")]).trim().to_owned()
    }

    /// Waits until the screen fulfils a condition, and returns its text.
    pub fn wait_for(&self, what: &str, is: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let text = self.text();
            if is(&text) {
                return text;
            }
            assert!(start.elapsed() < DEADLINE, "no {what} on the screen:\n{text}");
            sleep(LOOK);
        }
    }

    /// Waits until a view is on the screen (`on`), or none is.
    pub fn wait_for_view(&self, on: bool) {
        let wanted = if on { "1" } else { "0" };
        let start = Instant::now();
        while self.variable("alternate_on") != wanted {
            assert!(start.elapsed() < DEADLINE, "view {on}:\n{}", self.text());
            sleep(LOOK);
        }
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let output = self.run_tmux(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tmux {arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn run_tmux(&self, arguments: &[&str]) -> Output {
        let socket = self.folder.path().join("tmux");
        let mut command: Command = program("tmux");
        command.arg("-S").arg(socket).args(["-f", "/dev/null", "-u"]).args(arguments);
        // A test that is run in tmux must not use that one.
        command.env_remove("TMUX").env_remove("NO_COLOR").env("TERM", "xterm-256color");
        command.output().unwrap_or_else(|error| {
            panic!(
                "can't start tmux ({error}): install the Debian package tmux, or leave these \
                 tests out with SIXMARK_SKIP=tmux"
            )
        })
    }
}

impl Drop for TestScreen {
    fn drop(&mut self) {
        self.run_tmux(&["kill-server"]);
    }
}
