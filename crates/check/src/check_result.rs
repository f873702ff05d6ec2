//! `sixmark.check/1`: the document that `sixmark check` writes.

use serde::{Deserialize, Serialize};
use sixmark_document::provenance::{Environment, Tool};
use sixmark_units::family::Family;
use sixmark_why::divided_difference::DividedDifference;

use crate::happy_eyeballs::RaceProtocol;
use crate::observed::{RaceEnd, SiteObserved};
use crate::site_finding::{FindingState, SiteCheck, SiteFinding};
use crate::site_since::SiteSince;
use crate::site_verdict::SiteVerdict;

/// The name and version of the document format.
pub const SCHEMA: &str = "sixmark.check/1";

/// The document that sixmark check writes: whether sites are as good over IPv6 as over IPv4.
/// docs/check.md describes it for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckResult {
    /// The name and version of the document format.
    pub schema: String,
    /// The program that made the document.
    pub tool: Tool,
    /// When the check began, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME)))]
    pub started: String,
    /// How long it took, in seconds.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub elapsed_s: f64,
    /// The machine from which the sites were checked.
    pub environment: Environment,
    /// The options that change what is found. Null in documents of versions that did not write them.
    #[serde(default)]
    pub asked: Option<CheckAsked>,
    /// The sites, in the order of the command line.
    pub sites: Vec<SiteResult>,
}

/// The options of a check that change what is found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckAsked {
    /// The resolvers that were asked, with their ports; empty for those of the system.
    pub resolvers: Vec<String>,
    /// The fields that were added to requests, with the values of credentials redacted.
    pub headers: Vec<String>,
    /// The file of certificates that were trusted beside those of the system; null without one.
    pub cacert: Option<String>,
    /// The checks that are shown; empty for all.
    pub only: Vec<SiteCheck>,
    /// The lab and its host from which the sites were checked, as `LAB/HOST`; null if none.
    pub lab_host: Option<String>,
}

impl CheckAsked {
    /// Returns true if a difference from a check with these options is one of the site. What is shown
    /// does not matter, since the verdict is on all checks.
    pub fn is_comparable(&self, other: &CheckAsked) -> bool {
        CheckAsked { only: Vec::new(), ..self.clone() }
            == CheckAsked { only: Vec::new(), ..other.clone() }
    }
}

/// What was found out about one site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SiteResult {
    /// The URL.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub url: String,
    /// The verdict.
    pub verdict: SiteVerdict,
    /// The verdict as a sentence.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub sentence: String,
    /// What changed since the last check of the site that the store has; null if it has none with the
    /// same options.
    #[serde(default)]
    pub since: Option<SiteSince>,
    /// What was found: differences by weight, then what can't be told, what is alike, what was not
    /// tried.
    pub findings: Vec<SiteFinding>,
    /// Why the response times differ; null if they do not, or can't be compared.
    pub why: Option<DividedDifference>,
    /// What clients of users would do, predicted from what was observed; empty unless both families
    /// have addresses.
    pub clients: Vec<ClientRace>,
    /// What was observed.
    pub observed: SiteObserved,
}

impl SiteResult {
    /// Returns the findings of a state.
    pub fn of_state(&self, state: FindingState) -> impl Iterator<Item = &SiteFinding> {
        self.findings.iter().filter(move |finding| finding.state == state)
    }
}

/// What a client would do: a prediction by Happy Eyeballs from the times that were measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientRace {
    /// The client.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub client: String,
    /// Where the client's delays are from.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub source: String,
    /// The outcome by the delay that is added to connections over IPv6; the first is without any.
    pub points: Vec<RacePoint>,
    /// The outcome of a later visit, if the client remembers from the field Alt-Svc that the site has
    /// HTTP/3; null if no response says so, or if the client does not use it.
    #[serde(default)]
    pub remembered: Option<RacePoint>,
    /// The outcome if nothing were heard of any address of IPv6; null if no address connects.
    pub ipv6_silent: Option<RacePoint>,
    /// The largest delay that can be added to connections over IPv6 before IPv4 wins, in milliseconds,
    /// at most 2,000; null if IPv4 wins without any.
    pub tolerated_ms: Option<u32>,
    /// The race for real beside its prediction; null if there was none.
    #[serde(default)]
    pub raced: Option<RacedClient>,
}

/// A race for real, over TCP alone to addresses that were known, and what was predicted for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RacedClient {
    /// The prediction; null if no address connects.
    pub predicted: Option<RaceEnd>,
    /// How it ended; null if no address connected within 3 s.
    pub found: Option<RaceEnd>,
}

/// The outcome of a race. Times are in milliseconds from the client's queries on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RacePoint {
    /// What was added to connections over IPv6.
    pub added_ms: u32,
    /// The family of the connection.
    pub family: Family,
    /// Its protocol.
    #[serde(default)]
    pub protocol: RaceProtocol,
    /// When it is established: TCP without TLS, QUIC with its handshake.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub connected_ms: f64,
    /// When the content is there.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub content_ms: f64,
}
