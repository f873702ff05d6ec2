//! `sixmark.traffic/1`: what became of the traffic.

mod joined;

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::{FlowProtocol, Note, TrafficMix, TrafficSide};
use sixmark_document::provenance::{Ended, Environment, Tool, Warning};
use sixmark_document::timing::Summary;
use sixmark_units::family::Family;

pub use joined::kinds;

/// The name and version of the document's form.
pub const SCHEMA: &str = "sixmark.traffic/1";

/// What `sixmark traffic --json` writes; docs/traffic.md describes it for people.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrafficResult {
    /// The name and version of the form.
    pub schema: String,
    /// What made it.
    pub tool: Tool,
    /// When it began, RFC 3339, UTC, with milliseconds.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME)))]
    pub started: String,
    /// Seconds in which messages were due.
    pub elapsed_s: f64,
    /// Why it ended.
    #[cfg_attr(feature = "schema", schemars(extend("not" = { "const": "hopeless" })))]
    pub ended: Ended,
    /// What was asked for.
    pub asked: OfferedTraffic,
    /// Decides random gaps, and where regular ones begin.
    pub seed: u64,
    /// Both sides read one clock, so that one-way delays are times and not only differences.
    pub shared_clock: bool,
    /// The figures of each flow.
    pub flows: Vec<FlowResult>,
    /// The figures of flows of one protocol and family from one side, together.
    pub kinds: Vec<KindResult>,
    /// The sum over all flows.
    pub total: MessageFigures,
    /// What each side did; the near one first.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 2)))]
    pub hosts: Vec<HostResult>,
    /// The near side's machine.
    pub environment: Environment,
    /// What makes the figures doubtful.
    pub warnings: Vec<Warning>,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum OfferedTraffic {
    /// A mix to another host.
    Mix {
        /// What of.
        mix: TrafficMix,
        /// For how many seconds; null: until interrupted.
        duration_s: Option<f64>,
        /// The addresses of the far side that were used.
        #[cfg_attr(
            feature = "schema",
            schemars(with = "Vec<sixmark_document::schema_type::SocketText>", length(min = 1))
        )]
        to: Vec<SocketAddr>,
    },
    /// A script of MGEN's, of this host alone.
    Script {
        /// Its file's name.
        file: String,
        /// For how many seconds; absent where until its end.
        duration_s: Option<f64>,
        /// What of it was left out.
        notes: Vec<Note>,
    },
}

/// One flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowResult {
    /// Its number.
    pub id: u32,
    /// What carried it.
    pub protocol: FlowProtocol,
    /// What carried it.
    pub family: Family,
    /// Who sent it; null where that was neither side.
    pub from: Option<TrafficSide>,
    /// The address that it came from; null where that is not known.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::SocketText>")
    )]
    pub source: Option<SocketAddr>,
    /// The address that it went to; null where that is not known.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::SocketText>")
    )]
    pub destination: Option<SocketAddr>,
    /// The size of its messages at first; null where it was only received.
    pub message_bytes: Option<u32>,
    /// What became of it.
    #[serde(flatten)]
    pub figures: MessageFigures,
    /// Times of its way; null where nothing of it was received here or by the far side.
    pub delay: Option<Delay>,
    /// Segments that TCP sent again; null of UDP.
    pub retransmitted: Option<u32>,
    /// What went wrong with it; null: nothing.
    pub problem: Option<String>,
}

/// Flows of one kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindResult {
    /// What carried them.
    pub protocol: FlowProtocol,
    /// What carried them.
    pub family: Family,
    /// Who sent them; null where that was neither side.
    pub from: Option<TrafficSide>,
    /// How many there were.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub flows: u32,
    /// What became of them.
    #[serde(flatten)]
    pub figures: MessageFigures,
    /// Segments that TCP sent again; null of UDP.
    pub retransmitted: Option<u64>,
}

/// What became of messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessageFigures {
    /// What was due; null where neither side sent it.
    pub offered: Option<Amount>,
    /// What the sender's kernel took; null where that is not known, as below.
    pub sent: Option<Amount>,
    /// What arrived, without second copies; null where nobody is known to have listened.
    pub received: Option<Amount>,
    /// What was sent and did not arrive, messages; of a flow whose sender is unknown, the gaps in its
    /// numbers.
    pub lost: Option<u64>,
    /// Second copies that arrived.
    pub duplicates: Option<u64>,
    /// Messages that came after one with a higher number (RFC 4737).
    pub reordered: Option<u64>,
    /// Messages that the sender handed over more than a millisecond after they were due though there
    /// was room for them.
    pub late: Option<u64>,
}

/// How much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Amount {
    /// How many messages.
    pub messages: u64,
    /// How many bytes they had.
    pub bytes: u64,
    /// Bits of messages a second.
    pub payload_bits_per_s: f64,
    /// The same with headers, as docs/traffic.md counts them.
    pub wire_bits_per_s: f64,
}

/// Times of a flow's way, microseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Delay {
    /// The shortest one-way delay, microseconds; null where the sides have clocks of their own.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub least_us: Option<f64>,
    /// One-way delays less the shortest one of the flow (RFC 5481, PDV).
    pub variation_us: Summary,
    /// How far the delays of messages that follow one another differ, without sign (RFC 3393, IPDV).
    pub consecutive_us: Summary,
}

/// What a host did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostResult {
    /// Which.
    pub side: Option<TrafficSide>,
    /// The latest that a message was handed over after it was due, though there was room,
    /// microseconds; null where nothing was sent.
    pub latest_us: Option<f64>,
    /// Datagrams that the sockets of the receiver had no room for.
    pub socket_drops: u64,
    /// Datagrams, and connections that were ended, with something else than messages.
    pub foreign: u64,
    /// Ports that could not be listened on.
    pub problems: Vec<String>,
}

/// What a sender says of a flow at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// Its number.
    pub id: u32,
    /// What carried it.
    pub protocol: FlowProtocol,
    /// Where it came from.
    pub source: Option<SocketAddr>,
    /// Where it went.
    pub destination: SocketAddr,
    /// The size of its messages at first.
    pub message_bytes: u32,
    /// Messages that were due.
    pub offered: u64,
    /// Their bytes.
    pub offered_bytes: u64,
    /// Messages that the kernel took.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Messages handed over more than a millisecond late, though there was room.
    pub late: u64,
    /// The latest of them, nanoseconds.
    pub latest_ns: u64,
    /// Segments that TCP sent again.
    pub retransmitted: Option<u32>,
    /// For how long it was on, nanoseconds.
    pub on_ns: u64,
    /// What went wrong.
    pub problem: Option<String>,
}

/// What a receiver says of a flow at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    /// Its number.
    pub id: u32,
    /// What carried it.
    pub protocol: FlowProtocol,
    /// Where it came from.
    pub source: SocketAddr,
    /// Where it arrived.
    pub destination: Option<SocketAddr>,
    /// Messages that arrived, without second copies.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Second copies.
    pub duplicates: u64,
    /// Messages that came after a later one.
    pub reordered: u64,
    /// Gaps in the numbers.
    pub missing: u64,
    /// From the first to the last arrival, nanoseconds.
    pub heard_ns: u64,
    /// The shortest delay by both sides' clocks, nanoseconds.
    pub least_ns: Option<i64>,
    /// Delays less the shortest, microseconds.
    pub variation_us: Summary,
    /// Differences of consecutive delays, microseconds.
    pub consecutive_us: Summary,
}
