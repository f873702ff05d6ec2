//! `sixmark --version`, and what it was built from.

use sixmark_testkit::documents::real_run;
use sixmark_testkit::{complaint, sixmark};

fn printed(words: &[&str]) -> String {
    let output = sixmark(words);
    assert!(output.status.success() && output.stderr.is_empty(), "{words:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn version_prints_one_line_and_with_verbose_the_build_details() {
    let version = concat!("sixmark ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(printed(&["--version"]), version);
    assert_eq!(printed(&["-V"]), version);
    let all = printed(&["--version", "--verbose"]);
    assert_eq!(printed(&["-V", "--verbose"]), all);
    assert_eq!(printed(&["--verbose", "--version"]), all);
    assert!(all.starts_with(version), "{all}");
    for name in [
        "commit",
        "target",
        "profile",
        "features",
        "rustc",
        "AWS-LC",
        "SQLite",
        "rustls",
        "quinn-proto",
    ] {
        let line = all.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        assert!(line.is_some_and(|value| !value.is_empty()), "{name}: {all}");
    }
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    assert!(!all.contains('/') && !all.contains(root), "no path: {all}");
}

#[test]
fn verbose_is_refused_without_version() {
    let said = complaint(&sixmark(&["--verbose", "demo"]), 2);
    assert!(said.contains("--version"), "{said}");
}

/// A document says which commit made it, in the form of `git describe --dirty`.
#[test]
fn documents_have_the_commit_or_null() {
    let commit = &real_run()["tool"]["commit"];
    let digits = commit.as_str().map(|commit| commit.trim_end_matches("-dirty").len());
    assert!(commit.is_null() || digits.is_some_and(|digits| digits >= 40), "{commit}");
}
