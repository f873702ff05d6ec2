//! What was observed of a site: plain data, as the engine found it and the document holds it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use sixmark_units::family::Family;

use crate::path_probe::{PathProbe, ProbeKind};
use crate::site_fetch::SiteFetch;
use crate::zone_servers::ZoneServers;

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
    /// The zones on the way to the name, and that to which it is an alias; empty if the name was not
    /// looked up in DNS.
    pub zones: Vec<ZoneServers>,
    /// The addresses that were tried, in the order of the resolver.
    pub addresses: Vec<CheckedAddress>,
    /// The hosts that the page names beside its own, with the families of their addresses.
    pub page_hosts: Vec<PageHost>,
    /// The host to which the site redirects, if it is another one.
    pub redirect: Option<PageHost>,
    /// The races for real, one for each client; empty if there were none.
    #[serde(default)]
    pub races: Vec<SiteRace>,
    /// The number of requests that were sent to the site, and of connections of races.
    pub requests: u32,
}

impl SiteObserved {
    /// Returns true if a response or an HTTPS record offers HTTP/3 on the same port.
    pub fn offers_http3(&self) -> bool {
        let records = self.resolvers.iter().filter_map(|of| of.query("HTTPS"));
        self.alt_svc_offers_http3() || records.into_iter().any(QueryRecords::offers_http3)
    }

    /// Returns true if a response's Alt-Svc offers HTTP/3 on the same port.
    pub fn alt_svc_offers_http3(&self) -> bool {
        let fetches = self.addresses.iter().flat_map(|of| &of.fetches);
        fetches
            .filter_map(|fetch| fetch.fields.get("alt-svc"))
            .any(|value| value.split(',').any(|of| of.trim_start().starts_with("h3=\":")))
    }
}

/// A race for real: connections over TCP alone to the addresses, which were known, in the order and with
/// the delays of a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SiteRace {
    /// The client.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub client: String,
    /// The connections that were begun.
    pub attempts: u32,
    /// How it ended; null if none of them was established within 3 s.
    pub won: Option<RaceEnd>,
}

/// How a race over TCP alone to known addresses ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RaceEnd {
    /// The family of the connection.
    pub family: Family,
    /// When it was established, in milliseconds from the beginning of the race on.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub connected_ms: f64,
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

    /// Returns true if an HTTPS record offers HTTP/3.
    pub fn offers_http3(&self) -> bool {
        self.records.iter().any(|text| text.contains("h3"))
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
    /// What was tried beside that, because the path was in doubt.
    pub probes: Vec<PathProbe>,
    /// How many hops away it is: the least hop limit with which a connection is established. Null unless
    /// connections over one family take longer, or if it can't be counted.
    pub hops: Option<u32>,
    /// The MTU of this machine's route to the address, in bytes; null if it is not known.
    pub route_mtu: Option<u32>,
}

impl CheckedAddress {
    /// Returns all fetches in which nothing is different, also those that were made because the path was
    /// in doubt.
    pub fn usual_fetches(&self) -> impl Iterator<Item = &SiteFetch> {
        self.fetches.iter().chain(self.probes_of(ProbeKind::Again))
    }

    /// Returns the probes of a kind.
    pub fn probes_of(&self, kind: ProbeKind) -> impl Iterator<Item = &SiteFetch> {
        self.probes.iter().filter(move |of| of.kind == kind).map(|of| &of.fetch)
    }
}
