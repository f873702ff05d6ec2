//! A running `sixmark vitals`.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::Value;

use crate::{command, forms, signal};

/// A `sixmark vitals` process that writes its samples to standard output.
pub struct Watching {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    json: tempfile::NamedTempFile,
}

impl Watching {
    /// Starts the process in the calling thread's namespaces and reads the header line.
    pub fn start(arguments: &[&str]) -> Watching {
        let json = tempfile::NamedTempFile::new().unwrap();
        let own = ["vitals", "--quiet", "--jsonl", "-", "--json", json.path().to_str().unwrap()];
        let mut child =
            command(&[&own[..], arguments].concat()).stderr(Stdio::inherit()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut watching = Watching { child, lines, json };
        let head = watching.next_line();
        assert_eq!(head["schema"], "sixmark.vitals/1");
        watching
    }

    /// Reads the next line.
    pub fn next_line(&mut self) -> Value {
        let line = self.lines.next().expect("it ended").unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Kills the process.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        let _ = self.child.wait().unwrap();
    }

    /// Interrupts the process, waits for its end and returns its document.
    pub fn end(mut self) -> Value {
        signal(self.child.id(), "INT");
        // Reads the remaining lines, so that the process does not block on a full pipe.
        self.lines.by_ref().for_each(|line| drop(line.unwrap()));
        assert!(self.child.wait().unwrap().success());
        let text = std::fs::read_to_string(self.json.path()).unwrap();
        let document = serde_json::from_str(&text).unwrap();
        forms::VITALS.check(&document);
        document
    }
}
