//! Findings about connections, handshakes and complete responses of every address.

use sixmark_http::url::Scheme;
use sixmark_units::family::Family;

use super::sides::{SitePair, list_once};
use crate::observed::{CheckedAddress, FetchEnd, FetchPhase, SiteFetch};
use crate::site_finding::{FindingWeight, SiteCheck, SiteFinding, WhoMends};

pub(super) fn judge_reach(pair: &SitePair<'_>) -> Vec<SiteFinding> {
    let mut all = vec![
        judge_phase(pair, SiteCheck::Connect),
        judge_plain(pair),
        judge_phase(pair, SiteCheck::Complete),
    ];
    all.push(if pair.is_secure() {
        judge_phase(pair, SiteCheck::Tls)
    } else {
        SiteFinding::not_tried(SiteCheck::Tls, "the URL has no TLS")
    });
    all
}

/// Compares what port 80 answers.
fn judge_plain(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::PlainHttp;
    let answers = |family: Family| {
        let of = pair.sides[family].addresses.iter().filter_map(|of| of.plain.as_ref());
        of.filter(|fetch| !fetch.is_rate_limited).collect::<Vec<_>>()
    };
    let [ipv6, ipv4] = Family::BOTH.map(answers);
    if ipv6.is_empty() || ipv4.is_empty() {
        return SiteFinding::not_tried(
            check,
            "a URL of https:// on port 443 that both families serve has it",
        );
    }
    let describe = |of: &[&SiteFetch]| {
        list_once(of.iter().map(|fetch| match fetch.status {
            Some(status) => status.to_string(),
            None => fetch.end.phrase().to_owned(),
        }))
    };
    let (of_ipv6, of_ipv4) = (describe(&ipv6), describe(&ipv4));
    if of_ipv6 == of_ipv4 {
        return SiteFinding::same(check, of_ipv6);
    }
    // Each was tried once: what a family has in common with the other may be chance.
    let said = format!("IPv6: {of_ipv6}; IPv4: {of_ipv4}");
    let works = |of: &[&SiteFetch]| of.iter().any(|fetch| fetch.is_complete());
    if works(&ipv6) == works(&ipv4) {
        return SiteFinding::cant_tell(check, format!("{said}: tried once for each address"));
    }
    SiteFinding::differs(check, FindingWeight::Notice, WhoMends::Server, said)
        .shown_by(format!("sixmark check http://{}/", pair.url.server_name()))
}

/// Returns the phases whose failures a check is about.
fn phases_of(check: SiteCheck) -> &'static [FetchPhase] {
    match check {
        SiteCheck::Connect => &[FetchPhase::Connect],
        SiteCheck::Tls => &[FetchPhase::Tls],
        _ => &[FetchPhase::Wait, FetchPhase::Transfer],
    }
}

/// How often an address failed in a check.
struct AddressFailures<'a> {
    of: &'a CheckedAddress,
    failed: Vec<&'a SiteFetch>,
}

impl AddressFailures<'_> {
    fn is_total(&self) -> bool {
        !self.of.fetches.iter().any(SiteFetch::is_complete)
    }

    fn describe(&self) -> String {
        let how = list_once(self.failed.iter().map(|fetch| describe_failure(fetch)));
        let (failed, all) = (self.failed.len(), self.of.fetches.len());
        format!("{}: {how} ({failed} of {all} tries)", self.of.address)
    }
}

fn describe_failure(fetch: &SiteFetch) -> String {
    let phrase = fetch.end.phrase();
    match (&fetch.why, fetch.end) {
        (Some(why), FetchEnd::Tls | FetchEnd::Protocol | FetchEnd::TooLong) => {
            format!("{phrase}: {why}")
        }
        _ => phrase.to_owned(),
    }
}

/// Judges the failures of a phase: which addresses have them, and whether that is the family's fault.
fn judge_phase(pair: &SitePair<'_>, check: SiteCheck) -> SiteFinding {
    let phases = phases_of(check);
    let is_failure = |fetch: &&SiteFetch| {
        !fetch.is_complete() && !fetch.is_rate_limited && phases.contains(&fetch.reached)
    };
    let of_address = |of: &'_ &CheckedAddress| of.fetches.iter().any(|fetch| is_failure(&fetch));
    let failing: Vec<AddressFailures<'_>> = pair
        .observed
        .addresses
        .iter()
        .filter(|of| of_address(of))
        .map(|of| AddressFailures { of, failed: of.fetches.iter().filter(is_failure).collect() })
        .collect();
    let reached = |of: &&CheckedAddress| {
        of.fetches.iter().any(|fetch| fetch.is_complete() || fetch.reached >= phases[0])
    };
    let tried = pair.observed.addresses.iter().filter(reached).count();
    if failing.is_empty() {
        return match tried {
            0 => SiteFinding::not_tried(check, "no address came so far"),
            _ => SiteFinding::same(check, format!("{tried} of {tried} addresses")),
        };
    }
    let said: Vec<String> = failing.iter().map(AddressFailures::describe).collect();
    let said = said.join("; ") + &describe_black_hole(&failing, check);
    let families: Vec<Family> = failing.iter().map(|of| of.of.family).collect();
    let is_of_both = Family::BOTH.iter().all(|family| families.contains(family));
    let other = if families[0] == Family::Ipv6 { Family::Ipv4 } else { Family::Ipv6 };
    if is_of_both && !pair.has_both() || pair.sides[other].complete().next().is_none() {
        return SiteFinding::cant_tell(
            check,
            format!("{said}; the other family has no response either"),
        )
        .shown_by(command(pair, &failing[0]));
    }
    // A single lost response is chance: nothing is said of the family.
    let is_chance = failing.iter().all(|of| of.failed.len() == 1 && !of.is_total());
    if is_chance || is_of_both && !failing.iter().any(AddressFailures::is_total) {
        return SiteFinding::cant_tell(check, format!("{said}: too few to tell from chance"));
    }
    let all_dead = |family: Family| {
        let side = &pair.sides[family];
        side.complete().next().is_none()
    };
    let weight = if families.iter().any(|family| all_dead(*family)) {
        FindingWeight::Broken
    } else {
        FindingWeight::Worse
    };
    SiteFinding::differs(check, weight, who_mends(check, &failing), said)
        .shown_by(command(pair, &failing[0]))
}

fn who_mends(check: SiteCheck, failing: &[AddressFailures<'_>]) -> WhoMends {
    let ends = || failing.iter().flat_map(|of| &of.failed).map(|fetch| fetch.end);
    let is_of_path = |end| matches!(end, FetchEnd::Unreachable | FetchEnd::TimedOut);
    match check {
        SiteCheck::Connect if ends().all(is_of_path) => WhoMends::Network,
        SiteCheck::Complete | SiteCheck::Tls if ends().all(|end| end == FetchEnd::TimedOut) => {
            WhoMends::Network
        }
        _ => WhoMends::Server,
    }
}

/// Returns a clause if large responses never arrive and small ones do: `None` of the tries of an address
/// was complete, all timed out with established connections, and its response to HEAD arrived.
fn describe_black_hole(failing: &[AddressFailures<'_>], check: SiteCheck) -> String {
    let is_silent = |of: &AddressFailures<'_>| {
        of.is_total() && of.failed.iter().all(|fetch| fetch.end == FetchEnd::TimedOut)
    };
    let answers_head =
        |of: &AddressFailures<'_>| of.of.head.as_ref().is_some_and(SiteFetch::is_complete);
    if check == SiteCheck::Complete && failing.iter().any(|of| is_silent(of) && answers_head(of)) {
        ": the response to HEAD arrives, the one with content does not, like a path-MTU black hole"
            .to_owned()
    } else if check == SiteCheck::Tls && failing.iter().all(is_silent) {
        ": connections are established, and the server’s certificate does not arrive, like a path-MTU \
         black hole"
            .to_owned()
    } else {
        String::new()
    }
}

fn command(pair: &SitePair<'_>, failing: &AddressFailures<'_>) -> String {
    let (url, address) = (pair.url, failing.of.address);
    let host = url.server_name();
    let port = url.port;
    let shown = match failing.of.family {
        Family::Ipv6 => format!("[{address}]"),
        Family::Ipv4 => address.to_string(),
    };
    let insecure = if url.scheme == Scheme::Https { " -k" } else { "" };
    match pair.observed.name {
        Some(_) => {
            format!(
                "curl -sv{insecure} -m 10 -o /dev/null --resolve '{host}:{port}:{shown}' '{url}'"
            )
        }
        None => format!("curl -sv{insecure} -m 10 -o /dev/null '{url}'"),
    }
}
