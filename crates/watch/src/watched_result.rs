//! The section `watched` of a result document.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::secure_result::SecureResult;
use sixmark_document::timing::{Summary, Timing};
use sixmark_tally::family_result::Families;

/// Figures of captured packets that a run does not have.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Watched {
    /// The sources of the packets.
    pub sources: Vec<PacketSource>,
    /// The server ports to which the watch was limited; empty if it was not.
    pub ports: Vec<u16>,
    /// Packets captured, of any kind.
    pub packets: u64,
    /// Bytes of these packets, with their lengths on the wire.
    pub frame_bytes: u64,
    /// Packets among them that belong to followed connections.
    pub followed: u64,
    /// All other packets by what they are, such as `ARP` or `TCP to other ports`. Together with
    /// `followed` they add up to `packets`.
    #[serde(default)]
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::Text, std::num::NonZeroU64>"
        )
    )]
    pub not_followed: BTreeMap<String, u64>,
    /// Packets that were lost before they could be processed; null if they were not counted.
    pub dropped: Option<u64>,
    /// Packets that could not be identified because too few of their bytes were captured.
    pub cut: u64,
    /// Packets whose headers contradict each other.
    pub malformed: u64,
    /// Packets of an unsupported link type.
    pub unreadable: u64,
    /// How often a packet was more than a millisecond older than the one before it.
    pub clock_went_back: u64,
    /// The time of the first packet, RFC 3339; null if there was none.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub first: Option<String>,
    /// The time of the last packet, RFC 3339; null if there was none.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub last: Option<String>,
    /// Connections that were dropped from observation before they ended, to make room for others.
    pub evicted: u64,
    /// The figures of each observed family.
    pub families: Families<WatchedFamily>,
    /// The same figures of each server, in the order in which they were first seen.
    pub servers: Vec<WatchedServer>,
    /// The number of servers that are not in the list because it was full.
    pub servers_left_out: u64,
}

impl Watched {
    /// Reports whether no exchange could be read although there are connections whose exchanges
    /// can't be seen.
    pub fn hides_all(&self) -> bool {
        let seen = self.seen();
        seen.iter().any(|of| of.hides_all()) && !seen.iter().any(|of| of.has_judged())
    }

    /// Returns the figures of each observed family.
    pub fn seen(&self) -> Vec<&WatchedFamily> {
        self.families.iter().map(|(_, of)| of).collect()
    }

    /// Returns the names of the interfaces or files.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.sources.iter().map(|source| source.name.clone())
    }
}

/// A source of packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PacketSource {
    /// The name of the interface or file.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub name: String,
    /// The kind of source: `interface`, `pcap` or `pcapng`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["interface", "pcap", "pcapng"])))]
    pub kind: String,
    /// The link type: `ethernet`, `ip` and so on.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub link: String,
    /// The most bytes that were captured of a packet; 0 if there was no limit.
    pub snap: u32,
    /// The number of packets from this source.
    pub packets: u64,
    /// Packets that the kernel dropped; null if they were not counted.
    pub dropped: Option<u64>,
    /// False if the file ends in the middle of a packet.
    pub whole: bool,
}

/// The figures of one family or one server.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedFamily {
    /// Connections of which at least one packet was captured.
    pub connections: u64,
    /// Connections whose beginning was not captured.
    pub begun_before: u64,
    /// Number of connections by how they ended; the numbers add up to `connections`.
    #[cfg_attr(feature = "schema", schemars(
        with = "BTreeMap<String, std::num::NonZeroU64>",
        extend("propertyNames" = { "enum": crate::end_names::closures() }),
    ))]
    pub closures: BTreeMap<String, u64>,
    /// Number of connections by protocol; the numbers add up to `connections`.
    #[cfg_attr(feature = "schema", schemars(
        with = "BTreeMap<String, std::num::NonZeroU64>",
        extend("propertyNames" = { "enum": crate::end_names::spoken_words() }),
    ))]
    pub spoken: BTreeMap<String, u64>,
    /// Connections whose exchanges can't be seen, if there were any: those with TLS, QUIC, HTTP/2
    /// or an unknown protocol.
    #[serde(default)]
    pub hidden: u64,
    /// Exchanges that could be read.
    pub exchanges: u64,
    /// Exchanges among them of which too little was captured to know whether they were answered to
    /// the end.
    #[serde(default)]
    pub unjudged: u64,
    /// Connections of which no packet of the client was captured although it sent some.
    #[serde(default)]
    pub without_client: u64,
    /// Connections of which no packet of the server was captured although it sent some.
    #[serde(default)]
    pub without_server: u64,
    /// Requests whose beginning was captured; null if nothing that clients sent was, or the document
    /// is older than this field.
    #[serde(default)]
    pub requests: Option<u64>,
    /// Responses whose beginning was captured; null if nothing that servers sent was, likewise.
    #[serde(default)]
    pub responses: Option<ResponsesSeen>,
    /// Retransmitted SYNs.
    pub syns_repeated: u64,
    /// Time from the first SYN to the first SYN-ACK.
    pub answered_us: Summary,
    /// Time from the first SYN to the ACK of the SYN-ACK.
    pub established_us: Summary,
    /// Time from the ClientHello to the client's first application data.
    pub handshake_us: Summary,
    /// Connections with TLS; absent if there were none, or the document is older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<SecureResult>,
    /// Connections with QUIC, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quic: Option<SecureResult>,
    /// Round-trip times between the capture point and each side.
    pub round_trips: RoundTripResult,
    /// Time from a GET to the last ACK of its response before a FIN.
    pub delay_us: Summary,
    /// Bytes of both directions during that time, divided by it.
    pub throughput: Rates,
    /// What clients sent.
    pub from_client: SentResult,
    /// What servers sent.
    pub from_server: SentResult,
    /// Connections with packets that are missing from the capture.
    pub gaps: u64,
    /// Connections with segments in fragments that were not reassembled.
    pub fragmented: u64,
    /// Packets that consist of several segments, combined by segmentation or receive offload.
    pub coalesced: u64,
    /// Connections whose HTTP could not be parsed to the end.
    pub unparsed: u64,
    /// ICMP and ICMPv6 messages that a packet was too big.
    pub packet_too_big: u64,
    /// Number of connections by the tags, labels and outer headers before their packets, such as
    /// `vlan 5 / 6in4`, if there are any.
    #[serde(default)]
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::Text, std::num::NonZeroU64>"
        )
    )]
    pub via: BTreeMap<String, u64>,
    /// Number of connections by the server name that the client requested (SNI).
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::Text, std::num::NonZeroU64>"
        )
    )]
    pub server_names: BTreeMap<String, u64>,
    /// Number of connections by each protocol that the client offered (ALPN).
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::Text, std::num::NonZeroU64>"
        )
    )]
    pub alpn: BTreeMap<String, u64>,
    /// Number of connections by version of TLS or QUIC.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::Text, std::num::NonZeroU64>"
        )
    )]
    pub versions: BTreeMap<String, u64>,
}

impl WatchedFamily {
    /// Reports whether there are connections whose exchanges can't be seen, or of which one direction
    /// or the rest of packets is missing, and no exchange could be read to its end. Counts of exchanges are then unknown, not 0.
    pub fn hides_all(&self) -> bool {
        let unseen = self.hidden + self.without_client + self.without_server + self.unjudged;
        unseen > 0 && !self.has_judged()
    }

    /// Reports whether there are exchanges of which the end is known.
    pub(super) fn has_judged(&self) -> bool {
        self.exchanges > self.unjudged
    }
}

/// Responses as their first lines show them, whether or not their requests and their ends are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResponsesSeen {
    /// The number of responses, without interim ones.
    pub number: u64,
    /// The number by status code, as far as that was captured.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::StatusCode, std::num::NonZeroU64>"
        )
    )]
    pub status: BTreeMap<u16, u64>,
}

/// The figures of one server.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedServer {
    /// The address and port of the server.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::SocketText"))]
    pub address: SocketAddr,
    /// The figures, as for a family.
    pub figures: WatchedFamily,
    /// Complete responses by status code.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::StatusCode, std::num::NonZeroU64>"
        )
    )]
    pub status: BTreeMap<u16, u64>,
    /// Time from the last packet of the request to the first packet of the response.
    pub wait_us: Summary,
    /// Time from the first packet of the request to the last packet of the response.
    pub response_us: Summary,
}

/// Round-trip times between the capture point and each side.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundTripResult {
    /// Time from a segment of the server to its ACK by the client.
    pub client_us: Summary,
    /// Time from a segment of the client to its ACK by the server.
    pub server_us: Summary,
}

/// What one side sent on all connections together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SentResult {
    /// Packets.
    pub packets: u64,
    /// Bytes of their frames, with their lengths on the wire.
    pub frame_bytes: u64,
    /// Bytes of payload, retransmissions included.
    pub payload_bytes: u64,
    /// Bytes of the streams, each counted once.
    pub stream_bytes: u64,
    /// Retransmitted segments, by tshark's rules. A segment that is partly new counts as well, and
    /// so does one that fills a gap late, because its original was lost before the capture point.
    pub retransmitted: u64,
    /// Segments that fill a gap too soon to be retransmissions.
    pub out_of_order: u64,
    /// ACKs that repeat the previous one, by tshark's rules.
    pub duplicate_acks: u64,
    /// ACKs that report data received beyond a gap (SACK).
    pub selective_acks: u64,
    /// Segments that announce a window of 0.
    pub zero_windows: u64,
    /// Segments that probe a zero window or keep the connection alive.
    pub probes: u64,
    /// Resets.
    pub resets: u64,
    /// Packets that were fragments.
    pub fragments: u64,
    /// The smallest and the largest MSS that was announced, bytes; null if none was.
    pub mss: Option<[u16; 2]>,
    /// The smallest and the largest window scale (a shift count) that was announced; null if none
    /// was.
    pub window_scale: Option<[u8; 2]>,
    /// The largest window that was announced, bytes.
    pub largest_window: u64,
}

/// A summary of rates, in bits per second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rates {
    /// The number of rates.
    pub count: u64,
    /// The lowest rate, bits per second; null if there are none.
    pub min_bits_per_s: Option<f64>,
    /// The arithmetic mean; null likewise.
    pub mean_bits_per_s: Option<f64>,
    /// The median; null likewise.
    pub p50_bits_per_s: Option<f64>,
    /// The highest rate; null likewise.
    pub max_bits_per_s: Option<f64>,
}

impl Rates {
    /// Returns the summary of rates that were recorded in bits per second.
    pub(super) fn of(bits: &Timing) -> Rates {
        let whole = |value: Option<u64>| value.map(|value| value as f64);
        Rates {
            count: bits.count(),
            min_bits_per_s: whole(bits.min()),
            mean_bits_per_s: bits.mean(),
            p50_bits_per_s: whole(bits.quantile(0.5)),
            max_bits_per_s: whole(bits.quantile(1.0)),
        }
    }
}
