//! Running the program and checking its output.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A deadline that only a broken build reaches, even on a busy machine.
pub const DEADLINE: Duration = Duration::from_secs(300);

/// Creates a command for the program with these arguments. Its output streams are pipes and its
/// input is empty. It uses no store, so that tests do not change that of the user who runs them.
/// SIGHUP ends it even if the tests run under nohup(1).
pub fn command(arguments: &[&str]) -> Command {
    sixmark_sys::ending::undo_nohup().unwrap();
    let mut command = Command::new(program_path());
    command.env("SIXMARK_STORE", "none");
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the program to its end.
pub fn sixmark(arguments: &[&str]) -> Output {
    finish(command(arguments).spawn().unwrap())
}

/// Returns the output of a child with piped streams. Kills the child and panics if it does not end
/// in time.
pub fn finish(child: Child) -> Output {
    let pid = child.id();
    let (sender, receiver) = mpsc::channel();
    let waiter = std::thread::spawn(move || sender.send(child.wait_with_output()));
    let output = receiver.recv_timeout(DEADLINE).unwrap_or_else(|_| {
        signal(pid, "KILL");
        panic!("process {pid} did not end within {DEADLINE:?}");
    });
    waiter.join().unwrap().unwrap();
    output.unwrap()
}

/// Sends a signal to a child that has not been waited for.
pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([format!("-{name}"), pid.to_string()]).status();
    assert!(sent.unwrap().success(), "no {name} to process {pid}");
}

/// Returns the words of a text with one space between them, however its tables are laid out.
pub fn words_of(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the single line that a failed command writes to standard error.
pub fn complaint(output: &Output, status: i32) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{said}");
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(lines[0].starts_with("sixmark: ") && !said.contains("panicked"), "{said}");
    lines[0].to_owned()
}

/// Returns the output of a shell script, which gets the program as `$1` and a temporary folder as
/// `$2`.
pub fn script(wrapper: &[&str], text: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(wrapper[0]);
    command
        .args(&wrapper[1..])
        .args(["-c", text, "sh"])
        .args([program_path().as_path(), folder.path()])
        .env("SIXMARK_STORE", "none");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = finish(command.spawn().unwrap());
    let said = String::from_utf8_lossy(&output.stderr);
    let lacking = !matches!(output.status.code(), Some(0 | 2 | 3));
    assert!(!lacking, "{wrapper:?}: this needs root, unshare and ip, or setpriv: {said}");
    output
}

/// Returns true if `SIXMARK_SKIP=name,name` contains this name. A test that needs a privilege or a
/// package calls this. If it is not skipped and lacks what it needs, it fails with a clear message.
pub fn skipped(name: &str) -> bool {
    std::env::var("SIXMARK_SKIP").is_ok_and(|names| names.split(',').any(|n| n.trim() == name))
}

/// Returns the path of the program. Cargo sets it for a test that it runs. A test that is run by
/// hand finds the program in the folder in which Cargo puts it.
pub fn program_path() -> PathBuf {
    std::env::var_os("CARGO_BIN_EXE_sixmark").map_or_else(path_beside_tests, PathBuf::from)
}

/// Returns the path of the program in the folder above that of the test binaries.
fn path_beside_tests() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    this.ancestors().nth(2).unwrap().join("sixmark")
}
