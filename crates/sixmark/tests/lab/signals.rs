//! Signals to labs.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

use sixmark_testkit::lab::{Lab, without};
use sixmark_testkit::{command, complaint, finish, signal, sixmark};
use tempfile::{NamedTempFile, TempDir};

use super::traces::{Tree, child, until};

const LAB: &str = "name = \"signals\"\n[hosts]\na = {}\n";

/// Answers take their time, so that there always is a cell under way.
const OF_STUDY: &str = r#"
name = "signals"
[hosts]
client = {}
server = {}
[links]
wire = ["client", "server"]
[services.web]
host = "server"
command = ["{sixmark}", "origin", "--listen", "[::]:80", "--listen", "0.0.0.0:80"]
urls = ["http://[{server.ipv6}]", "http://{server.ipv4}"]
"#;

const STUDY: &str = r#"
name = "signals"
path = "/delay/20"
repetitions = 500
[lab]
file = "lab.toml"
[options]
from = "client"
count = 10
concurrency = 1
[factors]
family = ["ipv6", "ipv4"]
"#;

/// A study that has kept a cell, in a process group of its own.
fn study(dir: &TempDir) -> Child {
    let path = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(path("lab.toml"), OF_STUDY).unwrap();
    std::fs::write(path("study.toml"), STUDY).unwrap();
    let words = ["study", "run", &path("study.toml"), "--quiet", "--out", &path("out")];
    let child = command(&words).process_group(0).spawn().unwrap();
    let cells = dir.path().join("out/cells");
    let is_kept = || std::fs::read_dir(&cells).is_ok_and(|mut cells| cells.next().is_some());
    until("a cell is kept", || if is_kept() { Vec::new() } else { vec!["none".to_owned()] });
    child
}

fn to_group(child: &Child, name: &str) {
    let group = format!("-{}", child.id());
    let sent = Command::new("kill").args([&format!("-{name}"), "--", &group]).status().unwrap();
    assert!(sent.success());
}

/// As a shell's `kill %1` and `timeout` do it.
#[test]
fn a_signal_to_its_process_group_ends_a_study_cleanly() {
    if without(&[]) {
        return;
    }
    for name in ["INT", "TERM"] {
        let dir = TempDir::new().unwrap();
        let child = study(&dir);
        let tree = Tree::of(child.id());
        to_group(&child, name);
        let line = complaint(&finish(child), 130);
        assert!(line.contains("interrupted") && line.contains("are kept in"), "{line}");
        tree.is_gone();
    }
}

#[test]
fn a_second_signal_ends_a_study_at_once_and_nothing_is_left() {
    if without(&[]) {
        return;
    }
    let dir = TempDir::new().unwrap();
    let mut child = study(&dir);
    let tree = Tree::of(child.id());
    while child.try_wait().unwrap().is_none() {
        let _ = Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .stderr(Stdio::null())
            .status();
    }
    tree.is_gone();
}

#[test]
fn a_hangup_ends_a_lab_study_and_leaves_nothing_behind() {
    if without(&[]) {
        return;
    }
    let dir = TempDir::new().unwrap();
    let mut child = study(&dir);
    let tree = Tree::of(child.id());
    signal(child.id(), "HUP");
    assert!(!child.wait().unwrap().success());
    tree.is_gone();
}

/// Whoever starts a lab may have chosen not to hear of its children's ends.
#[test]
fn a_lab_ends_cleanly_when_sigchld_is_ignored() {
    if without(&[]) {
        return;
    }
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(LAB.as_bytes()).unwrap();
    let name = format!("deaf-{}", std::process::id());
    let mut command = Command::new("env");
    command.args([
        "--ignore-signal=CHLD",
        env!("CARGO_BIN_EXE_sixmark"),
        "lab",
        "up",
        "--name",
        &name,
    ]);
    command.arg(file.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    until("it is up", || match sixmark(&["lab", "status", &name]).status.code() {
        Some(0) => Vec::new(),
        _ => vec![name.clone()],
    });
    assert_eq!(sixmark(&["lab", "down", &name]).status.code(), Some(0));
    assert_eq!(finish(child).status.code(), Some(0));
}

/// Shells let them through by themselves, other programs (tcpdump) do not.
#[test]
fn lab_exec_starts_programs_with_no_signal_blocked() {
    if without(&[]) {
        return;
    }
    let lab = Lab::up("held", LAB, &[]);
    let found = lab.exec("a", &["grep", "SigBlk", "/proc/self/status"]);
    let said = String::from_utf8_lossy(&found.stdout);
    let mask = said.split_whitespace().nth(1).unwrap();
    assert!(mask.bytes().all(|digit| digit == b'0'), "{said}");
}

#[test]
fn lab_exec_forwards_signals_to_its_program() {
    if without(&[]) {
        return;
    }
    let lab = Lab::up("exec", LAB, &[]);
    let script = "trap 'echo heard; exit 9' TERM; echo ready; while :; do sleep 0.01; done";
    let words = ["lab", "exec", "--lab", lab.name(), "a", "sh", "-c", script];
    let mut child = command(&words).spawn().unwrap();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    std::io::BufRead::read_line(&mut out, &mut said).unwrap();
    assert_eq!(said, "ready\n");
    signal(child.id(), "TERM");
    assert_eq!(finish(child).status.code(), Some(9));
    std::io::Read::read_to_string(&mut out, &mut said).unwrap();
    assert!(said.ends_with("heard\n"), "{said}");
}

/// Two hosts and a service that ends when it is told to.
const MORTAL: &str = r#"
name = "mortal"
[hosts]
a = {}
[services.frail]
host = "a"
command = ["sh", "-c", "echo last words; while [ ! -e /dev/shm/end ]; do sleep 0.1; done; exit 7"]
"#;

#[test]
fn reports_a_service_that_dies_and_keeps_the_lab_up() {
    if without(&[]) {
        return;
    }
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(MORTAL.as_bytes()).unwrap();
    let name = format!("mortal-{}", std::process::id());
    let words = ["lab", "up", "--name", &name, file.path().to_str().unwrap()];
    let mut child = command(&words).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let status = || {
        let output = sixmark(&["lab", "status", &name]);
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    };
    until("it is up", || if status().is_some() { Vec::new() } else { vec![name.clone()] });
    assert!(!status().unwrap().contains("ended"));
    let end = ["lab", "exec", "--lab", &name, "a", "touch", "/dev/shm/end"];
    assert_eq!(sixmark(&end).status.code(), Some(0));
    let mut line = String::new();
    errors.read_line(&mut line).unwrap();
    assert!(line.contains("the service frail ended by itself (exit status: 7)"), "{line}");
    assert!(line.contains("last words") && line.contains("continues without it"), "{line}");
    let shown = status().unwrap();
    let of_frail = shown.lines().find(|line| line.contains("service frail")).unwrap();
    assert!(of_frail.ends_with("; ended by itself (exit status: 7)"), "{shown}");
    assert_eq!(sixmark(&["lab", "down", &name]).status.code(), Some(0));
    assert_eq!(finish(child).status.code(), Some(0));
}

/// By the kernel where memory runs out, say: the first of its processes, or the one that holds it up.
#[test]
fn reports_that_a_lab_was_killed_from_outside() {
    if without(&[]) {
        return;
    }
    for depth in [1, 2] {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(LAB.as_bytes()).unwrap();
        let name = format!("killed-{depth}-{}", std::process::id());
        let words = ["lab", "up", "--name", &name, file.path().to_str().unwrap()];
        let attached = command(&words).spawn().unwrap();
        until("it is up", || match sixmark(&["lab", "status", &name]).status.code() {
            Some(0) => Vec::new(),
            _ => vec![name.clone()],
        });
        let tree = Tree::of(attached.id());
        let victim = (0..depth).fold(attached.id(), |of, _| child(of));
        signal(victim, "KILL");
        let line = complaint(&finish(attached), 3);
        assert!(line.contains("killed by signal 9") && line.contains("the lab is gone"), "{line}");
        tree.is_gone();
    }
}

/// A debugger, or Ctrl-Z.
#[test]
fn a_run_gives_up_on_a_stopped_lab() {
    if without(&[]) {
        return;
    }
    let lab = Lab::up("stopped", LAB, &[]);
    let keeper = child(child(lab.id()));
    signal(keeper, "STOP");
    let run = ["run", "--in", "a", "--lab", lab.name(), "-n", "1", "http://[::1]:1/"];
    let line = complaint(&sixmark(&run), 3);
    signal(keeper, "CONT");
    assert!(line.contains("does not answer within") && line.contains("stopped"), "{line}");
}

/// The outer processes wait for the inner ones, and keep the lab's name until they have.
#[test]
fn lab_down_gives_up_on_a_stopped_outer_process() {
    if without(&[]) {
        return;
    }
    for depth in [0, 1] {
        let lab = Lab::up(&format!("outer-{depth}"), LAB, &[]);
        let process = (0..depth).fold(lab.id(), |of, _| child(of));
        signal(process, "STOP");
        let line = complaint(&sixmark(&["lab", "down", lab.name()]), 3);
        signal(process, "CONT");
        assert!(line.contains(&format!("`kill -CONT {process}`")), "{line}");
    }
}
