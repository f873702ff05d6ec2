use std::net::IpAddr;

use super::*;
use crate::observed::{CheckedAddress, PageHost, QueryEnd, QueryRecords, ResolverRecords};
use crate::path_probe::{PathProbe, ProbeKind};
use crate::site_fetch::{FetchEnd, FetchPhase, FetchTcp, FetchTls, SiteFetch};
use crate::site_verdict::SiteVerdict;
use crate::special_address::describe_special;
use crate::zone_servers::{ServerAddress, ZoneAnswer, ZoneServer, ZoneServers};
use sixmark_units::family::Family;
use sixmark_units::random::Random;

const URL: &str = "https://www.example.net/";
const IPV6: &str = "2600::1";
const IPV4: &str = "9.9.9.9";

fn fetch(random: &mut Random) -> SiteFetch {
    let mut noisy = |us: f64| us * (1.0 + 0.1 * (random.unit() - 0.5));
    let tls = FetchTls {
        version: "TLSv1.3".into(),
        cipher: "TLS13_AES_256_GCM_SHA384".into(),
        group: Some("X25519MLKEM768".into()),
        alpn: Some("h2".into()),
        certificate_sha256: "ab".repeat(32),
        not_after: None,
        refused: None,
    };
    let tcp = FetchTcp { mss: 1_400, sack: true, window_scaling: true, ..FetchTcp::default() };
    let round_trip_us = noisy(20_000.0);
    SiteFetch {
        end: FetchEnd::Complete,
        reached: FetchPhase::Transfer,
        protocol: Some("HTTP/2".into()),
        connect_us: round_trip_us + 30.0,
        tls_us: noisy(21_000.0),
        send_us: 20.0,
        wait_us: noisy(25_000.0),
        transfer_us: noisy(500.0),
        round_trip_us: Some(round_trip_us),
        status: Some(200),
        content_bytes: 1_234,
        content_sha256: Some("cd".repeat(32)),
        tls: Some(tls),
        tcp: Some(tcp),
        ..SiteFetch::default()
    }
}

fn probe(kind: ProbeKind, fetch: SiteFetch) -> PathProbe {
    PathProbe { kind, fetch }
}

fn address(text: &str, random: &mut Random) -> CheckedAddress {
    let address: IpAddr = text.parse().unwrap();
    CheckedAddress {
        address,
        family: Family::of(address),
        special: describe_special(address).map(str::to_owned),
        fetches: (0..5).map(|round| SiteFetch { round, ..fetch(random) }).collect(),
        plain: Some(SiteFetch { status: Some(301), tls: None, ..fetch(random) }),
        http3: None,
        probes: vec![probe(ProbeKind::LargeRequest, fetch(random))],
        route_mtu: Some(1_500),
        hops: None,
    }
}

fn query(kind: &str, records: &[&str]) -> QueryRecords {
    QueryRecords {
        kind: kind.into(),
        end: QueryEnd::Answered,
        rcode: Some("NOERROR".into()),
        records: records.iter().map(|text| (*text).to_owned()).collect(),
        aliases: Vec::new(),
        hints: Vec::new(),
        ttl_s: Some(300),
        took_ms: 1.0,
    }
}

fn healthy(seed: u64) -> SiteObserved {
    let mut random = Random::new(seed, 0);
    let queries = vec![query("A", &[IPV4]), query("AAAA", &[IPV6]), query("HTTPS", &[])];
    let resolver = ResolverRecords { resolver: "192.0.2.53".into(), queries, dns64_prefix: None };
    SiteObserved {
        name: Some("www.example.net".into()),
        resolvers: vec![resolver],
        zones: ["net", "example.net"].map(zone).into(),
        addresses: [IPV6, IPV4].map(|text| address(text, &mut random)).into(),
        requests: 12,
        ..SiteObserved::default()
    }
}

fn judged(observed: SiteObserved) -> SiteResult {
    judge_site(&URL.parse().unwrap(), observed, &[])
}

/// Returns the checks in which the families differ.
fn differing(of: &SiteResult) -> Vec<&'static str> {
    of.of_state(FindingState::Differs).map(|finding| finding.check.name()).collect()
}

fn stalled(reached: FetchPhase) -> SiteFetch {
    SiteFetch { end: FetchEnd::TimedOut, reached, ..SiteFetch::default() }
}

fn zone(zone: &str) -> ZoneServers {
    let address = |text: &str| ServerAddress {
        address: text.parse().unwrap(),
        end: Some(ZoneAnswer::Answered),
    };
    let server = ZoneServer {
        name: format!("ns.{zone}"),
        addresses: vec![address("2600::53"), address("9.9.9.53")],
        unknown: Vec::new(),
    };
    ZoneServers { zone: zone.into(), servers: vec![server] }
}

fn fail(of: &mut CheckedAddress, end: FetchEnd, reached: FetchPhase) {
    of.fetches = (0..2).map(|_| SiteFetch { end, reached, ..SiteFetch::default() }).collect();
    of.plain = None;
    of.probes.clear();
}

/// A change of the healthy site.
type Fault = fn(&mut SiteObserved);

fn each_ipv6(of: &mut SiteObserved, change: impl Fn(&mut SiteFetch)) {
    of.addresses[0].fetches.iter_mut().for_each(change);
}

/// Each fault alone: what is found, and the verdict.
const FAULTS: [(&str, Fault, &[&str], SiteVerdict); 37] = [
    (
        "refused",
        |of| fail(&mut of.addresses[0], FetchEnd::Refused, FetchPhase::Connect),
        &["connect"],
        SiteVerdict::Broken,
    ),
    (
        "black-holed",
        |of| fail(&mut of.addresses[0], FetchEnd::TimedOut, FetchPhase::Connect),
        &["connect"],
        SiteVerdict::Broken,
    ),
    (
        "IPv4 refused",
        |of| fail(&mut of.addresses[1], FetchEnd::Refused, FetchPhase::Connect),
        &["connect"],
        SiteVerdict::Broken,
    ),
    (
        "a second address is dead",
        |of| {
            let mut dead = of.addresses[0].clone();
            dead.address = "2600::2".parse().unwrap();
            fail(&mut dead, FetchEnd::TimedOut, FetchPhase::Connect);
            of.addresses.insert(1, dead);
        },
        &["connect"],
        SiteVerdict::Worse,
    ),
    (
        "path-MTU black hole",
        |of| {
            fail(&mut of.addresses[0], FetchEnd::TimedOut, FetchPhase::Wait);
            let small = fetch(&mut Random::new(1, 1));
            of.addresses[0].probes.push(probe(ProbeKind::SmallSegments, small));
        },
        &["large-packets"],
        SiteVerdict::Broken,
    ),
    (
        "handshake stalls",
        |of| fail(&mut of.addresses[0], FetchEnd::TimedOut, FetchPhase::Tls),
        &["tls"],
        SiteVerdict::Broken,
    ),
    (
        "path-MTU black hole towards the server",
        |of| {
            let large = &mut of.addresses[0].probes;
            *large = vec![probe(ProbeKind::LargeRequest, stalled(FetchPhase::Wait)); 2];
            let control = fetch(&mut Random::new(1, 1));
            large.push(probe(ProbeKind::LargeRequestInSmallSegments, control));
        },
        &["large-packets"],
        SiteVerdict::Worse,
    ),
    (
        "Packet Too Big is lost for some connections",
        |of| {
            let mut random = Random::new(2, 2);
            for fetch in of.addresses[0].fetches.iter_mut().take(2) {
                *fetch = stalled(FetchPhase::Wait);
            }
            for number in 0..12 {
                let again =
                    if number % 2 == 0 { stalled(FetchPhase::Wait) } else { fetch(&mut random) };
                of.addresses[0].probes.push(probe(ProbeKind::Again, again));
                let small = fetch(&mut random);
                of.addresses[0].probes.push(probe(ProbeKind::SmallSegments, small));
                let other = fetch(&mut random);
                of.addresses[1].probes.push(probe(ProbeKind::Again, other));
            }
        },
        &["large-packets"],
        SiteVerdict::Worse,
    ),
    (
        "a ClientHello of two packets is lost",
        |of| {
            fail(&mut of.addresses[0], FetchEnd::TimedOut, FetchPhase::Tls);
            let probes = &mut of.addresses[0].probes;
            *probes = vec![probe(ProbeKind::SmallSegments, stalled(FetchPhase::Tls)); 2];
            probes.push(probe(ProbeKind::SmallHello, fetch(&mut Random::new(1, 1))));
        },
        &["tls"],
        SiteVerdict::Broken,
    ),
    (
        "a zone has no server over IPv6",
        |of| {
            of.zones[0].servers.iter_mut().for_each(|server| {
                server.addresses.retain(|of| of.address.is_ipv4());
            })
        },
        &["delegation"],
        SiteVerdict::Worse,
    ),
    (
        "no server of a zone answers over IPv6",
        |of| of.zones[1].servers[0].addresses[0].end = Some(ZoneAnswer::Silent),
        &["delegation"],
        SiteVerdict::Worse,
    ),
    (
        "a path clears ECN over IPv6",
        |of| {
            for fetch in of.addresses.iter_mut().flat_map(|of| &mut of.fetches) {
                let tcp = fetch.tcp.as_mut().unwrap();
                (tcp.ecn, tcp.ecn_seen) = (true, true);
            }
            each_ipv6(of, |fetch| fetch.tcp.as_mut().unwrap().ecn_seen = false);
        },
        &["tcp-options"],
        SiteVerdict::AsGood,
    ),
    (
        "slow IPv6",
        |of| each_ipv6(of, |fetch| fetch.wait_us += 40_000.0),
        &["time"],
        SiteVerdict::Worse,
    ),
    (
        "other certificate",
        |of| {
            each_ipv6(of, |fetch| fetch.tls.as_mut().unwrap().certificate_sha256 = "ef".repeat(32))
        },
        &["certificate"],
        SiteVerdict::AsGood,
    ),
    (
        "expired over IPv6",
        |of| each_ipv6(of, |fetch| fetch.tls.as_mut().unwrap().refused = Some("expired".into())),
        &["certificate"],
        SiteVerdict::Broken,
    ),
    (
        "TLS 1.2 over IPv6",
        |of| each_ipv6(of, |fetch| fetch.tls.as_mut().unwrap().version = "TLSv1.2".into()),
        &["tls-parameters"],
        SiteVerdict::AsGood,
    ),
    (
        "another status",
        |of| each_ipv6(of, |fetch| fetch.status = Some(403)),
        &["status"],
        SiteVerdict::Broken,
    ),
    (
        "another content",
        |of| each_ipv6(of, |fetch| fetch.content_sha256 = Some("ef".repeat(32))),
        &["content"],
        SiteVerdict::Worse,
    ),
    (
        "Alt-Svc over IPv4 alone",
        |of| {
            of.addresses[1].fetches.iter_mut().for_each(|fetch| {
                fetch.fields.insert("alt-svc".into(), "h3=\":443\"".into());
            })
        },
        &["fields"],
        SiteVerdict::Worse,
    ),
    (
        "stale hints",
        |of| {
            let mut https = query("HTTPS", &["1 . ipv6hint=2600::9"]);
            https.hints = vec!["2600::9".parse().unwrap()];
            of.resolvers[0].queries[2] = https;
        },
        &["https-hints"],
        SiteVerdict::Worse,
    ),
    (
        "unique local address",
        |of| {
            let mut local = of.addresses[0].clone();
            local.address = "fd00::1".parse().unwrap();
            local.special = describe_special(local.address).map(str::to_owned);
            of.addresses.push(local);
        },
        &["address-kinds"],
        SiteVerdict::Worse,
    ),
    (
        "redirect to a literal",
        |of| {
            of.redirect = Some(PageHost {
                host: IPV4.into(),
                is_address: true,
                families: Some(vec![Family::Ipv4]),
            })
        },
        &["redirect"],
        SiteVerdict::Broken,
    ),
    (
        "a host of the page has no IPv6",
        |of| {
            of.page_hosts = vec![PageHost {
                host: "cdn.example.org".into(),
                is_address: false,
                families: Some(vec![Family::Ipv4]),
            }]
        },
        &["page-hosts"],
        SiteVerdict::AsGood,
    ),
    (
        "DNS64",
        |of| {
            of.addresses[0].address = "64:ff9b::909:909".parse().unwrap();
            of.addresses[0].special = describe_special(of.addresses[0].address).map(str::to_owned);
        },
        &["dns64"],
        SiteVerdict::Ipv4Only,
    ),
    (
        "AAAA queries fail",
        |of| {
            of.resolvers[0].queries[1].rcode = Some("SERVFAIL".into());
            of.resolvers[0].queries[1].records.clear();
            of.addresses.remove(0);
        },
        &["records", "resolvers"],
        SiteVerdict::CantTell,
    ),
    (
        "no SACK over IPv6",
        |of| each_ipv6(of, |fetch| fetch.tcp.as_mut().unwrap().sack = false),
        &["tcp-options"],
        SiteVerdict::Worse,
    ),
    (
        "the first SYN is lost over IPv6",
        |of| {
            each_ipv6(of, |fetch| {
                fetch.connect_us += 1_000_000.0;
                fetch.round_trip_us = None;
                fetch.tcp.as_mut().unwrap().retransmitted = 1;
            })
        },
        &["retransmissions", "time"],
        SiteVerdict::Worse,
    ),
    (
        "HTTP/3 over IPv4 alone",
        |of| {
            of.addresses[0].http3 = Some(SiteFetch::default());
            of.addresses[1].http3 = Some(fetch(&mut Random::new(1, 2)));
        },
        &["http3"],
        SiteVerdict::Worse,
    ),
    (
        "IPv6 is dead, and one fetch over IPv4 is lost",
        |of| {
            fail(&mut of.addresses[0], FetchEnd::TimedOut, FetchPhase::Connect);
            let lost = &mut of.addresses[1].fetches[1];
            (lost.end, lost.reached) = (FetchEnd::TimedOut, FetchPhase::Connect);
        },
        &["connect"],
        SiteVerdict::Broken,
    ),
    (
        "this machine's network does not carry IPv6",
        |of| {
            fail(&mut of.addresses[0], FetchEnd::TimedOut, FetchPhase::Connect);
            for zone in &mut of.zones {
                zone.servers[0].addresses[0].end = Some(ZoneAnswer::Silent);
            }
        },
        &[],
        SiteVerdict::CantTell,
    ),
    (
        "queries to name servers over IPv4 are answered by another server",
        |of| {
            for zone in &mut of.zones {
                zone.servers[0].addresses[1].end = Some(ZoneAnswer::Lame);
            }
        },
        &[],
        SiteVerdict::AsGood,
    ),
    (
        "a server answers over IPv6 after more than four seconds",
        |of| {
            fail(&mut of.addresses[0], FetchEnd::TimedOut, FetchPhase::Wait);
            let mut random = Random::new(3, 3);
            for kind in [ProbeKind::SmallSegments, ProbeKind::Again, ProbeKind::Again] {
                of.addresses[0].probes.push(probe(kind, fetch(&mut random)));
            }
        },
        &[],
        SiteVerdict::CantTell,
    ),
    (
        "this machine has no IPv6",
        |of| {
            of.addresses[0].fetches.clear();
            of.addresses[0].plain = None;
            of.no_route.insert(Family::Ipv6, "this machine has no way to addresses of IPv6".into());
        },
        &[],
        SiteVerdict::CantTell,
    ),
    (
        "every response over IPv6 is refused for its rate",
        |of| each_ipv6(of, |fetch| (fetch.status, fetch.is_rate_limited) = (Some(429), true)),
        &[],
        SiteVerdict::CantTell,
    ),
    (
        "the look-up of AAAA fails",
        |of| {
            of.resolvers.clear();
            of.addresses.remove(0);
            of.unknown.push(Family::Ipv6);
        },
        &["records"],
        SiteVerdict::CantTell,
    ),
    (
        "another redirect",
        |of| {
            for (at, host) in ["a", "b"].into_iter().enumerate() {
                for fetch in &mut of.addresses[at].fetches {
                    fetch.status = Some(301);
                    fetch.location = Some(format!("https://{host}.example.net/"));
                }
            }
        },
        &["redirect"],
        SiteVerdict::Worse,
    ),
    (
        "no AAAA record",
        |of| {
            of.resolvers[0].queries[1].records.clear();
            of.addresses.remove(0);
        },
        &["records"],
        SiteVerdict::Ipv4Only,
    ),
];

#[test]
fn finds_each_fault_and_nothing_else() {
    for (name, fault, expected, verdict) in FAULTS {
        let mut observed = healthy(3);
        fault(&mut observed);
        let result = judged(observed);
        assert_eq!(differing(&result), expected, "{name}: {:#?}", result.findings);
        assert_eq!(result.verdict, verdict, "{name}: {}", result.sentence);
    }
}

#[test]
fn finds_nothing_in_a_healthy_site() {
    for seed in 0..500 {
        let result = judged(healthy(seed));
        assert_eq!(differing(&result), [""; 0], "{seed}: {:#?}", result.findings);
        assert_eq!(result.verdict, SiteVerdict::AsGood, "{seed}: {}", result.sentence);
    }
}

#[test]
fn does_not_blame_a_family_for_what_varies_within_it() {
    let mut random = Random::new(9, 0);
    let mut observed = healthy(5);
    for fetch in observed.addresses.iter_mut().flat_map(|of| &mut of.fetches) {
        fetch.content_sha256 = Some(format!("{:064x}", random.bits()));
        fetch.content_bytes += random.below(30);
        let nonce = format!("script-src 'nonce-{:x}'", random.bits());
        fetch.fields.insert("content-security-policy".into(), nonce);
    }
    assert_eq!(differing(&judged(observed)), [""; 0]);
}

#[test]
fn does_not_blame_a_family_for_a_limited_rate() {
    let mut observed = healthy(6);
    for fetch in observed.addresses[0].fetches.iter_mut().skip(2) {
        (fetch.status, fetch.is_rate_limited) = (Some(429), true);
    }
    assert_eq!(differing(&judged(observed)), [""; 0]);
}

#[test]
fn a_single_lost_response_is_chance() {
    let mut observed = healthy(7);
    let lost = &mut observed.addresses[0].fetches[2];
    (lost.end, lost.reached) = (FetchEnd::TimedOut, FetchPhase::Wait);
    let result = judged(observed);
    assert_eq!(differing(&result), [""; 0]);
    assert_eq!(result.of_state(FindingState::CantTell).count(), 1, "{:#?}", result.findings);
}

#[test]
fn losses_that_chance_explains_are_no_fault() {
    for lost in 1..=2 {
        let mut observed = healthy(10);
        for fetch in observed.addresses[0].fetches.iter_mut().take(lost) {
            (fetch.end, fetch.reached) = (FetchEnd::TimedOut, FetchPhase::Wait);
        }
        assert_eq!(differing(&judged(observed)), [""; 0], "{lost} of 5");
    }
    // A server that is down over both of its addresses.
    let mut observed = healthy(11);
    for text in ["2600::2", "9.9.9.10"] {
        let mut down = observed.addresses[0].clone();
        down.address = text.parse().unwrap();
        down.family = Family::of(down.address);
        fail(&mut down, FetchEnd::Refused, FetchPhase::Connect);
        observed.addresses.push(down);
    }
    assert_eq!(differing(&judged(observed)), [""; 0]);
}

#[test]
fn words_of_commands_are_quoted_for_a_shell() {
    let mut observed = healthy(12);
    fail(&mut observed.addresses[0], FetchEnd::Refused, FetchPhase::Connect);
    let url = "https://www.example.net/?a=$(id)&b=`id`;id".parse().unwrap();
    let result = judge_site(&url, observed, &[]);
    let command = result.findings[0].command.as_deref().unwrap();
    let words = shlex::split(command).unwrap();
    assert_eq!(words.last(), Some(&url.to_string()), "{command}");
}

#[test]
fn a_slower_server_is_named_as_the_cause() {
    let mut observed = healthy(8);
    each_ipv6(&mut observed, |fetch| fetch.wait_us += 40_000.0);
    let why = judged(observed).why.unwrap();
    let causes: Vec<_> = why.causes().into_iter().map(|of| of.part).collect();
    assert_eq!(causes, [sixmark_why::part::WhyPart::Server]);
}
