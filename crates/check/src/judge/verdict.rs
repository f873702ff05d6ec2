//! The verdict on a site.

use sixmark_units::family::Family;
use sixmark_why::divided_difference::DividedDifference;

use super::delegation::is_cut_off;
use super::sides::SitePair;
use crate::site_finding::{FindingState, FindingWeight, SiteCheck, SiteFinding};
use crate::site_verdict::SiteVerdict;

/// Returns the verdict, and a sentence that says it.
pub(super) fn judge_verdict(
    pair: &SitePair<'_>,
    findings: &[SiteFinding],
    why: Option<&DividedDifference>,
) -> (SiteVerdict, String) {
    let host = pair.url.authority();
    let differs = |check: SiteCheck| {
        findings.iter().any(|of| of.check == check && of.state == FindingState::Differs)
    };
    let has = |family: Family| !pair.sides[family].addresses.is_empty();
    if differs(SiteCheck::Dns64) {
        let said = format!("{host} has no IPv6 of its own: DNS64 made its addresses of IPv6.");
        return (SiteVerdict::Ipv4Only, said);
    }
    if pair.observed.name.is_none() {
        let said =
            format!("{host} is an address, not a name: there is nothing to compare it with.");
        return (SiteVerdict::CantTell, said);
    }
    match (has(Family::Ipv6), has(Family::Ipv4)) {
        (false, true) if !is_unknown(pair, findings, Family::Ipv6) => {
            return (SiteVerdict::Ipv4Only, format!("{host} has no address of IPv6."));
        }
        (true, false) if !is_unknown(pair, findings, Family::Ipv4) => {
            return (SiteVerdict::Ipv6Only, format!("{host} has no address of IPv4."));
        }
        (true, true) => {}
        _ => return (SiteVerdict::CantTell, describe_unknown(&host, findings)),
    }
    if !Family::BOTH.into_iter().any(|family| pair.sides[family].complete().next().is_some()) {
        return (SiteVerdict::CantTell, describe_unknown(&host, findings));
    }
    if !pair.observed.no_route.is_empty() && !pair.has_both() {
        return (SiteVerdict::CantTell, describe_incomplete(&host, pair));
    }
    let worst = findings.iter().find(|of| of.weight.is_some());
    match worst {
        Some(of) if of.weight == Some(FindingWeight::Broken) => {
            let family = failing_family(pair);
            let users =
                family.map_or("users of one family".to_owned(), |f| format!("users of {f}"));
            (SiteVerdict::Broken, format!("{users} do not get {host}: {}.", describe(of)))
        }
        Some(of) if of.weight == Some(FindingWeight::Worse) => {
            (SiteVerdict::Worse, describe_worse(&host, of, findings, why))
        }
        _ if !pair.has_both() => (SiteVerdict::CantTell, describe_incomplete(&host, pair)),
        _ => (SiteVerdict::AsGood, describe_as_good(&host, pair, findings)),
    }
}

fn describe_worse(
    host: &str,
    of: &SiteFinding,
    findings: &[SiteFinding],
    why: Option<&DividedDifference>,
) -> String {
    let more = findings.iter().filter(|of| of.weight == Some(FindingWeight::Worse)).count();
    let more = if more > 1 { format!(", and {} more", more - 1) } else { String::new() };
    match why.filter(|_| of.check == SiteCheck::Time) {
        Some(why) => {
            let family = if why.difference_us.value > 0.0 { Family::Ipv6 } else { Family::Ipv4 };
            format!("{host} is slower over {family}: {}{more}.", of.found)
        }
        None => format!("{host} is not equally good over both families: {}{more}.", describe(of)),
    }
}

/// Says which family has no complete response that counts, and why.
fn describe_incomplete(host: &str, pair: &SitePair<'_>) -> String {
    let family = failing_family(pair).unwrap_or(Family::Ipv6);
    let why = match pair.observed.no_route.get(&family) {
        Some(why) => format!("{why}; check it from one that has"),
        None if pair.sides[family].fetches().any(|of| of.is_rate_limited) => {
            "the server limits the rate of requests".to_owned()
        }
        None if is_cut_off(&pair.observed.zones, family) => {
            format!("nothing answers over {family} from here")
        }
        None if pair.sides[family].is_served() => {
            "most responses take too long, and only some that were waited for longer are complete"
                .to_owned()
        }
        None => "no response is complete".to_owned(),
    };
    format!("{host} can’t be compared over {family}: {why}.")
}

fn describe_as_good(host: &str, pair: &SitePair<'_>, findings: &[SiteFinding]) -> String {
    let notices = match findings.iter().filter(|of| of.weight.is_some()).count() {
        0 => "no difference found".to_owned(),
        1 => "1 difference that users may not notice".to_owned(),
        more => format!("{more} differences that users may not notice"),
    };
    let elsewhere = match &pair.observed.redirect {
        Some(to) => format!("; it redirects to {}, which must be checked too", to.host),
        None => String::new(),
    };
    let requests = pair.observed.requests;
    let statuses = pair.sides[Family::Ipv6].values(|fetch| fetch.status);
    let status = match statuses.keys().next() {
        Some(status @ 400..) => format!("; the response is a page of status {status}"),
        _ => String::new(),
    };
    format!(
        "{host} is as good over IPv6 as over IPv4: {notices} in {requests} requests{elsewhere}{status}."
    )
}

fn describe(of: &SiteFinding) -> String {
    format!("{}: {}", of.check.describe(), of.found)
}

/// Returns true if it is not known whether the name has addresses of a family: its look-up failed, or a
/// resolver failed in the query for it.
fn is_unknown(pair: &SitePair<'_>, findings: &[SiteFinding], family: Family) -> bool {
    let of_resolvers =
        |of: &SiteFinding| of.check == SiteCheck::Resolvers && of.state == FindingState::Differs;
    pair.observed.unknown.contains(&family) || findings.iter().any(of_resolvers)
}

fn describe_unknown(host: &str, findings: &[SiteFinding]) -> String {
    let tells = [FindingState::Differs, FindingState::CantTell];
    let first = findings.iter().find(|of| tells.contains(&of.state));
    match first {
        Some(of) => format!("{host} can't be compared from here: {}.", describe(of)),
        None => format!("{host} can't be compared from here."),
    }
}

/// Returns the family without a complete response, if there is one.
fn failing_family(pair: &SitePair<'_>) -> Option<Family> {
    Family::BOTH.into_iter().find(|family| pair.sides[*family].complete().next().is_none())
}
