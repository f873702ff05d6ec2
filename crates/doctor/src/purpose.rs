//! What sixmark is used for, as far as machines differ in what they allow.

use serde::{Deserialize, Serialize};

/// A command or an option that needs more of a machine than a process and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// `sixmark run` over both families.
    Run,
    /// `sixmark compare` over both families.
    Compare,
    /// Servers outside of this machine's own networks, over both families.
    Internet,
    /// Verified TLS with certificates of public authorities.
    Https,
    /// The io_uring driver (`--driver uring`), and `sixmark origin --turbo`.
    Uring,
    /// The kernel's timestamps (`--timestamps kernel`).
    Timestamps,
    /// `sixmark watch` on an interface.
    Watch,
    /// `sixmark run --truth`.
    Truth,
    /// 10,000 connections at once.
    Many,
    /// `sixmark lab`, and studies in a lab.
    Lab,
    /// Studies that load pages with a browser.
    Browsers,
    /// `sixmark run --hosts`.
    Fleet,
    /// Storing results.
    Store,
}

impl Purpose {
    /// All purposes, the most common first.
    pub const ALL: [Purpose; 13] = [
        Purpose::Run,
        Purpose::Compare,
        Purpose::Internet,
        Purpose::Https,
        Purpose::Uring,
        Purpose::Timestamps,
        Purpose::Watch,
        Purpose::Truth,
        Purpose::Many,
        Purpose::Lab,
        Purpose::Browsers,
        Purpose::Fleet,
        Purpose::Store,
    ];

    /// Returns its name in documents and options.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::Run => "run",
            Purpose::Compare => "compare",
            Purpose::Internet => "internet",
            Purpose::Https => "https",
            Purpose::Uring => "uring",
            Purpose::Timestamps => "timestamps",
            Purpose::Watch => "watch",
            Purpose::Truth => "truth",
            Purpose::Many => "many",
            Purpose::Lab => "lab",
            Purpose::Browsers => "browsers",
            Purpose::Fleet => "fleet",
            Purpose::Store => "store",
        }
    }

    /// Returns the purpose of this name.
    pub fn named(name: &str) -> Option<Purpose> {
        Purpose::ALL.into_iter().find(|purpose| purpose.name() == name)
    }

    /// Returns what it is, in a few words.
    pub fn describe(self) -> &'static str {
        match self {
            Purpose::Run => "`sixmark run` over both families",
            Purpose::Compare => "`sixmark compare` over both families",
            Purpose::Internet => "servers outside of this machine's networks, over both families",
            Purpose::Https => "TLS with certificates of public authorities",
            Purpose::Uring => "the io_uring driver, `sixmark origin --turbo`",
            Purpose::Timestamps => "`--timestamps kernel`",
            Purpose::Watch => "`sixmark watch` on an interface",
            Purpose::Truth => "`sixmark run --truth`",
            Purpose::Many => "10,000 concurrent connections (`-c 10k`)",
            Purpose::Lab => "`sixmark lab`, studies with `--in-lab`",
            Purpose::Browsers => "studies that load pages with a browser",
            Purpose::Fleet => "`sixmark run --hosts`",
            Purpose::Store => "storing results, `sixmark history`",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purpose_is_found_by_its_name() {
        for purpose in Purpose::ALL {
            assert_eq!(Purpose::named(purpose.name()), Some(purpose));
        }
        assert_eq!(Purpose::named("running"), None);
    }
}
