//! The program: how tests start it, and what it says.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Only a broken build takes this long, on a machine that is busy otherwise too.
pub const DEADLINE: Duration = Duration::from_secs(300);

/// The program with these arguments, not started yet; its streams are pipes, its input is empty. It
/// keeps nothing: the store of whoever runs the tests is none of theirs. A hangup ends it, also where
/// the tests run under nohup(1).
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

/// What a child with piped streams says until its end; one that never ends is killed.
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

/// The one line that a command which could not do its work leaves on standard error.
pub fn complaint(output: &Output, status: i32) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{said}");
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(lines[0].starts_with("sixmark: ") && !said.contains("panicked"), "{said}");
    lines[0].to_owned()
}

/// What a shell script says, run with the program as `$1` and a folder of its own as `$2`.
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

/// True where `SIXMARK_SKIP=name,name` leaves the test out. A test that needs a privilege or a
/// package asks, and fails with a clear line where it is not left out and lacks what it needs.
pub fn skipped(name: &str) -> bool {
    std::env::var("SIXMARK_SKIP").is_ok_and(|names| names.split(',').any(|n| n.trim() == name))
}

/// Where the program is that is tested. Cargo says so to a test that it runs; one that is run by hand finds
/// it where Cargo puts both.
fn program_path() -> PathBuf {
    std::env::var_os("CARGO_BIN_EXE_sixmark").map_or_else(path_beside_tests, PathBuf::from)
}

/// Above the folder with the binaries of tests.
fn path_beside_tests() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    this.ancestors().nth(2).unwrap().join("sixmark")
}
