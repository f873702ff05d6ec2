//! What a client did, by a capture at its interface.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::IpAddr;
use std::process::Stdio;

use sixmark_testkit::command;
use sixmark_testkit::lab::Lab;
use sixmark_testkit::process::Process;
use sixmark_units::family::Family;
use sixmark_wire::pcap::{self, Format, NextRecord};
use sixmark_wire::{IpPayload, Span, find_payload, ip};
use tempfile::TempDir;

/// The port of the site.
const PORT: u16 = 80;

/// A capture that runs.
pub(super) struct Capture {
    process: Process,
    folder: TempDir,
}

/// The connection that carried the request.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenRace {
    pub(super) family: Family,
    /// From the first SYN of any connection to the SYN-ACK of this one, in milliseconds.
    pub(super) connected_ms: f64,
}

impl Capture {
    pub(super) fn start(lab: &Lab) -> Capture {
        let folder = TempDir::new().unwrap();
        let words = ["lab", "exec", "--lab", lab.name(), "client"];
        let tcpdump = ["tcpdump", "--immediate-mode", "-n", "-U", "-s", "128", "-i", "server"];
        let rest = ["--time-stamp-precision=nano", "-w", "-", "tcp port 80"];
        let mut command = command(&[&words[..], &tcpdump, &rest].concat());
        command.stdout(Stdio::from(File::create(folder.path().join("capture")).unwrap()));
        let mut process = Process::start(&mut command, folder.path(), "tcpdump", "tcpdump");
        assert!(process.wait_until_it_says("listening on"), "{}", process.said());
        Capture { process, folder }
    }

    /// Returns what has been seen so far; `None` if no request was sent.
    pub(super) fn read(&self) -> Option<SeenRace> {
        read_race(&fs::read(self.folder.path().join("capture")).unwrap())
    }

    pub(super) fn stop(&mut self) {
        self.process.stop("INT");
    }
}

fn read_race(file: &[u8]) -> Option<SeenRace> {
    let (header, mut rest) = file.split_at_checked(pcap::HEADER)?;
    let format = Format::read(header).unwrap();
    let mut first = None;
    // By the client's port and the server's address.
    let mut established: BTreeMap<(u16, IpAddr), u64> = BTreeMap::new();
    while let NextRecord::Record(record, behind) = format.next(rest) {
        rest = behind;
        let Ok(packet) = ip(format.link, Span::new(record.bytes, record.length as usize)) else {
            continue;
        };
        let Ok(IpPayload::Tcp(tcp)) = find_payload(&packet) else { continue };
        if tcp.source == PORT {
            if tcp.flags.syn() && tcp.flags.ack() {
                established.entry((tcp.destination, packet.source)).or_insert(record.at_ns);
            }
            continue;
        }
        if tcp.flags.syn() {
            first.get_or_insert(record.at_ns);
        } else if !tcp.payload.bytes.is_empty() {
            let at = *established.get(&(tcp.source, packet.destination))?;
            let connected_ms = (at - first?) as f64 / 1e6;
            return Some(SeenRace { family: Family::of(packet.destination), connected_ms });
        }
    }
    None
}
