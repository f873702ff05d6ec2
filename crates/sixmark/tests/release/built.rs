//! What the build script finds out about the commit and the libraries.

#[path = "../../build/commit.rs"]
mod commit;
#[path = "../../build/lock.rs"]
mod lock;

use std::fs;
use std::path::Path;

use commit::CommitFound;

use super::tree::{git, root};

/// A repository with a crate and a page.
fn begin(root: &Path) {
    for name in ["crates/a/src/lib.rs", "crates/a/Cargo.toml", "Cargo.toml", "docs/page.md"] {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "1").unwrap();
    }
    git(root, &["init", "--quiet", "--initial-branch", "main"]);
    git(root, &["add", "--all"]);
    git(root, &["commit", "--quiet", "--date", "2020-01-01", "-m", "Begin"]);
}

#[test]
fn a_tree_reports_its_commit_and_is_dirty_after_a_source_change() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    begin(root);
    let digits = git(root, &["rev-parse", "HEAD"]);
    let found = commit::of_tree(root);
    assert_eq!(found.commit, digits);
    assert_eq!(found.date.len(), 10, "{found:?}");
    fs::write(root.join("docs/page.md"), "2").unwrap();
    assert_eq!(commit::of_tree(root), found, "a page is not built");
    for name in ["crates/a/src/new.rs", "crates/a/src/lib.rs", "Cargo.toml"] {
        fs::write(root.join(name), "2").unwrap();
        assert_eq!(commit::of_tree(root).commit, format!("{digits}-dirty"), "{name}");
        git(root, &["stash", "--quiet", "--include-untracked"]);
        assert_eq!(commit::of_tree(root).commit, digits, "{name}");
    }
    let watched = commit::watched(root);
    for name in
        ["crates/a/src", "crates/a/Cargo.toml", "Cargo.toml", ".git/HEAD", ".git/refs/heads/main"]
    {
        let path = root.join(name).canonicalize().unwrap();
        assert!(watched.iter().any(|of| of.canonicalize().unwrap() == path), "{name}: {watched:?}");
    }
}

#[test]
fn a_folder_that_git_does_not_know_has_no_commit() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".git")).unwrap();
    assert_eq!(commit::of_tree(folder.path()), CommitFound::default());
    assert!(commit::watched(folder.path()).is_empty());
}

#[test]
fn a_package_has_the_commit_that_cargo_wrote_into_it() {
    let digits = "0123456789abcdef0123456789abcdef01234567";
    let clean = format!(
        "{{\n  \"git\": {{\n    \"sha1\": \"{digits}\"\n  }},\n  \"path_in_vcs\": \"a\"\n}}"
    );
    let dirty =
        clean.replace(&format!("\"{digits}\""), &format!("\"{digits}\",\n    \"dirty\": true"));
    let found = |text: &str| commit::of_package(text).commit;
    assert_eq!(found(&clean), digits);
    assert_eq!(found(&dirty), format!("{digits}-dirty"));
    for other in ["", "{}", "{\"git\":{\"sha1\":\"HEAD\"}}", "{\"git\":{\"dirty\":true}}"] {
        assert_eq!(found(other), "", "{other}");
    }
}

#[test]
fn lists_the_linked_libraries_from_cargo_lock() {
    let found = lock::libraries(&fs::read_to_string(root().join("Cargo.lock")).unwrap());
    for name in ["rustls ", "aws-lc-sys ", "libsqlite3-sys ", "quinn-proto ", "tokio "] {
        assert!(found.iter().any(|library| library.starts_with(name)), "{name}: {found:?}");
    }
    assert_eq!(found.len(), 12, "each of SHOWN once: {found:?}");
    assert!(lock::libraries("").is_empty());
}
