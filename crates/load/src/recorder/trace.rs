//! The trace of each connection and exchange, for comparison with captured packets (`run --truth`).

use sixmark_sys::driver::Slot;
use sixmark_tally::client_records::{ClientRecords, Opened, RecordedExchange};
use sixmark_wire::flow::Ends;

use crate::connection::Connection;
use crate::exchange::Exchange;

/// The trace so far.
#[derive(Debug, Default)]
pub(super) struct Trace {
    client_records: ClientRecords,
    /// By slot: the number of its connection in the trace, if it has one.
    numbers: Vec<Option<u32>>,
}

impl Trace {
    /// Adds an established connection, whose family is known. Without `ends` it can't be identified
    /// and is left out.
    pub(super) fn open(&mut self, slot: Slot, connection: &Connection, ends: Option<Ends>) {
        let index = slot as usize;
        if self.numbers.len() <= index {
            self.numbers.resize(index + 1, None);
        }
        let (called, connected) = (connection.opened, connection.connected);
        let (took, counted) = (connection.connect_took, connection.counted);
        self.numbers[index] = ends.and_then(|ends| {
            self.client_records.open(Opened { ends, called, connected, took, counted })
        });
    }

    /// Adds an exchange whose response was complete at `end`.
    pub(super) fn tell(
        &mut self,
        slot: Slot,
        connection: &Connection,
        exchange: &Exchange,
        end: u64,
    ) {
        let first = exchange.first.unwrap_or(end);
        let (number, sent) = (connection.requests, exchange.sent);
        // If the request was sent before on another connection, this one was opened to send it
        // again, and its packets show no more than that.
        let start = if exchange.tries > 0 { connection.opened } else { exchange.start };
        match self.numbers.get(slot as usize).copied().flatten() {
            Some(connection) => {
                self.client_records.tell(RecordedExchange {
                    connection,
                    number,
                    start,
                    sent,
                    first,
                    end,
                });
            }
            None => self.client_records.miss(connection.family),
        }
    }

    /// Returns the trace, with the begin and end of the measurement.
    pub(super) fn end(mut self, begun: u64, last: u64) -> ClientRecords {
        self.client_records.measured = begun..last.max(begun);
        self.client_records
    }
}
