//! The files that `scripts/package` has left.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns the only file of the folder with what is handed out whose name ends like this.
pub(crate) fn find_file(end: &str) -> PathBuf {
    let folder = std::env::var_os("SIXMARK_DIST");
    let folder = folder.map_or_else(|| target_folder().join("dist-test"), PathBuf::from);
    let folder = fs::canonicalize(&folder).unwrap_or_else(|error| {
        panic!("{}: {error}; scripts/package --quick makes it", folder.display())
    });
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let found: Vec<PathBuf> =
        entries.filter(|path| path.to_str().is_some_and(|path| path.ends_with(end))).collect();
    assert_eq!(found.len(), 1, "{} should have one file *{end}: {found:?}", folder.display());
    found.into_iter().next().unwrap()
}

/// Cargo's target folder.
pub(crate) fn target_folder() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// The static binary: that of the image, which is the one in each of them.
pub(crate) fn static_binary() -> PathBuf {
    find_file("image").join("sixmark")
}

/// Runs a command to its end. Panics, with all that it printed, if it fails.
pub(crate) fn run_command(program: &str, arguments: &[&str]) -> String {
    let output = output_of(program, arguments);
    let text = text_of(&output);
    assert!(output.status.success(), "{program} {arguments:?}: {}\n{text}", output.status);
    text
}

/// Runs a command to its end, however it ends.
pub(crate) fn output_of(program: &str, arguments: &[&str]) -> Output {
    let missing = |error| panic!("{program}: {error}; scripts/install-test-packages distribution");
    Command::new(program).args(arguments).output().unwrap_or_else(missing)
}

/// All that a command printed.
pub(crate) fn text_of(output: &Output) -> String {
    let [out, error] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{out}{error}")
}
