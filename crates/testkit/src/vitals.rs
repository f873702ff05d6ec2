//! `sixmark vitals` while it goes on.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::Value;

use crate::{command, forms, signal};

/// `sixmark vitals` that writes its samples to standard output.
pub struct Watching {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    json: tempfile::NamedTempFile,
}

impl Watching {
    /// Begun in whatever namespace the calling thread is in.
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

    /// The next line.
    pub fn next_line(&mut self) -> Value {
        let line = self.lines.next().expect("it ended").unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Ends it where it is.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        let _ = self.child.wait().unwrap();
    }

    /// Ends it: the document.
    pub fn end(mut self) -> Value {
        signal(self.child.id(), "INT");
        // So that it is not kept from writing.
        self.lines.by_ref().for_each(|line| drop(line.unwrap()));
        assert!(self.child.wait().unwrap().success());
        let text = std::fs::read_to_string(self.json.path()).unwrap();
        let document = serde_json::from_str(&text).unwrap();
        forms::VITALS.check(&document);
        document
    }
}
