//! Findings about connections, handshakes and complete responses of every address.

use sixmark_http::url::Scheme;
use sixmark_stats::{Count, fisher};
use sixmark_units::family::Family;

use super::delegation::is_cut_off;
use super::path_mtu::find_lost_large;
use super::sides::{MOST_P, SitePair, list_once, quoted};
use crate::observed::CheckedAddress;
use crate::path_probe::ProbeKind;
use crate::site_fetch::{FetchEnd, FetchPhase, SiteFetch};
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
            "it needs an https:// URL on port 443 and both families",
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
    SiteFinding::differs(check, FindingWeight::Notice, WhoMends::Server, said).shown_by(format!(
        "sixmark check {}",
        quoted(format!("http://{}/", pair.url.server_name()))
    ))
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
    /// Returns true if nothing was complete in two tries or more.
    fn is_total(&self) -> bool {
        let mut all = self.of.usual_fetches();
        self.of.usual_fetches().count() > 1 && !all.any(SiteFetch::is_complete)
    }

    fn describe(&self) -> String {
        let how = list_once(self.failed.iter().map(|fetch| describe_failure(fetch)));
        let (failed, all) = (self.failed.len(), self.of.usual_fetches().count());
        format!("{}: {how} ({failed} of {all} tries)", self.of.address)
    }
}

fn describe_failure(fetch: &SiteFetch) -> String {
    let phrase = fetch.end.phrase();
    match (&fetch.why, fetch.end) {
        (Some(why), FetchEnd::Tls | FetchEnd::Protocol) => {
            format!("{phrase}: {why}")
        }
        _ => phrase.to_owned(),
    }
}

/// Judges the failures of a phase: which addresses have them, and whether that is a family's fault.
fn judge_phase(pair: &SitePair<'_>, check: SiteCheck) -> SiteFinding {
    let phases = phases_of(check);
    let mut failing = failures_of(pair, phases);
    if let Some(said) = describe_unread(pair).filter(|_| check == SiteCheck::Complete) {
        return SiteFinding::cant_tell(check, said);
    }
    let no_route = pair.observed.no_route.values().next();
    if let Some(why) = no_route.filter(|_| check == SiteCheck::Connect) {
        return SiteFinding::cant_tell(check, why.clone()).shown_by("sixmark doctor");
    }
    if let Some(said) = describe_cut_off(pair, &failing).filter(|_| check == SiteCheck::Connect) {
        return SiteFinding::cant_tell(check, said).shown_by("sixmark doctor");
    }
    let explained = find_lost_large(pair);
    let is_explained = |of: &AddressFailures<'_>| {
        of.failed.iter().all(|fetch| fetch.is_stalled())
            && explained.iter().any(|lost| lost.of.address == of.of.address)
    };
    let all_failing = failing.len();
    failing.retain(|of| !is_explained(of));
    if failing.is_empty() && all_failing > 0 {
        let why = format!("large packets get lost: see {}", SiteCheck::LargePackets.describe());
        return SiteFinding::not_tried(check, why);
    }
    if failing.is_empty() {
        let reached = |of: &&CheckedAddress| {
            of.fetches.iter().any(|fetch| fetch.is_complete() || fetch.reached >= phases[0])
        };
        return match pair.observed.addresses.iter().filter(reached).count() {
            0 => SiteFinding::not_tried(check, "no address reached this step"),
            tried => SiteFinding::same(check, format!("{tried} of {tried} addresses")),
        };
    }
    let is_without = |family: &Family| !pair.sides[*family].is_served();
    let without: Vec<Family> = Family::BOTH.into_iter().filter(is_without).collect();
    if let [family] = without[..]
        && failing.iter().any(|of| of.of.family == family)
    {
        // What the other family loses beside that is less.
        failing.retain(|of| of.of.family == family);
    }
    let said: Vec<String> = failing.iter().map(AddressFailures::describe).collect();
    let said = said.join("; ") + describe_hello(&failing, check);
    let command = command(pair, &failing[0]);
    let weight = match without.len() {
        2 => Err("neither family has a complete response"),
        1 if failing.iter().all(|of| without.contains(&of.of.family)) => Ok(FindingWeight::Broken),
        _ => weigh_partial(pair, &failing),
    };
    match weight {
        Ok(weight) => {
            SiteFinding::differs(check, weight, who_mends(check, &failing), said).shown_by(command)
        }
        Err(why) => SiteFinding::cant_tell(check, format!("{said}: {why}")).shown_by(command),
    }
}

fn failures_of<'a>(pair: &SitePair<'a>, phases: &[FetchPhase]) -> Vec<AddressFailures<'a>> {
    let is_failure = |fetch: &&SiteFetch| {
        let is_read = !matches!(fetch.end, FetchEnd::TooLong | FetchEnd::TooSlow);
        !fetch.is_complete() && is_read && !fetch.is_rate_limited && phases.contains(&fetch.reached)
    };
    let failed = |of: &'a CheckedAddress| of.usual_fetches().filter(is_failure).collect::<Vec<_>>();
    let all = pair.observed.addresses.iter().map(|of| AddressFailures { of, failed: failed(of) });
    all.filter(|of| !of.failed.is_empty()).collect()
}

/// Returns why no family is blamed if this machine's network does not carry one of them: no address of the
/// site connects over it, and no name server of any zone answers; `None` if it is not so.
fn describe_cut_off(pair: &SitePair<'_>, failing: &[AddressFailures<'_>]) -> Option<String> {
    let is_dead = |family: Family| {
        let of_family = failing.iter().filter(|of| of.of.family == family && of.is_total());
        of_family.count() == pair.sides[family].addresses.len()
            && is_cut_off(&pair.observed.zones, family)
    };
    let family = Family::BOTH.into_iter().find(|family| is_dead(*family))?;
    Some(format!(
        "nothing answers over {family} from here, neither the site nor any name server of its zones"
    ))
}

/// Returns what was not read to its end, if there is such a response; `None` if there is none.
fn describe_unread(pair: &SitePair<'_>) -> Option<String> {
    let fetches = pair.observed.addresses.iter().flat_map(|of| &of.fetches);
    let unread = fetches.filter(|of| matches!(of.end, FetchEnd::TooLong | FetchEnd::TooSlow));
    let why = list_once(unread.filter_map(|of| of.why.clone()));
    (!why.is_empty()).then_some(why)
}

/// Weighs failures that leave each family a complete response: dead addresses of one family alone, or
/// losses that chance does not explain.
///
/// # Errors
/// Why nothing is said of a family.
fn weigh_partial(
    pair: &SitePair<'_>,
    failing: &[AddressFailures<'_>],
) -> Result<FindingWeight, &'static str> {
    let dead = |family: Family| {
        let dead = failing.iter().filter(|of| of.of.family == family && of.is_total());
        [dead.count(), pair.sides[family].addresses.len()]
    };
    let [[dead6, all6], [dead4, all4]] = Family::BOTH.map(dead);
    if dead6 + dead4 > 0 {
        // As large a share of both is the server's fault over both alike.
        let is_alike = dead6 * all4 == dead4 * all6;
        return if is_alike { Err("both families lose as much") } else { Ok(FindingWeight::Worse) };
    }
    let counts = Family::BOTH.map(|family| {
        let of_family = failing.iter().filter(|of| of.of.family == family);
        let part = of_family.map(|of| of.failed.len()).sum::<usize>() as u64;
        let all = pair.sides[family].addresses.iter().map(|of| of.usual_fetches().count());
        Count { part, whole: all.sum::<usize>() as u64 }
    });
    match fisher(counts[0], counts[1]) {
        Ok(p) if p <= MOST_P => Ok(FindingWeight::Worse),
        _ => Err("too few to tell from chance"),
    }
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

/// Returns a clause if the handshakes with an address stall unless the ClientHello is small; empty
/// otherwise.
fn describe_hello(failing: &[AddressFailures<'_>], check: SiteCheck) -> &'static str {
    let of_hello = |of: &AddressFailures<'_>| {
        of.of.probes_of(ProbeKind::SmallHello).any(SiteFetch::is_complete)
    };
    if check == SiteCheck::Tls && failing.iter().any(of_hello) {
        ": with a ClientHello of one packet, without post-quantum key exchange, it is complete: something on \
         the path drops larger ones"
    } else {
        ""
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
    let url = quoted(url);
    match pair.observed.name {
        Some(_) => {
            let resolve = quoted(format!("{host}:{port}:{shown}"));
            format!("curl -sv{insecure} -m 10 -o /dev/null --resolve {resolve} {url}")
        }
        None => format!("curl -sv{insecure} -m 10 -o /dev/null {url}"),
    }
}
