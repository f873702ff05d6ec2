//! A lab for one test, built by the command line.

use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, Output, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;

use tempfile::NamedTempFile;

use crate::{DEADLINE, command, signal, sixmark, skipped};

/// The last line that `sixmark lab up` prints before the lab is ready.
const UP: &str = "Ctrl-C ends it.";

/// A lab that is up until this value is dropped.
pub struct Lab {
    name: String,
    child: Child,
    _file: NamedTempFile,
    /// The output of `sixmark lab up` until the lab was ready.
    pub said: String,
    reader: Option<JoinHandle<()>>,
}

/// Returns true if one of these tests' requirements, or network namespaces, is skipped.
pub fn without(needed: &[&str]) -> bool {
    skipped("netns") || needed.iter().any(|name| skipped(name))
}

impl Lab {
    /// Builds a lab from the text of its file, with these variants chosen.
    pub fn up(name: &str, text: &str, chosen: &[&str]) -> Lab {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        // The process id distinguishes labs of tests that run at the same time.
        let name = format!("{name}-{}", std::process::id());
        let path = file.path().to_str().unwrap();
        let mut words = vec!["lab", "up", "--name", &name];
        words.extend(chosen.iter().flat_map(|choice| ["--set", choice]));
        words.push(path);
        let mut child = command(&words).stderr(Stdio::inherit()).spawn().unwrap();
        let (sender, receiver) = mpsc::channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        let reader = std::thread::spawn(move || read(out, &sender));
        let said = receiver.recv_timeout(DEADLINE);
        let mut lab = Lab { name, child, _file: file, said: String::new(), reader: Some(reader) };
        lab.said = said.unwrap();
        assert!(lab.said.ends_with(&format!("{UP}\n")), "it ended: {}", lab.said);
        lab
    }

    /// Returns the name of the lab, by which other commands find it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the id of the `sixmark lab up` process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Runs a program in a host to its end.
    pub fn exec(&self, host: &str, words: &[&str]) -> Output {
        let all = [&["lab", "exec", "--lab", &self.name, host], words].concat();
        sixmark(&all)
    }

    /// Runs a program in a host, which must succeed, and returns its standard output.
    pub fn says(&self, host: &str, words: &[&str]) -> String {
        let output = self.exec(host, words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?} in {host}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns a counter of a host's kernel, by its name in nstat(8).
    pub fn counter(&self, host: &str, name: &str) -> u64 {
        let said = self.says(host, &["nstat", "-asz", name]);
        let line = said.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
            .unwrap_or_else(|| panic!("{said}"))
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        signal(self.child.id(), "INT");
        let status = self.child.wait().unwrap();
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        if !std::thread::panicking() {
            assert!(status.success(), "{status}");
        }
    }
}

/// Sends the output until the lab is up, or all output if it ends before. Then discards the rest,
/// so that the process does not block on a full pipe.
fn read(mut out: impl BufRead, sender: &mpsc::Sender<String>) {
    let mut said = String::new();
    while !said.ends_with(&format!("{UP}\n")) {
        if out.read_line(&mut said).unwrap() == 0 {
            break;
        }
    }
    let _ = sender.send(said);
    let _ = std::io::copy(&mut out, &mut std::io::sink());
}
