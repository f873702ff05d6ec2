//! Programs of the working tree, and copies of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The root of the working tree.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A command in a folder that fetches nothing.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env("CARGO_NET_OFFLINE", "true");
    // Those of this test binary, and of a hook of Git.
    for name in ["CARGO_TARGET_DIR", "GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        command.env_remove(name);
    }
    let person = [("AUTHOR", "Somebody"), ("COMMITTER", "Somebody")];
    for (role, name) in person {
        command.env(format!("GIT_{role}_NAME"), name);
        command.env(format!("GIT_{role}_EMAIL"), "somebody@example.net");
    }
    command
}

/// The standard output of a command that succeeds.
pub(crate) fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", complaint(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// What a command wrote to standard error.
pub(crate) fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Git in a folder.
pub(crate) fn git(folder: &Path, words: &[&str]) -> String {
    said(command("git", folder).args(words)).trim().to_owned()
}

/// Makes a repository of one commit in a new folder, with the files of the working tree as they are.
pub(crate) fn copy_tree(to: &Path) {
    std::fs::create_dir(to).unwrap();
    let copy = "git ls-files -z --cached --others --exclude-standard | tar --null -T - -c | tar -x -C \"$1\"";
    said(command("sh", &root()).args(["-c", copy, "sh"]).arg(to));
    git(to, &["init", "--quiet", "--initial-branch", "main"]);
    git(to, &["add", "--all"]);
    git(to, &["commit", "--quiet", "-m", "Begin"]);
}
