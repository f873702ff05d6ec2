use sixmark_core::family::Family;
use sixmark_core::plan::tls::Tls;
use sixmark_core::quic::{Ending, QuicTally};
use sixmark_core::result::{Ended, RunResult};
use sixmark_core::tally::Tally;
use sixmark_core::tls::{Certificate, Facts};

use super::of_result;
use crate::load::Loaded;
use crate::run::assemble;
use crate::tls::plan_for_tests;

const DAY: i64 = 24 * 3600;

fn facts(hash: u8, not_after: i64) -> Facts {
    Facts {
        version: "TLSv1.3",
        cipher: "TLS_AES_128_GCM_SHA256",
        group: None,
        alpn: None,
        resumed: false,
        offered: false,
        retried: false,
        certificate: Some(Certificate { sha256: [hash; 32], not_after: Some(not_after) }),
    }
}

/// A run that began on the second day of 1970 and was shown these certificates.
fn result(tls: Tls, ipv6: &[(u8, i64)], ipv4: &[(u8, i64)]) -> RunResult {
    let mut tally = Tally::default();
    for (family, shown) in [(Family::Ipv6, ipv6), (Family::Ipv4, ipv4)] {
        let shown = shown.iter().map(|&(hash, not_after)| facts(hash, not_after));
        shown.for_each(|facts| tally[family].tls.finished(&facts, 1_000));
    }
    let loaded = Loaded {
        tally,
        intervals: Vec::new(),
        busiest: 0.0,
        elapsed_ns: 1,
        ended: Ended::Complete,
        driver: "fake",
        clocks: Default::default(),
        usage: Default::default(),
    };
    let started = "1970-01-02T00:00:00.000Z".to_owned();
    RunResult { started, ..assemble(plan_for_tests(tls), loaded) }
}

fn warned(result: &RunResult, code: &str) -> Option<String> {
    let found = of_result(result).into_iter().find(|warning| warning.code == code);
    found.map(|warning| warning.message)
}

#[test]
fn other_certificates_over_the_other_family_are_a_warning() {
    let late = 900 * DAY;
    let (one, two) = ((1, late), (2, late));
    for (ipv6, ipv4, differ) in [
        (&[one][..], &[one, one][..], false),
        (&[one, two], &[two, one], false),
        (&[one], &[two], true),
        (&[one, two], &[one], true),
        (&[one], &[], false),
        (&[], &[], false),
    ] {
        let result = result(Tls::default(), ipv6, ipv4);
        let found = warned(&result, "certificates_differ");
        assert_eq!(found.is_some(), differ, "{ipv6:?} {ipv4:?}");
        assert_eq!(warned(&result, "certificate_expires"), None);
        assert_eq!(warned(&result, "insecure"), None);
    }
}

#[test]
fn a_certificate_that_expires_within_a_week_is_a_warning() {
    for (not_after, part) in [
        (0, Some("has expired")),
        (DAY - 1, Some("has expired")),
        (2 * DAY, Some("is about to expire: it is valid until 1970-01-03T00:00:00Z")),
        (8 * DAY - 1, Some("is about to")),
        (8 * DAY, None),
    ] {
        let other = (1, 900 * DAY);
        let result = result(Tls::default(), &[other], &[other, (2, not_after)]);
        let found = warned(&result, "certificate_expires");
        let told = part.is_none_or(|part| found.as_ref().is_some_and(|f| f.contains(part)));
        assert!(told && found.is_some() == part.is_some(), "{not_after}: {found:?}");
    }
}

#[test]
fn that_any_certificate_was_accepted_is_a_warning() {
    let result = result(Tls { insecure: true, ..Tls::default() }, &[], &[]);
    assert!(warned(&result, "insecure").is_some());
}

#[test]
fn datagrams_that_this_host_dropped_are_a_warning() {
    for dropped in [0, 7] {
        let mut result = result(Tls::default(), &[(1, 900 * DAY)], &[]);
        let mut quic = QuicTally::default();
        quic.record(&Ending { dropped, ..Ending::default() });
        result.families.ipv6.as_mut().unwrap().quic = Some(quic.result());
        let found = warned(&result, "datagrams_dropped");
        assert_eq!(found.is_some(), dropped > 0);
        assert!(found.is_none_or(|found| found.starts_with("7 datagrams over IPv6")));
    }
}
