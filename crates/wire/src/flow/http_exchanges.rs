//! A list of all exchanges, for short captures.

use super::connection_report::{ConnectionReport, FlowObserver};
use super::http_exchange::{HttpExchange, Unmeasured};

/// A sink that keeps all exchanges. It is intended for studies, in which they are few.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpExchanges(Vec<HttpExchange>);

impl HttpExchanges {
    /// Returns all exchanges in the order in which they began. `dropped` is the number of packets
    /// that the capture lost. If it is not 0, the lost packets could belong to any exchange, so
    /// none is measured.
    pub fn finish(mut self, dropped: u64) -> Vec<HttpExchange> {
        for exchange in self.0.iter_mut().filter(|_| dropped > 0) {
            exchange.refuse(Unmeasured::Dropped);
        }
        self.0.sort_by_key(|exchange| (exchange.began_ns, exchange.ends, exchange.number));
        self.0
    }
}

impl FlowObserver for HttpExchanges {
    /// Adds an exchange without measurements for a connection that carried data but no request in
    /// plain text.
    fn connection(&mut self, connection: &ConnectionReport) {
        let sent = &connection.sent;
        let carried = sent.from_client.stream_bytes + sent.from_server.stream_bytes;
        if connection.exchanges == 0 && carried > 0 {
            let mut found = HttpExchange::new(connection.ends, 0, connection.began_ns);
            found.answered_ns = connection.opening.answered_ns;
            found.established_ns = connection.opening.established_ns;
            found.refuse(Unmeasured::NoGet);
            self.0.push(found);
        }
    }

    fn exchange(&mut self, exchange: &HttpExchange) {
        self.0.push(exchange.clone());
    }
}
