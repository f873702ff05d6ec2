//! tcpdump on the loopback interface.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpStream};
use std::process::Stdio;

use tempfile::TempDir;

use super::packets::{Segment, segments};
use super::process::{Process, program};

/// A capture that has begun.
pub(super) struct Tcpdump {
    process: Process,
    dir: TempDir,
}

impl Tcpdump {
    /// Captures TCP from and to these ports.
    pub(super) fn start(ports: &[u16]) -> Tcpdump {
        let dir = TempDir::new().unwrap();
        let terms: Vec<_> = ports.iter().map(|port| format!("tcp port {port}")).collect();
        let mut command = program("tcpdump");
        // Buffer in KiB. 128 bytes hold every header and the beginning of a request. To standard
        // output, since tcpdump gives up root's rights before it opens files. Not in immediate
        // mode: a wake-up for each packet, within the connect call, would double its time.
        command.args(["-i", "lo", "-n", "-U", "-B", "65536", "-s", "128"]);
        command.args(["--time-stamp-precision=nano", "-w", "-"]).arg(terms.join(" or "));
        command.stdout(Stdio::from(File::create(dir.path().join("capture")).unwrap()));
        let mut process = Process::start(&mut command, dir.path(), "tcpdump", "tcpdump");
        let said = dir.path().join("said");
        let listens = || fs::read_to_string(&said).is_ok_and(|said| said.contains("listening on"));
        if !process.wait_until(listens) {
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
        // Packets come in order. When this connection's have come, so have those before it.
        let mark = TcpStream::connect(server).unwrap().local_addr().unwrap();
        let file = self.dir.path().join("capture");
        let written = || segments(&fs::read(&file).unwrap());
        let came = self.process.wait_until(|| written().iter().any(|s| s.from == mark));
        self.process.stop("INT");
        let said = self.process.said();
        assert!(came && said.contains("\n0 packets dropped by kernel"), "{said}");
        let mut segments = written();
        segments.retain(|segment| segment.from != mark && segment.to != mark);
        segments
    }
}
