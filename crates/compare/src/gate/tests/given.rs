//! Figures and conditions with names of their own.

use crate::gate::{Gate, GateNames};
use sixmark_result::expression::{Dimension, GivenFigure, GivenFigures, GivenKind, GivenName};

fn names() -> GateNames {
    let name = |name, kind, may_be_of_all| GivenName {
        name,
        kind,
        of: ["dead-ipv6", "slow-200", "a-late-1000"].map(str::to_owned).to_vec(),
        of_what: "case",
        may_be_of_all,
    };
    GateNames::of_given(vec![
        name("survives", GivenKind::Condition, true),
        name("content", GivenKind::Value(Dimension::Time), false),
        name("delay", GivenKind::Value(Dimension::Time), true),
    ])
}

/// Survives all but a-late-1000; the content takes 0.2 s, and the delay can't be determined.
struct Known;

impl GivenFigures for Known {
    fn value(&self, figure: &GivenFigure) -> Result<f64, String> {
        if figure.name == "content" { Ok(0.2) } else { Err(format!("{figure} was not measured")) }
    }

    fn holds(&self, figure: &GivenFigure) -> Result<(bool, String), String> {
        let lives = figure.of.as_deref().is_some_and(|of| of != "a-late-1000");
        Ok((lives, format!("{figure} is {lives}")))
    }
}

#[test]
fn evaluates_figures_and_conditions_by_their_names() {
    for (text, holds, because) in [
        ("survives(dead-ipv6)", Some(true), "survives(dead-ipv6) is true"),
        ("survives( slow-200 )", Some(true), "survives(slow-200) is true"),
        ("!survives(a-late-1000)", Some(true), "survives(a-late-1000) is false"),
        ("survives", Some(false), "survives is false"),
        ("content(slow-200) < 500ms", Some(true), "content(slow-200) is 200 ms"),
        (
            "content(slow-200) - content(dead-ipv6) > 1ms",
            Some(false),
            "content(slow-200) - content(dead-ipv6) is 0 us (content(slow-200) 200 ms, content(dead-ipv6) 200 ms)",
        ),
        ("delay < 300ms", None, "cannot be determined: delay was not measured"),
        ("survives(slow-200) or delay < 300ms", Some(true), "survives(slow-200) is true"),
        ("survives(slow-200) and delay < 1s", None, "cannot be determined: delay was not measured"),
    ] {
        let gate = Gate::parse(text, &names()).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));
        assert_eq!(gate.holds_for(&Known), (holds, because.to_owned()), "{text}");
        // What is written of it means the same.
        assert!(Gate::parse(&gate.to_string(), &names()).unwrap().means(&gate), "{gate}");
    }
}

#[test]
fn refuses_what_has_no_such_name() {
    for (text, expected) in [
        ("", "column 1: expected a figure, as in survives(dead-ipv6), and found the end"),
        ("survive(dead-ipv6)", "column 1: no figure is called 'survive': did you mean 'survives'?"),
        (
            "survives(dead-ipv5)",
            "column 10: no case is called 'dead-ipv5' here: did you mean 'dead-ipv6'?",
        ),
        ("survives(dead-ipv6", "column 19: expected ) for the ( in column 9, and found the end"),
        ("content < 1s", "column 1: content takes a case, as in content(dead-ipv6)"),
        (
            "content(slow-200)",
            "column 1: content(slow-200) is a time, not a condition: compare it with something",
        ),
        (
            "content(slow-200) < 1",
            "column 21: content(slow-200) is a time: give 1 a unit, as in 1ms",
        ),
        ("survives(slow-200) < 1s", "column 1: expected a figure and found a condition"),
        ("1s < 2s", "column 4: neither operand is a figure, as in content"),
        (
            "verdict(goodput) == worse",
            "column 1: no figure is called 'verdict': survives, content, delay",
        ),
    ] {
        let wrong = Gate::parse(text, &names()).map_err(|wrong| wrong.to_string());
        assert_eq!(wrong, Err(expected.to_owned()), "{text}");
    }
}

#[test]
fn a_gate_on_a_run_does_not_know_them() {
    let known = super::reading::families();
    assert!(Gate::parse("survives(dead-ipv6)", &known).is_err());
    assert!(Gate::parse("survives", &known).is_err());
}
