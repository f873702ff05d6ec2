//! Writes a capture of many HTTP connections, as `tcpdump` would at a server: `make-capture --bytes
//! 1G FILE`. `--seed 7` writes another one. The same arguments write the same file.
//!
//! The capture contains both families; connections with one exchange and with many, from 200 bytes
//! to some megabytes, a fifth of them over TLS; handshakes with all options, timestamps, ACKs of
//! every second segment; 0.5 % of segments lost after the capture point and retransmitted, with
//! SACK; uploads out of order or with gaps; SYNs that are repeated, refused, or absent because they
//! precede the capture; and connections that end with a RST or remain open.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a program for developers, which may end with a backtrace"
)]

mod connection;
mod frame;
mod script;
mod stream;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::env;
use std::fs::File;
use std::io::{BufWriter, Write as _};

use connection::Connection;
use sixmark_units::random::Random;
use sixmark_wire::Link;
use sixmark_wire::pcap::{self, Record};

/// The snapshot length; whole packets are captured.
const SNAP: u32 = 262_144;
/// The time of the first connection: 2026-01-01, in nanoseconds since 1970.
const BEGIN_NS: u64 = 1_767_225_600_000_000_000;
/// The mean interval between the beginnings of two connections, in nanoseconds.
const BETWEEN_NS: f64 = 400_000.0;

fn main() {
    let (mut bytes, mut seed, mut path) = (1 << 30, 6446, None);
    let mut words = env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().expect("a value behind the option");
        match word.as_str() {
            "--bytes" => bytes = size(&value()),
            "--seed" => seed = value().parse().expect("a number behind --seed"),
            _ => path = Some(word),
        }
    }
    let path = path.expect("which file? make-capture --bytes 1G FILE");
    let made = Capture::new(&path, bytes, seed).make();
    println!("{made}");
}

/// Parses a size such as `1G`, `200M`, or a plain number of bytes.
fn size(text: &str) -> u64 {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "k" | "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        unit => panic!("'{unit}' is no unit: k, M, G"),
    };
    digits.parse::<u64>().expect("a size like 1G") * unit
}

/// A capture file that is being written.
struct Capture {
    file: BufWriter<File>,
    /// The number of bytes wanted, and the number written.
    wanted: u64,
    written: u64,
    random: Random,
    /// The connections that are not completely written, and the time of the next packet of each.
    open: Vec<Option<Connection>>,
    due: BinaryHeap<Reverse<(u64, usize)>>,
    vacant: Vec<usize>,
    begins_ns: u64,
    connections: u64,
    packets: u64,
}

impl Capture {
    fn new(path: &str, wanted: u64, seed: u64) -> Capture {
        let file = File::create(path).expect("a file that can be written");
        let mut file = BufWriter::with_capacity(1 << 20, file);
        file.write_all(&pcap::header(SNAP, Link::Ethernet)).unwrap();
        Capture {
            file,
            wanted,
            written: pcap::HEADER as u64,
            random: Random::new(seed, 0),
            open: Vec::new(),
            due: BinaryHeap::new(),
            vacant: Vec::new(),
            begins_ns: BEGIN_NS,
            connections: 0,
            packets: 0,
        }
    }

    /// Writes packets in order of their times until the file is large enough.
    fn make(mut self) -> String {
        let mut record = Vec::with_capacity(1 << 16);
        while self.written < self.wanted {
            while self.due.peek().is_none_or(|Reverse((at, _))| *at >= self.begins_ns) {
                self.begin();
            }
            let Some(Reverse((at_ns, slot))) = self.due.pop() else { break };
            let connection = self.open[slot].as_mut().unwrap();
            let frame = connection.frame();
            record.clear();
            pcap::write_record(
                &Record { at_ns, length: frame.len() as u32, bytes: frame },
                &mut record,
            );
            self.file.write_all(&record).unwrap();
            self.written += record.len() as u64;
            self.packets += 1;
            self.next(slot);
        }
        self.file.flush().unwrap();
        let seconds = (self.begins_ns - BEGIN_NS) / 1_000_000_000;
        format!(
            "{} connections, {} packets, {} bytes, {seconds} seconds",
            self.connections, self.packets, self.written
        )
    }

    fn begin(&mut self) {
        let connection = Connection::new(&mut self.random, self.connections, self.begins_ns);
        self.connections += 1;
        self.begins_ns += (self.random.exponential() * BETWEEN_NS) as u64;
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.open.push(None);
            self.open.len() - 1
        });
        self.open[slot] = Some(connection);
        self.next(slot);
    }

    fn next(&mut self, slot: usize) {
        match self.open[slot].as_ref().and_then(Connection::next_ns) {
            Some(at_ns) => self.due.push(Reverse((at_ns, slot))),
            None => {
                self.open[slot] = None;
                self.vacant.push(slot);
            }
        }
    }
}
