//! Interfaces and their counters, over rtnetlink(7).

use std::io;

use crate::Counter;
use crate::network::{Interface, InterfaceCounters};
use netlink_packet_route::link::{LinkAttribute, Stats64};

use sixmark_sys::rtnetlink::Netlink;

/// A netlink socket in the namespace in which it was opened.
pub(super) struct Links(Netlink);

impl std::fmt::Debug for Links {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Links")
    }
}

impl Links {
    pub(super) fn open() -> io::Result<Links> {
        Netlink::open().map(Links)
    }

    pub(super) fn read(&mut self) -> io::Result<Vec<Interface>> {
        let links = self.0.links()?;
        Ok(links.iter().filter_map(|link| interface(&link.attributes)).collect())
    }

    /// Returns each interface and its MTU, bytes.
    pub(super) fn mtus(&mut self) -> io::Result<Vec<(String, u32)>> {
        let links = self.0.links()?;
        let of = |attributes: &[LinkAttribute]| {
            let mtu = attributes.iter().find_map(|attribute| match attribute {
                LinkAttribute::Mtu(mtu) => Some(*mtu),
                _ => None,
            });
            Some((name_of_link(attributes)?, mtu.unwrap_or(0)))
        };
        Ok(links.iter().filter_map(|link| of(&link.attributes)).collect())
    }
}

fn interface(attributes: &[LinkAttribute]) -> Option<Interface> {
    let stats = attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::Stats64(stats) => Some(counters(stats)),
        _ => None,
    });
    Some(Interface { name: name_of_link(attributes)?, counters: stats? })
}

fn name_of_link(attributes: &[LinkAttribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match attribute {
        LinkAttribute::IfName(name) => Some(name.clone()),
        _ => None,
    })
}

fn counters(stats: &Stats64) -> InterfaceCounters {
    InterfaceCounters {
        in_packets: Counter(stats.rx_packets),
        out_packets: Counter(stats.tx_packets),
        in_bytes: Counter(stats.rx_bytes),
        out_bytes: Counter(stats.tx_bytes),
        in_errors: Counter(stats.rx_errors),
        out_errors: Counter(stats.tx_errors),
        in_dropped: Counter(stats.rx_dropped),
        out_dropped: Counter(stats.tx_dropped),
        in_missed: Counter(stats.rx_missed_errors),
        in_fifo_errors: Counter(stats.rx_fifo_errors),
    }
}
