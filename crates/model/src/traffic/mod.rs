//! Background traffic: how much of it, of which kinds, when each message is due, what it looks like,
//! and what became of it. Sockets and clocks are elsewhere.

mod flow;
mod heard;
mod message;
mod mix;
mod rate;
pub mod result;
mod schedule;
mod script;
mod split;
mod stream;
mod variation;
mod wire;

pub use flow::{Burst, Flow, Gap, Length, Pattern, Phase, Steady};
pub use heard::Hearing;
pub use message::{Foreign, Header, LARGEST, least, put_message};
pub use mix::{Arrivals, Direction, MOST_FLOWS, Mix, Payload, Spread};
pub use rate::{BitRate, Percent};
pub use schedule::Schedule;
pub use script::{Listening, Note, Outgoing, Script, Wrong, parse};
pub use stream::Stream;
pub use variation::Variation;
pub use wire::{Basis, FRAME, wire_bytes};

use std::fmt;

use serde::{Deserialize, Serialize};

/// What carries a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// A connection (RFC 9293).
    Tcp,
    /// Datagrams (RFC 768).
    Udp,
}

impl Protocol {
    /// Both, in the order in which they are shown.
    pub const BOTH: [Protocol; 2] = [Protocol::Tcp, Protocol::Udp];

    /// The other one.
    pub fn other(self) -> Protocol {
        match self {
            Protocol::Tcp => Protocol::Udp,
            Protocol::Udp => Protocol::Tcp,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Protocol::Tcp => "TCP",
            Protocol::Udp => "UDP",
        })
    }
}

/// One of the two hosts between which traffic goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", schemars(rename = "TrafficSide"))]
pub enum Side {
    /// The one that asked for the traffic.
    Near,
    /// The one that was asked.
    Far,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Side {
        match self {
            Side::Near => Side::Far,
            Side::Far => Side::Near,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Side::Near => "near",
            Side::Far => "far",
        })
    }
}
