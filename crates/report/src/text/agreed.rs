//! The negotiated TLS parameters, which are shown above the table.

use std::collections::BTreeMap;

use sixmark_http::HttpVersion;
use sixmark_sheet::terminal::width;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::tls::{CertificateCount, TlsResult};
use sixmark_units::family::Family;

/// The number of digits of a certificate's hash that are shown: enough to distinguish a few.
const DIGITS: usize = 8;

/// Returns one entry if the families in use agree, else one for each family; empty if no handshake
/// was completed. Long entries are wrapped.
pub(super) fn agreed_lines(sides: [Option<&FamilyResult>; 2], version: HttpVersion) -> String {
    let of = |side: &FamilyResult| parts(side.tls.as_ref(), version);
    let used = Family::BOTH.into_iter().zip(sides);
    let all: Vec<_> = used.filter_map(|(family, side)| Some((family, of(side?)))).collect();
    match all.first() {
        Some((_, first)) if all.iter().all(|(_, parts)| parts == first) => wrapped("", first),
        _ => all.iter().map(|(family, parts)| wrapped(&format!("{family}: "), parts)).collect(),
    }
}

/// Returns the TLS version, cipher suite, group, the ALPN protocol if it is not the expected one,
/// and the certificate.
fn parts(tls: Option<&TlsResult>, version: HttpVersion) -> Vec<String> {
    let Some(tls) = tls.filter(|tls| !tls.versions.is_empty()) else { return Vec::new() };
    let named = [&tls.versions, &tls.ciphers, &tls.groups].map(commonest);
    let usual = tls.alpn.keys().all(|alpn| alpn == version.alpn());
    let alpn = commonest(&tls.alpn).filter(|_| !usual).map(|alpn| format!("ALPN {alpn}"));
    named.into_iter().chain([alpn, certificate(&tls.certificates)]).flatten().collect()
}

fn commonest(counts: &BTreeMap<String, u64>) -> Option<String> {
    let (name, _) = counts.iter().max_by_key(|(_, count)| **count)?;
    Some(format!("{name}{}", more(counts.len())))
}

/// Describes the most frequent certificate: the start of its hash, the day on which it expires, and
/// the number of others.
fn certificate(all: &[CertificateCount]) -> Option<String> {
    let commonest = all.iter().max_by_key(|certificate| certificate.count)?;
    let hash: String = commonest.sha256.chars().take(DIGITS).collect();
    let day = commonest.not_after.as_ref().and_then(|time| time.split('T').next());
    let until = day.map_or(String::new(), |day| format!(" to {day}"));
    Some(format!("cert {hash}{until}{}", more(all.len())))
}

fn more(kinds: usize) -> String {
    if kinds > 1 { format!(" and {} more", kinds - 1) } else { String::new() }
}

/// Joins the parts on one line, or on several if it would be too long.
fn wrapped(begin: &str, parts: &[String]) -> String {
    let (mut text, mut line) = (String::new(), String::new());
    for (at, part) in parts.iter().enumerate() {
        let comma = if at + 1 < parts.len() { "," } else { "" };
        let before = if at == 0 { begin } else { " " };
        if line.len() + before.len() + part.len() + comma.len() > width() {
            text += &format!("{line}\n");
            " ".clone_into(&mut line);
        }
        line += &format!("{before}{part}{comma}");
    }
    if line.is_empty() { line } else { text + &line + "\n" }
}
