//! A list of all exchanges, for short captures.

use super::observed::{FlowObserver, Observed};
use super::transfer::{Transfer, Unmeasured};

/// A sink that keeps all exchanges. It is intended for studies, in which they are few.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transfers(Vec<Transfer>);

impl Transfers {
    /// Returns all exchanges in the order in which they began. `dropped` is the number of packets
    /// that the capture lost. If it is not 0, the lost packets could belong to any exchange, so
    /// none is measured.
    pub fn finish(mut self, dropped: u64) -> Vec<Transfer> {
        for transfer in self.0.iter_mut().filter(|_| dropped > 0) {
            transfer.refuse(Unmeasured::Dropped);
        }
        self.0.sort_by_key(|transfer| (transfer.began_ns, transfer.ends, transfer.number));
        self.0
    }
}

impl FlowObserver for Transfers {
    /// Adds an exchange without measurements for a connection that carried data but no request in
    /// plain text.
    fn connection(&mut self, connection: &Observed) {
        let sent = &connection.sent;
        let carried = sent.from_client.stream_bytes + sent.from_server.stream_bytes;
        if connection.exchanges == 0 && carried > 0 {
            let mut found = Transfer::new(connection.ends, 0, connection.began_ns);
            found.answered_ns = connection.opening.answered_ns;
            found.established_ns = connection.opening.established_ns;
            found.refuse(Unmeasured::NoGet);
            self.0.push(found);
        }
    }

    fn exchange(&mut self, exchange: &Transfer) {
        self.0.push(exchange.clone());
    }
}
