//! Attribution of the pauses of connections.

use sixmark_sys::driver::{Driver, Slot};

use super::Worker;

impl<D: Driver> Worker<'_, D> {
    /// Attributes a pause of a connection, from `before` to `at`, to the exchanges whose responses it
    /// interrupted.
    #[cold]
    #[inline(never)]
    pub(super) fn attribute_pause(&mut self, slot: Slot, before: u64, at: u64) {
        let interrupted = self.on(slot);
        let exchanges = &mut self.scheduler.concurrency_slots;
        // The beginning of an incomplete TLS record belongs to the response of the only exchange.
        let record_since = self.network.connections.get(slot).record_since;
        let record_since = record_since.filter(|_| interrupted.len() == 1);
        let begun = |first: Option<u64>| first.or(record_since);
        if interrupted.iter().any(|&of| begun(exchanges.get(of).first).is_some()) {
            let quic = self.network.is_over_quic();
            let out_of_order = if quic { None } else { self.network.driver.out_of_order(slot) };
            let clock = &mut self.network.connections.get(slot).pause_clock;
            let is_recovery = out_of_order.is_some_and(|count| clock.note_out_of_order(count));
            for &concurrency_slot in &interrupted {
                let exchange = exchanges.get(concurrency_slot);
                // A stream may have begun without a datagram of its own.
                if let Some(first) = begun(exchange.first) {
                    let ns = at.saturating_sub(before.max(first));
                    clock.attribute(ns, is_recovery, exchange.paused.get_or_insert_default());
                }
            }
        }
        self.done_with(interrupted);
    }
}
