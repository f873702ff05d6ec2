//! What tshark says of a capture, packet by packet and so connection by connection.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::process::Stdio;

use sixmark_testkit::finish;
use sixmark_testkit::process::program;
use sixmark_testkit::wraps::OUTER;

const FIELDS: [&str; 21] = [
    "tcp.stream",
    "frame.time_epoch",
    "frame.len",
    "ip.src",
    "ipv6.src",
    "tcp.srcport",
    "ip.dst",
    "ipv6.dst",
    "tcp.dstport",
    "tcp.flags",
    "tcp.len",
    "tcp.seq_raw",
    "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission",
    "tcp.analysis.out_of_order",
    "tcp.analysis.keep_alive",
    "tls.handshake.extensions_server_name",
    "http.response.code",
    "http.request.method",
    "tcp.analysis.duplicate_ack",
];

/// A segment as tshark shows it.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) at_ns: u64,
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    pub(super) frame: u64,
    pub(super) payload: u64,
    pub(super) sequence: u32,
    pub(super) flags: u16,
    /// It says that this was sent again, quickly or in vain, or that it is out of order.
    pub(super) again: bool,
    pub(super) out_of_order: bool,
    pub(super) keep_alive: bool,
    pub(super) server_name: Option<String>,
    pub(super) status: Vec<u16>,
    pub(super) requests: u64,
}

impl Shown {
    pub(super) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// The sequence number of the first byte of its payload.
    pub(super) fn begin(&self) -> u32 {
        self.sequence.wrapping_add(self.has(SYN).into())
    }
}

pub(super) const FIN: u16 = 1;
pub(super) const SYN: u16 = 2;
pub(super) const RST: u16 = 4;
pub(super) const ACK: u16 = 16;

/// The segments of each connection, by tshark's number of it.
pub(super) fn streams(file: &Path) -> BTreeMap<u32, Vec<Shown>> {
    let mut command = program("tshark");
    // By what is said, before by port: a client's may be one that something else has (57000 is IRISA's).
    command.args(["-o", "tcp.try_heuristic_first:TRUE"]);
    command.args(["-n", "-r"]).arg(file).args(["-Y", "tcp", "-T", "fields", "-E", "occurrence=a"]);
    for field in FIELDS {
        command.args(["-e", field]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap_or_else(|error| {
        panic!(
            "can't start tshark ({error}): install the Debian package tshark, or leave these tests \
             out with SIXMARK_SKIP=tshark"
        )
    });
    let output = finish(child);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let mut all: BTreeMap<u32, Vec<Shown>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let stream = words[0].parse().unwrap_or_else(|_| panic!("{line}"));
        all.entry(stream).or_default().push(shown(&words));
    }
    all
}

fn shown(words: &[&str]) -> Shown {
    // Of a packet in a tunnel it shows the addresses of every header.
    let end = |at: usize| -> SocketAddr {
        let all = words[at].split(',').chain(words[at + 1].split(','));
        let mut inner = all.filter(|ip| !ip.is_empty() && !OUTER.contains(ip));
        let ip: IpAddr = inner.next().unwrap().parse().unwrap();
        (ip, words[at + 2].parse().unwrap()).into()
    };
    let (seconds, part) = words[1].split_once('.').unwrap();
    let number = |text: &str| text.parse::<u64>().unwrap();
    let hex = u16::from_str_radix(words[9].trim_start_matches("0x"), 16).unwrap();
    let some = |at: usize| !words[at].is_empty();
    Shown {
        at_ns: number(seconds) * 1_000_000_000 + number(&format!("{part:0<9}")),
        from: end(3),
        to: end(6),
        frame: number(words[2]),
        payload: number(words[10]),
        sequence: number(words[11]) as u32,
        flags: hex,
        again: some(12) || some(13) || some(14),
        out_of_order: some(15),
        keep_alive: some(16),
        server_name: some(17).then(|| words[17].to_owned()),
        status: words[18].split(',').filter_map(|code| code.parse().ok()).collect(),
        requests: words[19].split(',').filter(|method| !method.is_empty()).count() as u64,
    }
}
