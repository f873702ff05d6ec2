//! Background traffic: how much of it, of which kinds, when each message is due, what it looks like,
//! and what became of it.
//!
//! Begin with [`TrafficMix`], what is asked for, and [`Flow`]; [`traffic_result`] is the document, [`sheet`]
//! shows it, [`warnings`] reports doubts. Only [`engine`] uses sockets, threads and clocks.

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
pub use script::{Listening, Note, Outgoing, Script, ScriptMistake, parse_script};
pub use stream::Stream;
pub use variation::Variation;
pub use wire::{Basis, FRAME, wire_bytes};

use std::fmt;

use serde::{Deserialize, Serialize};

/// What carries a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FlowProtocol {
    /// A connection (RFC 9293).
    Tcp,
    /// Datagrams (RFC 768).
    Udp,
}

impl FlowProtocol {
    /// Both, in the order in which they are shown.
    pub const BOTH: [FlowProtocol; 2] = [FlowProtocol::Tcp, FlowProtocol::Udp];

    /// The other one.
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

/// One of the two hosts between which traffic goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TrafficSide {
    /// The one that asked for the traffic.
    Near,
    /// The one that was asked.
    Far,
}

impl TrafficSide {
    /// The other one.
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
