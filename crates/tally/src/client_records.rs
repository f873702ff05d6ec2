//! A client's records of individual connections and exchanges.

use std::ops::Range;

use sixmark_units::family::{Family, PerFamily};
use sixmark_wire::flow::Ends;

/// The most connections and the most exchanges that one worker records. The exchanges take at most
/// 48 MB.
const MOST: usize = 1 << 20;

/// A connection. Times are in nanoseconds of the client's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The addresses and ports of both ends.
    pub ends: Ends,
    /// When the connect call began.
    pub called: u64,
    /// When the connection was established.
    pub connected: u64,
    /// How long connecting took, by the clock that the run's connect times are from.
    pub took: u64,
    /// True if the connection was established during the measurement.
    pub counted: bool,
}

/// An exchange with a complete response. Times are in nanoseconds of the client's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedExchange {
    /// The index of its connection in the book.
    pub connection: u32,
    /// The number of the exchange on its connection, from 1.
    pub number: u32,
    /// When the exchange began.
    pub start: u64,
    /// When the last byte of the request was handed to the kernel.
    pub sent: u64,
    /// When the first byte of the response arrived.
    pub first: u64,
    /// When the last byte of the response arrived.
    pub end: u64,
}

/// The records of one worker, or of all workers. Once it is full, further connections and exchanges
/// are only counted.
#[derive(Clone, Debug, Default)]
pub struct ClientRecords {
    connections: Vec<Opened>,
    exchanges: Vec<RecordedExchange>,
    /// When the measurement began and ended, by the client's clock.
    pub measured: Range<u64>,
    /// The numbers of connections and of exchanges that were not recorded for lack of room.
    untold: PerFamily<[u64; 2]>,
}

impl ClientRecords {
    /// Returns the numbers of connections and of exchanges of a family that were not recorded for
    /// lack of room.
    pub fn unrecorded(&self, family: Family) -> [u64; 2] {
        self.untold[family]
    }

    /// Records an established connection. Returns its index, or `None` if there is no room.
    pub fn open(&mut self, opened: Opened) -> Option<u32> {
        if self.connections.len() >= MOST {
            let family = Family::of(opened.ends.server.ip());
            self.untold[family][0] += u64::from(opened.counted);
            return None;
        }
        self.connections.push(opened);
        Some((self.connections.len() - 1) as u32)
    }

    /// Records an exchange that ended in the measurement.
    pub fn tell(&mut self, exchange: RecordedExchange) {
        if self.exchanges.len() < MOST {
            self.exchanges.push(exchange);
        } else if let Some(connection) = self.connections.get(exchange.connection as usize) {
            let family = Family::of(connection.ends.server.ip());
            self.untold[family][1] += 1;
        }
    }

    /// Counts an exchange whose connection was not recorded for lack of room.
    pub fn miss(&mut self, family: Family) {
        self.untold[family][1] += 1;
    }

    /// Adds the records of another worker.
    pub fn add(&mut self, other: ClientRecords) {
        if self.measured.is_empty() {
            self.measured = other.measured.clone();
        }
        let (mine, its) = (&self.measured, &other.measured);
        self.measured = mine.start.min(its.start)..mine.end.max(its.end);
        let first = self.connections.len() as u32;
        self.connections.extend(other.connections);
        let moved = |recorded: RecordedExchange| RecordedExchange {
            connection: recorded.connection + first,
            ..recorded
        };
        self.exchanges.extend(other.exchanges.into_iter().map(moved));
        for family in Family::BOTH {
            for (sum, more) in self.untold[family].iter_mut().zip(other.untold[family]) {
                *sum += more;
            }
        }
    }

    /// Returns all connections.
    pub fn connections(&self) -> &[Opened] {
        &self.connections
    }

    /// Iterates over all exchanges, each with its connection.
    pub fn exchanges(&self) -> impl Iterator<Item = (&RecordedExchange, &Opened)> {
        let with = |exchange| {
            Some((exchange, self.connections.get(RecordedExchange::connection(exchange))?))
        };
        self.exchanges.iter().filter_map(with)
    }
}

impl RecordedExchange {
    fn connection(&self) -> usize {
        self.connection as usize
    }
}
