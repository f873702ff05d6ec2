//! The report on a connection, complete once the connection or the capture is over.

use std::collections::BTreeMap;

use super::http_exchange::{Ends, HttpExchange, PerDirection};
use crate::Via;

/// Receives the results of a follower. Each one is reported as soon as it is complete, so that they
/// need not be stored.
pub trait FlowObserver {
    /// Receives a connection that is over or no longer followed.
    fn connection(&mut self, connection: &ConnectionReport);

    /// Receives an exchange that is over. The exchanges of a connection are reported in order,
    /// before the connection itself.
    fn exchange(&mut self, exchange: &HttpExchange);

    /// Receives a round-trip time in nanoseconds: from a segment that one side sent exactly once to
    /// the other side's first ACK of it, which that sent at once. `by_client` is true if the client
    /// sent the ACK. A connection without such an ACK ends with its minimum, an upper bound.
    fn round_trip(&mut self, _ends: &Ends, _by_client: bool, _ns: u64) {}
}

/// A connection as seen at the capture point. It is a TCP connection, or the visible part of a QUIC
/// connection.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionReport {
    /// The endpoints. If the handshake was not captured, the server is the side with a port from
    /// the settings, or otherwise the side with the lower port.
    pub ends: Ends,
    /// The number of earlier connections between these endpoints in the same capture. The number of
    /// past connections remembered is four times the maximum number followed at once.
    pub before: u32,
    /// The tags, labels and outer headers before the connection's first packet.
    pub via: Via,
    /// The time of the first packet, in nanoseconds of the capture's clock.
    pub began_ns: u64,
    /// The time from the first to the last packet, in nanoseconds.
    pub lasted_ns: u64,
    /// The beginning of the connection.
    pub opening: Opening,
    /// The way the connection ended.
    pub closure: Closure,
    /// The statistics of what each side sent.
    pub sent: PerDirection<Sent>,
    /// Round-trip times between the capture point and each side: from a segment of the other side
    /// to this side's ACK. `from_client` contains those of the client's ACKs.
    pub round_trips: PerDirection<RoundTrips>,
    /// The protocol of the payload.
    pub payload_protocol: PayloadProtocol,
    /// The number of exchanges seen.
    pub exchanges: u64,
    /// The side of which the capture has no packet although it sent some.
    pub missing: Option<MissingSide>,
    /// The number of responses by status, if the client is that side.
    pub statuses: BTreeMap<u16, u64>,
    /// The reasons to doubt the figures.
    pub doubts: Doubts,
}

/// A side of a connection that was not captured: the other side's packets show that it sent some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingSide {
    /// Nothing that the client sent was captured.
    Client,
    /// Nothing that the server sent was captured.
    Server,
}

/// The beginning of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// True if the beginning was captured: a SYN, or the first Initial packet of QUIC, or early data
    /// (0-RTT) that overtook it.
    pub seen: bool,
    /// The number of times the SYN was sent.
    pub syns: u32,
    /// The time from the first SYN to the first SYN-ACK, in nanoseconds.
    pub answered_ns: Option<u64>,
    /// The time from the first SYN to the client's first ACK of the SYN-ACK, in nanoseconds.
    pub established_ns: Option<u64>,
    /// The time from the first Initial packet of QUIC to the client's first packet after an answer
    /// of the server, in nanoseconds: at any capture point, a round trip of both together.
    pub replied_ns: Option<u64>,
}

impl Opening {
    /// Returns the round-trip time of the handshake between client and server, wherever the packets
    /// were captured, in nanoseconds: until the client's ACK of the SYN-ACK, or the same of QUIC.
    /// It includes the time that both took to answer.
    pub fn round_trip_ns(&self) -> Option<u64> {
        self.established_ns.or(self.replied_ns)
    }
}

/// The way a connection ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closure {
    /// It was still open when the capture ended.
    #[default]
    Open,
    /// Both sides sent a FIN.
    Normal,
    /// One side sent a reset.
    Reset {
        /// True if the client sent it.
        by_client: bool,
    },
    /// The server refused it by answering the SYN with a reset.
    Refused,
    /// It was idle for too long.
    Timeout,
    /// It was evicted to make room for another connection.
    Evicted,
}

/// The statistics of what one side of a connection sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Packets.
    pub packets: u64,
    /// Bytes of their frames, including the link-layer header, with the lengths that the capture
    /// reports.
    pub frame_bytes: u64,
    /// Bytes of TCP or UDP payload, including retransmissions.
    pub payload_bytes: u64,
    /// Bytes of the stream, each counted once.
    pub stream_bytes: u64,
    /// Retransmitted segments, by tshark's rules for its three kinds of retransmission: segments
    /// that occupy sequence numbers, begin before the end of what their side has sent, and are
    /// neither out of order nor probes. A segment that is partly new counts as well. So does one
    /// that fills a gap, if it arrives at least one round trip after the last new segment (the
    /// round-trip time of the handshake, or 3 ms if that was not captured), or within 20 ms of the
    /// second duplicate ACK that requested it: the original was lost before the capture point.
    ///
    /// Two differences are known. tshark (4.0) classifies a segment that is repeated within that
    /// round trip as out of order, since it does not remember that it has seen these bytes; this
    /// code tracks every byte. Segments in fragments count once here.
    pub retransmitted: u64,
    /// Segments that fill a gap too soon to have been requested: they took another path, or were
    /// captured in a different order.
    pub out_of_order: u64,
    /// ACKs without payload that repeat another one with the same window, at the end of their
    /// side's stream; counted as tshark does.
    pub duplicate_acks: u64,
    /// ACKs that report data received beyond a gap (SACK).
    pub selective_acks: u64,
    /// Segments that announce a window of zero.
    pub zero_windows: u64,
    /// Segments with one byte or none that probe a zero window or keep the connection alive.
    pub probes: u64,
    /// Resets.
    pub resets: u64,
    /// FINs, each sequence number once.
    pub fins: u64,
    /// The maximum segment size that it announced, in bytes.
    pub mss: Option<u16>,
    /// The window scale shift that it announced.
    pub window_scale: Option<u8>,
    /// True if it accepts selective acknowledgements.
    pub sack_permitted: bool,
    /// The largest window that it announced, in bytes; scaled if both sides announced a window
    /// scale.
    pub largest_window: u64,
    /// Packets that were fragments.
    pub fragments: u64,
}

/// The round-trip times of a connection, of ACKs sent at once: those of the handshake, and those
/// without data of two full segments or more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoundTrips {
    /// The number of samples.
    pub count: u64,
    /// The minimum, in nanoseconds, also of ACKs that may have been delayed.
    pub min_ns: Option<u64>,
    /// The median, in nanoseconds, or the minimum if there are no samples. If there are many samples, it is computed from an evenly spaced
    /// subset.
    pub p50_ns: Option<u64>,
    /// The 99th percentile of the samples, in nanoseconds, computed likewise.
    pub p99_ns: Option<u64>,
}

/// The protocol of a connection's payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PayloadProtocol {
    /// The connection carried no payload.
    #[default]
    Nothing,
    /// A protocol that is not recognized.
    Unknown,
    /// HTTP/1.0 or 1.1 in plain text.
    Http1,
    /// HTTP/2 in plain text.
    Http2,
    /// TLS.
    Tls(Hello),
    /// QUIC.
    Quic(Hello),
}

/// The fields of a TLS handshake that are sent in plain text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hello {
    /// The TLS version that the server chose, such as `1.3`. For QUIC it is the QUIC version, such
    /// as `1` or `0x6b3343cf`.
    pub version: Option<String>,
    /// The server name that the client requested (SNI).
    pub server_name: Option<String>,
    /// The protocols that the client offered (ALPN).
    pub offered: Vec<String>,
    /// The protocol that the server chose, if it is visible; it is encrypted in TLS 1.3.
    pub chosen: Option<String>,
    /// The time from the ClientHello to the first packet of application data from the client, in
    /// nanoseconds. For QUIC it is the time from the client's first Initial to its first packet
    /// with a short header.
    ///
    /// In TLS 1.3 a record as short as an alert is not counted as data: the client may refuse the
    /// server's certificate with it.
    pub handshake_ns: Option<u64>,
    /// The time from the ClientHello to the first packet of the server's answer, in nanoseconds.
    /// For QUIC it is the time from the client's first Initial to the server's first packet.
    pub first_flight_ns: Option<u64>,
    /// True if the handshake was completed: application data followed, or before TLS 1.3 both sides
    /// have changed to encryption.
    pub completed: bool,
}

/// The reasons to doubt the figures of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubts {
    /// The capture began while the connection was open.
    pub begun_before: bool,
    /// One side acknowledged data that was not captured.
    pub gap: bool,
    /// Segments arrived in fragments that were not reassembled.
    pub fragmented: bool,
    /// The number of segments longer than the maximum segment size that the receiver announced.
    /// They are several segments combined by segmentation or receive offload.
    pub coalesced: u64,
    /// HTTP could not be followed to the end: too little was captured, packets are missing, or it
    /// was not HTTP. There may be more exchanges than were seen.
    pub unparsed: bool,
}
