//! Texts that are accepted. The formatted gate parses to the same gate.

use crate::fixture::comparison;
use crate::gate::source::GateSource;
use crate::gate::{Gate, GateNames, MOST_BYTES, MOST_NESTED};
use sixmark_result::expression::Function;
use sixmark_result::expression::names::FUNCTIONS;
use sixmark_result::expression::unit::UNITS;
use sixmark_result::fixture;
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};
use sixmark_units::family::Family;

/// All names of all commands. No actual command has both `total` and verdicts.
pub(super) fn families() -> GateNames {
    let mut names = GateNames::of_run(Family::BOTH);
    names.compared = true;
    names
}

fn read(text: &str) -> Gate {
    Gate::parse(text, &families()).unwrap_or_else(|wrong| panic!("{text}: {wrong}"))
}

const READ: &[(&str, &str)] = &[
    ("ipv6.response.p99 > 1.10 * ipv4.response.p99", "ipv6.response.p99 > 1.1 * ipv4.response.p99"),
    ("ipv6.response.p99>10ms", "ipv6.response.p99 > 10ms"),
    ("ipv6.response.p99 > 800 us", "ipv6.response.p99 > 800us"),
    ("10ns<=ipv6.slip.max", "10ns <= ipv6.slip.max"),
    ("total.service.stddev >= 2m", "total.service.stddev >= 2m"),
    ("verdict(response.p50) == worse", "verdict(response.p50) == worse"),
    ("worse!=verdict( goodput )", "worse != verdict(goodput)"),
    ("verdict(wait.p50) == verdict(wait.p99)", "verdict(wait.p50) == verdict(wait.p99)"),
    ("ipv6.failures > 1 %", "ipv6.failures > 1%"),
    ("ipv6.failures > 0.01", "ipv6.failures > 0.01"),
    ("ipv6.requests_per_s < 1000/s", "ipv6.requests_per_s < 1000/s"),
    ("ipv6.requests_per_s < 1000 /s", "ipv6.requests_per_s < 1000/s"),
    ("ipv6.goodput < 10 MB/s", "ipv6.goodput < 10MB/s"),
    ("ipv6.goodput / ipv6.requests_per_s < 4KiB", "ipv6.goodput / ipv6.requests_per_s < 4KiB"),
    ("ipv6.outcome.NO_PORT > 0", "ipv6.outcome.NO_PORT > 0"),
    ("ipv6.sent - ipv6.completed > 5", "ipv6.sent - ipv6.completed > 5"),
    ("ipv6.outcome.RESET / ipv6.sent > 1%", "ipv6.outcome.RESET / ipv6.sent > 1%"),
    ("ipv6.outcome.RESET > 1% * ipv6.sent", "ipv6.outcome.RESET > 1% * ipv6.sent"),
    ("difference_low(response.p50) > 0", "difference_low(response.p50) > 0"),
    ("ratio_high(goodput) < 95%", "ratio_high(goodput) < 95%"),
    ("ratio(response.p50) - 1 > 5%", "ratio(response.p50) - 1 > 5%"),
    (
        "p(wait.p90) < 0.05 or p_holm(wait.p90) < 0.05",
        "p(wait.p90) < 0.05 || p_holm(wait.p90) < 0.05",
    ),
    ("not ipv6.sent == 0 and ipv4.sent > 0", "!ipv6.sent == 0 && ipv4.sent > 0"),
    ("! (ipv6.sent == 0 && ipv4.sent > 0)", "!(ipv6.sent == 0 && ipv4.sent > 0)"),
    (
        "(ipv6.sent > 1 || ipv4.sent > 1) && ipv4.sent > 2",
        "(ipv6.sent > 1 || ipv4.sent > 1) && ipv4.sent > 2",
    ),
    (
        "ipv6.sent > 1 || (ipv4.sent > 1 && ipv4.sent > 2)",
        "ipv6.sent > 1 || ipv4.sent > 1 && ipv4.sent > 2",
    ),
    (
        "ipv6.sent > 1 && (ipv4.sent > 1 && ipv4.sent > 2)",
        "ipv6.sent > 1 && (ipv4.sent > 1 && ipv4.sent > 2)",
    ),
    (
        "ipv6.wait.p50 - (ipv4.wait.p50 - 1ms) > 2 * 3ms",
        "ipv6.wait.p50 - (ipv4.wait.p50 - 1ms) > 2 * 3ms",
    ),
    ("(ipv6.wait.p50 * 2) / 3 > -(-(1ms))", "(ipv6.wait.p50 * 2) / 3 > --1ms"),
    ("\tipv6.sent\n<\n9", "ipv6.sent < 9"),
    ("1 / ipv6.response.mean < 100/s", "1 / ipv6.response.mean < 100/s"),
    ("ipv6.sent / 10s < 100/s", "ipv6.sent / 10s < 100/s"),
];

#[test]
fn writes_a_parsed_gate_back_with_the_same_meaning() {
    for &(text, again) in READ {
        let gate = read(text);
        assert_eq!((gate.text(), gate.to_string().as_str()), (text, again));
        assert!(gate.means(&read(again)), "{text}");
    }
}

/// Checks docs/gates.md: conditions in first cells of tables must parse, and all names must occur.
#[test]
fn the_gates_page_has_valid_examples_and_all_names() {
    let page = include_str!("../../../../../docs/gates.md");
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    let examples: Vec<&str> =
        cells.map(|(cell, _)| cell).filter(|cell| cell.contains(['<', '>', '='])).collect();
    assert!(examples.len() > 10, "{examples:?}");
    examples.into_iter().for_each(|example| _ = read(example));
    let units = UNITS.iter().map(|unit| unit.name.trim_end_matches("/s")).filter(|n| !n.is_empty());
    let functions = FUNCTIONS.map(Function::name);
    for name in units
        .chain(TimedPhase::ALL.map(TimedPhase::name))
        .chain(TimePoint::ALL.map(TimePoint::name))
        .chain(functions)
    {
        let words = |c: char| !c.is_ascii_alphanumeric() && !"_%".contains(c);
        assert!(page.split(words).any(|word| word == name), "{name}");
    }
}

#[test]
fn accepts_the_names_of_compared_sides_besides_a_and_b() {
    let known = |a, b, text: &str| Gate::parse(text, &GateNames::of_comparison(a, b)).is_ok();
    assert!(known("ipv6", "ipv4", "ipv6.sent < a.sent || b.sent < ipv4.sent"));
    assert!(known("nginx", "http://[::1]/", "nginx.sent < b.sent"));
    assert!(!known("ipv6", "ipv6", "ipv6.sent > 1"), "which side?");
    assert!(!known("and", "or", "and.sent > 1"));
    assert!(!known("ipv6", "ipv4", "total.sent > 1"));
    // `a` and `b` keep their meaning.
    let swapped = GateNames::of_comparison("b", "a");
    assert_eq!(swapped, GateNames::of_comparison("x y", "-"));
}

#[test]
fn reads_a_side_name_that_begins_like_a_unit_as_a_name() {
    let names = GateNames::of_comparison("s", "ms");
    for text in ["1/s.response.mean > 1/s", "10 /s.sent > 1", "2 * ms.wait.p50 > 10ms"] {
        let gate = Gate::parse(text, &names);
        assert!(gate.is_ok(), "{text}: {gate:?}");
    }
}

#[test]
fn rejects_gates_beyond_the_length_and_nesting_limits() {
    let terms = |n: usize| vec!["a.sent>1"; n].join("&&");
    let sums = |n: usize| format!("a.sent>{}", vec!["1"; n].join("+"));
    let brackets = |n: usize| format!("{}a.sent>1{}", "(".repeat(n), ")".repeat(n));
    let nots = |n: usize| format!("{}a.sent>1", "!".repeat(n));
    let minuses = |n: usize| format!("a.sent>{}1", "-".repeat(n));
    let parse = |text: &str| Gate::parse(text, &GateNames::of_comparison("a", "b"));
    for text in [terms(409), sums(2_000), brackets(32), nots(32), minuses(32)] {
        let gate = parse(&text).unwrap();
        assert!(parse(&text).unwrap().means(&gate));
    }
    for text in [brackets(33), nots(33), minuses(33), "(!".repeat(2_000)] {
        let said = parse(&text).unwrap_err().what;
        assert_eq!(said, format!("nested more than {MOST_NESTED} deep"));
    }
    let said = parse(&terms(500)).unwrap_err().to_string();
    assert_eq!(said, format!("column 1: a gate has at most {MOST_BYTES} bytes"));
}

const PIECES: &[&str] = &[
    "ipv6.response.p99",
    "ipv4.wait.p50",
    "total.sent",
    "ipv6.failures",
    "ipv4.goodput",
    "ipv6.requests_per_s",
    "verdict(goodput)",
    "worse",
    "ratio(wait.p50)",
    "difference(goodput)",
    "1",
    "0",
    "2.5ms",
    "3%",
    "100/s",
    "4MB/s",
    "8KiB",
    "(",
    ")",
    "!",
    "-",
    "+",
    "*",
    "/",
    "<",
    ">=",
    "==",
    "!=",
    "&&",
    "||",
    "and",
    "not",
    "(",
    ")",
    "<",
    ">",
    "&&",
    "||",
    "ü",
    ".",
    "s",
];

/// Random sequences of tokens: whatever parses is formatted to text that parses to the same, and
/// nothing panics.
#[test]
fn random_gates_keep_their_meaning_when_written_and_read_again() {
    let (mut state, mut read) = (1_u64, 0);
    let (run, compared) = (fixture::run(), comparison());
    let mut source = GateSource::of_measurement(&run);
    source.comparison = Some(&compared);
    // Knuth's MMIX generator: its high bits are random enough to choose tokens.
    let mut below = |n: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    for _ in 0..300_000 {
        let some = 3 + below(9);
        let words: Vec<&str> = (0..some).map(|_| PIECES[below(PIECES.len())]).collect();
        let text = words.join(" ");
        let Ok(gate) = Gate::parse(&text, &families()) else { continue };
        let again = Gate::parse(&gate.to_string(), &families());
        assert!(again.as_ref().is_ok_and(|again| again.means(&gate)), "{text}\n{gate}\n{again:?}");
        let found = gate.judge(&source);
        let told = !found.because.is_empty() && !found.because.contains("NaN");
        assert!(told && !found.because.contains("inf "), "{text}: {found:?}");
        read += 1;
    }
    assert!(read > 100, "{read}");
}
