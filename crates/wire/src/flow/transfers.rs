//! All exchanges of a capture that is short.

use super::observed::{FlowObserver, Observed};
use super::transfer::{Transfer, Unmeasured};

/// Keeps all exchanges. For studies, where they are few.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transfers(Vec<Transfer>);

impl Transfers {
    /// All exchanges, in the order in which they began. `dropped` says how many packets the capture
    /// lost: where there are any, nobody knows whose they were, and none is measured.
    pub fn finish(mut self, dropped: u64) -> Vec<Transfer> {
        for transfer in self.0.iter_mut().filter(|_| dropped > 0) {
            transfer.refuse(Unmeasured::Dropped);
        }
        self.0.sort_by_key(|transfer| (transfer.began_ns, transfer.ends, transfer.number));
        self.0
    }
}

impl FlowObserver for Transfers {
    /// One that carried something, and no request in plain text, is told of as one exchange of nothing.
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
