//! What is known of a connection once it is over, or once the capture is.

use super::transfer::{Ends, Transfer, Way};

/// Takes what a follower finds, each thing as soon as it is whole, so that nobody needs room for all.
pub trait FlowObserver {
    /// A connection is over, or is followed no longer.
    fn connection(&mut self, connection: &Observed);

    /// An exchange is over. Those of a connection come before it, in their order.
    fn exchange(&mut self, exchange: &Transfer);

    /// A round trip: from a segment that one side sent for the first time, and not again, to the
    /// other's first ACK of it, in nanoseconds.
    fn round_trip(&mut self, _ends: &Ends, _by_client: bool, _ns: u64) {}
}

/// A connection as it was seen where packets were captured: of TCP, or of QUIC as far as that shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// Who has to do with whom. Without a handshake the side with the port that was asked for is the
    /// server, else the one with the lower port.
    pub ends: Ends,
    /// How many connections with these ends were seen before it, in this capture; as far as that is
    /// remembered, which is for four times as many as are followed at once.
    pub before: u32,
    /// When its first packet was seen, in nanoseconds of the capture's clock.
    pub began_ns: u64,
    /// When its last was, in nanoseconds from the first.
    pub lasted_ns: u64,
    /// How it began.
    pub opening: Opening,
    /// How it ended.
    pub closure: Closure,
    /// What each side sent.
    pub sent: Way<Sent>,
    /// Round trips between the capture and a side: from what the other side sent, to the ACK of this one.
    /// `from_client` are the answers of the client.
    pub round_trips: Way<RoundTrips>,
    /// What was spoken on it.
    pub spoken: Spoken,
    /// Exchanges that were seen on it.
    pub exchanges: u64,
    /// What makes its figures doubtful.
    pub doubts: Doubts,
}

/// How a connection began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// Its beginning was seen: a SYN, or QUIC's first Initial.
    pub seen: bool,
    /// How often the SYN was sent.
    pub syns: u32,
    /// From the first SYN to the first SYN-ACK, in nanoseconds.
    pub answered_ns: Option<u64>,
    /// From the first SYN to the client's first ACK of the SYN-ACK, in nanoseconds.
    pub established_ns: Option<u64>,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Closure {
    /// It had not when the capture did.
    #[default]
    Open,
    /// Both sides said that they were through.
    Normal,
    /// One side cut it off.
    Reset {
        /// The client did.
        by_client: bool,
    },
    /// The server refused it: its answer to the SYN was a reset.
    Refused,
    /// Nothing came for too long.
    Timeout,
    /// It had to make room for others.
    Evicted,
}

/// What one side of a connection sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Packets.
    pub packets: u64,
    /// Bytes of their frames, from the link layer's header on, as long as the capture says they were.
    pub frame_bytes: u64,
    /// Bytes of TCP's payload, or UDP's, as often as they were sent.
    pub payload_bytes: u64,
    /// Bytes of the stream, each once.
    pub stream_bytes: u64,
    /// Segments that were sent again, by tshark's rules for its three kinds of retransmission: they take
    /// sequence numbers, begin before the end of what their side has sent, and are neither out of order nor
    /// probes. So one that is new in part counts, as does one that fills a hole when it comes a round trip
    /// (of the handshake; where that was not seen, 3 ms) or more behind the last new segment, or within
    /// 20 ms of the second duplicate ACK that asked for it: it was lost before the capture.
    ///
    /// Two differences are known: tshark (4.0) calls a segment out of order that comes again within that
    /// round trip, since it doesn't remember that it saw these bytes; here they are known one by one.
    /// And segments that came in fragments count once here.
    pub retransmitted: u64,
    /// Segments that fill a hole so soon that nobody can have asked for them: they took another way round,
    /// or were captured in another order than they came.
    pub out_of_order: u64,
    /// ACKs without payload that repeat another, with the same window and where their side's stream ends, as
    /// tshark counts them.
    pub duplicate_acks: u64,
    /// ACKs that tell of what came behind a hole (SACK).
    pub selective_acks: u64,
    /// How often it said that it takes nothing for now.
    pub zero_windows: u64,
    /// Segments that ask, with a byte or none, whether that still is so, or that keep alive.
    pub probes: u64,
    /// Resets.
    pub resets: u64,
    /// FINs, each sequence number once.
    pub fins: u64,
    /// The most bytes that it takes in a segment, as it said.
    pub mss: Option<u16>,
    /// By how many bits its windows are shifted, as it said.
    pub window_scale: Option<u8>,
    /// It takes selective acknowledgements.
    pub sack_permitted: bool,
    /// The largest window that it offered, in bytes, scaled where both sides said how.
    pub largest_window: u64,
    /// Packets that were fragments.
    pub fragments: u64,
}

/// Round trips of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoundTrips {
    /// How many there were.
    pub count: u64,
    /// The shortest, in nanoseconds.
    pub min_ns: Option<u64>,
    /// The median, in nanoseconds; where there are many, of a part that is evenly spread.
    pub p50_ns: Option<u64>,
    /// The 99th percentile, in the same way.
    pub p99_ns: Option<u64>,
}

/// What is spoken on a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Spoken {
    /// It carried nothing.
    #[default]
    Nothing,
    /// Nothing that is known here.
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

/// What the beginning of TLS says in plain text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hello {
    /// The version: that which the server chose, `1.3`; of QUIC that of QUIC, `1` or `0x6b3343cf`.
    pub version: Option<String>,
    /// The name that the client asked for (SNI).
    pub server_name: Option<String>,
    /// What the client offered to speak (ALPN).
    pub offered: Vec<String>,
    /// What the server chose of it, where that can be read: not with TLS 1.3.
    pub chosen: Option<String>,
    /// From the ClientHello to the first packet of application data from the client, in nanoseconds; of
    /// QUIC from its first Initial to its first packet with a short header.
    pub handshake_ns: Option<u64>,
}

/// What makes a connection's figures doubtful.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubts {
    /// The capture began in its middle.
    pub begun_before: bool,
    /// One side acknowledged what the capture never saw.
    pub gap: bool,
    /// Segments came in fragments that were not put together.
    pub fragmented: bool,
    /// Segments longer than the receiver takes in one, as its handshake said: several, put together for or
    /// by a network card.
    pub coalesced: u64,
    /// HTTP on it could not be followed all the way: too little was kept, packets are missing, or it was none.
    /// Its exchanges may be more than were seen.
    pub unparsed: bool,
}
