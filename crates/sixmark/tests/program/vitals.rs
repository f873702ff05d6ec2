//! What the kernel counts, from outside.

mod costs;
mod counted;
mod document;
mod metrics;
mod refusals;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv6Addr, TcpStream};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use sixmark_testkit::{DEADLINE, command, signal};

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

    fn page(&self) -> String {
        let mut stream = TcpStream::connect((Ipv6Addr::LOCALHOST, self.port)).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
        let mut page = String::new();
        stream.read_to_string(&mut page).unwrap();
        page
    }

    /// Waits until its page is of another sample than now.
    fn wait_for_next(&self) {
        let (now, begin) = (self.page(), Instant::now());
        while self.page() == now {
            assert!(begin.elapsed() < DEADLINE, "{now}");
            std::thread::sleep(Duration::from_millis(5));
        }
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
