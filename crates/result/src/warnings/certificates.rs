//! Warnings about the servers' certificates.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::result::RunResult;
use sixmark_document::provenance::Warning;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::tls::CertificateCount;

use super::NAMED;
use sixmark_document::provenance::warning;

/// The remaining validity below which a certificate gets a warning.
const SOON: Duration = Duration::from_secs(7 * 24 * 3600);

/// The number of digits of a hash that messages show.
const DIGITS: usize = 8;

/// Returns the warnings about the certificates that a run received.
pub(super) fn of_certificates(result: &RunResult) -> impl Iterator<Item = Warning> + use<> {
    let doubts = [insecure(result), certificates_differ(result), certificate_expires(result)];
    doubts.into_iter().flatten()
}

fn insecure(result: &RunResult) -> Option<Warning> {
    result.plan.tls.as_ref().is_some_and(|tls| tls.insecure).then(|| {
        let message = "certificate not verified (--insecure)";
        warning("insecure", message.to_owned())
    })
}

fn certificates(figures: &FamilyResult) -> &[CertificateCount] {
    figures.tls.as_ref().map_or(&[], |tls| &tls.certificates)
}

/// Warns if one family received a certificate that the other did not.
fn certificates_differ(result: &RunResult) -> Option<Warning> {
    let seen = |figures| certificates(figures).iter().map(|c| &c.sha256).collect::<BTreeSet<_>>();
    let (v6, v4) = (result.families.ipv6.as_ref()?, result.families.ipv4.as_ref()?);
    let (v6, v4) = (seen(v6), seen(v4));
    (v6 != v4 && !v6.is_empty() && !v4.is_empty()).then(|| {
        let message = format!(
            "certificates differ between IPv6 (SHA-256 {}) and IPv4 ({}): the families may reach \
             different servers",
            beginnings(&v6),
            beginnings(&v4)
        );
        warning("certificates_differ", message)
    })
}

/// Returns the first hexadecimal digits of hashes.
fn beginnings(hashes: &BTreeSet<&String>) -> String {
    let named = hashes.iter().take(NAMED).map(|hash| hash.chars().take(DIGITS).collect::<String>());
    let more = if hashes.len() > NAMED { ", ..." } else { "" };
    format!("{}{more}", named.collect::<Vec<_>>().join(", "))
}

/// Warns about the certificate that expires first, if that is soon or in the past.
fn certificate_expires(result: &RunResult) -> Option<Warning> {
    let ends = certificates(&result.total).iter().filter_map(|c| c.not_after.as_deref());
    let time = |text| humantime::parse_rfc3339(text).ok();
    let (end, text) = ends.filter_map(|text| Some((time(text)?, text))).min()?;
    let started = time(&result.started)?;
    (end < started + SOON).then(|| {
        let what = if end < started { "expired on" } else { "is about to expire, on" };
        let over = families_shown(result, text);
        let message = format!("a server certificate over {over} {what} {text}");
        warning("certificate_expires", message)
    })
}

/// Returns the families over which a certificate with this end of validity was received.
fn families_shown(result: &RunResult, end: &str) -> String {
    let shown = |figures: &FamilyResult| {
        certificates(figures).iter().any(|c| c.not_after.as_deref() == Some(end))
    };
    let families = result.families.iter().filter(|(_, figures)| shown(figures));
    families.map(|(family, _)| family.to_string()).collect::<Vec<_>>().join(" and ")
}
