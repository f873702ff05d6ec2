//! Interfaces and their counters, over rtnetlink(7).

use std::io;

use crate::Counter;
use crate::network::{Interface, InterfaceCounters};
use sixmark_sys::rtnetlink::{LinkCounters, LinkState, Netlink};

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
        let interface = |link: LinkState| {
            Some(Interface { name: link.name, counters: counters(&link.counters?) })
        };
        Ok(self.0.links()?.into_iter().filter_map(interface).collect())
    }

    /// Returns each interface and its MTU, bytes.
    pub(super) fn mtus(&mut self) -> io::Result<Vec<(String, u32)>> {
        Ok(self.0.links()?.into_iter().map(|link| (link.name, link.mtu)).collect())
    }
}

fn counters(stats: &LinkCounters) -> InterfaceCounters {
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
