//! Connections and exchanges, reconstructed packet by packet from a capture: the duration of a
//! handshake, lost and retransmitted segments, the timing of each exchange, and the bytes in each
//! direction. The state of a connection is dropped when it ends, so memory does not grow with the
//! length of a capture.
//!
//! Start with [`Follower`], which takes packets and reports to a [`FlowObserver`].

mod budget;
mod closing;
mod connection;
mod connection_report;
mod counts;
mod flows;
mod follower;
mod fragments;
mod hello;
mod http;
mod http_exchange;
mod http_exchanges;
mod key;
mod networks;
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
mod unread_counts;

pub use connection_report::{
    Closure, ConnectionReport, Doubts, FlowObserver, Hello, MissingSide, Opening, PayloadProtocol,
    RoundTrips, Sent,
};
pub use counts::{Counts, FamilyCounts};
pub use follower::Follower;
pub use http_exchange::{Ends, HttpExchange, PerDirection, Repeated, Unmeasured};
pub use http_exchanges::HttpExchanges;
pub use quic::InitialOpener;
pub use settings::Settings;
pub use unread_counts::UnreadCounts;

use crate::Tcp;

/// A TCP segment and the frames that carried it.
#[derive(Clone, Copy, Debug)]
struct Segment<'a> {
    at_ns: u64,
    /// The bytes of its frames.
    length: u64,
    /// The number of packets that carried it; more than one if it arrived in fragments.
    packets: u64,
    /// The number of those packets that were fragments.
    fragments: u64,
    tcp: Tcp<'a>,
}
