//! TCP connections to a server, followed packet by packet from where they were captured, and what
//! they say of each exchange: how long it took, and how many bytes went each way.

mod connection;
mod observed;
mod seen;
mod side;
#[cfg(test)]
mod tests;
mod transfer;

use std::collections::HashMap;
use std::net::SocketAddr;

use connection::Connection;
pub use observed::{Closure, Doubts, Hello, Observed, Opening, RoundTrips, Sent, Sink, Spoken};
pub use transfer::{Ends, Repeated, Transfer, Unmeasured, Way};

use crate::wire::{self, Link, Skipped, Span, Tcp};

/// So many connections are followed at once at most; those that are over make room.
const MOST: usize = 1 << 17;

/// Follows the connections to some ports.
#[derive(Debug)]
pub struct Follower {
    ports: Vec<u16>,
    most: usize,
    connections: HashMap<Ends, Connection>,
    done: Vec<Transfer>,
    counts: Counts,
}

/// What came by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments of connections to the ports.
    pub segments: u64,
    /// Packets of which too little was kept.
    pub cut: u64,
    /// Packets whose headers contradict each other.
    pub malformed: u64,
    /// Fragments of packets, whatever they carry.
    pub fragments: u64,
    /// Segments of connections for which there was no room.
    pub unfollowed: u64,
}

impl Follower {
    /// Follows connections whose servers have these ports.
    pub fn new(ports: Vec<u16>) -> Follower {
        let counts = Counts::default();
        Follower { ports, most: MOST, connections: HashMap::new(), done: Vec::new(), counts }
    }

    /// A packet that was seen at `at_ns`, in nanoseconds of any one clock. Its length on the wire is
    /// what counts as its bytes.
    pub fn packet(&mut self, link: Link, at_ns: u64, frame: Span<'_>) {
        match self.segment(link, at_ns, frame) {
            Ok(()) | Err(Skipped::Other) => {}
            Err(Skipped::Cut) => self.counts.cut += 1,
            Err(Skipped::Malformed) => self.counts.malformed += 1,
        }
    }

    /// What came by so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Whether nothing is to be expected any more: each connection is over, or its client has
    /// acknowledged all that it asked for.
    pub fn is_settled(&self) -> bool {
        self.connections.values().all(Connection::is_settled)
    }

    /// All exchanges, in the order in which they began. `dropped` says how many packets the capture
    /// lost: where there are any, nobody knows whose they were, and none is measured.
    pub fn finish(mut self, dropped: u64) -> Vec<Transfer> {
        for connection in self.connections.into_values() {
            connection.finish(&mut self.done);
        }
        for transfer in self.done.iter_mut().filter(|_| dropped > 0) {
            transfer.refuse(Unmeasured::Dropped);
        }
        self.done.sort_by_key(|transfer| (transfer.began_ns, transfer.ends, transfer.number));
        self.done
    }

    fn segment(&mut self, link: Link, at_ns: u64, frame: Span<'_>) -> Result<(), Skipped> {
        let ip = wire::ip(link, frame)?;
        self.counts.fragments += u64::from(ip.fragment.is_some());
        let tcp = wire::tcp(&ip)?;
        let (from, to) = ((ip.source, tcp.source).into(), (ip.destination, tcp.destination).into());
        let Some((ends, by_client)) = self.ends(from, to) else { return Err(Skipped::Other) };
        self.counts.segments += 1;
        let segment =
            Segment { at_ns, length: frame.length as u64, fragment: ip.fragment.is_some(), tcp };
        self.give(ends, by_client, &segment);
        Ok(())
    }

    /// Whose segment it is, and whether the client sent it.
    fn ends(&self, from: SocketAddr, to: SocketAddr) -> Option<(Ends, bool)> {
        let (asked, answers) =
            (Ends { client: from, server: to }, Ends { client: to, server: from });
        match (self.ports.contains(&to.port()), self.ports.contains(&from.port())) {
            // A client may have a port that servers have: it is one of those known.
            (true, true) if self.connections.contains_key(&answers) => Some((answers, false)),
            (true, _) => Some((asked, true)),
            (false, true) => Some((answers, false)),
            (false, false) => None,
        }
    }

    fn give(&mut self, ends: Ends, by_client: bool, segment: &Segment<'_>) {
        let begins = by_client && segment.tcp.flags.syn() && !segment.tcp.flags.ack();
        if begins && self.connections.get(&ends).is_some_and(|known| known.is_other(segment)) {
            self.end(&ends);
        }
        if !self.connections.contains_key(&ends) && !self.make_room() {
            self.counts.unfollowed += 1;
            return;
        }
        let connection = self.connections.entry(ends).or_insert_with(|| Connection::new(ends));
        connection.take(by_client, segment, &mut self.done);
    }

    /// False where there is none.
    fn make_room(&mut self) -> bool {
        if self.connections.len() >= self.most {
            let over = self.connections.iter().filter(|(_, connection)| connection.is_over());
            let over: Vec<Ends> = over.map(|(ends, _)| *ends).collect();
            over.iter().for_each(|ends| self.end(ends));
        }
        self.connections.len() < self.most
    }

    fn end(&mut self, ends: &Ends) {
        if let Some(connection) = self.connections.remove(ends) {
            connection.finish(&mut self.done);
        }
    }
}

/// A segment as it was seen.
#[derive(Clone, Copy, Debug)]
struct Segment<'a> {
    at_ns: u64,
    /// Bytes of its frame.
    length: u64,
    /// The rest of it is in other packets.
    fragment: bool,
    tcp: Tcp<'a>,
}
