//! Findings about what the responses say.

use std::collections::BTreeMap;

use sixmark_units::family::Family;
use sixmark_units::quantity::write_count;

use super::sides::{SitePair, are_apart, list_values, quoted};
use crate::site_fetch::{COMPARED_FIELDS, FetchTls, SiteFetch};
use crate::site_finding::{FindingWeight, SiteCheck, SiteFinding, WhoMends};

/// Contents whose bytes differ within a family count as different between families from this
/// difference of their sizes on, as a share.
const SIZES_APART: f64 = 0.1;
/// Values of fields are shown up to this number of characters.
const LONGEST_SHOWN: usize = 80;
/// As many digits of a digest tell a few apart.
const DIGITS: usize = 12;

/// Fields whose difference changes what a client does; the others name the server.
const CONSEQUENTIAL: usize = 5;

pub(super) fn judge_responses(pair: &SitePair<'_>) -> Vec<SiteFinding> {
    let checks = [
        (SiteCheck::Certificate, judge_certificate as fn(&SitePair<'_>) -> SiteFinding),
        (SiteCheck::TlsParameters, judge_parameters),
        (SiteCheck::Status, judge_status),
        (SiteCheck::Redirect, judge_redirect),
        (SiteCheck::Fields, judge_fields),
        (SiteCheck::Content, judge_content),
    ];
    let judge = |(check, judge): (SiteCheck, fn(&SitePair<'_>) -> SiteFinding)| {
        let needs_both = check != SiteCheck::Redirect;
        if let Some(limited) = rate_limited(pair).filter(|_| needs_both && !pair.has_both()) {
            return SiteFinding::cant_tell(check, limited);
        }
        if needs_both && !pair.has_both() {
            return SiteFinding::not_tried(check, "both families need a complete response");
        }
        judge(pair)
    };
    checks.into_iter().map(judge).collect()
}

/// Returns a sentence if the server asks for fewer requests.
fn rate_limited(pair: &SitePair<'_>) -> Option<String> {
    let is_limited = |family: &Family| pair.sides[*family].fetches().any(|of| of.is_rate_limited);
    let limited = Family::BOTH.into_iter().any(|family| is_limited(&family));
    limited.then(|| "the server limits the rate of requests (429 or Retry-After)".to_owned())
}

fn judge_certificate(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::Certificate;
    if !pair.is_secure() {
        return SiteFinding::not_tried(check, "the URL has no TLS");
    }
    let refused =
        |family: Family| pair.sides[family].values(|fetch| fetch.tls.as_ref()?.refused.clone());
    let [ipv6, ipv4] = Family::BOTH.map(refused);
    let command = format!(
        "openssl s_client -6 -connect {0}:{1} -servername {0} </dev/null | openssl x509 -noout -dates -subject",
        pair.url.server_name(),
        pair.url.port
    );
    if ipv6.is_empty() != ipv4.is_empty() {
        let (family, why) =
            if ipv4.is_empty() { (Family::Ipv6, ipv6) } else { (Family::Ipv4, ipv4) };
        let said = format!("not accepted over {family}: {}", list_values(&why));
        let is_all = pair.sides[family]
            .complete()
            .all(|of| of.tls.as_ref().is_some_and(|tls| tls.refused.is_some()));
        let weight = if is_all { FindingWeight::Broken } else { FindingWeight::Worse };
        return SiteFinding::differs(check, weight, WhoMends::Server, said).shown_by(command);
    }
    let digests = |family: Family| {
        pair.sides[family].values(|fetch| {
            let tls = fetch.tls.as_ref()?;
            Some(tls.certificate_sha256.chars().take(DIGITS).collect::<String>())
        })
    };
    let [of_ipv6, of_ipv4] = Family::BOTH.map(digests);
    if are_apart(&of_ipv6, &of_ipv4) {
        let said = format!(
            "SHA-256 {} over IPv6, {} over IPv4",
            list_values(&of_ipv6),
            list_values(&of_ipv4)
        );
        return SiteFinding::differs(check, FindingWeight::Notice, WhoMends::Server, said)
            .shown_by(command);
    }
    let both_refused = if ipv6.is_empty() {
        String::new()
    } else {
        format!("; not accepted over either family: {}", list_values(&ipv6))
    };
    SiteFinding::same(check, format!("SHA-256 {}{both_refused}", list_values(&of_ipv6)))
}

/// A parameter of TLS in words.
type TlsParameter = fn(&FetchTls) -> Option<String>;

const PARAMETERS: [(&str, TlsParameter); 4] = [
    ("version", |tls| Some(tls.version.clone())),
    ("cipher suite", |tls| Some(tls.cipher.clone())),
    ("key exchange", |tls| tls.group.clone()),
    ("protocol", |tls| Some(tls.alpn.clone().unwrap_or_else(|| "none".to_owned()))),
];

fn judge_parameters(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::TlsParameters;
    if !pair.is_secure() {
        return SiteFinding::not_tried(check, "the URL has no TLS");
    }
    let mut apart = Vec::new();
    let mut alike = Vec::new();
    for (name, of) in PARAMETERS {
        let values = |family: Family| pair.sides[family].values(|fetch| of(fetch.tls.as_ref()?));
        let [ipv6, ipv4] = Family::BOTH.map(values);
        if are_apart(&ipv6, &ipv4) {
            let (ipv6, ipv4) = (list_values(&ipv6), list_values(&ipv4));
            apart.push(format!("{name} {ipv6} over IPv6, {ipv4} over IPv4"));
        } else {
            alike.push(list_values(&ipv6));
        }
    }
    if apart.is_empty() {
        return SiteFinding::same(check, alike.join(", "));
    }
    let url = pair.url;
    SiteFinding::differs(check, FindingWeight::Notice, WhoMends::Server, apart.join("; "))
        .shown_by(format!("sixmark run --full -n 10 {}", quoted(url)))
}

fn judge_status(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::Status;
    let [ipv6, ipv4] = Family::BOTH.map(|family| pair.sides[family].values(|of| of.status));
    if !are_apart(&ipv6, &ipv4) {
        return SiteFinding::same(check, list_values(&ipv6));
    }
    let said = format!("{} over IPv6, {} over IPv4", list_values(&ipv6), list_values(&ipv4));
    let works = |of: &BTreeMap<u16, usize>| of.keys().any(|status| *status < 400);
    let weight =
        if works(&ipv6) == works(&ipv4) { FindingWeight::Worse } else { FindingWeight::Broken };
    SiteFinding::differs(check, weight, WhoMends::Server, said)
        .shown_by(format!("curl -6 -sI {0}; curl -4 -sI {0}", quoted(pair.url)))
}

fn judge_redirect(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::Redirect;
    let locations = |family: Family| pair.sides[family].values(|fetch| fetch.location.clone());
    let [ipv6, ipv4] = Family::BOTH.map(locations);
    if ipv6.len() == 1 && ipv4.len() == 1 && are_apart(&ipv6, &ipv4) {
        let said = format!("{} over IPv6, {} over IPv4", list_values(&ipv6), list_values(&ipv4));
        return SiteFinding::differs(check, FindingWeight::Worse, WhoMends::Server, said)
            .shown_by(format!("curl -6 -sI {0}; curl -4 -sI {0}", quoted(pair.url)));
    }
    let Some(redirect) = &pair.observed.redirect else {
        return match pair.has_both() {
            true => SiteFinding::same(check, "none to another host"),
            false => SiteFinding::not_tried(check, "both families need a complete response"),
        };
    };
    let host = &redirect.host;
    let command = format!("curl -sI {}", quoted(pair.url));
    match redirect.families.as_deref() {
        Some([family]) if redirect.is_address => SiteFinding::differs(
            check,
            FindingWeight::Broken,
            WhoMends::Server,
            format!("leads to the address {host}, which has {family} only"),
        )
        .shown_by(command),
        Some([family]) => SiteFinding::differs(
            check,
            FindingWeight::Broken,
            WhoMends::Dns,
            format!("leads to {host}, which has addresses of {family} only"),
        )
        .shown_by(format!("getent ahosts {}", quoted(host))),
        Some(_) => SiteFinding::same(check, format!("leads to {host}, which has both families"))
            .shown_by(format!("sixmark check {}", quoted(format!("https://{host}/")))),
        None => SiteFinding::cant_tell(check, format!("leads to {host}, whose look-up failed")),
    }
}

fn judge_fields(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::Fields;
    let mut apart = Vec::new();
    let mut weight = FindingWeight::Notice;
    for (number, name) in COMPARED_FIELDS.into_iter().enumerate() {
        let none = || "none".to_owned();
        let value = |fetch: &SiteFetch| Some(fetch.fields.get(name).cloned().unwrap_or_else(none));
        let [ipv6, ipv4] = Family::BOTH.map(|family| pair.sides[family].values(value));
        // What varies within a family, as a nonce, says nothing.
        let is_constant = ipv6.len() == 1 && ipv4.len() == 1;
        if is_constant && are_apart(&ipv6, &ipv4) {
            let [ipv6, ipv4] = [&ipv6, &ipv4].map(|values| shortened(&list_values(values)));
            apart.push(format!("{name}: {ipv6} over IPv6, {ipv4} over IPv4"));
            if number < CONSEQUENTIAL {
                weight = FindingWeight::Worse;
            }
        }
    }
    if apart.is_empty() {
        return SiteFinding::same(check, format!("{} compared", COMPARED_FIELDS.len()));
    }
    SiteFinding::differs(check, weight, WhoMends::Server, apart.join("; "))
        .shown_by(format!("curl -6 -sI {0}; curl -4 -sI {0}", quoted(pair.url)))
}

/// Returns the beginning of a long value.
fn shortened(value: &str) -> String {
    match value.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

/// Compares what HTTP/3 answers at each address, where it is offered.
pub(super) fn judge_http3(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::Http3;
    let fetches = |family: Family| {
        let of = pair.sides[family].addresses.iter().filter_map(|of| of.http3.as_ref());
        of.collect::<Vec<&SiteFetch>>()
    };
    let [ipv6, ipv4] = Family::BOTH.map(fetches);
    if ipv6.is_empty() || ipv4.is_empty() {
        return SiteFinding::not_tried(
            check,
            "neither Alt-Svc nor an HTTPS record offers it to both",
        );
    }
    let works = |of: &[&SiteFetch]| of.iter().filter(|fetch| fetch.is_complete()).count();
    let describe = |of: &[&SiteFetch]| format!("{} of {} addresses", works(of), of.len());
    let said = format!("IPv6: {}; IPv4: {}", describe(&ipv6), describe(&ipv4));
    let command = format!("sixmark run --http3 -n 10 {}", quoted(pair.url));
    match (works(&ipv6), works(&ipv4)) {
        (0, 0) => SiteFinding::cant_tell(
            check,
            format!("it is offered, and nothing answers over QUIC; {said}"),
        )
        .shown_by(command),
        (0, _) | (_, 0) => {
            let said = format!("it is offered, and one family does not answer over QUIC; {said}");
            SiteFinding::differs(check, FindingWeight::Worse, WhoMends::Server, said)
                .shown_by(command)
        }
        (a, b) if a == ipv6.len() && b == ipv4.len() => SiteFinding::same(check, said),
        _ => SiteFinding::cant_tell(check, format!("{said}: tried once for each address"))
            .shown_by(command),
    }
}

/// Compares contents with a control: what a family itself returns from fetch to fetch.
fn judge_content(pair: &SitePair<'_>) -> SiteFinding {
    let check = SiteCheck::Content;
    let is_full = |fetch: &SiteFetch| fetch.status.is_some_and(|status| status < 300);
    let digest = |fetch: &SiteFetch| fetch.content_sha256.clone().filter(|_| is_full(fetch));
    let [ipv6, ipv4] = Family::BOTH.map(|family| pair.sides[family].values(digest));
    if ipv6.is_empty() || ipv4.is_empty() {
        return SiteFinding::not_tried(check, "no status 200 over both families");
    }
    let size = |fetch: &SiteFetch| Some(fetch.content_bytes).filter(|_| is_full(fetch));
    let sizes = Family::BOTH.map(|family| pair.sides[family].values(size));
    let [size6, size4] = sizes.each_ref().map(describe_sizes);
    let command = format!("diff <(curl -6 -s {0}) <(curl -4 -s {0})", quoted(pair.url));
    if !are_apart(&ipv6, &ipv4) {
        return SiteFinding::same(check, format!("the same bytes, {size6}"));
    }
    let fetched = |of: &BTreeMap<String, usize>| of.values().sum::<usize>();
    let is_constant = |of: &BTreeMap<String, usize>| of.len() == 1 && fetched(of) > 1;
    let differs = |said: String| {
        SiteFinding::differs(check, FindingWeight::Worse, WhoMends::Server, said)
            .shown_by(command.clone())
    };
    if is_constant(&ipv6) && is_constant(&ipv4) {
        return differs(format!(
            "each family returns the same bytes every time, but they differ between the families: {size6} \
             over IPv6, {size4} over IPv4"
        ));
    }
    if are_sizes_apart(&sizes) {
        return differs(format!("{size6} over IPv6, {size4} over IPv4"));
    }
    if fetched(&ipv6) < 2 || fetched(&ipv4) < 2 {
        return SiteFinding::cant_tell(check, "each family needs two fetches as a control");
    }
    SiteFinding::same(
        check,
        format!("the bytes vary from fetch to fetch within a family; sizes are alike: {size6}"),
    )
}

/// Returns true if all sizes of a family are below all of the other by more than a tenth.
fn are_sizes_apart([a, b]: &[BTreeMap<u64, usize>; 2]) -> bool {
    let ends = |of: &BTreeMap<u64, usize>| {
        let (least, most) = (of.keys().next(), of.keys().next_back());
        (least.copied().unwrap_or(0) as f64, most.copied().unwrap_or(0) as f64)
    };
    let ((least_a, most_a), (least_b, most_b)) = (ends(a), ends(b));
    let is_below = |most: f64, least: f64| most < (1.0 - SIZES_APART) * least;
    is_below(most_a, least_b) || is_below(most_b, least_a)
}

fn describe_sizes(of: &BTreeMap<u64, usize>) -> String {
    let (least, most) = (of.keys().next(), of.keys().next_back());
    match (least, most) {
        (Some(least), Some(most)) if least == most => format!("{} bytes", write_count(*least)),
        (Some(least), Some(most)) => {
            format!("{} to {} bytes", write_count(*least), write_count(*most))
        }
        _ => "no bytes".to_owned(),
    }
}
