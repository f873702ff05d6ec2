//! What is known of one exchange.

use std::net::SocketAddr;

use sixmark_units::family::Family;

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ends {
    /// Who asks.
    pub client: SocketAddr,
    /// Who answers.
    pub server: SocketAddr,
}

/// Something for each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way<T> {
    /// From client to server.
    pub from_client: T,
    /// From server to client.
    pub from_server: T,
}

impl<T> Way<T> {
    /// That of one direction.
    pub(super) fn of(&mut self, by_client: bool) -> &mut T {
        if by_client { &mut self.from_client } else { &mut self.from_server }
    }

    /// That of one direction, and the other.
    pub(super) fn pair(&mut self, by_client: bool) -> (&mut T, &mut T) {
        match by_client {
            true => (&mut self.from_client, &mut self.from_server),
            false => (&mut self.from_server, &mut self.from_client),
        }
    }
}

/// What was sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeated {
    /// Segments that brought nothing new.
    pub segments: u64,
    /// Bytes of such segments' frames, and of others' payload what had come before.
    pub bytes: u64,
}

/// Why an exchange has no delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmeasured {
    /// The capture lost packets.
    Dropped,
    /// The client acknowledged what the capture never saw.
    Gap,
    /// Segments were cut into fragments, which aren't put together here.
    Fragmented,
    /// The connection carried something, but no request in plain text was seen on it.
    NoGet,
    /// Another request came before the response had ended, or this one before the response to the last:
    /// nobody knows what of the time, of the bytes and of the ACKs is whose.
    Pipelined,
    /// The client acknowledged nothing of the response before its FIN.
    NoAck,
}

impl Unmeasured {
    /// In words that follow "not measured: ".
    pub fn words(self) -> &'static str {
        match self {
            Unmeasured::Dropped => "the capture dropped packets",
            Unmeasured::Gap => "packets are missing from the capture",
            Unmeasured::Fragmented => "segments came in fragments",
            Unmeasured::NoGet => "no request was seen",
            Unmeasured::Pipelined => "requests were pipelined",
            Unmeasured::NoAck => "the client acknowledged nothing before its FIN",
        }
    }
}

/// An exchange: a request and what came of it, as seen where the packets were captured.
///
/// # What counts
/// - **Delay**: from the packet that carries the beginning of the request (in the studies a GET), when it is seen for the first
///   time, to the last packet that the client sends before its FIN and that acknowledges content of the
///   response for the first time. An ACK that repeats another, updates the window or acknowledges the
///   server's FIN alone moves nothing.
/// - **Bytes**: whole frames from the link layer's header on, as long as the capture says they were,
///   in both directions, from the request's to that last ACK's, both counted. Handshake and closing are so
///   left out. A segment that brings nothing new is left out with its headers; of one that is new in part,
///   the bytes that came before.
/// - **Throughput**: those bytes, of both directions, over the delay.
///
/// What was lost before it came to the capture is no repetition when it comes. Packets that a network
/// card was to cut up, or has put together, hide headers: see `coalesced`.
///
/// Where HTTP itself can be followed, from head to head and by the lengths that these tell, the times of
/// request and response are known beside these, whether or not there is a delay: `request_ns`, `wait_ns`
/// and `transfer_ns` follow each other, as `send`, `wait` and `transfer` of a run do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The connection that carried it.
    pub ends: Ends,
    /// Which exchange of its connection it was, from 1; 0 where there was no request.
    pub number: u32,
    /// What it was asked with: `GET`.
    pub method: String,
    /// What was asked for, as far as it was captured.
    pub path: String,
    /// Of whom, as the request says (its Host).
    pub host: Option<String>,
    /// The status of the response.
    pub status: Option<u16>,
    /// When the request was seen, in nanoseconds of the capture's clock; where there was none, when the
    /// connection was.
    pub began_ns: u64,
    /// From the request's first packet to its last, in nanoseconds; 0 where it is one packet. None where
    /// its end was not seen.
    pub request_ns: Option<u64>,
    /// From the request's last packet to the first of the response, be that an interim one (1xx), in
    /// nanoseconds; 0 where the response came first. A run's `wait_us` has the same ends, at the client.
    pub wait_ns: Option<u64>,
    /// From the request's first packet to the first of the response, in nanoseconds.
    pub first_byte_ns: Option<u64>,
    /// From the response's first packet to the one that made it whole, in nanoseconds.
    pub transfer_ns: Option<u64>,
    /// Whether the response came whole. None where nobody knows: too little was kept of its head.
    pub whole: Option<bool>,
    /// Bytes of the response's content, without head and framing, each once.
    pub content_bytes: u64,
    /// From the request to the last ACK before FIN, in nanoseconds.
    pub delay_ns: Option<u64>,
    /// From the request to the ACK of all content that was seen, whether it came with the FIN, behind it or
    /// before, in nanoseconds.
    pub acknowledged_ns: Option<u64>,
    /// Bytes of content that no ACK before FIN covered.
    pub left_to_fin: u64,
    /// Why there is no delay.
    pub unmeasured: Option<Unmeasured>,
    /// Bytes of frames that count.
    pub bytes: Way<u64>,
    /// Bytes of the response, its head and its content, each once.
    pub response_bytes: u64,
    /// What was sent again, from the request until the next one or the connection's end.
    pub repeated: Way<Repeated>,
    /// Resets, in the same time.
    pub resets: Way<u64>,
    /// Segments that carry more than the receiver takes in one: several at the time of capture, whose
    /// headers don't all count. Capture with segmentation and receive offloads off.
    pub coalesced: u64,
    /// From the connection's SYN to its SYN-ACK, in nanoseconds.
    pub answered_ns: Option<u64>,
    /// From the connection's SYN to the client's ACK of its SYN-ACK, in nanoseconds.
    pub established_ns: Option<u64>,
}

impl Transfer {
    /// Over which family it went.
    pub fn family(&self) -> Family {
        Family::of(self.ends.server.ip())
    }

    /// Bits in a second, both directions together.
    pub fn throughput_bits_per_s(&self) -> Option<f64> {
        let delay_s = self.delay_ns.filter(|delay| *delay > 0)? as f64 / 1e9;
        Some((self.bytes.from_client + self.bytes.from_server) as f64 * 8.0 / delay_s)
    }

    /// One of which nothing is known but whose it is.
    pub fn new(ends: Ends, number: u32, began_ns: u64) -> Transfer {
        Transfer {
            ends,
            number,
            method: String::new(),
            path: String::new(),
            host: None,
            status: None,
            began_ns,
            request_ns: None,
            wait_ns: None,
            first_byte_ns: None,
            transfer_ns: None,
            whole: None,
            content_bytes: 0,
            delay_ns: None,
            acknowledged_ns: None,
            left_to_fin: 0,
            unmeasured: None,
            bytes: Way::default(),
            response_bytes: 0,
            repeated: Way::default(),
            resets: Way::default(),
            coalesced: 0,
            answered_ns: None,
            established_ns: None,
        }
    }

    /// Takes back what was measured.
    pub(super) fn refuse(&mut self, reason: Unmeasured) {
        self.delay_ns = None;
        self.acknowledged_ns = None;
        self.unmeasured = Some(reason);
    }
}
