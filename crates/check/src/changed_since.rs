//! What changed since an earlier check of the same site.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use sixmark_sheet::setting;
use sixmark_units::family::Family;

use crate::check_result::{CheckAsked, CheckResult, SiteResult};
use crate::observed::SiteObserved;
use crate::site_fetch::FetchTls;
use crate::site_finding::{FindingState, SiteCheck, SiteFinding};
use crate::site_since::{AddedCertificate, SiteSince};
use crate::site_verdict::SiteVerdict;

/// The most addresses that a sentence names.
const MOST_NAMED: usize = 3;

/// Returns the site of this URL in an earlier check. `None` if it has none, or if it was made with other
/// options, so that what differs may be due to them.
pub fn comparable_site<'a>(
    earlier: &'a CheckResult,
    url: &str,
    asked: &CheckAsked,
) -> Option<&'a SiteResult> {
    let is_alike = earlier.asked.as_ref().is_some_and(|of| of.is_comparable(asked));
    earlier.sites.iter().find(|site| site.url == url).filter(|_| is_alike)
}

/// Compares a site with an earlier check of it, which began at `started`.
pub fn compare_since(started: &str, earlier: &SiteResult, now: &SiteResult) -> SiteSince {
    let [before, after] = [earlier, now].map(|site| findings_of(&site.findings));
    let changed = |is_changed: &dyn Fn(&SiteFinding, &SiteFinding) -> bool| -> Vec<SiteCheck> {
        let pair = |check: &SiteCheck| Some((*before.get(check)?, *after.get(check)?));
        let is_changed = |check: &SiteCheck| pair(check).is_some_and(|(a, b)| is_changed(a, b));
        SiteCheck::ALL.into_iter().filter(is_changed).collect()
    };
    let differs = |of: &SiteFinding| of.state == FindingState::Differs;
    let same = |of: &SiteFinding| of.state == FindingState::Same;
    let unknown = |of: &SiteFinding| !differs(of) && !same(of);
    let known =
        |family: &Family| ![earlier, now].iter().any(|site| site.observed.unknown.contains(family));
    // A look-up that failed says nothing about the addresses of its family.
    let addresses = |site: &SiteResult| -> BTreeSet<IpAddr> {
        let of_known = site.observed.addresses.iter().filter(|of| known(&of.family));
        of_known.map(|of| of.address).collect()
    };
    let [then, there] = [earlier, now].map(addresses);
    SiteSince {
        started: started.to_owned(),
        verdict: earlier.verdict,
        appeared: changed(&|was, is| same(was) && differs(is)),
        vanished: changed(&|was, is| differs(was) && same(is)),
        differs_otherwise: changed(&|was, is| {
            differs(was) && differs(is) && !is_same_difference(was, is)
        }),
        newly_known: changed(&|was, is| unknown(was) && differs(is)),
        no_longer_known: changed(&|was, is| differs(was) && unknown(is)),
        addresses_added: there.difference(&then).copied().collect(),
        addresses_removed: then.difference(&there).copied().collect(),
        certificates_added: added_certificates(&earlier.observed, &now.observed),
    }
}

/// Returns the finding of each check: the first one, as differences come first.
fn findings_of(findings: &[SiteFinding]) -> BTreeMap<SiteCheck, &SiteFinding> {
    let mut firsts = BTreeMap::new();
    for of in findings {
        firsts.entry(of.check).or_insert(of);
    }
    firsts
}

/// Returns true if two differences are alike but for numbers, which vary from check to check. The family
/// that is slower is a matter of the weight.
fn is_same_difference(was: &SiteFinding, is: &SiteFinding) -> bool {
    let is_alike = was.check == SiteCheck::Time || without_numbers(was) == without_numbers(is);
    was.weight == is.weight && is_alike
}

/// Returns what was found without digits, except for those of the families' names.
fn without_numbers(of: &SiteFinding) -> String {
    let named = of.found.replace("IPv6", "IPv\u{2165}").replace("IPv4", "IPv\u{2163}");
    named.chars().filter(|of| !of.is_ascii_digit() && *of != ',').collect()
}

/// Returns the certificates that are new; none if no handshake was completed before.
fn added_certificates(before: &SiteObserved, after: &SiteObserved) -> Vec<AddedCertificate> {
    let [old, new] = [before, after].map(certificates_of);
    let is_added = |sha256: &&str| !old.is_empty() && !old.contains_key(sha256);
    let added = new.iter().filter(|(sha256, _)| is_added(sha256));
    added
        .map(|(sha256, of)| AddedCertificate {
            sha256: (*sha256).to_owned(),
            not_after: of.not_after.clone(),
        })
        .collect()
}

fn certificates_of(observed: &SiteObserved) -> BTreeMap<&str, &FetchTls> {
    let fetches = observed.addresses.iter().flat_map(|of| &of.fetches);
    let sessions = fetches.filter_map(|fetch| fetch.tls.as_ref());
    let named = sessions.filter(|tls| !tls.certificate_sha256.is_empty());
    named.map(|tls| (tls.certificate_sha256.as_str(), tls)).collect()
}

/// Returns what changed since the earlier check as one sentence; `None` if there is none to compare with.
pub fn since_sentence(site: &SiteResult) -> Option<String> {
    let since = site.since.as_ref()?;
    let said = match describe_changes(since, site.verdict) {
        changes if changes.is_empty() => "nothing changed".to_owned(),
        changes => changes.join("; "),
    };
    Some(format!("Since {}: {said}.", setting::when_to_minute(&since.started)))
}

/// Returns what changed, in a phrase each.
pub fn describe_changes(since: &SiteSince, verdict: SiteVerdict) -> Vec<String> {
    let checks = |before: &str, of: &[SiteCheck]| {
        let names: Vec<&str> = of.iter().map(|check| check.describe()).collect();
        (!names.is_empty()).then(|| format!("{before}: {}", names.join(", ")))
    };
    let addresses = |before: &str, of: &[IpAddr]| {
        let named = of.iter().take(MOST_NAMED).map(IpAddr::to_string).collect::<Vec<_>>();
        let more = match of.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!of.is_empty()).then(|| format!("{before}: {}{more}", named.join(", ")))
    };
    let was = since.verdict;
    let phrases = [
        (was != verdict).then(|| format!("verdict was {}", was.shown())),
        checks("new", &since.appeared),
        checks("no longer", &since.vanished),
        checks("differs otherwise", &since.differs_otherwise),
        checks("not known before", &since.newly_known),
        checks("not known now", &since.no_longer_known),
        addresses("addresses added", &since.addresses_added),
        addresses("addresses gone", &since.addresses_removed),
        describe_certificates(&since.certificates_added),
    ];
    phrases.into_iter().flatten().collect()
}

/// Names the end of the validity that comes first.
fn describe_certificates(added: &[AddedCertificate]) -> Option<String> {
    let noun = match added.len() {
        0 => return None,
        1 => "new certificate".to_owned(),
        more => format!("{more} new certificates"),
    };
    let end = added.iter().filter_map(|of| of.not_after.as_deref()?.get(..10)).min();
    Some(end.map_or(noun.clone(), |end| format!("{noun}, not after {end}")))
}

#[cfg(test)]
mod tests;
