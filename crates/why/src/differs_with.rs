//! What differs between two sides together with their times. These facts are not timed: they may be the
//! cause of a difference, or come from the same cause, or have nothing to do with it.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::{Deserialize, Serialize};

use sixmark_sheet::write::write_time;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::server_fields::{SERVER_FIELDS, ServerFieldsResult};
use sixmark_tally::tcp::TcpOptionCounts;
use sixmark_units::quantity::{write_count, write_percent};

/// Shares that differ by less are alike.
const SHARE_APART: f64 = 0.1;
/// Mean sizes that differ by less than this share are alike.
const SIZE_APART: f64 = 0.01;
/// Processor times that differ by less than this share are alike: a machine's own load changes them.
const CPU_APART: f64 = 0.25;
/// Numbers of flights that differ by less are alike.
const FLIGHTS_APART: f64 = 0.5;
/// IPv6's header is so much longer than IPv4's, so that its segments are shorter.
const HEADER_BYTES: u32 = 20;
/// As many digits of a certificate's digest tell a few apart.
const DIGITS: usize = 8;

/// A fact that differs between the sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FactApart {
    /// The fact, as a noun.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub what: String,
    /// Its value on side A.
    pub a: String,
    /// Its value on side B.
    pub b: String,
}

/// A fact in words; `None` if a side does not have it.
type Fact = fn(&FamilyResult) -> Option<String>;

/// Facts that differ as soon as their words do.
const FACTS: [(&str, Fact); 7] = [
    ("addresses", |of| Some(write_count(of.addresses.len() as u64))),
    ("TLS version", |of| usual(&of.tls.as_ref()?.versions)),
    ("cipher suite", |of| usual(&of.tls.as_ref()?.ciphers)),
    ("key exchange", |of| usual(&of.tls.as_ref()?.groups)),
    ("application protocol", |of| usual(&of.tls.as_ref()?.alpn)),
    ("certificate", |of| {
        let all = &of.tls.as_ref()?.certificates;
        let most = all.iter().max_by_key(|certificate| certificate.count)?;
        Some(most.sha256.chars().take(DIGITS).collect())
    }),
    ("largest UDP payload", |of| usual(&of.quic.as_ref()?.mtu)),
];

/// A share of the exchanges or connections; `None` if a side does not have it.
type SideShare = fn(&FamilyResult) -> Option<f64>;

const SHARES: [(&str, SideShare); 7] = [
    ("connections with SACK", |of| options_share(of, |options| options.sack)),
    ("connections with TCP timestamps", |of| options_share(of, |options| options.timestamps)),
    ("connections with window scaling", |of| options_share(of, |options| options.window_scaling)),
    ("connections with ECN", |of| options_share(of, |options| options.ecn)),
    ("resumed TLS sessions", |of| {
        let handshakes = of.tls.as_ref()?.handshakes;
        share(handshakes.resumed, handshakes.full + handshakes.resumed)
    }),
    ("new connections per request", |of| share(of.connections.opened, of.requests.sent)),
    ("redirects", |of| share(of.requests.redirects, of.requests.completed)),
];

/// Returns the facts that differ between side A and side B, those of the path first.
pub fn facts_apart([a, b]: [&FamilyResult; 2]) -> Vec<FactApart> {
    let words = |(what, of): &(&str, Fact)| {
        let (a, b) = (of(a)?, of(b)?);
        (a != b).then(|| FactApart { what: (*what).to_owned(), a, b })
    };
    let shares = |(what, of): &(&str, SideShare)| {
        let (a, b) = (of(a)?, of(b)?);
        let apart = (a - b).abs() >= SHARE_APART;
        let [a, b] = [a, b].map(write_percent);
        apart.then(|| FactApart { what: (*what).to_owned(), a, b })
    };
    let path = [segments_apart(a, b), flights_apart(a, b), losses_apart(a, b)];
    let all = path.into_iter().flatten().chain(server_apart(a, b));
    let all = all.chain(FACTS.iter().filter_map(words));
    all.chain(SHARES.iter().filter_map(shares)).chain(sizes_apart(a, b)).collect()
}

/// Returns the client's processor time of an exchange on each side, in microseconds, if it differs.
pub fn client_cpu_apart([a_us, b_us]: [f64; 2]) -> Option<FactApart> {
    let apart = (a_us - b_us).abs() > CPU_APART * a_us.max(b_us);
    let [a, b] = [a_us, b_us].map(write_time);
    apart.then(|| FactApart { what: "client’s CPU time per request".to_owned(), a, b })
}

/// Returns the usual segment sizes, if they differ by more than the headers of the families do.
fn segments_apart(a: &FamilyResult, b: &FamilyResult) -> Option<FactApart> {
    let usual = |of: &FamilyResult| most(&of.carriers.as_ref()?.mss);
    let (a, b) = (usual(a)?, usual(b)?);
    let apart = a.abs_diff(b);
    let [a, b] = [a, b].map(|bytes| format!("{bytes} bytes"));
    (apart != 0 && apart != HEADER_BYTES).then(|| FactApart {
        what: "largest segment".to_owned(),
        a,
        b,
    })
}

/// Returns the flights of an average response, if they differ: a smaller window takes more of them.
fn flights_apart(a: &FamilyResult, b: &FamilyResult) -> Option<FactApart> {
    let (a, b) = (a.account.as_ref()?.mean.flights, b.account.as_ref()?.mean.flights);
    let apart = (a - b).abs() >= FLIGHTS_APART;
    // The first flight is not waited for.
    let [a, b] = [a, b].map(|more| format!("{:.1}", 1.0 + more));
    apart.then(|| FactApart { what: "flights per response".to_owned(), a, b })
}

/// Returns the shares of segments sent again, if they differ by more than chance.
fn losses_apart(a: &FamilyResult, b: &FamilyResult) -> Option<FactApart> {
    let (a, b) = (a.carriers.as_ref()?, b.carriers.as_ref()?);
    let [lost_a, lost_b] = [a.lost_share()?, b.lost_share()?].map(write_percent);
    a.losses_unlike(b).then(|| FactApart {
        what: "requests’ segments retransmitted".to_owned(),
        a: lost_a,
        b: lost_b,
    })
}

/// Returns the fields by which the servers name themselves, where their usual values differ.
fn server_apart(a: &FamilyResult, b: &FamilyResult) -> Vec<FactApart> {
    let (Some(a), Some(b)) = (&a.server_fields, &b.server_fields) else { return Vec::new() };
    let usual = |of: &ServerFieldsResult, name: &str| {
        let most = of.values.get(name)?.iter().max_by_key(|(_, count)| **count)?;
        Some(most.0.clone())
    };
    let apart = |name: &&str| {
        let (a, b) = (usual(a, name), usual(b, name));
        let [shown_a, shown_b] = [&a, &b].map(|of| of.clone().unwrap_or_else(|| "none".to_owned()));
        (a != b).then(|| FactApart { what: format!("field {name}"), a: shown_a, b: shown_b })
    };
    SERVER_FIELDS.iter().filter_map(apart).collect()
}

fn sizes_apart(a: &FamilyResult, b: &FamilyResult) -> Option<FactApart> {
    let (a, b) = (a.sizes.as_ref()?.mean, b.sizes.as_ref()?.mean);
    let apart = (a - b).abs() > SIZE_APART * a.max(b);
    let [a, b] = [a, b].map(|bytes| format!("{} bytes", write_count(bytes.round() as u64)));
    apart.then(|| FactApart { what: "mean size of contents".to_owned(), a, b })
}

fn options_share(of: &FamilyResult, option: fn(TcpOptionCounts) -> u64) -> Option<f64> {
    let options = of.carriers.as_ref()?.options?;
    share(option(options), options.known)
}

fn share(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

fn most<T: Copy>(counts: &BTreeMap<T, u64>) -> Option<T> {
    counts.iter().max_by_key(|(_, count)| **count).map(|(value, _)| *value)
}

fn usual<T: Display>(counts: &BTreeMap<T, u64>) -> Option<String> {
    counts.iter().max_by_key(|(_, count)| **count).map(|(value, _)| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_tally::counted::family_result;
    use sixmark_tally::tally::FamilyTally;
    use sixmark_units::tcp_info::TcpInfo;

    fn side(mss: u32, opened: u64) -> FamilyResult {
        let mut tally = FamilyTally { sent: 100, ..FamilyTally::default() };
        tally.connections.opened = opened;
        tally.server_fields.count_response();
        tally.server_fields.note_field(b"Server", if opened > 50 { b"nginx" } else { b"Apache" });
        tally.carriers.record(&TcpInfo { mss, delivered: Some(50), ..TcpInfo::default() });
        family_result(&tally, Vec::new(), 1.0, false)
    }

    #[test]
    fn names_facts_that_differ_and_ignores_the_headers() {
        assert_eq!(facts_apart([&side(1_428, 1), &side(1_448, 5)]), []);
        let found = facts_apart([&side(1_220, 100), &side(1_448, 5)]);
        let words: Vec<String> =
            found.iter().map(|of| format!("{} {} {}", of.what, of.a, of.b)).collect();
        assert_eq!(
            words.join("; ").replace('\u{a0}', " "),
            "largest segment 1220 bytes 1448 bytes; field server nginx Apache; new connections per request 100 % 5 %"
        );
    }
}
