//! Studies in temporary folders.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::sixmark;

/// A study of a new origin over both families, in a temporary folder.
pub struct StudyFixture {
    dir: TempDir,
}

/// The service section of these studies: an origin that is started for the study.
pub const ORIGIN: &str = r#"
[services.origin]
command = ["{sixmark}", "origin", "--threads", "1", "--listen", "[::1]:{port6}", "--listen", "127.0.0.1:{port}"]
ready = { line = "Ctrl-C ends it." }
"#;

impl StudyFixture {
    /// Creates a study whose file contains `text` followed by [`ORIGIN`].
    pub fn new(text: &str) -> StudyFixture {
        StudyFixture::alone(&format!("{text}{ORIGIN}"))
    }

    /// Creates a study whose file contains only `text`.
    pub fn alone(text: &str) -> StudyFixture {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("study.toml"), text).unwrap();
        StudyFixture { dir }
    }

    /// Returns the path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Returns the path of the study's file.
    pub fn file(&self) -> String {
        self.path("study.toml").display().to_string()
    }

    /// Returns the path of the folder with the results.
    pub fn out(&self) -> String {
        self.path("out").display().to_string()
    }

    /// Runs the study with additional arguments.
    pub fn run(&self, more: &[&str]) -> Output {
        let (file, out) = (self.file(), self.out());
        sixmark(&[&["study", "run", &file, "--out", &out][..], more].concat())
    }

    /// Resumes the study with additional arguments.
    pub fn resume(&self, more: &[&str]) -> Output {
        let out = self.out();
        sixmark(&[&["study", "run", "--resume", &out][..], more].concat())
    }

    /// Returns the document of the study.
    pub fn document(&self) -> Value {
        read(&self.path("out/study.json"))
    }

    /// Returns the paths of the cells' files in order.
    pub fn cells(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("out/cells")).into_iter().flatten();
        let mut cells: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        cells.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
        cells.sort();
        cells
    }
}

/// Reads a JSON file.
pub fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns the text on standard error.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the standard output of a command, which must have succeeded.
pub fn fine(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", said(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Asserts that a document contains each planned cell exactly once.
pub fn assert_complete(document: &Value) {
    let cells = document["cells"].as_array().unwrap();
    let mut ids: Vec<&str> = cells.iter().map(|cell| cell["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), cells.len(), "none twice");
    assert_eq!(cells.len() as u64, document["cells_planned"].as_u64().unwrap(), "none lost");
    assert_eq!(document["ended"], "complete");
}
