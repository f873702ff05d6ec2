//! What was observed, by family.

use std::collections::{BTreeMap, BTreeSet};

use sixmark_http::url::{Scheme, Url};
use sixmark_units::family::{Family, PerFamily};

use crate::observed::{CheckedAddress, SiteObserved};
use crate::site_fetch::SiteFetch;

/// Losses of one family count up to this probability of chance.
pub(super) const MOST_P: f64 = 0.05;

/// The observations of a site, by family.
pub(super) struct SitePair<'a> {
    pub(super) url: &'a Url,
    pub(super) observed: &'a SiteObserved,
    pub(super) sides: PerFamily<SiteSide<'a>>,
}

/// The observations of one family.
#[derive(Default)]
pub(super) struct SiteSide<'a> {
    pub(super) addresses: Vec<&'a CheckedAddress>,
}

impl<'a> SitePair<'a> {
    pub(super) fn of(url: &'a Url, observed: &'a SiteObserved) -> SitePair<'a> {
        SitePair { url, observed, sides: sides_of(observed) }
    }

    /// Returns true if both families have a complete response.
    pub(super) fn has_both(&self) -> bool {
        Family::BOTH.into_iter().all(|family| self.sides[family].complete().next().is_some())
    }

    /// Returns true if the site is fetched over TLS.
    pub(super) fn is_secure(&self) -> bool {
        self.url.scheme == Scheme::Https
    }
}

/// Returns what was observed of each family.
pub(super) fn sides_of(observed: &SiteObserved) -> PerFamily<SiteSide<'_>> {
    PerFamily::from_fn(|family| SiteSide {
        addresses: observed.addresses.iter().filter(|of| of.family == family).collect(),
    })
}

impl<'a> SiteSide<'a> {
    /// Returns all fetches of the URL.
    pub(super) fn fetches(&self) -> impl Iterator<Item = &'a SiteFetch> {
        self.addresses.iter().flat_map(|of| &of.fetches)
    }

    /// Returns the fetches with a complete response that was not refused for its rate.
    pub(super) fn complete(&self) -> impl Iterator<Item = &'a SiteFetch> {
        self.fetches().filter(|fetch| fetch.is_complete() && !fetch.is_rate_limited)
    }

    /// Returns true if any fetch is complete, also of those that were made because the path was in doubt.
    pub(super) fn is_served(&self) -> bool {
        let all = self.addresses.iter().flat_map(|of| of.usual_fetches());
        all.into_iter().any(|fetch| fetch.is_complete() && !fetch.is_rate_limited)
    }

    /// Returns the different values of something, each with how often it occurred.
    pub(super) fn values<T: Ord>(
        &self,
        of: impl Fn(&'a SiteFetch) -> Option<T>,
    ) -> BTreeMap<T, usize> {
        let mut values = BTreeMap::new();
        for value in self.complete().filter_map(of) {
            *values.entry(value).or_default() += 1;
        }
        values
    }
}

/// Returns true if two sides have no value in common: a family that alternates between values as the
/// other does is not another one.
pub(super) fn are_apart<T: Ord>(a: &BTreeMap<T, usize>, b: &BTreeMap<T, usize>) -> bool {
    !a.is_empty() && !b.is_empty() && a.keys().all(|value| !b.contains_key(value))
}

/// Returns values as a list for people.
pub(super) fn list_values<T: std::fmt::Display>(values: &BTreeMap<T, usize>) -> String {
    let all: Vec<String> = values.keys().map(T::to_string).collect();
    if all.is_empty() { "none".to_owned() } else { all.join(", ") }
}

/// Returns a word for a shell: peers choose the characters of names and paths.
pub(super) fn quoted(word: impl std::fmt::Display) -> String {
    let word = word.to_string();
    shlex::try_quote(&word).map_or_else(|_| "URL".to_owned(), |quoted| quoted.into_owned())
}

/// Returns different texts as a list, each once.
pub(super) fn list_once(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
}
