//! The files of the crates, and the module that each of them is.

use std::fs;
use std::path::{Path, PathBuf};

/// A file of a crate, without what belongs to tests alone.
pub(crate) struct SourceFile {
    /// Its module: names below the crate's root, which has none.
    pub(crate) module: Vec<String>,
    /// What it says.
    pub(crate) text: String,
}

/// The folder of a crate's sources, by the crate's name.
pub(crate) fn crates() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let found = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut all: Vec<_> = found.map(|path| (name(&path), path)).collect();
    all.retain(|(_, path)| path.join("Cargo.toml").is_file());
    all.sort();
    all
}

/// The text of every file below a crate's folder: sources, tests, examples, benches.
pub(crate) fn all_sources(folder: &Path) -> Vec<String> {
    rust_files(folder).iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// The files of a crate, without modules called `tests` and what is below these.
pub(crate) fn files(source: &Path) -> Vec<SourceFile> {
    let read = |path: PathBuf| SourceFile {
        module: module_of(path.strip_prefix(source).unwrap()),
        text: fs::read_to_string(&path).unwrap(),
    };
    let mut files: Vec<_> = rust_files(source).into_iter().map(read).collect();
    files.retain(|file| !file.module.iter().any(|name| name == "tests"));
    files
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                files.push(path);
            }
        }
    }
    files
}

fn module_of(path: &Path) -> Vec<String> {
    let path = path.with_extension("");
    let mut names: Vec<String> =
        path.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    if matches!(names.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        names.pop();
    }
    names
}
