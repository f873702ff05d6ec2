//! `watched` of a result document.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use sixmark_document::timing::{Summary, Timing};
use sixmark_record::family_result::Families;

/// What packets said, beyond what the figures of a run hold.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Watched {
    /// Where packets came from.
    pub sources: Vec<PacketSource>,
    /// The ports that servers had to have; empty: any.
    pub ports: Vec<u16>,
    /// Packets that came, of whatever they were.
    pub packets: u64,
    /// As long as they were on the wire, in bytes.
    pub frame_bytes: u64,
    /// Of those, segments and datagrams of connections that were followed.
    pub followed: u64,
    /// Packets lost before anybody looked at them; null: nobody counted.
    pub dropped: Option<u64>,
    /// Packets of which too little was kept to tell what they are.
    pub cut: u64,
    /// Packets whose headers contradict each other.
    pub malformed: u64,
    /// Packets of a kind of link that can't be read.
    pub unreadable: u64,
    /// How often a packet was older than the one before it by more than a millisecond.
    pub clock_went_back: u64,
    /// When the first packet was seen, RFC 3339; null: there was none.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub first: Option<String>,
    /// When the last was; null likewise.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub last: Option<String>,
    /// Connections that had to make room for others before they were over.
    pub evicted: u64,
    /// What was seen over each family.
    pub families: Families<WatchedFamily>,
    /// The same of each server, in the order in which they were first seen.
    pub servers: Vec<WatchedServer>,
    /// Servers for which there was no room in that list.
    pub servers_left_out: u64,
}

impl Watched {
    /// True where no family has an exchange that could be seen, and any may have had some.
    pub fn hides_all(&self) -> bool {
        let mut families = self.families.iter().map(|(_, of)| of);
        self.hidden() > 0 && families.all(|of| of.exchanges == 0)
    }

    /// What was seen of each family.
    pub fn seen(&self) -> Vec<&WatchedFamily> {
        self.families.iter().map(|(_, of)| of).collect()
    }

    /// Connections of both families whose exchanges can't be seen.
    pub fn hidden(&self) -> u64 {
        self.families.iter().map(|(_, of)| of.hidden).sum()
    }

    /// The interfaces or files, by name.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.sources.iter().map(|source| source.name.clone())
    }
}

/// Where packets came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PacketSource {
    /// The interface's or the file's name.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub name: String,
    /// How they came: `interface`, `pcap` or `pcapng`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["interface", "pcap", "pcapng"])))]
    pub kind: String,
    /// What its packets begin with: `ethernet`, `ip` and so on.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub link: String,
    /// How many bytes of a packet were kept at most; 0: all.
    pub snap: u32,
    /// How many came from it.
    pub packets: u64,
    /// How many the kernel had to drop; null: nobody counted.
    pub dropped: Option<u64>,
    /// false: a file that ends in the middle of a packet.
    pub whole: bool,
}

/// What one family, or one server, was seen to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedFamily {
    /// Connections of which anything was seen.
    pub connections: u64,
    /// Of those, the ones whose beginning was not.
    pub begun_before: u64,
    /// How they ended, by name; they add up to `connections`.
    #[cfg_attr(feature = "schema", schemars(
        with = "BTreeMap<String, std::num::NonZeroU64>",
        extend("propertyNames" = { "enum": crate::end_names::closures() }),
    ))]
    pub closures: BTreeMap<String, u64>,
    /// What was spoken on them, by name; they add up to `connections`.
    #[cfg_attr(feature = "schema", schemars(
        with = "BTreeMap<String, std::num::NonZeroU64>",
        extend("propertyNames" = { "enum": crate::end_names::spoken_words() }),
    ))]
    pub spoken: BTreeMap<String, u64>,
    /// Connections whose exchanges can't be seen, whatever they carried: those of TLS, of QUIC, of HTTP/2,
    /// and of what is not known.
    #[serde(default)]
    pub hidden: u64,
    /// Exchanges that could be read.
    pub exchanges: u64,
    /// SYNs that were sent again.
    pub syns_repeated: u64,
    /// From the first SYN to the first SYN-ACK.
    pub answered_us: Summary,
    /// From the first SYN to the ACK of the SYN-ACK.
    pub established_us: Summary,
    /// From the ClientHello to the client's first application data.
    pub handshake_us: Summary,
    /// Round trips, each from where packets were captured to one side and back.
    pub round_trips: RoundTripResult,
    /// From a GET to the last ACK of its response before FIN.
    pub delay_us: Summary,
    /// Bytes of both directions over that time.
    pub throughput: Rates,
    /// What clients sent.
    pub from_client: SentResult,
    /// What servers sent.
    pub from_server: SentResult,
    /// Connections of which packets are missing from the capture.
    pub gaps: u64,
    /// Connections whose segments came in fragments that were not put together.
    pub fragmented: u64,
    /// Packets that are several segments, put together for or by a network card.
    pub coalesced: u64,
    /// Connections whose HTTP could not be followed to its end.
    pub unparsed: u64,
    /// Messages that a packet is too big (ICMP, ICMPv6).
    pub packet_too_big: u64,
    /// Names that clients asked for (SNI), by connections.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::Text, std::num::NonZeroU64>"
        )
    )]
    pub server_names: BTreeMap<String, u64>,
    /// Protocols that clients offered (ALPN), by connections.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::Text, std::num::NonZeroU64>"
        )
    )]
    pub alpn: BTreeMap<String, u64>,
    /// Versions of TLS and QUIC, by connections.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::Text, std::num::NonZeroU64>"
        )
    )]
    pub versions: BTreeMap<String, u64>,
}

impl WatchedFamily {
    /// True where it may have had exchanges and none could be seen: what is counted of them is not
    /// known, and not zero.
    pub fn hides_all(&self) -> bool {
        self.hidden > 0 && self.exchanges == 0
    }
}

/// The same of one server.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedServer {
    /// Its address and port.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::SocketText"))]
    pub address: SocketAddr,
    /// What was seen.
    pub figures: WatchedFamily,
    /// Complete responses by status code.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "sixmark_document::schema_type::Entries<sixmark_document::schema_type::StatusCode, std::num::NonZeroU64>"
        )
    )]
    pub status: BTreeMap<u16, u64>,
    /// From the request's last packet to the response's first.
    pub wait_us: Summary,
    /// From the request's first packet to the response's last.
    pub response_us: Summary,
}

/// Round trips between the capture and each side.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundTripResult {
    /// From the server's segments to the client's ACKs of them.
    pub client_us: Summary,
    /// From the client's segments to the server's ACKs of them.
    pub server_us: Summary,
}

/// What one side of all connections sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SentResult {
    /// Packets.
    pub packets: u64,
    /// Bytes of their frames, as long as they were on the wire.
    pub frame_bytes: u64,
    /// Bytes of payload, as often as they were sent.
    pub payload_bytes: u64,
    /// Bytes of the streams, each once.
    pub stream_bytes: u64,
    /// Segments that brought nothing that was not seen before.
    pub retransmitted: u64,
    /// Segments that filled a hole and were not sent before, as far as that can be told.
    pub out_of_order: u64,
    /// ACKs that repeat another while something is under way.
    pub duplicate_acks: u64,
    /// ACKs that tell of what came behind a hole (SACK).
    pub selective_acks: u64,
    /// How often a window of 0 was offered.
    pub zero_windows: u64,
    /// Segments that ask whether that still is so, or keep alive.
    pub probes: u64,
    /// Resets.
    pub resets: u64,
    /// Packets that were fragments.
    pub fragments: u64,
    /// The smallest and the largest MSS offered, bytes; null: none was.
    pub mss: Option<[u16; 2]>,
    /// The smallest and the largest shift of windows offered; null: none was.
    pub window_scale: Option<[u8; 2]>,
    /// The largest window that was offered, in bytes.
    pub largest_window: u64,
}

/// Rates of one kind, in bits a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rates {
    /// How many there are.
    pub count: u64,
    /// The lowest, bits a second.
    pub min_bits_per_s: Option<f64>,
    /// The arithmetic mean.
    pub mean_bits_per_s: Option<f64>,
    /// The median.
    pub p50_bits_per_s: Option<f64>,
    /// The highest.
    pub max_bits_per_s: Option<f64>,
}

impl Rates {
    /// Of rates that were recorded in bits a second.
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
