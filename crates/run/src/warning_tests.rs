use sixmark_document::provenance::Ended;
use sixmark_http::HttpVersion;
use sixmark_plan::check::Checks;
use sixmark_plan::pace::{OpenLoop, Pace, RateStage, RequestRate};
use sixmark_plan::plan::tls::PlanTls;
use sixmark_plan::plan::{Close, PlanRequests, Request};
use sixmark_result::result::RunResult;
use sixmark_tally::quic::{QuicEnding, QuicTally};
use sixmark_tally::tally::Tally;
use sixmark_tally::tls::{Certificate, Facts};
use sixmark_units::family::Family;

use crate::{Circumstances, Measured, assemble};
use sixmark_load::{self as load, Loaded};
use sixmark_result::fixture::secure_plan;
use sixmark_result::warnings::of_result;

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

/// Returns a run that began on the second day of 1970 and received these certificates.
fn result(tls: PlanTls, ipv6: &[(u8, i64)], ipv4: &[(u8, i64)]) -> RunResult {
    let mut tally = Tally::default();
    for (family, shown) in [(Family::Ipv6, ipv6), (Family::Ipv4, ipv4)] {
        let shown = shown.iter().map(|&(hash, not_after)| facts(hash, not_after));
        shown.for_each(|facts| tally[family].tls.finished(&facts, 1_000));
    }
    let loaded = Loaded {
        tally,
        intervals: Vec::new(),
        tenths: Vec::new(),
        busiest: 0.0,
        elapsed_ns: 1,
        put_off_ns: Some(0),
        begun_late_ns: 0,
        ended: Ended::Complete,
        driver: "fake",
        clocks: Default::default(),
        lapses: Default::default(),
        usage: Default::default(),
        client_records: Default::default(),
    };
    let started = "1970-01-02T00:00:00.000Z".to_owned();
    let known = Circumstances { started, ..Circumstances::default() };
    assemble(known, Measured::of(secure_plan(tls), loaded))
}

fn warned(result: &RunResult, code: &str) -> Option<String> {
    let found = of_result(result).into_iter().find(|warning| warning.code == code);
    found.map(|warning| warning.message)
}

/// Returns a load of 200 exchanges over either family at a rate, each `slip_ms` later than due.
fn slipped(slip_ms: u64, waited: u64, busiest: f64) -> RunResult {
    let mut plan = secure_plan(PlanTls::default());
    let rate = RequestRate::new(40.0).unwrap();
    plan.load.pace = Pace::Open(OpenLoop::new(vec![RateStage::endless(rate)]).unwrap());
    let mut tally = Tally::default();
    for family in Family::BOTH {
        let tally = &mut tally[family];
        (tally.sent, tally.waited) = (200, waited);
        tally.late = if slip_ms > 1 { 200 - waited } else { 0 };
        (0..200).for_each(|_| tally.phases.slip.record(slip_ms * 1_000_000));
    }
    let loaded = Loaded { tally, busiest, ..load::one_after_the_other([].iter()) };
    assemble(Circumstances::default(), Measured::of(plan, loaded))
}

#[test]
fn does_not_report_late_starts_as_saturation() {
    let late = slipped(4, 0, 0.02);
    assert!(!late.is_saturated() && warned(&late, "generator_saturated").is_none());
    let message = warned(&late, "begun_late").unwrap();
    assert!(message.contains("400 of 400 exchanges"), "{message}");
    assert!(message.contains("(p99 4.00 ms)"), "{message}");
    for fine in [slipped(0, 0, 0.02), slipped(4, 200, 0.02)] {
        assert!(!fine.is_saturated() && warned(&fine, "begun_late").is_none());
    }
}

#[test]
fn reports_busy_workers_as_saturation_with_or_without_late_starts() {
    for slip_ms in [0, 4] {
        let busy = slipped(slip_ms, 0, 0.99);
        assert!(busy.is_saturated() && warned(&busy, "begun_late").is_none());
        assert!(warned(&busy, "generator_saturated").is_some());
    }
}

#[test]
fn warns_if_the_certificates_of_the_families_differ() {
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
        let result = result(PlanTls::default(), ipv6, ipv4);
        let found = warned(&result, "certificates_differ");
        assert_eq!(found.is_some(), differ, "{ipv6:?} {ipv4:?}");
        assert!(found.is_none_or(|line| line.contains("01010101") && line.contains("IPv6")));
        assert_eq!(warned(&result, "certificate_expires"), None);
        assert_eq!(warned(&result, "insecure"), None);
    }
}

#[test]
fn warns_of_a_certificate_that_expires_within_a_week() {
    for (not_after, part) in [
        (0, Some("over IPv4 expired on 1970-01-01T00:00:00Z")),
        (DAY - 1, Some("over IPv4 expired on")),
        (2 * DAY, Some("over IPv4 is about to expire, on 1970-01-03T00:00:00Z")),
        (8 * DAY - 1, Some("is about to")),
        (8 * DAY, None),
    ] {
        let other = (1, 900 * DAY);
        let result = result(PlanTls::default(), &[other], &[other, (2, not_after)]);
        let found = warned(&result, "certificate_expires");
        let told = part.is_none_or(|part| found.as_ref().is_some_and(|f| f.contains(part)));
        assert!(told && found.is_some() == part.is_some(), "{not_after}: {found:?}");
    }
}

#[test]
fn the_expiry_warning_names_both_families_of_a_shared_certificate() {
    let result = result(PlanTls::default(), &[(1, 0)], &[(1, 0)]);
    let found = warned(&result, "certificate_expires").unwrap();
    assert!(found.contains("over IPv6 and IPv4 expired on"), "{found}");
}

/// Returns a response with the status, and one that failed a check.
fn answered(status: u16, checks: &[&str]) -> RunResult {
    let mut result = result(PlanTls::default(), &[], &[]);
    let figures = result.families.ipv6.as_mut().unwrap();
    figures.requests.sent = 3;
    figures.requests.completed = 1;
    let demanded = checks.iter().any(|check| check.starts_with("status="));
    figures.requests.unaccepted = u64::from(status >= 400 && !demanded);
    figures.status = [(status, 1)].into();
    figures.outcomes = [("NORMAL".into(), 1), ("CONTENT".into(), 1), ("TIMEOUT".into(), 1)].into();
    let checks = checks.iter().map(|check| check.parse().unwrap()).collect();
    let request = Request { checks: Checks::new(checks), ..Request::plain("GET") };
    result.plan.requests = PlanRequests::one(request);
    result
}

#[test]
fn warns_of_an_error_status_unless_it_was_expected() {
    for (status, checks, told) in [
        (404, &[][..], Some("1 response over IPv6 had status 404: they count as failures")),
        (500, &["size=3"], Some("1 response over IPv6 had status 500: they count as failures")),
        (500, &["status=500"], None),
        (399, &[], None),
    ] {
        assert_eq!(warned(&answered(status, checks), "status").as_deref(), told);
    }
    let mut several = answered(404, &[]);
    let figures = several.families.ipv6.as_mut().unwrap();
    figures.status = [(200, 9), (400, 1), (404, 7), (500, 2)].into();
    figures.requests.unaccepted = 10;
    let told = "10 responses over IPv6 had a status that is not accepted, most of them 404: they count \
                as failures";
    assert_eq!(warned(&several, "status").as_deref(), Some(told));
}

#[test]
fn the_failure_warning_excludes_failures_with_their_own_warning() {
    let found = warned(&answered(200, &[]), "failures").unwrap();
    assert!(found.starts_with("1 of 3 requests over IPv6 (33.33 %) had no complete response"));
}

#[test]
fn the_close_rst_warning_differs_for_quic() {
    let mut result = result(PlanTls::default(), &[], &[]);
    result.plan.connection.close = Close::Rst;
    assert!(warned(&result, "close_rst").unwrap().contains("TIME-WAIT"));
    result.plan.http.version = HttpVersion::Http3;
    assert!(warned(&result, "close_rst").unwrap().contains("CONNECTION_CLOSE"));
}

#[test]
fn warns_if_any_certificate_was_accepted() {
    let result = result(PlanTls { insecure: true, ..PlanTls::default() }, &[], &[]);
    assert!(warned(&result, "insecure").is_some());
}

#[test]
fn warns_of_datagrams_dropped_by_this_host() {
    for dropped in [0, 7] {
        let mut result = result(PlanTls::default(), &[(1, 900 * DAY)], &[]);
        let mut quic = QuicTally::default();
        quic.record(&QuicEnding { dropped, ..QuicEnding::default() });
        result.families.ipv6.as_mut().unwrap().quic = Some(quic.result());
        let found = warned(&result, "datagrams_dropped");
        assert_eq!(found.is_some(), dropped > 0);
        assert!(found.is_none_or(|found| found.starts_with("7 datagrams over IPv6")));
    }
}

#[test]
fn warns_of_generator_stalls_and_slow_checks() {
    let mut result = slipped(0, 0, 0.02);
    let codes = ["generator_stalled", "slow_checks"];
    assert!(codes.iter().all(|code| warned(&result, code).is_none()));
    result.elapsed_s = 10.0;
    let generator = &mut result.generator;
    (generator.stalls, generator.stalled_s) = (2, 3.5);
    result.families.ipv6.as_mut().unwrap().requests.stalled = 4;
    let said = warned(&result, "generator_stalled").unwrap();
    assert!(said.contains("2 times, for 3.50 s in total"), "{said}");
    assert!(said.contains("4 exchanges were due or in flight"), "{said}");
    for (longest_s, all_s, told) in [(0.009, 0.9, false), (0.3, 0.3, true), (0.001, 1.5, true)] {
        let generator = &mut result.generator;
        (generator.longest_check_s, generator.checking_s) = (longest_s, all_s);
        assert_eq!(warned(&result, "slow_checks").is_some(), told, "{longest_s} {all_s}");
    }
}

#[test]
fn does_not_advise_more_connections_after_a_stall() {
    let mut result = result(PlanTls::default(), &[], &[]);
    let families = &mut result.families;
    for figures in [&mut families.ipv6, &mut families.ipv4].into_iter().flatten() {
        (figures.requests.waited, figures.requests.dropped) = (3, 2);
    }
    for code in ["overloaded", "dropped"] {
        result.generator.stalls = 0;
        assert!(warned(&result, code).unwrap().contains("raise -c"), "{code}");
        result.generator.stalls = 1;
        let said = warned(&result, code).unwrap();
        assert!(said.contains("sixmark was stalled") && !said.contains("raise -c"), "{said}");
    }
}
