//! A client whose Happy Eyeballs are set by its arguments: what it does is known before it is watched.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// The program, in Python: its file says what each argument means.
const PROGRAM: &str = include_str!("eyes_client.py");
/// The Python of the distribution, which starts faster than a wrapper that finds one.
const PYTHON: &str = "/usr/bin/python3";

/// The program in a file, until this value is dropped.
#[derive(Debug)]
pub struct EyesClient {
    _folder: TempDir,
    file: PathBuf,
}

impl EyesClient {
    /// Writes the program.
    pub fn write() -> EyesClient {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("eyes_client.py");
        fs::write(&file, PROGRAM).unwrap();
        EyesClient { _folder: folder, file }
    }

    /// Returns the words of the command that starts it with these settings. The URL comes behind them.
    pub fn command(&self, settings: &[&str]) -> Vec<String> {
        let python = if Path::new(PYTHON).exists() { PYTHON } else { "python3" };
        let file = self.file.display().to_string();
        // Neither the user's folders nor their variables.
        let words = [python, "-I", "-S", &file];
        words.into_iter().chain(settings.iter().copied()).map(str::to_owned).collect()
    }
}
