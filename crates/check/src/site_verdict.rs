//! The verdict on a site.

use serde::{Deserialize, Serialize};

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
    /// All verdicts; first those that need attention.
    pub const ALL: [SiteVerdict; 6] = [
        SiteVerdict::Broken,
        SiteVerdict::Worse,
        SiteVerdict::CantTell,
        SiteVerdict::Ipv4Only,
        SiteVerdict::Ipv6Only,
        SiteVerdict::AsGood,
    ];

    /// Returns the first of these verdicts in the order of [`SiteVerdict::ALL`].
    pub fn worst(verdicts: impl Iterator<Item = SiteVerdict> + Clone) -> Option<SiteVerdict> {
        SiteVerdict::ALL.into_iter().find(|of| verdicts.clone().any(|verdict| verdict == *of))
    }

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
