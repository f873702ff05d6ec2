//! Background traffic: its rate and composition, the times at which messages are due, the format of
//! messages, and statistics of what arrived.
//!
//! Begin with [`TrafficMix`], which describes the requested traffic, and [`Flow`].
//! [`traffic_result`] is the result document, [`sheet`] presents it, [`warnings`] reports doubtful
//! figures. Only [`engine`] uses sockets, threads and clocks.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

#[cfg_attr(not(test), allow(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod engine;
mod flow;
mod heard;
mod message;
mod mix;
mod rate;
mod schedule;
mod script;
pub mod sheet;
mod split;
mod stream;
pub mod text;
pub mod traffic_result;
mod variation;
pub mod warnings;
mod wire;

pub use flow::{Burst, Flow, FlowPhase, Gap, Length, Pattern, Steady};
pub use heard::Hearing;
pub use message::{Foreign, Header, LARGEST, least, put_message};
pub use mix::{Arrivals, MOST_FLOWS, Payload, Spread, TrafficDirection, TrafficMix};
pub use rate::{BitRate, Percent};
pub use schedule::FlowSchedule;
pub use script::{Listening, Note, Outgoing, Script, ScriptMistake, parse_script, write_script};
pub use stream::Stream;
pub use variation::Variation;
pub use wire::{Basis, FRAME, wire_bytes};

use std::fmt;

use serde::{Deserialize, Serialize};

/// The transport protocol of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FlowProtocol {
    /// A TCP connection (RFC 9293).
    Tcp,
    /// UDP datagrams (RFC 768).
    Udp,
}

impl FlowProtocol {
    /// Both protocols, in display order.
    pub const BOTH: [FlowProtocol; 2] = [FlowProtocol::Tcp, FlowProtocol::Udp];

    /// Returns the other protocol.
    pub fn other(self) -> FlowProtocol {
        match self {
            FlowProtocol::Tcp => FlowProtocol::Udp,
            FlowProtocol::Udp => FlowProtocol::Tcp,
        }
    }
}

impl fmt::Display for FlowProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            FlowProtocol::Tcp => "TCP",
            FlowProtocol::Udp => "UDP",
        })
    }
}

/// One of the two hosts between which traffic flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TrafficSide {
    /// The side that requests the traffic.
    Near,
    /// The side that accepts the request.
    Far,
}

impl TrafficSide {
    /// Returns the other side.
    pub fn other(self) -> TrafficSide {
        match self {
            TrafficSide::Near => TrafficSide::Far,
            TrafficSide::Far => TrafficSide::Near,
        }
    }
}

impl fmt::Display for TrafficSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            TrafficSide::Near => "near",
            TrafficSide::Far => "far",
        })
    }
}
