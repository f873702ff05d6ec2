use sixmark_document::provenance::{Environment, Tool};

use super::*;
use crate::check_result::SCHEMA;
use crate::observed::CheckedAddress;
use crate::site_fetch::SiteFetch;
use crate::site_finding::{FindingWeight, WhoMends};

const STARTED: &str = "2026-11-26T14:03:59.123Z";

fn finding(check: SiteCheck, state: FindingState, found: &str) -> SiteFinding {
    match state {
        FindingState::Same => SiteFinding::same(check, found),
        FindingState::CantTell => SiteFinding::cant_tell(check, found),
        FindingState::NotTried => SiteFinding::not_tried(check, found),
        FindingState::Differs => {
            SiteFinding::differs(check, FindingWeight::Worse, WhoMends::Server, found)
        }
    }
}

fn address(address: &str, certificate: &str) -> CheckedAddress {
    let address: IpAddr = address.parse().unwrap();
    let tls = FetchTls {
        certificate_sha256: certificate.to_owned(),
        not_after: Some("2027-02-01T12:00:00Z".to_owned()),
        ..FetchTls::default()
    };
    CheckedAddress {
        address,
        family: Family::of(address),
        special: None,
        fetches: vec![SiteFetch { tls: Some(tls), ..SiteFetch::default() }],
        plain: None,
        http3: None,
        probes: Vec::new(),
        hops: None,
        route_mtu: None,
    }
}

fn site(verdict: SiteVerdict, findings: Vec<SiteFinding>) -> SiteResult {
    let addresses = vec![address("2600::1", "ab"), address("9.9.9.9", "ab")];
    SiteResult {
        url: "https://www.example.net/".to_owned(),
        verdict,
        sentence: String::new(),
        since: None,
        findings,
        why: None,
        clients: Vec::new(),
        observed: SiteObserved { addresses, ..SiteObserved::default() },
    }
}

/// Returns the sentence on what changed from the first to the second.
fn sentence(was: &SiteResult, is: &SiteResult) -> String {
    let since = Some(compare_since(STARTED, was, is));
    since_sentence(&SiteResult { since, ..is.clone() }).unwrap()
}

fn phrase(was: &SiteResult, is: &SiteResult) -> String {
    let said = sentence(was, is);
    said.strip_prefix("Since 2026-11-26 14:03 UTC: ").unwrap().to_owned()
}

#[test]
fn each_change_of_a_state_has_its_own_phrase() {
    use FindingState::{CantTell, Differs, NotTried, Same};
    let nothing = "nothing changed.";
    for (was, is, said) in [
        (Same, Same, nothing),
        (Differs, Differs, nothing),
        (Same, CantTell, nothing),
        (CantTell, Same, nothing),
        (NotTried, Same, nothing),
        (Same, Differs, "new: content."),
        (Differs, Same, "no longer: content."),
        (Differs, CantTell, "not known now: content."),
        (Differs, NotTried, "not known now: content."),
        (CantTell, Differs, "not known before: content."),
        (NotTried, Differs, "not known before: content."),
    ] {
        let [was, is] = [was, is]
            .map(|state| site(SiteVerdict::Worse, vec![finding(SiteCheck::Content, state, "x")]));
        assert_eq!(phrase(&was, &is), said);
    }
}

#[test]
fn names_the_verdict_that_was_and_several_changes() {
    use FindingState::{Differs, Same};
    let of = |verdict, time, http3| {
        let findings = [(SiteCheck::Time, time), (SiteCheck::Http3, http3)];
        site(verdict, findings.map(|(check, state)| finding(check, state, "x")).into())
    };
    let was = of(SiteVerdict::AsGood, Same, Differs);
    let is = of(SiteVerdict::Worse, Differs, Same);
    assert_eq!(
        sentence(&was, &is),
        "Since 2026-11-26 14:03 UTC: verdict was AS GOOD; new: response times; no longer: HTTP/3."
    );
}

/// What only one of them has a finding of (--only) says nothing.
#[test]
fn compares_only_what_both_have_findings_of() {
    let differs = finding(SiteCheck::Content, FindingState::Differs, "x");
    let [with, without] =
        [vec![differs], Vec::new()].map(|findings| site(SiteVerdict::Worse, findings));
    assert_eq!(phrase(&with, &without), "nothing changed.");
    assert_eq!(phrase(&without, &with), "nothing changed.");
}

#[test]
fn a_difference_that_became_another_one_is_no_standstill() {
    let of = |check, found| {
        site(SiteVerdict::Broken, vec![finding(check, FindingState::Differs, found)])
    };
    let ipv6 = of(SiteCheck::Connect, "2600::1: refused (2 of 2 tries)");
    let again = of(SiteCheck::Connect, "2600::1: refused (1 of 5 tries)");
    let ipv4 = of(SiteCheck::Connect, "9.9.9.9: refused (2 of 2 tries)");
    assert_eq!(phrase(&ipv6, &again), "nothing changed.");
    assert_eq!(phrase(&ipv6, &ipv4), "differs otherwise: connections to every address.");
    let [of_ipv6, of_ipv4] = ["IPv6: 404", "IPv4: 404"].map(|found| of(SiteCheck::Status, found));
    assert_eq!(phrase(&of_ipv6, &of_ipv4), "differs otherwise: status.");
    // Times are never the same; their direction is in the weight.
    let [slow, slower] =
        ["73 ms over IPv6", "1 s over IPv6"].map(|found| of(SiteCheck::Time, found));
    assert_eq!(phrase(&slow, &slower), "nothing changed.");
    let mut faster = slow.clone();
    faster.findings[0].weight = Some(FindingWeight::Notice);
    assert_eq!(phrase(&slow, &faster), "differs otherwise: response times.");
}

#[test]
fn names_addresses_and_certificates() {
    let was = site(SiteVerdict::AsGood, Vec::new());
    let mut is = was.clone();
    is.observed.addresses = vec![address("2600::2", "cd"), address("9.9.9.9", "ab")];
    assert_eq!(
        phrase(&was, &is),
        "addresses added: 2600::2; addresses gone: 2600::1; new certificate, not after 2027-02-01."
    );
    // Certificates of a family that no longer answers are not gone.
    is.observed.addresses = vec![address("2600::1", ""), address("9.9.9.9", "ab")];
    assert_eq!(phrase(&was, &is), "nothing changed.");
    // Without a handshake before, none is known to be new.
    assert_eq!(phrase(&is, &was), "nothing changed.");
    is.observed.addresses =
        (1..=5).map(|at| address(&format!("2600::{at}"), "ab")).collect::<Vec<_>>();
    assert_eq!(
        phrase(&was, &is),
        "addresses added: 2600::2, 2600::3, 2600::4 and 1 more; addresses gone: 9.9.9.9."
    );
}

#[test]
fn a_look_up_that_failed_removes_no_addresses() {
    let was = site(SiteVerdict::AsGood, Vec::new());
    let mut is = was.clone();
    is.observed.addresses.remove(0);
    assert_eq!(phrase(&was, &is), "addresses gone: 2600::1.");
    is.observed.unknown = vec![Family::Ipv6];
    assert_eq!(phrase(&was, &is), "nothing changed.");
    assert_eq!(phrase(&is, &was), "nothing changed.");
}

#[test]
fn a_check_with_other_options_is_not_compared() {
    let asked = CheckAsked { resolvers: vec!["192.0.2.53:53".into()], ..CheckAsked::default() };
    let earlier = |asked: Option<CheckAsked>| CheckResult {
        schema: SCHEMA.to_owned(),
        tool: Tool::of_this_program(),
        started: STARTED.to_owned(),
        elapsed_s: 1.0,
        environment: Environment::default(),
        asked,
        sites: vec![site(SiteVerdict::AsGood, Vec::new())],
    };
    let of = earlier(Some(asked.clone()));
    let url = of.sites[0].url.clone();
    assert!(comparable_site(&of, &url, &asked).is_some());
    assert!(comparable_site(&of, "https://www.test/other", &asked).is_none());
    assert!(comparable_site(&of, &url, &CheckAsked::default()).is_none());
    assert!(comparable_site(&earlier(None), &url, &asked).is_none());
    let only = CheckAsked { only: vec![SiteCheck::Time], ..asked };
    assert!(comparable_site(&of, &url, &only).is_some());
}
