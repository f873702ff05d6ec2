//! The network counters of a namespace.

use std::io;

use crate::network::{Conntrack, Network};
use crate::parse;
use sixmark_units::family::PerFamily;

use super::file::{KeptFile, text_of_file};
use super::links::Links;

/// The files and interfaces of the namespace in which the calling thread was when they were opened.
#[derive(Debug)]
pub(super) struct Namespace {
    snmp: KeptFile,
    snmp6: Option<KeptFile>,
    netstat: Option<KeptFile>,
    conntrack: Option<[KeptFile; 2]>,
    tracked: Option<KeptFile>,
    neighbours: PerFamily<Option<KeptFile>>,
    links: Links,
}

/// The network files of the calling thread, which may be in another namespace than its process.
const NET: &str = "/proc/thread-self/net";

impl Namespace {
    pub(super) fn open() -> io::Result<Namespace> {
        let of = |name: &str| KeptFile::maybe(format!("{NET}/{name}"));
        Ok(Namespace {
            snmp: KeptFile::open(format!("{NET}/snmp"))?,
            snmp6: of("snmp6"),
            netstat: of("netstat"),
            conntrack: tracking(),
            tracked: of("stat/nf_conntrack"),
            neighbours: PerFamily { ipv6: of("stat/ndisc_cache"), ipv4: of("stat/arp_cache") },
            links: Links::open()?,
        })
    }

    pub(super) fn read(&mut self) -> io::Result<Network> {
        let snmp = parse::paired(self.snmp.read()?);
        let snmp6 = parse::flat(text_of_file(&mut self.snmp6));
        let netstat = parse::paired(text_of_file(&mut self.netstat));
        let neighbours = &mut self.neighbours;
        Ok(Network {
            families: parse::parse_families(&snmp6, &snmp, &netstat),
            tcp: parse::tcp(&snmp, &netstat),
            sockets: None,
            interfaces: self.links.read()?,
            conntrack: conntrack(&mut self.conntrack, &mut self.tracked),
            neighbours: PerFamily {
                ipv6: parse::neighbours(text_of_file(&mut neighbours.ipv6)),
                ipv4: parse::neighbours(text_of_file(&mut neighbours.ipv4)),
            },
        })
    }
}

/// Opens the files of connection tracking. They belong to the namespace of the thread that opens
/// them.
fn tracking() -> Option<[KeptFile; 2]> {
    let of = |name: &str| KeptFile::maybe(format!("/proc/sys/net/netfilter/nf_conntrack_{name}"));
    Some([of("count")?, of("max")?])
}

fn conntrack(files: &mut Option<[KeptFile; 2]>, stat: &mut Option<KeptFile>) -> Option<Conntrack> {
    let [entries, limit] = files.as_mut()?;
    let entries = entries.read().ok()?.to_owned();
    parse::conntrack(&entries, limit.read().ok()?, text_of_file(stat))
}
