//! What the kernel counts, from outside. Those in namespaces need root; `SIXMARK_SKIP=netns` leaves them
//! out.
#![cfg(test)]

mod costs;
mod counted;
mod document;
mod metrics;
mod refusals;

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::support::{command, signal};

/// `sixmark vitals` that writes its samples to standard output.
struct Watching {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    json: tempfile::NamedTempFile,
}

impl Watching {
    /// Begun in whatever namespace the calling thread is in.
    fn start(arguments: &[&str]) -> Watching {
        let json = tempfile::NamedTempFile::new().unwrap();
        let own = ["vitals", "--quiet", "--jsonl", "-", "--json", json.path().to_str().unwrap()];
        let mut child =
            command(&[&own[..], arguments].concat()).stderr(Stdio::inherit()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut watching = Watching { child, lines, json };
        let head = watching.next();
        assert_eq!(head["schema"], "sixmark.vitals/1");
        watching
    }

    /// The next line.
    fn next(&mut self) -> Value {
        let line = self.lines.next().expect("it ended").unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Ends it: the document.
    fn end(mut self) -> Value {
        signal(self.child.id(), "INT");
        // So that it is not kept from writing.
        self.lines.by_ref().for_each(|line| drop(line.unwrap()));
        assert!(self.child.wait().unwrap().success());
        let text = std::fs::read_to_string(self.json.path()).unwrap();
        let document = serde_json::from_str(&text).unwrap();
        crate::support::forms::VITALS.check(&document);
        document
    }
}

/// `sixmark vitals` that serves its samples.
struct Serving {
    child: Child,
    port: u16,
    _said: BufReader<ChildStderr>,
}

impl Serving {
    fn start(arguments: &[&str]) -> Serving {
        let own = ["vitals", "--quiet", "--interval", "50ms", "--prometheus", "0"];
        let mut child =
            command(&[&own[..], arguments].concat()).stdout(Stdio::null()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let port = line.trim().strip_suffix("/metrics").and_then(|l| l.rsplit(':').next());
        let port = port.and_then(|port| port.parse().ok()).unwrap_or_else(|| panic!("{line}"));
        Serving { child, port, _said: said }
    }

    fn url(&self) -> String {
        format!("http://[::1]:{}/metrics", self.port)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        signal(self.child.id(), "TERM");
        let _ = self.child.wait();
    }
}

/// A process that computes until dropped.
struct Busy(Child);

impl Busy {
    fn start() -> Busy {
        Busy(Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap())
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
