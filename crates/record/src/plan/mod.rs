//! What to run: a value that cannot be invalid, made from text that may be.

pub mod accept;
mod filled;
pub mod http;
pub mod list;
pub mod ratio;
pub mod request;
pub mod requests;
pub mod secrets;
pub mod tls;

use std::net::{IpAddr, SocketAddr};
use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clocks::Timestamps;
use crate::pace::Pace;
use accept::AcceptStatus;
pub use filled::FilledRequest;
use http::Http;
use ratio::PlanRatio;
pub use request::{Body, PlanRequests, Request};
use sixmark_units::family::{Family, PerFamily};
use tls::PlanTls;

/// A run, resolved and checked: every family that the ratio uses has an endpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// What is loaded.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub targets: Vec<Target>,
    /// Requests over IPv6 to requests over IPv4.
    pub ratio: PlanRatio,
    /// How much, how long, how many at once.
    pub load: LoadPlan,
    /// What is sent, by weight.
    pub requests: PlanRequests,
    /// Redirects are followed, to the same target only; else they are responses like others.
    pub location: bool,
    /// Each place keeps the cookies that it is sent, and sends them, as a user's browser does.
    pub cookies: bool,
    /// Which status codes don't count as failures. A check of the status that a request has (`expect`)
    /// has the last word on its responses.
    #[serde(default)]
    pub accept_status: AcceptStatus,
    /// Which HTTP is spoken.
    pub http: Http,
    /// How connections are used.
    pub connection: Connection,
    /// How connections to `https://` targets are secured; null: there are none.
    pub tls: Option<PlanTls>,
    /// Local addresses to connect from, in turn; the kernel's choice where there are none.
    pub sources: PerFamily<Vec<SourceAddresses>>,
    /// Decides where the schedules over several addresses begin, and Poisson arrivals.
    pub seed: u64,
}

impl Plan {
    /// Every address of `family`, with its target's number and its weight.
    pub fn endpoints(&self, family: Family) -> Vec<Endpoint> {
        let of_target = |(number, target): (usize, &Target)| target.endpoints(number, family);
        self.targets.iter().enumerate().flat_map(of_target).collect()
    }

    /// The endpoints of both families, IPv6 first: what tallies number them by.
    pub fn all_endpoints(&self) -> Vec<Endpoint> {
        Family::BOTH.into_iter().flat_map(|family| self.endpoints(family)).collect()
    }

    /// The most exchanges that may be in flight at once.
    pub fn in_flight(&self) -> u64 {
        u64::from(self.load.connections.get()) * u64::from(self.http.streams.get())
    }

    /// The families in use, IPv6 first.
    pub fn families(&self) -> impl Iterator<Item = Family> + '_ {
        Family::BOTH.into_iter().filter(|&family| self.ratio.uses(family))
    }
}

/// A URL with the addresses it is reached at.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Target {
    /// The URL as it was understood.
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
    /// Its share of the requests of each family that it has addresses of.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub weight: u32,
    /// Where it is, in the resolver's order.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Vec<sixmark_document::schema_type::SocketText>", length(min = 1))
    )]
    pub addresses: Vec<SocketAddr>,
}

impl Target {
    /// True of `https://`.
    pub fn secure(&self) -> bool {
        self.server_name.is_some()
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &'static str {
        if self.secure() { "https" } else { "http" }
    }

    /// The target's addresses of one family, sharing its weight evenly.
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
    /// The target's number in the plan.
    pub target: usize,
    /// Where to connect to.
    pub address: SocketAddr,
    /// Its share of its family's requests, above zero.
    pub weight: f64,
}

/// How much load, and for how long.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadPlan {
    /// Requests to send, both families together; null: as many as fit the duration.
    pub requests: Option<NonZeroU64>,
    /// How long to send; null: until the requests are done.
    pub duration: Option<Duration>,
    /// Load before the measurement, not counted.
    pub warmup: Duration,
    /// What decides when an exchange begins.
    pub pace: Pace,
    /// Connections in use at once, over both families together, each with one exchange in flight or
    /// with as many as it may carry; in an open loop the most of them.
    pub connections: NonZeroU32,
    /// Worker threads, at most one for each connection of each family.
    pub threads: NonZeroU32,
    /// The longest an exchange may last from its start.
    pub timeout: Duration,
    /// How long to wait after `duration` for exchanges in flight before the rest is cut off. In an
    /// open loop it is always as long as the timeout.
    #[serde(default)]
    pub drain: Duration,
    /// How the kernel is to be spoken to.
    pub driver: Driver,
    /// Who takes the times of sending and receiving.
    pub timestamps: Timestamps,
    /// How long what comes may be left lying in a closed loop over io_uring, so that more of it is
    /// dealt with at once; null: at most a hundredth of the shortest response.
    pub linger: Option<Duration>,
}

/// How the kernel is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Driver {
    /// By io_uring where that is allowed, else by epoll.
    #[default]
    Auto,
    /// By io_uring alone.
    Uring,
    /// By epoll alone.
    Epoll,
}

/// How connections are used.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Connection {
    /// False: one connection a request.
    pub keep_alive: bool,
    /// The most requests on one connection; null: no limit.
    pub requests: Option<NonZeroU32>,
    /// How this side closes a connection.
    pub close: Close,
    /// How many may be open at once over both families together, those included that are idle; at
    /// least as many as are to be used at once.
    pub most_open: NonZeroU32,
    /// True: as many connections as exchanges may be in flight were to be opened before the load
    /// began, and used in turn.
    pub preopen: bool,
}

impl Connection {
    /// True where a connection may carry more than one request.
    pub fn lasting(&self) -> bool {
        self.keep_alive && self.requests.is_none_or(|most| most.get() > 1)
    }
}

/// How this side closes a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Close {
    /// Orderly (RFC 9293, 3.6).
    Fin,
    /// With a reset, which leaves no TIME-WAIT behind and which servers see as an error.
    Rst,
}

/// Where connections come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceAddresses {
    /// The first address.
    #[cfg_attr(feature = "schema", schemars(with = "sixmark_document::schema_type::AddressText"))]
    pub address: IpAddr,
    /// How many leading bits all its addresses share: 128 or 32 for one address.
    #[cfg_attr(feature = "schema", schemars(range(max = 128)))]
    pub prefix: u8,
    /// The interface's number, for link-local addresses; else 0.
    pub scope: u32,
}
