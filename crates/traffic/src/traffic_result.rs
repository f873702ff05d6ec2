//! The result document of a traffic measurement, `sixmark.traffic/1`.

mod joined;

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::{FlowProtocol, Note, TrafficMix, TrafficSide};
use sixmark_document::provenance::{Ended, Environment, Tool, Warning};
use sixmark_document::timing::Summary;
use sixmark_units::family::Family;

pub use joined::kinds;

/// The name and version of the document's format.
pub const SCHEMA: &str = "sixmark.traffic/1";

/// The result of a traffic measurement, as written by `sixmark traffic --json`. It is described in
/// docs/traffic.md.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrafficResult {
    /// The name and version of the document's format.
    pub schema: String,
    /// The program that wrote it.
    pub tool: Tool,
    /// When the traffic began (RFC 3339, UTC, with milliseconds).
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME)))]
    pub started: String,
    /// The time during which messages were due, in seconds.
    pub elapsed_s: f64,
    /// Why the traffic ended.
    #[cfg_attr(feature = "schema", schemars(extend("not" = { "const": "hopeless" })))]
    pub ended: Ended,
    /// The traffic that was requested.
    pub asked: OfferedTraffic,
    /// The seed of random gaps and of the offsets of periodic messages.
    pub seed: u64,
    /// Whether both sides read the same clock. If not, one-way delays are unknown; only their
    /// differences are known.
    pub shared_clock: bool,
    /// The figures of each flow.
    pub flows: Vec<FlowResult>,
    /// The figures of each kind of flows: one protocol, family and sending side.
    pub kinds: Vec<KindResult>,
    /// The sum over all flows.
    pub total: MessageFigures,
    /// The figures of each host, the near side first.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 2)))]
    pub hosts: Vec<HostResult>,
    /// The machine of the near side.
    pub environment: Environment,
    /// Warnings about doubtful figures.
    pub warnings: Vec<Warning>,
}

/// The traffic that was requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum OfferedTraffic {
    /// A mix, sent between this host and another.
    Mix {
        /// The mix.
        mix: TrafficMix,
        /// The duration in seconds; null if the traffic lasts until interrupted.
        duration_s: Option<f64>,
        /// The addresses of the far side that were used.
        #[cfg_attr(
            feature = "schema",
            schemars(with = "Vec<sixmark_document::schema_type::SocketText>", length(min = 1))
        )]
        to: Vec<SocketAddr>,
    },
    /// An MGEN script, carried out by this host alone.
    Script {
        /// The name of its file.
        file: String,
        /// The duration in seconds; null if the script runs to its end.
        duration_s: Option<f64>,
        /// The settings in the script that were ignored.
        notes: Vec<Note>,
    },
}

/// The figures of one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FlowResult {
    /// The flow number.
    pub id: u32,
    /// The transport protocol.
    pub protocol: FlowProtocol,
    /// The address family.
    pub family: Family,
    /// The side that sent it; null if neither side did.
    pub from: Option<TrafficSide>,
    /// The source address; null if unknown.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::SocketText>")
    )]
    pub source: Option<SocketAddr>,
    /// The destination address; null if unknown.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::SocketText>")
    )]
    pub destination: Option<SocketAddr>,
    /// The size of its messages at first, in bytes; null if neither side sent it.
    pub message_bytes: Option<u32>,
    /// The message counts and rates.
    #[serde(flatten)]
    pub figures: MessageFigures,
    /// The delays of its messages; null if no message is known to have been received.
    pub delay: Option<Delay>,
    /// TCP segments that were retransmitted; null for UDP.
    pub retransmitted: Option<u32>,
    /// The error of the flow; null if there was none.
    pub problem: Option<String>,
}

/// The figures of all flows of one protocol, family and sending side.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindResult {
    /// The transport protocol.
    pub protocol: FlowProtocol,
    /// The address family.
    pub family: Family,
    /// The side that sent them; null if neither side did.
    pub from: Option<TrafficSide>,
    /// The number of flows.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub flows: u32,
    /// The message counts and rates.
    #[serde(flatten)]
    pub figures: MessageFigures,
    /// TCP segments that were retransmitted; null for UDP.
    pub retransmitted: Option<u64>,
}

/// Counts and rates of messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessageFigures {
    /// Messages that were due; null if neither side sent the flow.
    pub offered: Option<Amount>,
    /// Messages that the sender's kernel accepted; null if neither side sent the flow.
    pub sent: Option<Amount>,
    /// Messages that arrived, without duplicates; null if no receiver is known to have listened.
    pub received: Option<Amount>,
    /// Messages that were sent and did not arrive. If the sender is unknown, the gaps in the
    /// sequence numbers. Null if unknown.
    pub lost: Option<u64>,
    /// Duplicates that arrived; null if unknown.
    pub duplicates: Option<u64>,
    /// Messages that arrived after one with a higher sequence number (RFC 4737); null if unknown.
    pub reordered: Option<u64>,
    /// Messages that the sender passed to the kernel more than one millisecond after they were due
    /// although the socket had room; null if unknown.
    pub late: Option<u64>,
}

/// A number of messages, with their bytes and rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Amount {
    /// The number of messages.
    pub messages: u64,
    /// The bytes of these messages.
    pub bytes: u64,
    /// The rate of message bytes, in bits per second.
    pub payload_bits_per_s: f64,
    /// The rate including the headers that docs/traffic.md lists, in bits per second.
    pub wire_bits_per_s: f64,
}

/// The one-way delays of a flow, in microseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Delay {
    /// The shortest one-way delay, in microseconds; null if the sides do not read the same clock.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<sixmark_document::schema_type::Signed>")
    )]
    pub least_us: Option<f64>,
    /// One-way delays minus the shortest one of the flow (packet delay variation, RFC 5481), in
    /// microseconds.
    pub variation_us: Summary,
    /// Absolute differences between the delays of consecutive messages (inter-packet delay
    /// variation, RFC 3393 and RFC 5481), in microseconds.
    pub consecutive_us: Summary,
}

/// The figures of one host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostResult {
    /// The side that the host is.
    pub side: Option<TrafficSide>,
    /// The longest time from when a message was due until it was passed to the kernel although the
    /// socket had room, in microseconds; null if the host sent nothing.
    pub latest_us: Option<f64>,
    /// Datagrams dropped because receive buffers were full.
    pub socket_drops: u64,
    /// Datagrams that are not valid messages, and connections that were closed because they carried
    /// something else.
    pub foreign: u64,
    /// Problems with ports, for example ports that could not be opened.
    pub problems: Vec<String>,
}

/// The sender's final figures of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    /// The flow number.
    pub id: u32,
    /// The transport protocol.
    pub protocol: FlowProtocol,
    /// The source address; `None` if no socket was created.
    pub source: Option<SocketAddr>,
    /// The destination address.
    pub destination: SocketAddr,
    /// The size of its messages at first, in bytes.
    pub message_bytes: u32,
    /// The number of messages that were due.
    pub offered: u64,
    /// The bytes of those messages.
    pub offered_bytes: u64,
    /// The number of messages that the kernel accepted.
    pub sent: u64,
    /// The bytes of those messages.
    pub sent_bytes: u64,
    /// The number of messages passed to the kernel more than one millisecond late although the
    /// socket had room.
    pub late: u64,
    /// The lateness of the latest message, in nanoseconds.
    pub latest_ns: u64,
    /// The number of TCP segments that were retransmitted; `None` for UDP.
    pub retransmitted: Option<u32>,
    /// How long the flow was on, in nanoseconds.
    pub on_ns: u64,
    /// The error of the flow, if any.
    pub problem: Option<String>,
}

/// The receiver's final figures of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    /// The flow number.
    pub id: u32,
    /// The transport protocol.
    pub protocol: FlowProtocol,
    /// The source address.
    pub source: SocketAddr,
    /// The local address that it was sent to, if known.
    pub destination: Option<SocketAddr>,
    /// The number of messages that arrived, without duplicates.
    pub received: u64,
    /// The bytes of those messages.
    pub received_bytes: u64,
    /// The number of duplicates.
    pub duplicates: u64,
    /// The number of messages that arrived after one with a higher sequence number.
    pub reordered: u64,
    /// The number of gaps in the sequence numbers.
    pub missing: u64,
    /// The time from the first to the last arrival, in nanoseconds.
    pub heard_ns: u64,
    /// The shortest one-way delay, in nanoseconds: the difference between the clocks of both sides,
    /// so it may be negative.
    pub least_ns: Option<i64>,
    /// One-way delays minus the shortest, in microseconds.
    pub variation_us: Summary,
    /// Absolute differences between consecutive delays, in microseconds.
    pub consecutive_us: Summary,
}
