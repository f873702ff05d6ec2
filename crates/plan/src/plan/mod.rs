//! The plan of a run. Command lines and files are parsed into it, and only valid ones result in a
//! plan.

pub mod accept;
mod filled;
pub mod http;
pub mod list;
pub mod most;
pub mod ratio;
pub mod request;
pub mod requests;
pub mod secrets;
pub mod timestamps;
pub mod tls;
pub mod wire_form;

#[cfg(feature = "schema")]
use sixmark_document::schema_type;
use std::net::{IpAddr, SocketAddr};
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::timestamps::Timestamps;
use crate::pace::Pace;
use accept::AcceptStatus;
pub use filled::FilledRequest;
use http::Http;
use ratio::PlanRatio;
pub use request::{Body, PlanRequests, Request};
use sixmark_units::family::{Family, PerFamily};
use tls::PlanTls;

/// The plan of a run, after name resolution and validation. Every family that the ratio uses has an
/// address.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// The URLs that are loaded.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub targets: Vec<Target>,
    /// The ratio of requests over IPv6 to requests over IPv4.
    pub ratio: PlanRatio,
    /// The amount, duration and concurrency of the load.
    pub load: LoadPlan,
    /// The requests, which are sent in proportion to their weights.
    pub requests: PlanRequests,
    /// Whether redirects are followed, to the same target only. If false, they are responses like
    /// any other.
    pub location: bool,
    /// Whether the cookies that responses set are stored and sent back, separately for each
    /// exchange that may be in flight, as if each were a browser of its own.
    pub cookies: bool,
    /// The status codes that do not count as failures. If a request has a check of the status
    /// (expect), that check decides for its responses.
    #[serde(default)]
    pub accept_status: AcceptStatus,
    /// The version of HTTP and its settings.
    pub http: Http,
    /// How connections are used.
    pub connection: Connection,
    /// TLS settings for https targets; null: there are no such targets.
    pub tls: Option<PlanTls>,
    /// Local addresses to connect from, used in turn; if empty, the kernel chooses.
    pub sources: PerFamily<Vec<SourceAddresses>>,
    /// The seed of all random choices: the order of families, addresses and requests, Poisson
    /// arrivals, and random values in templates.
    pub seed: u64,
}

impl Plan {
    /// Describes the targets: the URL of the first one, and how many others there are.
    pub fn describe_targets(&self) -> String {
        let first = self.targets.first().map_or("", |target| target.url.as_str());
        match self.targets.len() {
            0 | 1 => first.to_owned(),
            n => format!("{first} and {} more", n - 1),
        }
    }

    /// Returns the endpoints of `family`: every address, with the index of its target and its
    /// weight.
    pub fn endpoints(&self, family: Family) -> Vec<Endpoint> {
        let of_target = |(number, target): (usize, &Target)| target.endpoints(number, family);
        self.targets.iter().enumerate().flat_map(of_target).collect()
    }

    /// Returns the endpoints of both families, IPv6 first. Tallies identify an endpoint by its
    /// index in this list.
    pub fn all_endpoints(&self) -> Vec<Endpoint> {
        Family::BOTH.into_iter().flat_map(|family| self.endpoints(family)).collect()
    }

    /// Returns the most exchanges that may be in flight at the same time.
    pub fn in_flight(&self) -> u64 {
        u64::from(self.load.connections.get()) * u64::from(self.http.streams.get())
    }

    /// Returns the families in use, IPv6 first.
    pub fn families(&self) -> impl Iterator<Item = Family> + '_ {
        Family::BOTH.into_iter().filter(|&family| self.ratio.uses(family))
    }
}

/// A URL and its addresses.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Target {
    /// The URL as parsed.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^https?://[^ ]+$")))]
    pub url: String,
    /// The Host field's value, unless the request's headers have one.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub authority: String,
    /// The name or address that the server's certificate must have; null: no TLS.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub server_name: Option<String>,
    /// The request target: path and query.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^/")))]
    pub path: String,
    /// The weight among the targets, in each family that it has addresses of.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub weight: u32,
    /// The addresses and ports, in the resolver's order.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Vec<schema_type::SocketText>", length(min = 1))
    )]
    pub addresses: Vec<SocketAddr>,
}

impl Target {
    /// Returns true if the URL is an https URL.
    pub fn secure(&self) -> bool {
        self.server_name.is_some()
    }

    /// Returns `http` or `https`.
    pub fn scheme(&self) -> &'static str {
        if self.secure() { "https" } else { "http" }
    }

    /// Returns the target's addresses of one family, which share its weight evenly.
    fn endpoints(&self, number: usize, family: Family) -> Vec<Endpoint> {
        let of_family = |address: &&SocketAddr| Family::of(address.ip()) == family;
        let addresses: Vec<_> = self.addresses.iter().filter(of_family).collect();
        let weight = f64::from(self.weight) / addresses.len() as f64;
        addresses.into_iter().map(|&address| Endpoint { target: number, address, weight }).collect()
    }
}

/// One address of one target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Endpoint {
    /// The index of the target in the plan.
    pub target: usize,
    /// The address and port to connect to.
    pub address: SocketAddr,
    /// The weight among the endpoints of its family, above zero.
    pub weight: f64,
}

/// The amount and duration of the load.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadPlan {
    /// Requests to send, both families together; null: as many as fit the duration.
    pub requests: Option<NonZeroU64>,
    /// How long to send; null: until the requests are done.
    pub duration: Option<Duration>,
    /// The duration of the load before the measurement, which is not counted.
    pub warmup: Duration,
    /// What decides when an exchange begins.
    pub pace: Pace,
    /// The number of connections in use at the same time, both families together; in an open loop
    /// the maximum. Each carries one exchange at a time, or as many as http.streams allows.
    pub connections: NonZeroU32,
    /// Worker threads, at most one for each connection of each family.
    pub threads: NonZeroU32,
    /// The longest an exchange may last from its start.
    pub timeout: Duration,
    /// How long to wait, after the duration, for exchanges in flight before the rest is cut off. In
    /// an open loop it is always as long as the timeout.
    #[serde(default)]
    pub drain: Duration,
    /// The kernel interface to use.
    pub driver: Driver,
    /// Who takes the timestamps of sending and receiving.
    pub timestamps: Timestamps,
    /// How long received data may be left unprocessed so that more of it is processed in one batch,
    /// in a closed loop. Null: at most a hundredth of the shortest response time or, on
    /// TCP connections that exchanges share, 4 us and a twenty-fifth of the median wait.
    pub linger: Option<Duration>,
}

/// The kernel interface for network I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Driver {
    /// io_uring if it is allowed, else epoll.
    #[default]
    Auto,
    /// Only io_uring.
    Uring,
    /// Only epoll.
    Epoll,
}

/// How connections are used.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Connection {
    /// Whether a connection may carry several requests; false: a new connection for each request.
    pub keep_alive: bool,
    /// The most requests on one connection; null: no limit.
    pub requests: Option<NonZeroU32>,
    /// How this side closes a connection.
    pub close: Close,
    /// The most connections that may be open at the same time, both families together, including
    /// idle ones; at least as many as are in use at the same time.
    pub most_open: NonZeroU32,
    /// Whether as many connections as exchanges may be in flight are opened before the load begins,
    /// and then used in turn.
    pub preopen: bool,
    /// Whether a request of HTTP/1 with an idempotent method is sent again, once and on a new
    /// connection, if the server closed the kept connection before a byte of the response arrived;
    /// if false, or the document is older than this field, that is a failure.
    #[serde(default)]
    pub resend: bool,
}

impl Connection {
    /// Returns true if a connection may carry more than one request.
    pub fn lasting(&self) -> bool {
        self.keep_alive && self.requests.is_none_or(|most| most.get() > 1)
    }
}

/// How this side closes a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Close {
    /// An orderly close with a FIN (RFC 9293, 3.6).
    Fin,
    /// A reset (RST), which leaves no connection in TIME-WAIT and which servers see as an error.
    Rst,
}

/// A local address, or a prefix of addresses, to connect from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceAddresses {
    /// The first address.
    #[cfg_attr(feature = "schema", schemars(with = "schema_type::AddressText"))]
    pub address: IpAddr,
    /// The number of leading bits that all addresses share: 128 or 32 for a single address.
    #[cfg_attr(feature = "schema", schemars(range(max = 128)))]
    pub prefix: u8,
    /// The interface index of a link-local address; else 0.
    pub scope: u32,
}
