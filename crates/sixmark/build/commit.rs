//! The commit from which the program is built. For the build script, and for its tests.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A commit; both fields are empty if they are not known.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CommitFound {
    /// Its digits, with `-dirty` if what is built has been changed since.
    pub(crate) commit: String,
    /// Its day, such as 2026-11-26.
    pub(crate) date: String,
}

/// What is built: a change of another file does not make a build dirty.
const BUILT: [&str; 8] = [
    "Cargo.toml",
    "Cargo.lock",
    ".cargo",
    "experiments",
    "crates/*/src",
    "crates/*/Cargo.toml",
    "crates/sixmark/build.rs",
    "crates/sixmark/build",
];

/// Reads the file that `cargo package` writes into a package. It has no day.
pub(crate) fn of_package(text: &str) -> CommitFound {
    let digits = text.split_once("\"sha1\"").and_then(|(_, rest)| rest.split('"').nth(1));
    let digits = digits.filter(|digits| is_commit(digits)).unwrap_or_default();
    let dirty = text.split_once("\"dirty\"").is_some_and(|(_, rest)| {
        rest.trim_start().trim_start_matches(':').trim_start().starts_with("true")
    });
    CommitFound { commit: marked(digits, dirty), date: String::new() }
}

/// Asks Git about the working tree with this root. What Git does not say remains empty.
pub(crate) fn of_tree(root: &Path) -> CommitFound {
    let Some(digits) = ask_git(root, &["rev-parse", "HEAD"]).filter(|said| is_commit(said)) else {
        return CommitFound::default();
    };
    let date =
        ask_git(root, &["show", "-s", "--date=format-local:%Y-%m-%d", "--format=%cd", "HEAD"]);
    let status = ["status", "--porcelain", "--untracked-files=all", "--"];
    let globs = BUILT.map(|path| format!(":(glob){path}/**"));
    let paths = BUILT.map(|path| format!(":(glob){path}"));
    let names = paths.iter().chain(&globs).map(String::as_str);
    let changed = ask_git(root, &status.into_iter().chain(names).collect::<Vec<_>>());
    CommitFound {
        commit: marked(&digits, changed.is_none_or(|changed| !changed.is_empty())),
        date: date.unwrap_or_default(),
    }
}

/// The files of the tree and of Git whose change may change the answer.
pub(crate) fn watched(root: &Path) -> Vec<PathBuf> {
    let branch = ask_git(root, &["symbolic-ref", "--quiet", "HEAD"]);
    let names = ["HEAD".to_owned(), "packed-refs".to_owned()].into_iter().chain(branch);
    let of_git = names.filter_map(|name| ask_git(root, &["rev-parse", "--git-path", &name]));
    let crates = std::fs::read_dir(root.join("crates")).into_iter().flatten().flatten();
    let of_crates = crates.flat_map(|of| ["src", "Cargo.toml"].map(|name| of.path().join(name)));
    let of_tree = BUILT.iter().filter(|name| !name.contains('*')).map(|name| root.join(name));
    let all = of_git.map(|path| root.join(path)).chain(of_crates).chain(of_tree);
    // Cargo runs the script each time if it is to watch a file that is missing.
    all.filter(|path| path.exists()).collect()
}

fn marked(digits: &str, dirty: bool) -> String {
    let mark = if dirty && !digits.is_empty() { "-dirty" } else { "" };
    format!("{digits}{mark}")
}

fn is_commit(text: &str) -> bool {
    (40..=64).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Returns what Git prints, or `None` if it fails.
fn ask_git(root: &Path, words: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    git.arg("-C").arg(root).args(words).env("TZ", "UTC").env("GIT_OPTIONAL_LOCKS", "0");
    // Set by a hook of Git for another repository.
    let git = git.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").env_remove("GIT_INDEX_FILE");
    let output = git.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
