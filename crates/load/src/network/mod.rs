//! The connections of a worker: opening them, TLS, sending and closing. When exchanges start and
//! what they ask is decided elsewhere.

mod close;
mod open;
mod quic;
mod secure;
mod send;
mod source;

use sixmark_plan::mix::share_of_worker;
use sixmark_sys::driver::{Driver, Slot};

use super::connection::Connections;
use super::prepare::PreparedLoad;
use super::protocol::is_over_quic;
use super::quic::Quic;
use crate::tls;
use source::Sources;

/// The connections of a worker, over a driver.
#[derive(Debug)]
pub(super) struct Network<'a, D> {
    pub(super) driver: D,
    prepared: &'a PreparedLoad,
    pub(super) connections: Connections,
    sources: Sources,
    tls: Option<tls::Client>,
    room: tls::Room,
    quic: Option<Box<Quic>>,
    /// Connections that may have something to send.
    touched: Vec<Slot>,
}

impl<'a, D: Driver> Network<'a, D> {
    /// Creates the network of worker number `number`, without connections. `usual` connections are
    /// to be used at once. `now` is a time of the driver's clock.
    pub(super) fn new(
        driver: D,
        prepared: &'a PreparedLoad,
        number: u32,
        usual: u64,
        now: u64,
    ) -> Network<'a, D> {
        let (plan, workers) = (&prepared.plan, prepared.plan.load.threads.get());
        let most = plan.connection.most_open.get();
        let most = share_of_worker(most.into(), workers.into(), number.into()).1;
        Network {
            driver,
            prepared,
            connections: Connections::new(prepared, [usual as usize, most as usize]),
            sources: Sources::new(&plan.sources, number, workers),
            tls: prepared.tls.as_ref().map(|setup| tls::Client::new(setup, plan, number)),
            room: tls::Room::default(),
            quic: is_over_quic(plan.http.version).then(|| Box::new(Quic::new(now))),
            touched: Vec::new(),
        }
    }

    /// Returns true if connections use QUIC.
    pub(super) fn is_over_quic(&self) -> bool {
        self.quic.is_some()
    }

    /// Records that a connection may have data to send.
    pub(super) fn touch(&mut self, slot: Slot) {
        if let Some(buffer) = &mut self.connections.get(slot).send_buffer
            && !std::mem::replace(&mut buffer.touched, true)
        {
            self.touched.push(slot);
        }
    }

    /// Removes and returns a connection that may have data to send.
    pub(super) fn next_touched(&mut self) -> Option<Slot> {
        self.touched.pop()
    }

    /// Returns the connections that may have data to send.
    pub(super) fn touched(&self) -> &[Slot] {
        &self.touched
    }
}
