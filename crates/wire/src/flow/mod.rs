//! Connections followed packet by packet from where they were captured, and what they say: how long a
//! handshake took, what was lost and sent again, how long each exchange took, and how many bytes went
//! each way. Nothing is kept of what is over, so that a capture may be as long as it likes.

mod budget;
mod closing;
mod connection;
mod counts;
mod flows;
mod follower;
mod fragments;
mod hello;
mod http;
mod key;
mod observed;
mod quic;
mod reassembly;
mod rtt;
mod seen;
mod settings;
mod side;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod tls;
mod transfer;
mod transfers;

pub use counts::{Counts, FamilyCounts};
pub use follower::Follower;
pub use observed::{
    Closure, Doubts, FlowObserver, Hello, Observed, Opening, RoundTrips, Sent, Spoken,
};
pub use quic::InitialOpener;
pub use settings::Settings;
pub use transfer::{Ends, Repeated, Transfer, Unmeasured, Way};
pub use transfers::Transfers;

use crate::Tcp;

/// A segment as it was seen.
#[derive(Clone, Copy, Debug)]
struct Segment<'a> {
    at_ns: u64,
    /// Bytes of its frames.
    length: u64,
    /// Packets that brought it: several where it came in fragments.
    packets: u64,
    /// How many of them were fragments.
    fragments: u64,
    tcp: Tcp<'a>,
}
