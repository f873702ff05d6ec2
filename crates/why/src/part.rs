//! The parts among which the difference of two response times is divided.

use serde::{Deserialize, Serialize};

/// A part among which the difference of two response times is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WhyPart {
    /// Waiting to start, in an open loop.
    Queue,
    /// The round trips that both sides take: one for the wait, and those of connections, TLS
    /// handshakes and flights.
    RoundTrips,
    /// Connecting, beyond the round trips that both sides take.
    Connect,
    /// The TLS or QUIC handshake, beyond the round trips that both sides take.
    Tls,
    /// Sending the request.
    Send,
    /// The wait, beyond its round trip: the server.
    Server,
    /// Waiting for flights within the response, beyond the round trips that both sides take.
    Flights,
    /// Pauses within the response during which segments arrived out of order.
    Recovery,
    /// Other pauses within the response.
    Pauses,
    /// Receiving the response.
    Transfer,
}

impl WhyPart {
    /// All parts, in the order of an exchange, the path first.
    pub const ALL: [WhyPart; 10] = [
        WhyPart::RoundTrips,
        WhyPart::Queue,
        WhyPart::Connect,
        WhyPart::Tls,
        WhyPart::Send,
        WhyPart::Server,
        WhyPart::Flights,
        WhyPart::Recovery,
        WhyPart::Pauses,
        WhyPart::Transfer,
    ];

    /// Returns the name within a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            WhyPart::Queue => "waiting to start",
            WhyPart::RoundTrips => "the round trip",
            WhyPart::Connect => "connecting",
            WhyPart::Tls => "the TLS handshake",
            WhyPart::Send => "sending the request",
            WhyPart::Server => "the server",
            WhyPart::Flights => "waiting for the sender’s window",
            WhyPart::Recovery => "loss or reordering",
            WhyPart::Pauses => "pauses within the response",
            WhyPart::Transfer => "receiving the response",
        }
    }

    /// Returns the definition as a sentence.
    pub fn definition(self) -> &'static str {
        match self {
            WhyPart::Queue => "From when an exchange was due to its start.",
            WhyPart::RoundTrips => {
                "Round trips of the path, as TCP’s handshakes or QUIC measured them, as many as both \
                 sides take: one for the wait, and those of new connections, of TLS handshakes and of \
                 flights within the response."
            }
            WhyPart::Connect => "Connecting, less the round trips that both sides take.",
            WhyPart::Tls => "The TLS or QUIC handshake, less the round trips that both sides take.",
            WhyPart::Send => {
                "From when the connection could carry the request to its last byte sent."
            }
            WhyPart::Server => {
                "From the request’s last byte to the response’s first, less a round trip."
            }
            WhyPart::Flights => {
                "Pauses of at most a round trip and a half within the response, in which the sender waits for \
                 acknowledgements, less those that both sides take."
            }
            WhyPart::Recovery => {
                "Pauses within the response during which segments arrived out of order."
            }
            WhyPart::Pauses => {
                "Longer pauses within the response without such segments: of the application, or until a \
                 timeout of the server’s TCP."
            }
            WhyPart::Transfer => "The rest of the time from the response’s first byte to its last.",
        }
    }

    /// Returns what shows the part again, or whom to ask.
    pub fn next_step(self) -> &'static str {
        match self {
            WhyPart::Queue => {
                "`sixmark compare -c` with more connections shows whether they were too few"
            }
            WhyPart::RoundTrips => {
                "`tracepath` to both addresses shows the path; ask the network’s operator about its routes"
            }
            WhyPart::Connect => {
                "`sixmark run --full` has new connections per request; on the server, `ss -ltn` shows \
                 full accept queues"
            }
            WhyPart::Tls => {
                "`sixmark run --full` names version, group, certificate and resumption of each family"
            }
            WhyPart::Send => "`sixmark run --full` has sends and retransmissions of each family",
            WhyPart::Server => {
                "compare the server’s listeners of both families: processes, caches and backends behind them"
            }
            WhyPart::Flights => {
                "on the server, `ss -ti` shows the congestion window and `ip route` the initial one \
                 (initcwnd)"
            }
            WhyPart::Recovery => {
                "`nstat -az TcpRetransSegs` on the server counts what it sends again; `tcpdump` on both \
                 ends shows where segments are lost"
            }
            WhyPart::Pauses => {
                "`tcpdump` on the server shows whether its application or its TCP pauses"
            }
            WhyPart::Transfer => {
                "`iperf3` or `sixmark run` with a large response shows the rate of each path; \
                 `sixmark run --full` has segment sizes"
            }
        }
    }
}
