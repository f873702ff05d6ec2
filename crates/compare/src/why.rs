//! Why the response times of two sides differ: the difference, divided among the parts of a response.
//!
//! The parts add up: what they do not explain is a part of its own. [`judge`](crate::judge) tests each
//! of them; a part is called a cause only if it passes.

use serde::{Deserialize, Serialize};

use crate::differs_with::FactApart;

use sixmark_document::verdict::Estimate;
use sixmark_tally::metric::Metric;

/// A cause is at least this share of the difference that it explains.
pub(crate) const LEAST_SHARE: f64 = 0.1;

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

/// Why the response times of two sides differ. Times are in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DividedDifference {
    /// The metric whose difference is divided.
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = sixmark_tally::metric::compared::compared_pattern())))]
    pub metric: Metric,
    /// A minus B: the difference of the comparison.
    pub difference_us: Estimate,
    /// The parts that take any time on either side.
    pub parts: Vec<PartOfDifference>,
    /// What the parts leave of the difference: they are estimated one by one.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub unexplained_us: f64,
    /// The round-trip times of the path of a typical pair, side A's and side B's; null if they are not
    /// known. Then the waits have no round trips of their own.
    pub round_trip_us: Option<[f64; 2]>,
    /// What differs between the sides together with their times.
    #[serde(default)]
    pub differs_with: Vec<FactApart>,
}

/// A part of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartOfDifference {
    /// The part.
    pub part: WhyPart,
    /// How long it takes on side A, on average over the pairs.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub a_us: f64,
    /// How long it takes on side B.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub b_us: f64,
    /// A minus B, by the method of the comparison.
    pub difference_us: Estimate,
    /// The difference as a share of the whole one.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Signed"))]
    pub share: f64,
    /// The probability of a difference at least this large between equal parts, after Holm's correction
    /// over all parts.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::Part"))]
    pub p_holm: f64,
    /// True if it is a cause of the difference: it differs in the same direction, by its own test, and
    /// is at least a tenth of it.
    pub is_cause: bool,
}

impl DividedDifference {
    /// Returns the causes, the largest first.
    pub fn causes(&self) -> Vec<&PartOfDifference> {
        let mut causes: Vec<_> = self.parts.iter().filter(|part| part.is_cause).collect();
        causes.sort_by(|a, b| b.share.total_cmp(&a.share));
        causes
    }

    /// Returns the parts that take equally long: their intervals lie within a tenth of the difference.
    pub fn equal_parts(&self) -> Vec<WhyPart> {
        let near = LEAST_SHARE * self.difference_us.value.abs();
        let is_equal = |of: &&PartOfDifference| {
            let Estimate { low, high, .. } = of.difference_us;
            !of.is_cause && -near <= low && high <= near
        };
        self.parts.iter().filter(is_equal).map(|of| of.part).collect()
    }
}
