//! `sixmark eyes` is killed or interrupted while a client runs: nothing is left of either, and what was seen is kept.

use std::process::Stdio;

use sixmark_document::provenance::Ended;
use sixmark_eyes::eyes_result::EyesResult;
use sixmark_testkit::lab::without;
use sixmark_testkit::{command, signal};
use tempfile::TempDir;

use super::super::traces::{Machine, Tree, child, entries, until};

#[test]
fn nothing_is_left_whichever_process_is_killed() {
    if without(&[]) {
        return;
    }
    let before = Machine::now();
    for victim in 0..3 {
        let dir = TempDir::new().unwrap();
        // One that no signal but SIGKILL ends, and another one apart from it.
        let client = "trap '' TERM HUP INT; setsid sleep 1000 & while :; do sleep 1000; done";
        let words = ["eyes", "--cases", "healthy", "--patience", "600", "--", "sh", "-c", client];
        let mut command = command(&words);
        command.env("TMPDIR", dir.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut outer = command.spawn().unwrap();
        // Three of sixmark's own, the router's, the server, and three of the client.
        let mut tree = Tree::of(outer.id());
        until("all of them are there", || {
            assert_eq!(outer.try_wait().unwrap(), None, "it ended");
            tree = Tree::of(outer.id());
            if tree.size().0 >= 8 { Vec::new() } else { vec![format!("{tree:?}")] }
        });
        let keeper = child(outer.id());
        signal([outer.id(), keeper, child(keeper)][victim], "KILL");
        assert!(!outer.wait().unwrap().success());
        tree.is_gone();
        before.has_nothing_new();
        assert_eq!(entries(dir.path()), [""; 0]);
    }
}

#[test]
fn an_interrupted_measurement_is_written_and_its_gates_are_not_determined() {
    if without(&["curl"]) {
        return;
    }
    let dir = TempDir::new().unwrap();
    let begun = dir.path().join("begun");
    // The first start gets the content, the second one hangs.
    let client = format!(
        "if [ -e {0}.once ]; then touch {0}; exec sleep 1000; fi; touch {0}.once; exec curl -s {{url}}",
        begun.display()
    );
    let words = ["eyes", "--cases", "healthy", "--patience", "600", "--gate", "survives"];
    let mut command = command(&[&words[..], &["--json", "-", "--", "sh", "-c", &client]].concat());
    let running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the second start has begun", || match begun.exists() {
        true => Vec::new(),
        false => vec!["it has not".to_owned()],
    });
    signal(running.id(), "INT");
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let result: EyesResult = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((result.ended, result.cases[0].figures.survived), (Ended::Interrupted, 1));
    let gate = &result.gates[0];
    assert!(gate.failed && gate.because == "the measurement ended early", "{gate:?}");
    assert!(result.warnings.iter().any(|of| of.code == "interrupted"), "{:?}", result.warnings);
}
