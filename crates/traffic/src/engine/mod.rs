//! Background traffic: flows of messages sent at given times, and statistics of what arrives.
//!
//! [`TrafficSender`] and [`TrafficReceiver`] each run one thread in the network namespace of the
//! thread that starts them, so that a study can place them in hosts of its lab. In [`near`] and
//! [`far`], two sixmarks agree on traffic over a control connection; in [`script`], one carries out
//! a script of MGEN.

mod assemble;
mod control;
pub mod far;
mod line;
pub mod near;
pub mod ports;
mod receiver;
pub mod script;
mod sender;

pub use crate::warnings::FAR_SIDE_LOST;
pub use assemble::{Ends, Half, assemble};
pub use control::OpenPort;
pub use ports::{open_ports, outgoing, ports};
pub use receiver::{Port, ReceivedFlows, TrafficReceiver};
pub use sender::{ReadyFlows, TrafficSender};

use std::sync::atomic::{AtomicU64, Ordering};

/// The shortest wait of a sending thread, nanoseconds, so that it does not wake up for every single
/// message at hundreds of messages per millisecond. A message never leaves before it is due, and
/// may leave this much later.
const SEND_WINDOW_NS: u64 = 50_000;

/// Counters that a thread updates while it works, for progress displays.
#[derive(Debug, Default)]
pub struct Counters {
    messages: AtomicU64,
    bytes: AtomicU64,
    flows: AtomicU64,
}

impl Counters {
    /// Returns the number of messages so far.
    pub fn messages(&self) -> u64 {
        self.messages.load(Ordering::Relaxed)
    }

    /// Returns the number of their bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the number of flows with at least one message.
    pub fn flows(&self) -> u64 {
        self.flows.load(Ordering::Relaxed)
    }

    fn set(&self, messages: u64, bytes: u64, flows: u64) {
        self.messages.store(messages, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
        self.flows.store(flows, Ordering::Relaxed);
    }
}
