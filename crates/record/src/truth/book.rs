//! What a client tells of its connections and exchanges one by one.

use std::ops::Range;

use sixmark_units::family::{Family, PerFamily};
use sixmark_wire::flow::Ends;

/// So many exchanges are told of at most by one worker: 48 MB.
const MOST: usize = 1 << 20;

/// A connection. Times are nanoseconds of the client's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// From where to where.
    pub ends: Ends,
    /// When the connect call began.
    pub called: u64,
    /// When it was established.
    pub connected: u64,
    /// How long that took, by the clock that the run's connect times are from.
    pub took: u64,
    /// It was established during the measurement.
    pub counted: bool,
}

/// An exchange that had a complete response. Times are nanoseconds of the client's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedExchange {
    /// The number of its connection in the book.
    pub connection: u32,
    /// Which exchange of its connection it was, from 1.
    pub number: u32,
    /// When it began.
    pub start: u64,
    /// When the last byte of its request was handed over.
    pub sent: u64,
    /// When the first byte of its response came.
    pub first: u64,
    /// When the last did.
    pub end: u64,
}

/// What one worker, or all of them, told. Bounded: what comes when it is full is counted alone.
#[derive(Clone, Debug, Default)]
pub struct TruthBook {
    connections: Vec<Opened>,
    exchanges: Vec<RecordedExchange>,
    /// When the measurement began and ended, by the client's clock.
    pub measured: Range<u64>,
    /// Connections and exchanges for which there was no room.
    pub(super) untold: PerFamily<[u64; 2]>,
}

impl TruthBook {
    /// A connection was established: its number, where there is room.
    pub fn open(&mut self, opened: Opened) -> Option<u32> {
        if self.connections.len() >= MOST {
            let family = Family::of(opened.ends.server.ip());
            self.untold[family][0] += u64::from(opened.counted);
            return None;
        }
        self.connections.push(opened);
        Some((self.connections.len() - 1) as u32)
    }

    /// An exchange of the measurement ended.
    pub fn tell(&mut self, exchange: RecordedExchange) {
        if self.exchanges.len() < MOST {
            self.exchanges.push(exchange);
        } else if let Some(connection) = self.connections.get(exchange.connection as usize) {
            let family = Family::of(connection.ends.server.ip());
            self.untold[family][1] += 1;
        }
    }

    /// An exchange ended of whose connection there was no room to tell.
    pub fn miss(&mut self, family: Family) {
        self.untold[family][1] += 1;
    }

    /// Adds what another worker told.
    pub fn add(&mut self, other: TruthBook) {
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

    /// Every connection.
    pub fn connections(&self) -> &[Opened] {
        &self.connections
    }

    /// Every exchange, with the connection that carried it.
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
