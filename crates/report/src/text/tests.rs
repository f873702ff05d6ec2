use super::*;
use sixmark_plan::plan::tls::PlanTls;
use sixmark_tally::counted::family_result;
use sixmark_tally::family_result::{AddressResult, FailureCount};
use sixmark_tally::outcome::{Failure, FailurePhase};
use sixmark_tally::tally::FamilyTally;
use sixmark_tally::tls::{Certificate, Facts};

fn figures(tally: &FamilyTally) -> FamilyResult {
    let plan = PlanTls { alpn: vec!["http/1.1".into()], ..PlanTls::default() };
    let tls = Some(tally.tls.result(&plan));
    let quic = Some(tally.quic.result());
    FamilyResult { tls, quic, ..family_result(tally, Vec::new(), 1.0, false) }
}

/// Returns what `show` writes for IPv6 and IPv4.
fn shown(tallies: &[FamilyTally; 2], show: fn(&FamilyColumns<'_>, &mut String)) -> String {
    let figures = tallies.each_ref().map(figures);
    let sides = figures.each_ref().map(Some);
    let mut text = String::new();
    let (hidden, version) = ([false; 2], HttpVersion::Http1);
    show(&FamilyColumns { sides, hidden, version, clocks: None }, &mut text);
    text
}

/// Returns the words after `label` in the row that begins with it.
fn row<'a>(text: &'a str, label: &str) -> Option<Vec<&'a str>> {
    let rest = text.lines().find_map(|line| line.strip_prefix(label));
    rest.map(|rest| rest.split_whitespace().collect())
}

/// Creates a family with responses that take `nanos` nanoseconds each.
fn responses(nanos: u64) -> FamilyTally {
    let mut tally = FamilyTally::default();
    (0..100_000).for_each(|_| tally.phases.response.record(nanos));
    tally
}

#[test]
fn shows_the_figures_of_both_families_without_a_difference() {
    for [v6, v4] in [[2_000, 4_000], [4_000, 1_000], [1_000_000, 1_000_000]] {
        let text = shown(&[responses(v6), responses(v4)], |c, text| {
            c.head(text);
            c.phases(text);
        });
        assert!(!text.contains('%') && !text.contains("IPv6 to IPv4"), "{text}");
        assert_eq!(row(&text, "response  mean").map(|row| row.len()), Some(4), "{text}");
    }
}

#[test]
fn shows_a_row_of_resent_requests_only_if_there_are_any() {
    let again = FamilyTally { resent: 7, ..FamilyTally::default() };
    let text = shown(&[FamilyTally::default(), again], |c, text| c.counts(text));
    assert_eq!(row(&text, "requests resent"), Some(vec!["0", "7"]));
    let none = [FamilyTally::default(), FamilyTally::default()];
    assert_eq!(row(&shown(&none, |c, text| c.counts(text)), "requests resent"), None);
}

#[test]
fn labels_a_single_row_with_its_section() {
    let mut tally = FamilyTally::default();
    tally.tls.failed(None);
    let text = shown(&[tally.clone(), tally], |c, text| c.handshakes(text));
    assert_eq!(text.lines().count(), 1, "{text}");
    assert_eq!(row(&text, "handshakes failed"), Some(vec!["1", "1"]));
    let [mut v6, v4] = [FamilyTally::default(), FamilyTally::default()];
    v6.quic.record(&sixmark_tally::quic::QuicEnding { retried: true, ..Default::default() });
    let text = shown(&[v6, v4], |c, text| c.quic(text));
    assert_eq!(row(&text, "quic retried"), Some(vec!["1", "0"]));
}

const FULL: Facts = Facts {
    version: "TLSv1.3",
    cipher: "TLS_AES_256_GCM_SHA384",
    group: Some("X25519MLKEM768"),
    alpn: Some(0),
    resumed: false,
    offered: false,
    retried: false,
    certificate: Some(Certificate { sha256: [0xab; 32], not_after: Some(0) }),
};

/// Creates a family with these handshakes, which take a millisecond each.
fn handshakes(all: &[Facts]) -> FamilyTally {
    let mut tally = FamilyTally::default();
    all.iter().for_each(|facts| tally.tls.finished(facts, 1_000_000));
    tally
}

fn agreed_on(all: [&[Facts]; 2], version: HttpVersion) -> String {
    let figures = all.map(|facts| figures(&handshakes(facts)));
    agreed::agreed_lines(figures.each_ref().map(Some), version)
}

#[test]
fn shows_the_negotiated_tls_once_if_both_families_agree() {
    let line = "TLSv1.3, TLS_AES_256_GCM_SHA384, X25519MLKEM768, cert abababab to 1970-01-01\n";
    assert_eq!(agreed_on([&[FULL], &[FULL, FULL]], HttpVersion::Http1), line);
    assert_eq!(agreed_on([&[], &[]], HttpVersion::Http1), "");
}

#[test]
fn shows_the_negotiated_tls_of_each_family_if_they_differ() {
    let old = Facts {
        version: "TLSv1.2",
        cipher: "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        group: None,
        alpn: None,
        ..FULL
    };
    let expected = "IPv6: TLSv1.3 and 1 more, TLS_AES_256_GCM_SHA384 and 1 more, X25519MLKEM768,\n  \
                    ALPN http/1.1 and 1 more, cert abababab to 1970-01-01\n\
                    IPv4: TLSv1.2, TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, ALPN none,\n  \
                    cert abababab to 1970-01-01\n";
    assert_eq!(agreed_on([&[FULL, FULL, old], &[old]], HttpVersion::Http1), expected);
    let usual = agreed_on([&[FULL], &[]], HttpVersion::Http2);
    assert!(usual.starts_with("IPv6: TLSv1.3, ") && usual.contains("ALPN http/1.1,"), "{usual}");
    assert!(!usual.contains("IPv4"), "{usual}");
}

#[test]
fn shows_separate_times_of_full_and_resumed_handshakes() {
    let resumed = Facts { resumed: true, ..FULL };
    let both = [FULL, resumed];
    let text = shown(&[handshakes(&both), handshakes(&both)], |c, text| c.handshakes(text));
    for label in ["tls full mean", "tls full median", "tls resumed mean", "tls resumed median"] {
        assert_eq!(row(&text, label), Some(vec!["1.00", "ms", "1.00", "ms"]), "{text}");
    }
    let text = shown(&[handshakes(&[FULL]), handshakes(&[FULL])], |c, text| c.handshakes(text));
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn lists_the_first_failed_addresses_and_counts_the_others() {
    let refused = Failure::new(Outcome::Refused, FailurePhase::Connect);
    let address = |number: u16, failed| AddressResult {
        address: ([127, 0, 0, 1], number).into(),
        url: String::new(),
        ended: 20,
        completed: 20 - failed,
        unaccepted: 0,
        failures: vec![FailureCount { failure: refused, count: failed }],
    };
    let dead = (1..=10).map(|number| address(number, 20));
    let by_address = dead.chain([address(11, 0)]).collect();
    let v4 = FamilyResult { by_address, ..figures(&FamilyTally::default()) };
    let columns = FamilyColumns {
        sides: [None, Some(&v4)],
        hidden: [false; 2],
        version: HttpVersion::Http1,
        clocks: None,
    };
    let mut text = String::new();
    columns.addresses(&mut text);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "IPv4: 127.0.0.1:1 failed 20 of 20, connection refused");
    assert_eq!((lines.len(), lines[8]), (9, "IPv4: other addresses that failed: 2"));
}

#[test]
fn shows_a_row_of_spurious_segments_only_if_there_are_any() {
    let again = |duplicates| {
        let mut tally = FamilyTally::default();
        let path =
            sixmark_units::tcp_info::TcpInfo { retransmitted: 5, duplicates, ..Default::default() };
        tally.tcp.record(&path);
        shown(&[tally.clone(), tally], |c, text| c.tcp(text))
    };
    assert_eq!(row(&again(Some(4)), "tcp spurious"), Some(vec!["4", "4"]));
    assert_eq!(row(&again(Some(0)), "tcp spurious"), None);
    assert_eq!(row(&again(None), "tcp spurious"), None);
}

#[test]
fn shows_the_name_of_a_failure_code() {
    let mut tally = FamilyTally::default();
    let failure = Failure { code: Some(120), ..Failure::new(Outcome::Tls, FailurePhase::Tls) };
    tally.failures.add(failure, 3);
    let text = shown(&[tally, FamilyTally::default()], |c, text| c.failures(text));
    assert_eq!(text, "IPv6: 3 TLS in tls, alert 120 no_application_protocol\n");
}
