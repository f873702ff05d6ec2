//! Tests of evaluation: the result of a gate and its description.

use super::reading::families;
use crate::Comparison;
use crate::fixture::{comparison, comparison_result};
use crate::gate::source::GateSource;
use crate::gate::{Gate, GateNames};
use sixmark_document::verdict::Verdict;
use sixmark_result::fixture::{run, silent};
use sixmark_result::gate_result::GateResult;
use sixmark_result::result::RunResult;
use sixmark_result::sameness::Sameness;

fn of(run: &RunResult, text: &str) -> GateResult {
    let gate = Gate::parse(text, &families()).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));
    let (compared, mut source) = (comparison(), GateSource::of_measurement(run));
    source.comparison = Some(&compared);
    gate.judge(&source)
}

const TOLD: &[(&str, bool, &str)] = &[
    (
        "ipv6.response.p99 > 1.1 * ipv4.response.p99",
        true,
        "ipv6.response.p99 is 12.0 ms, 1.1 * ipv4.response.p99 is 11.0 ms",
    ),
    (
        "ipv6.response.p99 > 1.3 * ipv4.response.p99",
        false,
        "ipv6.response.p99 is 12.0 ms, 1.3 * ipv4.response.p99 is 13.0 ms",
    ),
    ("ipv6.response.max >= 12ms", true, "ipv6.response.max is 12.0 ms"),
    ("ipv6.response.max > 12ms", false, "ipv6.response.max is 12.0 ms"),
    ("ipv6.response.max != 12.0001ms", true, "ipv6.response.max is 12.0000 ms"),
    (
        "ipv6.response.max / ipv4.response.max > 110%",
        true,
        "ipv6.response.max / ipv4.response.max is 120 % (ipv6.response.max 12.0 ms, ipv4.response.max 10.0 ms)",
    ),
    ("ipv6.failures > 0.5%", true, "ipv6.failures is 1.00 %"),
    ("ipv6.outcome.RESET == 10", true, "ipv6.outcome.RESET is 10"),
    ("ipv6.outcome.TIMEOUT > 0", false, "ipv6.outcome.TIMEOUT is 0"),
    ("ipv6.requests_per_s < 1000/s", true, "ipv6.requests_per_s is 990/s"),
    ("total.goodput < 1MB/s", true, "total.goodput is 990 kB/s"),
    (
        "ipv6.goodput / ipv6.requests_per_s < 1kB",
        false,
        "ipv6.goodput / ipv6.requests_per_s is 1.00 kB (ipv6.goodput 990 kB/s, ipv6.requests_per_s 990/s)",
    ),
    (
        "ipv6.sent - ipv6.completed > 9",
        true,
        "ipv6.sent - ipv6.completed is 10 (ipv6.sent 1,000, ipv6.completed 990)",
    ),
    ("not ipv6.sent == 1000", false, "ipv6.sent is 1,000"),
    (
        "ipv6.sent == 1 or ipv6.sent == 1000 or ipv4.sent == 1000",
        true,
        "ipv6.sent is 1,000; ipv4.sent is 1,000",
    ),
    ("ipv6.sent == 1000 and ipv4.sent == 1", false, "ipv4.sent is 1,000"),
    ("1 / ipv6.response.p50 > 83/s", true, "1 / ipv6.response.p50 is 83.3/s"),
    (
        "verdict(response.p50) == worse",
        true,
        "response.p50 is worse (ratio 1.20, 95 % interval 1.15 to 1.25)",
    ),
    (
        "verdict(response.p50) != worse",
        false,
        "response.p50 is worse (ratio 1.20, 95 % interval 1.15 to 1.25)",
    ),
    (
        "verdict(goodput) == worse",
        false,
        "goodput is inconclusive (ratio 1.01, 95 % interval 0.900 to 1.10; below the noise floor of 2 %)",
    ),
    (
        "verdict(failures) != equivalent",
        false,
        "failures is equivalent (difference 0 %, 90 % interval -0.400 % to 0.400 %; margin 0.5 percentage points)",
    ),
    ("ratio_low(response.p50) > 1.1", true, "ratio_low(response.p50) is 1.15"),
    ("difference(response.p50) > 1ms", true, "difference(response.p50) is 2.00 ms"),
    ("difference_high(failures) > 2%", false, "difference_high(failures) is 1.00 %"),
    ("p(response.p50) < 0.001", true, "p(response.p50) is 0.000500"),
    ("p_holm(response.p50) < 0.001", false, "p_holm(response.p50) is 0.00150"),
];

#[test]
fn fails_a_gate_whose_condition_holds_and_reports_the_figures() {
    for &(text, failed, because) in TOLD {
        let expected = GateResult { fail_if: text.into(), failed, because: because.into() };
        assert_eq!(of(&run(), text), expected);
    }
}

/// Sides that do not give the same responses: the median of IPv6 looks 50 % better.
fn unlike() -> Comparison {
    let mut comparison = comparison();
    let said = "IPv6 answers 503 to every request; IPv4 200";
    let sameness = Sameness {
        same: false,
        said: Some(said.to_owned()),
        level: 0.01,
        pairs: 12,
        tests: 2,
        differences: Vec::new(),
    };
    comparison.sameness = Some(sameness);
    for compared in comparison.metrics.iter_mut().filter(|of| of.metric.is_of_speed()) {
        (compared.verdict, compared.ratio) = (Verdict::NotComparable, None);
        compared.reason = Some(said.to_owned());
    }
    comparison
}

#[test]
fn fails_gates_that_need_a_metric_that_is_not_comparable() {
    let said = "response.p50 is not comparable: IPv6 answers 503 to every request; IPv4 200";
    for (text, failed, because) in [
        ("verdict(response.p50) == worse", true, format!("cannot be determined: {said}")),
        ("verdict(response.p50) != worse", true, format!("cannot be determined: {said}")),
        ("verdict(response.p50) == not_comparable", true, said.to_owned()),
        ("verdict(response.p50) != not_comparable", false, said.to_owned()),
        (
            "verdict(response.p99) == worse",
            true,
            "cannot be determined: response.p99 is not comparable: IPv6 answers 503 to every request; IPv4 \
             200"
                .to_owned(),
        ),
        (
            "ratio(response.p50) > 1.05",
            true,
            "cannot be determined: there is no ratio(response.p50): IPv6 answers 503 to every request; IPv4 \
             200"
                .to_owned(),
        ),
        (
            "verdict(failures) == worse",
            false,
            "failures is equivalent (difference 0 %, 90 % interval -0.400 % to 0.400 %; margin 0.5 percentage points)".to_owned(),
        ),
    ] {
        let gate = Gate::parse(text, &families()).unwrap();
        let (run, compared) = (run(), unlike());
        let mut source = GateSource::of_measurement(&run);
        source.comparison = Some(&compared);
        let found = gate.judge(&source);
        assert_eq!(found, GateResult { fail_if: text.into(), failed, because });
    }
}

const UNTOLD: &[(&str, &str)] = &[
    ("ipv6.connect.p50 > 1s", "ipv6.connect.p50 was not measured: no TCP connection was opened"),
    ("ipv6.tls.p50 > 1s", "ipv6.tls.p50 was not measured: there was no TLS"),
    ("ipv6.slip.p50 > 1s", "ipv6.slip.p50 was not measured: a closed loop has none"),
    ("ipv6.lifetime.p50 > 1s", "ipv6.lifetime.p50 was not measured: no connection was closed"),
    ("not ipv6.wait.p50 > 1s", "ipv6.wait.p50 was not measured: there was no complete response"),
    (
        "verdict(response.p99) == worse",
        "response.p99 was not compared: it is missing on at least one side",
    ),
    (
        "verdict(response.p999) == worse",
        "response.p999 could not be compared: 1 sample is in the tail, of 100 that it takes",
    ),
    (
        "ratio(response.p999) > 1.1",
        "there is no ratio(response.p999): 1 sample is in the tail, of 100 that it takes",
    ),
    ("p(goodput) < 0.05", "there is no p(goodput): below the noise floor of 2 %"),
    ("ipv6.sent / ipv6.outcome.TIMEOUT > 1", "division by ipv6.outcome.TIMEOUT, which is 0"),
    ("0 / (ipv6.sent - ipv6.sent) > 1", "division by ipv6.sent - ipv6.sent, which is 0"),
];

#[test]
fn fails_a_gate_on_figures_that_were_not_measured() {
    for &(text, because) in UNTOLD {
        let GateResult { failed, because: said, .. } = of(&run(), text);
        assert_eq!((failed, said), (true, format!("cannot be determined: {because}")), "{text}");
    }
}

#[test]
fn fails_a_gate_on_figures_that_are_not_finite() {
    let mut run = run();
    let huge = "9".repeat(300);
    let too_large = format!("ipv6.sent * {huge} * {huge} * 0 > 1");
    assert!(of(&run, &too_large).failed);
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        run.families.ipv6.as_mut().unwrap().goodput_bytes_per_s = wrong;
        let found = of(&run, "ipv6.goodput < 1MB/s && ipv6.goodput > 1MB/s");
        assert_eq!(
            (found.failed, found.because.as_str()),
            (true, "cannot be determined: ipv6.goodput is not finite")
        );
    }
}

#[test]
fn fails_every_gate_on_the_performance_of_an_idle_side() {
    for silence in [true, false] {
        let mut run = run();
        run.families.ipv6 = silence.then(silent);
        for text in [
            "ipv6.goodput < 1B/s",
            "ipv6.failures > 1%",
            "ipv6.requests_per_s < 1/s",
            "ipv6.response.p99 > 1s",
        ] {
            let found = of(&run, text);
            assert!(found.failed && found.because.starts_with("cannot be determined"), "{found:?}");
        }
    }
}

#[test]
fn decides_a_gate_that_does_not_depend_on_a_missing_figure() {
    for (text, failed) in [
        ("ipv6.sent == 0 && ipv6.tls.p50 > 1s", Some(false)),
        ("ipv6.sent > 0 || ipv6.tls.p50 > 1s", Some(true)),
        ("ipv6.sent > 0 && ipv6.tls.p50 > 1s", None),
        ("ipv6.sent == 0 || ipv6.tls.p50 > 1s", None),
        ("!(ipv6.sent == 0 || ipv6.tls.p50 > 1s)", None),
    ] {
        let found = of(&run(), text);
        assert_eq!(found.failed, failed.unwrap_or(true), "{text}");
        assert_eq!(
            found.because.starts_with("cannot be determined"),
            failed.is_none(),
            "{found:?}"
        );
    }
}

#[test]
fn evaluates_gates_on_both_sides_of_a_comparison() {
    let result = comparison_result();
    let names = GateNames::of_comparison(&result.sides.a.name, &result.sides.b.name);
    for (text, failed) in [
        ("a.response.p50 > b.response.p50", true),
        ("ipv6.response.p50 > 1.3 * ipv4.response.p50", false),
        ("verdict(response.p50) == worse", true),
        ("a.tls.p50 > 1s", true),
    ] {
        let found = Gate::parse(text, &names).unwrap().of_comparison(&result);
        assert_eq!(found.failed, failed, "{found:?}");
    }
}

#[test]
fn a_run_without_a_comparison_has_no_verdict() {
    let gate = Gate::parse("verdict(goodput) == worse", &families()).unwrap();
    let found = gate.of_measurement(&run());
    assert_eq!(
        (found.failed, found.because.as_str()),
        (true, "cannot be determined: nothing was compared")
    );
}
