use super::*;
use sixmark_http::HttpVersion;
use sixmark_plan::plan::tls::PlanTls;
use sixmark_tally::counted::family_result;
use sixmark_tally::tally::FamilyTally;
use sixmark_tally::tls::{Certificate, Facts};
use sixmark_units::tcp_info::TcpInfo;

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

/// Returns the rows of the part about two families: label and both cells.
fn rows(tallies: [FamilyTally; 2]) -> Vec<[String; 3]> {
    let plan = PlanTls { alpn: vec!["http/1.1".into()], ..PlanTls::default() };
    let figures = tallies.map(|tally| FamilyResult {
        tls: Some(tally.tls.result(&plan)),
        ..family_result(&tally, Vec::new(), 1.0, false)
    });
    let side = |(place, figures)| Side {
        place,
        name: place.to_string(),
        figures,
        version: HttpVersion::Http1,
        hidden: false,
    };
    let all = figures.iter().enumerate().map(side).collect();
    let part = path_part(&Sides { all, both: None, watched: false }).unwrap();
    let [Block::Table(table)] = part.blocks.as_slice() else { panic!("{part:?}") };
    let words = |row: &Row| {
        let cells = row.cells.iter().map(|cell| cell.text().replace('\u{a0}', " "));
        let all: Vec<String> = std::iter::once(row.label.text().to_owned()).chain(cells).collect();
        <[String; 3]>::try_from(all).unwrap()
    };
    table.groups.iter().flat_map(|group| &group.rows).map(words).collect()
}

#[test]
fn shows_the_negotiated_tls_of_each_family() {
    let old = Facts {
        version: "TLSv1.2",
        cipher: "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        group: None,
        alpn: None,
        ..FULL
    };
    let rows = rows([handshakes(&[FULL, FULL, old]), handshakes(&[old])]);
    for expected in [
        ["version", "TLSv1.3 and 1 more", "TLSv1.2"],
        ["application protocol", "http/1.1 and 1 more", "none"],
        ["certificate", "abababab, to 1970-01-01", "abababab, to 1970-01-01"],
    ] {
        assert!(rows.contains(&expected.map(str::to_owned)), "{expected:?}: {rows:?}");
    }
}

#[test]
fn shows_separate_times_of_full_and_resumed_handshakes() {
    let resumed = Facts { resumed: true, ..FULL };
    let both = rows([handshakes(&[FULL, resumed]), handshakes(&[FULL, resumed])]);
    let medians = both.iter().filter(|[label, ..]| label.contains("median"));
    assert_eq!(medians.filter(|[_, v6, v4]| v6 == "1.00 ms" && v4 == "1.00 ms").count(), 2);
    let one = rows([handshakes(&[FULL]), handshakes(&[FULL])]);
    assert!(!one.iter().any(|[label, ..]| label.starts_with("resumed, ")), "{one:?}");
}

#[test]
fn omits_a_row_without_any_value() {
    let again = |duplicates| {
        let mut tally = FamilyTally::default();
        tally.tcp.record(&TcpInfo { retransmitted: 5, duplicates, ..Default::default() });
        let rows = rows([tally.clone(), tally]);
        rows.into_iter().find(|[label, ..]| label == "of which spurious")
    };
    assert_eq!(again(Some(4)), Some(["of which spurious", "4", "4"].map(str::to_owned)));
    assert_eq!(again(None), None);
}
