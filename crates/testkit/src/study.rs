//! Studies in folders of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use crate::sixmark;

/// A study over an origin of its own, both families, in a folder of its own.
pub struct StudyBench {
    dir: TempDir,
}

/// What every study here needs: an origin that is started for it.
pub const ORIGIN: &str = r#"
[services.origin]
command = ["{sixmark}", "origin", "--threads", "1", "--listen", "[::1]:{port6}", "--listen", "127.0.0.1:{port}"]
ready = { line = "Ctrl-C ends it." }
"#;

impl StudyBench {
    /// With this in the study's file, before the service.
    pub fn new(text: &str) -> StudyBench {
        StudyBench::alone(&format!("{text}{ORIGIN}"))
    }

    /// With this as the whole file.
    pub fn alone(text: &str) -> StudyBench {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("study.toml"), text).unwrap();
        StudyBench { dir }
    }

    /// A file of its folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The file of the study.
    pub fn file(&self) -> String {
        self.path("study.toml").display().to_string()
    }

    /// Where its results go.
    pub fn out(&self) -> String {
        self.path("out").display().to_string()
    }

    /// Carries the study out, with more arguments.
    pub fn run(&self, more: &[&str]) -> Output {
        let (file, out) = (self.file(), self.out());
        sixmark(&[&["study", "run", &file, "--out", &out][..], more].concat())
    }

    /// Goes on with it.
    pub fn resume(&self, more: &[&str]) -> Output {
        let out = self.out();
        sixmark(&[&["study", "run", "--resume", &out][..], more].concat())
    }

    /// Its document.
    pub fn document(&self) -> Value {
        read(&self.path("out/study.json"))
    }

    /// The files of its cells.
    pub fn cells(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("out/cells")).into_iter().flatten();
        let mut cells: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        cells.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
        cells.sort();
        cells
    }
}

/// A file of JSON.
pub fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Standard error.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The text of a run that went well.
pub fn fine(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", said(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The cells of a document, which are each of those planned, once.
pub fn assert_complete(document: &Value) {
    let cells = document["cells"].as_array().unwrap();
    let mut ids: Vec<&str> = cells.iter().map(|cell| cell["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), cells.len(), "none twice");
    assert_eq!(cells.len() as u64, document["cells_planned"].as_u64().unwrap(), "none lost");
    assert_eq!(document["ended"], "complete");
}
