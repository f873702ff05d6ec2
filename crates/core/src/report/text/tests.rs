use super::*;
use crate::plan::tls::Tls;
use crate::result::family_result;
use crate::tally::FamilyTally;

fn figures(tally: &FamilyTally) -> FamilyResult {
    let plan = Tls { alpn: vec!["http/1.1".into()], ..Tls::default() };
    let tls = Some(tally.tls.result(&plan));
    let quic = Some(tally.quic.result());
    FamilyResult { tls, quic, ..family_result(tally, Vec::new(), 1.0, false) }
}

/// What `show` writes of IPv6 and IPv4.
fn shown(tallies: &[FamilyTally; 2], show: fn(&Columns<'_>, &mut String)) -> String {
    let figures = tallies.each_ref().map(figures);
    let sides = figures.each_ref().map(Some);
    let mut text = String::new();
    show(&Columns { sides, comparable: true }, &mut text);
    text
}

/// The words of the row that begins with `label`, behind it.
fn row<'a>(text: &'a str, label: &str) -> Option<Vec<&'a str>> {
    let rest = text.lines().find_map(|line| line.strip_prefix(label));
    rest.map(|rest| rest.split_whitespace().collect())
}

/// Transfers that take so many nanoseconds each.
fn transfers(nanos: u64) -> FamilyTally {
    let mut tally = FamilyTally::default();
    (0..1_000).for_each(|_| tally.phases.transfer.record(nanos));
    tally
}

#[test]
fn times_too_short_for_the_stamps_are_not_compared() {
    for ([v6, v4], compared) in [([900, 900], false), ([900, 9_000], false), ([0, 0], false)]
        .into_iter()
        .chain([([9_000, 900], false), ([2_000, 4_000], true), ([4_000, 1_000], true)])
    {
        let text = shown(&[transfers(v6), transfers(v4)], |c, text| c.phases(text));
        assert_eq!(text.contains('%'), compared, "{v6} {v4}\n{text}");
    }
}

#[test]
fn requests_that_were_sent_again_have_a_row() {
    let again = FamilyTally { resent: 7, ..FamilyTally::default() };
    let text = shown(&[FamilyTally::default(), again], |c, text| c.counts(text));
    assert_eq!(row(&text, "requests resent"), Some(vec!["0", "7"]));
    let none = [FamilyTally::default(), FamilyTally::default()];
    assert_eq!(row(&shown(&none, |c, text| c.counts(text)), "requests resent"), None);
}

#[test]
fn a_row_that_is_there_by_itself_says_what_it_is_of() {
    let mut tally = FamilyTally::default();
    tally.tls.failed(None);
    let text = shown(&[tally.clone(), tally], |c, text| c.handshakes(text));
    assert_eq!(text.lines().count(), 1, "{text}");
    assert_eq!(row(&text, "handshakes failed"), Some(vec!["1", "1"]));
    let [mut v6, v4] = [FamilyTally::default(), FamilyTally::default()];
    v6.quic.record(&crate::quic::Ending { retried: true, ..Default::default() });
    let text = shown(&[v6, v4], |c, text| c.quic(text));
    assert_eq!(row(&text, "quic retried"), Some(vec!["1", "0"]));
}
