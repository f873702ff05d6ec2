//! `sixmark.check/1`: the document that `sixmark check` writes.

use serde::{Deserialize, Serialize};
use sixmark_document::provenance::{Environment, Tool};
use sixmark_why::divided_difference::DividedDifference;

use crate::observed::SiteObserved;
use crate::site_finding::{FindingState, SiteFinding};

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
    /// The sites, in the order of the command line.
    pub sites: Vec<SiteResult>,
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
    /// What was found: differences by weight, then what can't be told, what is alike, what was not
    /// tried.
    pub findings: Vec<SiteFinding>,
    /// Why the response times differ; null if they do not, or can't be compared.
    pub why: Option<DividedDifference>,
    /// What was observed.
    pub observed: SiteObserved,
}

impl SiteResult {
    /// Returns the findings of a state.
    pub fn of_state(&self, state: FindingState) -> impl Iterator<Item = &SiteFinding> {
        self.findings.iter().filter(move |finding| finding.state == state)
    }
}

/// Whether a site is as good over IPv6 as over IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SiteVerdict {
    /// No difference was found that users notice.
    AsGood,
    /// Users of one family get the site later, sometimes not, or another one.
    Worse,
    /// Users of one family do not get the site.
    Broken,
    /// The site has no IPv6.
    Ipv4Only,
    /// The site has no IPv4.
    Ipv6Only,
    /// It can't be told from here.
    CantTell,
}

impl SiteVerdict {
    /// Returns the verdict in capitals, as a terminal shows it.
    pub fn shown(self) -> &'static str {
        match self {
            SiteVerdict::AsGood => "AS GOOD",
            SiteVerdict::Worse => "WORSE",
            SiteVerdict::Broken => "BROKEN",
            SiteVerdict::Ipv4Only => "IPV4 ONLY",
            SiteVerdict::Ipv6Only => "IPV6 ONLY",
            SiteVerdict::CantTell => "CAN'T TELL",
        }
    }
}
