//! Background traffic, from outside and against MGEN.

mod document;
mod mixes;
mod refusals;

use std::io::{BufRead as _, BufReader};
use std::process::Child;

use serde_json::Value;
use sixmark_testkit::traffic::traffic_document;
use sixmark_testkit::{command, finish, signal};

/// A side that listens on free ports of loopback.
struct Far {
    child: Child,
    /// IPv6 first.
    addresses: Vec<String>,
}

impl Far {
    fn start() -> Far {
        let listen = ["traffic", "--listen", "[::1]:0", "--listen", "127.0.0.1:0"];
        let mut child = command(&listen).spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let addresses = said.lines().take(2).map(Result::unwrap).collect();
        Far { child, addresses }
    }

    /// The document of traffic with it.
    fn traffic(&self, arguments: &[&str]) -> Value {
        let to = self.addresses.iter().flat_map(|address| ["--to", address]);
        let all: Vec<&str> = ["traffic", "--json", "-"].into_iter().chain(to).collect();
        traffic_document(&finish(command(&[&all[..], arguments].concat()).spawn().unwrap()))
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            signal(self.child.id(), "TERM");
        }
        let _ = self.child.wait();
    }
}

/// Until the process sends: once it has the thread that does.
fn until_sending(pid: u32) {
    let tasks = || std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm"));
    let until = std::time::Instant::now() + sixmark_testkit::DEADLINE;
    while !tasks().any(|task| name(task).is_ok_and(|name| name.trim() == "traffic-out")) {
        assert!(std::time::Instant::now() < until, "it never began");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
