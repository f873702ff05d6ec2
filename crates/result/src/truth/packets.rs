//! The individual connections and exchanges that the packets show.

use std::collections::HashMap;

use sixmark_units::family::Family;
use sixmark_wire::flow::{ConnectionReport, Ends, FlowObserver, HttpExchange};

/// The most connections and the most exchanges that are kept, earliest first: more than clients can
/// record.
const MOST: usize = 1 << 22;

/// A connection as the packets show it. Times are in nanoseconds of the capture's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Established {
    pub(super) ends: u32,
    pub(super) began_ns: u64,
    pub(super) answered_ns: u64,
}

/// An exchange as the packets show it. Times are in nanoseconds of the capture's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exchanged {
    pub(super) ends: u32,
    pub(super) number: u32,
    pub(super) began_ns: u64,
    /// From the request's last packet to the response's first.
    pub(super) wait_ns: u64,
    /// From the response's first packet to its last.
    pub(super) transfer_ns: u64,
    /// From the request's first packet to the response's last.
    pub(super) last_ns: u64,
}

/// Collects the connections and exchanges that are reconstructed from packets.
#[derive(Debug, Default)]
pub struct Packets {
    ends: HashMap<Ends, u32>,
    pub(super) connections: Vec<Established>,
    pub(super) exchanges: Vec<Exchanged>,
}

impl Packets {
    /// Returns the number assigned to these endpoints, or `None` if no packet had them.
    pub(super) fn number_of(&self, ends: &Ends) -> Option<u32> {
        self.ends.get(ends).copied()
    }

    /// Adds what was captured on another interface.
    pub fn add(&mut self, other: Packets) {
        let mut numbers = vec![0; other.ends.len()];
        for (ends, number) in other.ends {
            numbers[number as usize] = self.intern(ends);
        }
        let of = |ends: u32| numbers[ends as usize];
        let connections = other.connections.into_iter();
        self.connections.extend(connections.map(|c| Established { ends: of(c.ends), ..c }));
        let exchanges = other.exchanges.into_iter();
        self.exchanges.extend(exchanges.map(|e| Exchanged { ends: of(e.ends), ..e }));
    }

    /// Sorts connections and exchanges by the keys of binary searches.
    pub(super) fn sort(&mut self) {
        self.connections.sort_unstable_by_key(|c| (c.ends, c.began_ns));
        self.exchanges.sort_unstable_by_key(|e| (e.ends, e.number, e.began_ns));
    }

    /// Returns, for each number of endpoints, their address family.
    pub(super) fn families(&self) -> Vec<Family> {
        let mut all = vec![Family::Ipv6; self.ends.len()];
        for (ends, number) in &self.ends {
            all[*number as usize] = Family::of(ends.server.ip());
        }
        all
    }

    fn intern(&mut self, ends: Ends) -> u32 {
        let next = self.ends.len() as u32;
        *self.ends.entry(ends).or_insert(next)
    }
}

impl FlowObserver for Packets {
    fn connection(&mut self, connection: &ConnectionReport) {
        let Some(answered_ns) = connection.opening.answered_ns else { return };
        if self.connections.len() < MOST {
            let (ends, began_ns) = (self.intern(connection.ends), connection.began_ns);
            self.connections.push(Established { ends, began_ns, answered_ns });
        }
    }

    fn exchange(&mut self, exchange: &HttpExchange) {
        let times = (exchange.request_ns, exchange.wait_ns, exchange.transfer_ns);
        let (Some(asked_ns), Some(wait_ns), Some(transfer_ns)) = times else { return };
        if exchange.number == 0 || self.exchanges.len() >= MOST {
            return;
        }
        let (ends, began_ns) = (self.intern(exchange.ends), exchange.began_ns);
        let number = exchange.number;
        let last_ns = exchange.first_byte_ns.unwrap_or(asked_ns + wait_ns) + transfer_ns;
        let found = Exchanged { ends, number, began_ns, wait_ns, transfer_ns, last_ns };
        self.exchanges.push(found);
    }
}
