//! What is told of each connection and exchange one by one, for those who hold it against what packets
//! say (`run --truth`).

use sixmark_model::truth::{Book, Opened, Told};
use sixmark_sys::driver::{Driver, Slot};
use sixmark_wire::flow::Ends;

use super::Worker;
use crate::places::Place;

/// What has been told.
#[derive(Debug, Default)]
pub(super) struct Teller {
    pub(super) book: Book,
    /// By slot: the number of its connection in the book, where it has one.
    numbers: Vec<Option<u32>>,
}

impl Teller {
    /// All of it, with when the measurement began and ended.
    pub(super) fn end(mut self, begun: u64, last: u64) -> Book {
        self.book.measured = begun..last.max(begun);
        self.book
    }
}

impl<D: Driver> Worker<'_, D> {
    /// A connection was established, whose family is known.
    pub(super) fn tell_of_connection(&mut self, slot: Slot) {
        let Some(teller) = &mut self.teller else { return };
        let index = slot as usize;
        if teller.numbers.len() <= index {
            teller.numbers.resize(index + 1, None);
        }
        teller.numbers[index] = None;
        let connection = self.connections.get(slot);
        if let Some(client) = self.driver.local(slot) {
            let server = self.prepared.endpoints[connection.endpoint].address;
            let (called, connected) = (connection.opened, connection.connected);
            let (ends, counted) = (Ends { client, server }, connection.counted);
            let took = connection.connect_took;
            let opened = Opened { ends, called, connected, took, counted };
            teller.numbers[index] = teller.book.open(opened);
        }
    }

    /// An exchange of the measurement had its complete response. Only those that follow one another in plain
    /// text can be told in packets.
    pub(super) fn tell_of_exchange(&mut self, slot: Slot, place: Place, end: u64) {
        let Some(teller) = &mut self.teller else { return };
        let connection = self.connections.get(slot);
        let secure = self.prepared.endpoints[connection.endpoint].secure;
        if secure || connection.protocol.is_multiplexed() {
            return;
        }
        let exchange = self.places.get(place);
        let first = exchange.first.unwrap_or(end);
        let (number, start, sent) = (connection.requests, exchange.start, exchange.sent);
        match teller.numbers.get(slot as usize).copied().flatten() {
            Some(connection) => {
                teller.book.tell(Told { connection, number, start, sent, first, end });
            }
            None => teller.book.miss(connection.family),
        }
    }
}
