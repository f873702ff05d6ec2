//! The simulated world as a worker's driver.

use std::cell::RefCell;
use std::rc::Rc;

use sixmark_sys::driver::{
    Arrival, Close, Driver, Event, Message, SendProgress, Slot, SocketRoute, TcpHandshake, TcpInfo,
};

use super::world::World;

/// A worker takes its driver for itself; the test keeps the world.
pub(crate) struct Simulated {
    world: Rc<RefCell<World>>,
    bytes: Vec<u8>,
}

impl Simulated {
    pub(crate) fn new(world: &Rc<RefCell<World>>) -> Simulated {
        Simulated { world: Rc::clone(world), bytes: Vec::new() }
    }
}

impl Driver for Simulated {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn now(&self) -> u64 {
        self.world.borrow().clock
    }

    fn woke(&self) -> u64 {
        self.world.borrow().woke
    }

    fn idle_ns(&self) -> u64 {
        self.world.borrow().idle_ns
    }

    fn connect(&mut self, slot: Slot, way: &SocketRoute) -> u64 {
        self.world.borrow_mut().connect(slot, way)
    }

    fn send(&mut self, slot: Slot, message: &Message) -> SendProgress {
        self.world.borrow_mut().send(slot, message.head(), message.length())
    }

    fn pass(&mut self, slot: Slot, bytes: &mut Vec<u8>) -> SendProgress {
        let progress = self.world.borrow_mut().pass(slot, bytes);
        bytes.clear();
        progress
    }

    fn cast(&mut self, _: Slot, _: &[u8], _: Option<usize>, _: u8) -> SendProgress {
        unimplemented!("the simulated world has no datagrams")
    }

    fn mtu(&mut self, _: Slot) -> Option<u32> {
        None
    }

    fn drops(&mut self, _: Slot) -> u64 {
        0
    }

    fn drop_next(&mut self, slot: Slot, count: u64) {
        self.world.borrow_mut().drop_next(slot, count);
    }

    fn handshake(&mut self, slot: Slot) -> Option<TcpHandshake> {
        self.world.borrow_mut().handshake(slot)
    }

    fn path(&mut self, slot: Slot) -> Option<TcpInfo> {
        self.world.borrow_mut().path(slot)
    }

    /// Asking within a response is not what the ledger notes.
    fn out_of_order(&mut self, _slot: Slot) -> Option<u32> {
        Some(0)
    }

    fn close(&mut self, slot: Slot, close: Close) {
        self.world.borrow_mut().close(slot, close);
    }

    fn wait(&mut self, until: u64) {
        self.world.borrow_mut().wait(until);
    }

    fn next(&mut self) -> Option<Event> {
        let mut world = self.world.borrow_mut();
        let event = world.next();
        self.bytes = std::mem::take(&mut world.bytes);
        event
    }

    fn arrived(&self) -> Option<Arrival> {
        self.world.borrow().arrived
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}
