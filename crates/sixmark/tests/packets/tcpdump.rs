//! tcpdump on the loopback interface.

use std::fs::{self, File};
use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::process::Stdio;

use sixmark_testkit::process::{Process, program};
use tempfile::TempDir;

use super::segments::{Segment, segments};

/// The last that is captured.
const MARK: &[u8] = b"end of capture";

/// A capture that has begun.
pub(super) struct Tcpdump {
    process: Process,
    dir: TempDir,
}

impl Tcpdump {
    /// Captures TCP from and to these ports: of each packet 128 bytes, which hold every header and
    /// the beginning of a request.
    pub(super) fn start(ports: &[u16]) -> Tcpdump {
        Tcpdump::start_up_to(ports, "128")
    }

    /// Captures TCP from and to these ports, with every byte.
    pub(super) fn start_whole(ports: &[u16]) -> Tcpdump {
        Tcpdump::start_up_to(ports, "0")
    }

    fn start_up_to(ports: &[u16], bytes: &str) -> Tcpdump {
        let dir = TempDir::new().unwrap();
        let terms: Vec<_> = ports.iter().map(|port| format!("tcp port {port}")).collect();
        let mut command = program("tcpdump");
        // Buffer in KiB. To standard output, since tcpdump gives up root's rights before it opens
        // files. Not in immediate mode: a wake-up for each packet, within the connect call, would
        // double its time.
        command.args(["-i", "lo", "-n", "-U", "-B", "65536", "-s", bytes]);
        command.args(["--time-stamp-precision=nano", "-w", "-"]).arg(terms.join(" or "));
        command.stdout(Stdio::from(File::create(dir.path().join("capture")).unwrap()));
        let mut process = Process::start(&mut command, dir.path(), "tcpdump", "tcpdump");
        if !process.wait_until_it_says("listening on") {
            panic!(
                "tcpdump can't capture ({}); it needs CAP_NET_RAW, or leave these tests out with \
                 SIXMARK_SKIP=tcpdump",
                process.said().trim()
            );
        }
        Tcpdump { process, dir }
    }

    /// Ends the capture: what it holds, with nothing missing. `server` is one of those captured.
    pub(super) fn finish(mut self, server: SocketAddr) -> Vec<Segment> {
        // Packets come in order. When these bytes have come, so has all before them. The port alone
        // would not do: the run may have had the same one.
        let mut mark = TcpStream::connect(server).unwrap();
        mark.write_all(MARK).unwrap();
        let from = mark.local_addr().unwrap();
        let file = self.dir.path().join("capture");
        let written = || segments(&fs::read(&file).unwrap());
        let marks = |s: &Segment| s.from == from && s.payload.starts_with(MARK);
        let came = self.process.wait_until(|| written().iter().any(marks));
        self.process.stop("INT");
        let said = self.process.said();
        assert!(came && said.contains("\n0 packets dropped by kernel"), "{said}");
        let mut segments = written();
        let begins = |s: &Segment| s.syn() && s.from == from && s.to == server;
        segments.truncate(segments.iter().rposition(begins).unwrap());
        segments
    }
}
