//! What was observed of a site: plain data, as the engine found it and the document holds it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use sixmark_units::family::Family;

/// The fields of responses that are compared, in lower case: those that change what a client does, and
/// those by which servers and caches name themselves.
pub const COMPARED_FIELDS: [&str; 8] = [
    "strict-transport-security",
    "alt-svc",
    "content-security-policy",
    "content-type",
    "content-encoding",
    "cache-control",
    "server",
    "via",
];

/// What was observed of a site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SiteObserved {
    /// The name of the host; null if the URL has an address.
    pub name: Option<String>,
    /// Why the system's look-up of a family found no address, by family; absent for one that did.
    pub no_address: BTreeMap<Family, String>,
    /// The families whose look-up failed, so that it is not known whether they have an address.
    pub unknown: Vec<Family>,
    /// Why this machine can't reach a family at all, by family; absent for one that it can.
    pub no_route: BTreeMap<Family, String>,
    /// What each resolver answered; empty if the name was not looked up in DNS.
    pub resolvers: Vec<ResolverRecords>,
    /// The addresses that were tried, in the order of the resolver.
    pub addresses: Vec<CheckedAddress>,
    /// The hosts that the page names beside its own, with the families of their addresses.
    pub page_hosts: Vec<PageHost>,
    /// The host to which the site redirects, if it is another one.
    pub redirect: Option<PageHost>,
    /// The number of requests that were sent to the site.
    pub requests: u32,
}

/// A host that a page or a redirect names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PageHost {
    /// The host: a name, or an address without brackets.
    pub host: String,
    /// True if it is an address.
    pub is_address: bool,
    /// The families of which it has an address; null if the look-up failed.
    pub families: Option<Vec<Family>>,
}

/// What a resolver answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResolverRecords {
    /// The address of the resolver.
    pub resolver: String,
    /// The queries, each with its answer.
    pub queries: Vec<QueryRecords>,
    /// The prefix with which it synthesises addresses (DNS64, RFC 7050); null if it does not.
    pub dns64_prefix: Option<String>,
}

impl ResolverRecords {
    /// Returns the answer to the query of a type.
    pub fn query(&self, kind: &str) -> Option<&QueryRecords> {
        self.queries.iter().find(|query| query.kind == kind)
    }
}

/// A query and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryRecords {
    /// The type of record: A, AAAA or HTTPS.
    #[serde(rename = "type")]
    pub kind: String,
    /// What came of it.
    pub end: QueryEnd,
    /// The response code, as NOERROR; null without a response.
    pub rcode: Option<String>,
    /// The records, in the order of the response: addresses, or the parameters of HTTPS records.
    pub records: Vec<String>,
    /// The names to which CNAME records lead, in order.
    pub aliases: Vec<String>,
    /// The addresses in the hints of HTTPS records.
    pub hints: Vec<IpAddr>,
    /// The least time to live of the records, in seconds; null without records.
    pub ttl_s: Option<u32>,
    /// How long the answer took, in milliseconds.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub took_ms: f64,
}

impl QueryRecords {
    /// Returns true if there is no answer to the question: an error, or none at all.
    pub fn is_failure(&self) -> bool {
        let is_error = self.rcode.as_deref().is_some_and(|rcode| rcode != "NOERROR");
        self.end != QueryEnd::Answered || is_error
    }

    /// Returns the answer in a few words.
    pub fn describe(&self) -> String {
        match (self.end, &self.rcode) {
            (QueryEnd::Silent, _) => "no answer".to_owned(),
            (QueryEnd::Unreachable, _) => "can't be asked".to_owned(),
            (_, Some(rcode)) if rcode != "NOERROR" => rcode.clone(),
            _ if self.records.is_empty() => "no record".to_owned(),
            _ => self.records.join(", "),
        }
    }
}

/// What came of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QueryEnd {
    /// The resolver answered.
    Answered,
    /// It did not answer in time.
    Silent,
    /// It could not be asked.
    Unreachable,
}

/// An address of the site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckedAddress {
    /// The address.
    pub address: IpAddr,
    /// Its family.
    pub family: Family,
    /// What it is for; null if it is one of the public internet.
    pub special: Option<String>,
    /// The fetches of the URL from this address, in the order of time.
    pub fetches: Vec<SiteFetch>,
    /// A fetch of `/` over plain HTTP from port 80; null if it was not tried.
    pub plain: Option<SiteFetch>,
    /// A fetch over HTTP/3; null if the site does not offer it.
    pub http3: Option<SiteFetch>,
    /// A request with HEAD after a response did not arrive completely; null if it was not tried.
    pub head: Option<SiteFetch>,
}

/// One fetch: a new connection, a request and its response. Times are in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SiteFetch {
    /// The number of its round, in which each address is fetched from once: 0 is the first.
    pub round: u32,
    /// What came of it.
    pub end: FetchEnd,
    /// How far it came.
    pub reached: FetchPhase,
    /// Why it failed, in a few words; null if it did not.
    pub why: Option<String>,
    /// The protocol of the response; null without one.
    pub protocol: Option<String>,
    /// From the connect call to the established connection.
    pub connect_us: f64,
    /// The TLS handshake; 0 without TLS.
    pub tls_us: f64,
    /// Sending the request.
    pub send_us: f64,
    /// From the last byte of the request to the first of the response.
    pub wait_us: f64,
    /// From the first byte of the response to its last.
    pub transfer_us: f64,
    /// The round-trip time of the TCP handshake by the kernel; null if it is not known.
    pub round_trip_us: Option<f64>,
    /// The status; null without a response.
    pub status: Option<u16>,
    /// The number of bytes of content.
    pub content_bytes: u64,
    /// The SHA-256 of the content in hexadecimal digits; null if the response is not complete.
    pub content_sha256: Option<String>,
    /// The compared fields of the response: the values, several of a field joined by commas.
    pub fields: BTreeMap<String, String>,
    /// The field Location; null without one.
    pub location: Option<String>,
    /// True if the server asks for fewer requests: status 429, or 503 with Retry-After.
    pub is_rate_limited: bool,
    /// What TLS agreed on; null without TLS.
    pub tls: Option<FetchTls>,
    /// What TCP agreed on; null if it is not known.
    pub tcp: Option<FetchTcp>,
}

impl SiteFetch {
    /// Returns true if the response is complete.
    pub fn is_complete(&self) -> bool {
        self.end == FetchEnd::Complete
    }

    /// Returns how long it took from the connect call to the last byte, in microseconds.
    pub fn response_us(&self) -> f64 {
        self.connect_us + self.tls_us + self.send_us + self.wait_us + self.transfer_us
    }
}

/// What came of a fetch.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FetchEnd {
    /// The response is complete.
    Complete,
    /// The connection was refused.
    Refused,
    /// The peer reset the connection.
    Reset,
    /// Nothing arrived in time.
    #[default]
    TimedOut,
    /// There is no route, or a router says that the address can't be reached.
    Unreachable,
    /// The TLS handshake failed.
    Tls,
    /// The connection ended before the response did.
    Closed,
    /// The response breaks the rules of HTTP.
    Protocol,
    /// The content is longer than what is read.
    TooLong,
    /// The content was still arriving when the time was over.
    TooSlow,
}

impl FetchEnd {
    /// Returns a phrase for people.
    pub fn phrase(self) -> &'static str {
        match self {
            FetchEnd::Complete => "complete",
            FetchEnd::Refused => "refused",
            FetchEnd::Reset => "reset",
            FetchEnd::TimedOut => "timed out",
            FetchEnd::Unreachable => "unreachable",
            FetchEnd::Tls => "TLS failed",
            FetchEnd::Closed => "closed early",
            FetchEnd::Protocol => "not HTTP",
            FetchEnd::TooLong => "too long to read",
            FetchEnd::TooSlow => "too slow to read",
        }
    }
}

/// How far a fetch came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FetchPhase {
    /// It was connecting.
    #[default]
    Connect,
    /// The connection was established, and TLS was not.
    Tls,
    /// The request was sent, and no byte of the response had arrived.
    Wait,
    /// A part of the response had arrived.
    Transfer,
}

/// What TLS agreed on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FetchTls {
    /// The version, as TLSv1.3.
    pub version: String,
    /// The cipher suite.
    pub cipher: String,
    /// The group of the key exchange; null if it is not known.
    pub group: Option<String>,
    /// The application protocol; null if none was agreed on.
    pub alpn: Option<String>,
    /// The SHA-256 of the certificate in hexadecimal digits.
    pub certificate_sha256: String,
    /// The end of the certificate's validity, RFC 3339 in UTC; null if it can't be read.
    pub not_after: Option<String>,
    /// Why the certificate is not accepted for the name; null if it is.
    pub refused: Option<String>,
}

/// What TCP agreed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FetchTcp {
    /// The largest segment that is sent, in bytes.
    pub mss: u32,
    /// Segments that were sent again, including SYNs.
    pub retransmitted: u32,
    /// Whether both sides have timestamps.
    pub timestamps: bool,
    /// Whether both sides have selective acknowledgements.
    pub sack: bool,
    /// Whether both sides have window scaling.
    pub window_scaling: bool,
    /// Whether both sides have explicit congestion notification.
    pub ecn: bool,
}
