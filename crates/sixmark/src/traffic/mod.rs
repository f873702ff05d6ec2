//! Background traffic: flows of messages at their times, and what arrives of them.
//!
//! [`TrafficSender`] and [`TrafficReceiver`] are one thread each, in the network namespace of the thread that begins
//! them, so that a study can have them in hosts of its lab. [`near`] and [`far`] are two sixmarks that
//! agree over a connection of their own, [`script`] is one that does what a script of MGEN's says.

mod assemble;
mod control;
mod doubts;
pub mod far;
mod line;
pub mod near;
mod ports;
mod receiver;
pub mod script;
mod sender;

pub use assemble::{Ends, Half, assemble};
pub use doubts::FAR_SIDE_LOST;
pub(crate) use ports::{doors, outgoing, ports};
pub use receiver::{Ears, Port, TrafficReceiver};
pub use sender::{ReadyFlows, TrafficSender};

use std::sync::atomic::{AtomicU64, Ordering};

/// Nanoseconds that a thread waits at least, so that one that has hundreds of messages a millisecond
/// does not wake up for each. No message leaves before it is due; one may leave so much later.
const GRAIN: u64 = 50_000;

/// What a thread counts while it works, for whoever watches.
#[derive(Debug, Default)]
pub struct Counters {
    messages: AtomicU64,
    bytes: AtomicU64,
    flows: AtomicU64,
}

impl Counters {
    /// Messages so far.
    pub fn messages(&self) -> u64 {
        self.messages.load(Ordering::Relaxed)
    }

    /// Their bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Flows that had one.
    pub fn flows(&self) -> u64 {
        self.flows.load(Ordering::Relaxed)
    }

    fn set(&self, messages: u64, bytes: u64, flows: u64) {
        self.messages.store(messages, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
        self.flows.store(flows, Ordering::Relaxed);
    }
}
