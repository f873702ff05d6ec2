//! `sixmark eyes` is killed while a client runs: nothing is left of either.

use std::process::Stdio;

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
