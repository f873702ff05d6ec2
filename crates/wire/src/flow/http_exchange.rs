//! The report on one exchange.

use std::net::SocketAddr;

use sixmark_units::family::Family;

/// The two endpoints of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ends {
    /// The address of the client.
    pub client: SocketAddr,
    /// The address of the server.
    pub server: SocketAddr,
}

/// A pair of values, one for each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerDirection<T> {
    /// From client to server.
    pub from_client: T,
    /// From server to client.
    pub from_server: T,
}

impl<T> PerDirection<T> {
    /// Returns the value of one direction.
    pub(super) fn of(&mut self, by_client: bool) -> &mut T {
        if by_client { &mut self.from_client } else { &mut self.from_server }
    }

    /// Returns the value of one direction, then that of the other.
    pub(super) fn pair(&mut self, by_client: bool) -> (&mut T, &mut T) {
        if by_client {
            (&mut self.from_client, &mut self.from_server)
        } else {
            (&mut self.from_server, &mut self.from_client)
        }
    }
}

/// Repeated data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repeated {
    /// Segments without new data.
    pub segments: u64,
    /// Bytes of the frames of such segments, and the payload bytes of other segments that had been
    /// seen before.
    pub bytes: u64,
}

/// The reason why an exchange has no delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmeasured {
    /// The capture lost packets.
    Dropped,
    /// The client acknowledged data that was not captured.
    Gap,
    /// Segments arrived in fragments that were not reassembled.
    Fragmented,
    /// The connection carried data, but no request in plain text was seen.
    NoGet,
    /// Another request was sent before the response had ended, or this request was sent before the
    /// previous response had ended. Time, bytes and ACKs cannot be attributed to one exchange.
    Pipelined,
    /// The client did not acknowledge any of the response before its FIN.
    NoAck,
}

impl Unmeasured {
    /// Returns the reason in words that follow "not measured: ".
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

/// An exchange as seen at the capture point: a request and its response.
///
/// # What counts
/// - **Delay**: from the packet with the beginning of the request (in the studies a GET), when it
///   is first seen, to the last packet that the client sends before its FIN and that acknowledges
///   content of the response for the first time. An ACK that repeats another, updates the window or
///   acknowledges only the server's FIN does not extend the delay.
/// - **Bytes**: whole frames including the link-layer header, with the lengths that the capture
///   reports, in both directions, from the packet of the request to that of the last ACK, both
///   included. The handshake and the closing of the connection are therefore excluded. A segment
///   without new data is excluded with its headers; for a segment that is partly new, the repeated
///   bytes are excluded.
/// - **Throughput**: those bytes, of both directions, divided by the delay.
///
/// Data that was lost before the capture point does not count as repeated when it is sent again.
/// Segmentation and receive offload hide headers: see `coalesced`.
///
/// If HTTP itself can be followed, by the lengths that the heads of messages declare, the times of
/// request and response are known as well, whether or not there is a delay: `request_ns`, `wait_ns`
/// and `transfer_ns` are consecutive, like `send`, `wait` and `exchange` of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpExchange {
    /// The endpoints of the connection that carried it.
    pub ends: Ends,
    /// The number of the exchange on its connection, from 1; 0 if there was no request.
    pub number: u32,
    /// The method of the request, such as `GET`.
    pub method: String,
    /// The target of the request, as far as it was captured.
    pub path: String,
    /// The value of the request's Host field.
    pub host: Option<String>,
    /// The status of the response.
    pub status: Option<u16>,
    /// The time of the request, in nanoseconds of the capture's clock. If there was no request, the
    /// time of the connection's first packet.
    pub began_ns: u64,
    /// The time from the first to the last packet of the request, in nanoseconds; 0 if it is one
    /// packet. `None` if its end was not seen.
    pub request_ns: Option<u64>,
    /// The number of interim (1xx) responses before the response.
    pub interims: u32,
    /// The time from the last packet of the request to the first packet of the first interim
    /// response, in nanoseconds; 0 if that came first. `None` if there was none.
    pub interim_ns: Option<u64>,
    /// The time from the last packet of the request to the first packet of the response, which is
    /// not an interim one, in nanoseconds; 0 if the response came first. A run measures its
    /// `wait_us` between the same events, at the client.
    pub wait_ns: Option<u64>,
    /// The time from the first packet of the request to the first packet of the response, as in
    /// `wait_ns`, in nanoseconds.
    pub first_byte_ns: Option<u64>,
    /// The time from the first packet of the response to the one that completed it, in nanoseconds.
    pub transfer_ns: Option<u64>,
    /// Whether the response was complete. `None` if that is unknown because too little of its head
    /// was captured.
    pub whole: Option<bool>,
    /// Bytes of the response's content, without head and framing, each counted once.
    pub content_bytes: u64,
    /// The time from the request to the last ACK before the client's FIN, in nanoseconds.
    pub delay_ns: Option<u64>,
    /// The time from the request to the ACK of all content that was seen, in nanoseconds. That ACK
    /// may come before, with or after the client's FIN.
    pub acknowledged_ns: Option<u64>,
    /// Bytes of content that no ACK before the client's FIN covered.
    pub left_to_fin: u64,
    /// The reason why there is no delay.
    pub unmeasured: Option<Unmeasured>,
    /// Bytes of the frames that count.
    pub bytes: PerDirection<u64>,
    /// Bytes of the response, head and content, each counted once.
    pub response_bytes: u64,
    /// Data repeated between this request and the next one, or the end of the connection.
    pub repeated: PerDirection<Repeated>,
    /// Resets in the same period.
    pub resets: PerDirection<u64>,
    /// Segments with more payload than the maximum segment size of the receiver. Each was several
    /// segments on the wire, whose headers are not all counted. To avoid them, capture with
    /// segmentation and receive offload disabled.
    pub coalesced: u64,
    /// The time from the connection's SYN to its SYN-ACK, in nanoseconds.
    pub answered_ns: Option<u64>,
    /// The time from the connection's SYN to the client's ACK of its SYN-ACK, in nanoseconds.
    pub established_ns: Option<u64>,
}

impl HttpExchange {
    /// Returns the address family of the connection.
    pub fn family(&self) -> Family {
        Family::of(self.ends.server.ip())
    }

    /// Returns the throughput of both directions together, in bits per second.
    pub fn throughput_bits_per_s(&self) -> Option<f64> {
        let delay_s = self.delay_ns.filter(|delay| *delay > 0)? as f64 / 1e9;
        Some((self.bytes.from_client + self.bytes.from_server) as f64 * 8.0 / delay_s)
    }

    /// Returns an exchange without any measurement.
    pub fn new(ends: Ends, number: u32, began_ns: u64) -> HttpExchange {
        HttpExchange {
            ends,
            number,
            method: String::new(),
            path: String::new(),
            host: None,
            status: None,
            began_ns,
            request_ns: None,
            interims: 0,
            interim_ns: None,
            wait_ns: None,
            first_byte_ns: None,
            transfer_ns: None,
            whole: None,
            content_bytes: 0,
            delay_ns: None,
            acknowledged_ns: None,
            left_to_fin: 0,
            unmeasured: None,
            bytes: PerDirection::default(),
            response_bytes: 0,
            repeated: PerDirection::default(),
            resets: PerDirection::default(),
            coalesced: 0,
            answered_ns: None,
            established_ns: None,
        }
    }

    /// Discards the delay and the acknowledgement time, and records the reason.
    pub(super) fn refuse(&mut self, reason: Unmeasured) {
        self.delay_ns = None;
        self.acknowledged_ns = None;
        self.unmeasured = Some(reason);
    }
}
