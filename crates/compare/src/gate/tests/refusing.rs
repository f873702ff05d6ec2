//! Texts that are rejected, with their messages.

use super::reading::families;
use crate::gate::{Gate, GateNames};
use sixmark_units::family::Family;

const REFUSED: &[(&str, &str)] = &[
    ("", "column 1: expected a figure, as in ipv6.response.p99, and found the end"),
    (
        "ipv6.response.p99",
        "column 1: ipv6.response.p99 is a time, not a condition: compare it with something",
    ),
    (
        "verdict(goodput)",
        "column 1: verdict(goodput) is a verdict, not a condition: compare it with something",
    ),
    (
        "ipv6.response.p99 > 10",
        "column 21: ipv6.response.p99 is a time: give 10 a unit, as in 10ms",
    ),
    ("10 < ipv6.response.p99", "column 1: ipv6.response.p99 is a time: give 10 a unit, as in 10ms"),
    (
        "ipv6.requests_per_s < 100",
        "column 23: ipv6.requests_per_s is a rate: give 100 a unit, as in 100/s",
    ),
    (
        "ipv6.goodput < 100",
        "column 16: ipv6.goodput is bytes per second: give 100 a unit, as in 100MB/s",
    ),
    (
        "ipv6.goodput < 100MB",
        "column 14: ipv6.goodput is bytes per second and 100MB a size: they can't be compared",
    ),
    ("ipv6.failures > 5", "column 17: ipv6.failures is a share: give 5 a unit, as in 5%"),
    (
        "difference(failures) < -5",
        "column 24: difference(failures) is a share: give 5 a unit, as in 5%",
    ),
    (
        "ipv6.outcome.RESET > 1%",
        "column 20: ipv6.outcome.RESET is a count and 1% a share: they can't be compared",
    ),
    (
        "ipv6.response.p99 > ipv6.goodput",
        "column 19: ipv6.response.p99 is a time and ipv6.goodput bytes per second: they can't be compared",
    ),
    ("ipv6.wait.p50 + ipv6.sent > 1", "column 15: a time and a count can't be added"),
    ("ipv6.wait.p50 - 1 > 1ms", "column 15: a number can't be subtracted from a time"),
    ("ipv6.wait.p50 * ipv6.wait.p50 > 1ms", "column 15: a time can't be multiplied by a time"),
    (
        "ipv6.wait.p50 / ipv6.goodput > 1ms",
        "column 15: a time can't be divided by bytes per second",
    ),
    (
        "ipv7.response.p99 > 1ms",
        "column 1: no side is called 'ipv7': did you mean 'ipv6' or 'ipv4'?",
    ),
    ("server.response.p99 > 1ms", "column 1: no side is called 'server': ipv6, ipv4, total"),
    ("a.response.p99 > 1ms", "column 1: there is no side 'a' here: ipv6, ipv4, total"),
    ("response.p99 > 1ms", "column 1: which side? Write ipv6.response.p99"),
    ("goodput > 1MB/s", "column 1: which side? Write ipv6.goodput"),
    ("p99 > 10ms", "column 1: p99 of what? Write ipv6.response.p99"),
    ("ipv6.p99 > 10ms", "column 6: p99 of what? Write ipv6.response.p99"),
    ("ipv6 > 1ms", "column 5: expected a figure of ipv6, as in ipv6.response.p99"),
    (
        "ipv6.respnose.p99 > 1ms",
        "column 6: ipv6 has no figure 'respnose': did you mean 'response'?",
    ),
    (
        "ipv6.rtt > 1ms",
        "column 6: ipv6 has no figure 'rtt': connect, tls, interim, wait, ttfb, transfer, slip, service, response, lifetime, sent, completed, unaccepted, failed, failures, abandoned, requests_per_s, goodput, redirects, followed, dropped, unsent, waited, resent, interim_responses, write_errors, sends_per_exchange, receives_per_exchange, datagrams_sent_per_exchange, datagrams_received_per_exchange, opened, closed, reset_sent, displaced, unopened, wait_delay, outcome",
    ),
    (
        "ipv6.response > 1ms",
        "column 14: expected a figure of ipv6.response, as in ipv6.response.p99",
    ),
    (
        "ipv6.response.p98 > 1ms",
        "column 15: ipv6.response has no figure 'p98': did you mean 'p90', 'p95' or 'p99'?",
    ),
    ("ipv6.goodput.p99 > 1ms", "column 14: nothing can follow ipv6.goodput"),
    ("ipv6.outcome > 1", "column 13: expected an outcome, as in ipv6.outcome.RESET"),
    ("ipv6.outcome.reset > 1", "column 14: no outcome is called 'reset': did you mean 'RESET'?"),
    ("ipv6.sent = 1", "column 11: equal is written =="),
    ("ipv6.sent > 1 & ipv4.sent > 1", "column 15: and is written &&"),
    ("ipv6.sent > 1 | ipv4.sent > 1", "column 15: or is written ||"),
    ("ipv6.sent > %", "column 13: % follows a number, as in 5%"),
    ("ipv6.sent > ü", "column 13: 'ü' has no meaning here"),
    ("ipv6.sent > \u{7}", "column 13: '\\u{7}' has no meaning here"),
    ("ipv6.sent > 1.", "column 13: expected a number, as in 10 or 0.5"),
    ("ipv6.sent > .5", "column 13: expected a number, as in 10 or 0.5"),
    ("ipv6.sent > 1.2.3", "column 13: expected a number, as in 10 or 0.5"),
    ("ipv6.wait.p50 > 10mss", "column 19: no unit is called 'mss': did you mean 'ms'?"),
    (
        "ipv6.wait.p50 > 10 lightyears",
        "column 20: no unit is called 'lightyears': ns, us, ms, s, m, %, /s, B, kB, MB, GB, KiB, MiB, GiB, B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s",
    ),
    ("ipv6.sent > 1 2", "column 15: expected && or || or the end, and found '2'"),
    ("ipv6.sent > 1)", "column 14: expected && or || or the end, and found ')'"),
    ("(ipv6.sent > 1", "column 15: expected ) for the ( in column 1, and found the end"),
    ("ipv6.sent > ", "column 13: expected a figure, as in ipv6.response.p99, and found the end"),
    ("ipv6.sent > && 1", "column 13: expected a figure, as in ipv6.response.p99, and found '&&'"),
    ("1ms < ipv6.wait.p50 < 2ms", "column 21: compare two at a time, as in 1ms < x && x < 2ms"),
    ("1 < 2", "column 3: neither operand is a figure, as in ipv6.response.p99"),
    (
        "worse == worse",
        "column 7: neither operand is the verdict of a metric, as in verdict(response.p50)",
    ),
    ("verdict(response.p50) > worse", "column 23: verdicts are compared by == and != only"),
    (
        "verdict(response.p50) == wrose",
        "column 26: 'wrose' is neither a side nor a verdict: did you mean 'worse'?",
    ),
    (
        "verdict(response.p50) == 1",
        "column 26: expected a verdict: better, worse, equivalent, inconclusive, \
             not_comparable",
    ),
    (
        "ipv6.sent == worse",
        "column 1: expected verdict(METRIC) to compare with worse, as in verdict(response.p50)",
    ),
    ("verdict == worse", "column 1: verdict takes a metric, as in verdict(response.p50)"),
    (
        "vredict(response.p50) == worse",
        "column 1: no function is called 'vredict': did you mean 'verdict'?",
    ),
    ("verdict() == worse", "column 9: expected a metric, as in response.p50, and found ')'"),
    (
        "verdict(response.p55) == worse",
        "column 9: no metric is called 'response.p55': did you mean 'response.p50'?",
    ),
    (
        "verdict(ipv6.response.p50) == worse",
        "column 9: a metric covers both sides: write response.p50",
    ),
    (
        "verdict(response.p50 == worse",
        "column 22: expected ) for the ( in column 8, and found '=='",
    ),
    ("ratio(failures) > 1", "column 7: failures have no ratio: use difference(failures)"),
    ("(ipv6.sent > 1) > 2", "column 1: expected a figure and found a condition"),
    ("-worse == worse", "column 2: expected a figure and found a verdict"),
    ("!ipv6.sent", "column 2: ipv6.sent is a count, not a condition: compare it with something"),
];

#[test]
fn rejects_an_invalid_gate_with_a_reason_and_a_column() {
    let mut others = Vec::new();
    for &(text, said) in REFUSED {
        let found = Gate::parse(text, &families()).map(|gate| gate.to_string());
        let found = found.map_err(|wrong| wrong.to_string());
        if found.as_ref().err().is_none_or(|found| found != said) {
            others.push((text, found));
        }
    }
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn columns_are_counted_in_characters() {
    let wrong = Gate::parse("ipv6.sent > 1 ‖ x", &families()).unwrap_err();
    assert_eq!(wrong.to_string(), "column 15: '‖' has no meaning here");
}

#[test]
fn rejects_numbers_that_are_too_large() {
    for text in ["9".repeat(400), format!("{}GB", "9".repeat(308))] {
        let wrong = Gate::parse(&format!("ipv6.goodput > {text}"), &families()).unwrap_err();
        assert_eq!(wrong.column, 16, "{wrong}");
    }
}

#[test]
fn rejects_the_name_of_an_unused_family() {
    for family in Family::BOTH {
        let known = GateNames::of_run([family]);
        let name = family.to_string().to_lowercase();
        let other = family.other().to_string().to_lowercase();
        assert!(Gate::parse(&format!("{name}.sent < total.sent"), &known).is_ok());
        let said = |text: &str| Gate::parse(text, &known).unwrap_err().to_string();
        let expected = format!("column 1: there is no side '{other}' here: {name}, total");
        assert_eq!(said(&format!("{other}.sent > 1")), expected);
    }
}

#[test]
fn rejects_comparison_functions_in_a_gate_on_a_run() {
    for known in [GateNames::of_run(Family::BOTH), GateNames::of_run([Family::Ipv6])] {
        for (text, function) in [
            ("verdict(goodput) == worse", "verdict"),
            ("ratio_low(response.p99) > 1.05", "ratio_low"),
            ("difference(failures) > 1%", "difference"),
            ("p_holm(wait.p50) < 0.05", "p_holm"),
        ] {
            let said = Gate::parse(text, &known).unwrap_err().to_string();
            let expected =
                format!("column 1: {function}() needs a comparison: use it with sixmark compare");
            assert_eq!(said, expected, "{text}");
        }
    }
}
