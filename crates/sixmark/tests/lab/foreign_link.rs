//! A link of another user's must not decide which file of root's is written.

use std::fs;
use std::os::unix::fs::{lchown, symlink};

use sixmark_testkit::{Server, command, complaint, finish, signal, sixmark, skipped};

/// As accounts go, it is somebody else.
const SOMEBODY: u32 = 65_534;

#[test]
fn refuses_another_users_symlink_before_and_after_the_run() {
    if skipped("setpriv") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    let make_link = || {
        symlink("victim", &link).unwrap();
        lchown(&link, Some(SOMEBODY), None).expect("this needs root");
    };
    let server = Server::answering(0);
    let [url, _] = server.urls("/");
    let words = ["run", "-q", "-n", "1", "--timeout", "1h", "--json", link.to_str().unwrap(), &url];
    make_link();
    let line = complaint(&sixmark(&words), 2);
    assert!(line.contains("a link that another user made"), "{line}");
    assert_eq!(server.connections(), 0);
    fs::remove_file(&link).unwrap();
    // What finds no place is kept in the folder for temporary files.
    let run = command(&words).env("TMPDIR", folder.path()).spawn().unwrap();
    server.next(1);
    make_link();
    signal(run.id(), "INT");
    let output = finish(run);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("a link that another user made"), "{said}");
    assert!(!folder.path().join("victim").exists());
}
