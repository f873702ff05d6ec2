//! The figures of a client that gates know.

use sixmark_result::expression::{
    Dimension, GateNames, GivenFigure, GivenFigures, GivenKind, GivenName,
};
use sixmark_units::quantity::duration_us;

use crate::clause::{CLAUSES, ClauseState};
use crate::eyes_result::{CaseResult, EyesResult};
use crate::figures::{CaseFigures, TimeSpread};

/// What a figure of gates is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EyesFigureOf {
    /// A case.
    Case,
    /// A case, or all of them.
    CaseOrAll,
    /// A clause.
    Clause,
}

/// A figure or a condition of gates.
#[derive(Clone, Copy)]
pub struct EyesFigure {
    /// Its name.
    pub name: &'static str,
    /// What it is of.
    pub of: EyesFigureOf,
    /// Its kind.
    pub kind: GivenKind,
    /// What it is, as a phrase.
    pub about: &'static str,
}

const TIME: GivenKind = GivenKind::Value(Dimension::Time);

/// All figures and conditions, in the order of docs/eyes.md.
pub const EYES_FIGURES: [EyesFigure; 8] = [
    EyesFigure {
        name: "survives",
        of: EyesFigureOf::CaseOrAll,
        kind: GivenKind::Condition,
        about: "the content arrives in every start",
    },
    EyesFigure {
        name: "met",
        of: EyesFigureOf::Clause,
        kind: GivenKind::Condition,
        about: "the clause is met; it can't be determined of one that was not shown",
    },
    EyesFigure {
        name: "content",
        of: EyesFigureOf::Case,
        kind: TIME,
        about: "when the content arrives, the median; it can't be determined if it does not in every start",
    },
    EyesFigure {
        name: "content_max",
        of: EyesFigureOf::Case,
        kind: TIME,
        about: "the same, the largest",
    },
    EyesFigure {
        name: "attempt_delay",
        of: EyesFigureOf::CaseOrAll,
        kind: TIME,
        about: "the delay between attempts, the median",
    },
    EyesFigure {
        name: "attempt_delay_max",
        of: EyesFigureOf::CaseOrAll,
        kind: TIME,
        about: "the same, the largest",
    },
    EyesFigure {
        name: "over_ipv6",
        of: EyesFigureOf::Case,
        kind: GivenKind::Value(Dimension::Share),
        about: "of the starts that send a request, the share that sends it over IPv6",
    },
    EyesFigure {
        name: "addresses",
        of: EyesFigureOf::Case,
        kind: GivenKind::Value(Dimension::Count),
        about: "the most addresses that it tries in a start",
    },
];

/// Returns the names that gates know if these cases are watched.
pub fn gate_names(cases: &[&str]) -> GateNames {
    let name = |figure: &EyesFigure| GivenName {
        name: figure.name,
        kind: figure.kind,
        of: match figure.of {
            EyesFigureOf::Clause => CLAUSES.iter().map(|of| of.name.to_owned()).collect(),
            _ => cases.iter().map(|of| (*of).to_owned()).collect(),
        },
        of_what: if figure.of == EyesFigureOf::Clause { "clause" } else { "case" },
        may_be_of_all: figure.of == EyesFigureOf::CaseOrAll,
    };
    GateNames::of_given(EYES_FIGURES.iter().map(name).collect())
}

impl GivenFigures for EyesResult {
    fn value(&self, figure: &GivenFigure) -> Result<f64, String> {
        let missing = |why: &str| format!("{figure} was not measured: {why}");
        let cases = self.cases_of(figure)?;
        let case = || cases.first().copied().ok_or_else(|| missing("there is no case"));
        let time = |spread: Option<TimeSpread>, of: fn(&TimeSpread) -> f64, why: &str| {
            spread.map(|spread| of(&spread) / 1e3).ok_or_else(|| missing(why))
        };
        let delay = || match figure.of {
            Some(_) => cases.first()?.figures.attempt_delay,
            None => self.profile.attempt_delay.map(|of| of.all),
        };
        let no_content = "no content arrived";
        let no_delay = "no second attempt began before the first was over";
        match figure.name {
            // The times of the starts with content alone would hide those without.
            "content" | "content_max" if case()?.figures.survived < case()?.figures.starts => {
                let CaseFigures { survived, starts, .. } = case()?.figures;
                Err(missing(&format!("content in {survived} of {starts} starts")))
            }
            "content" => time(case()?.figures.content, |of| of.median_ms, no_content),
            "content_max" => time(case()?.figures.content, |of| of.largest_ms, no_content),
            "attempt_delay" => time(delay(), |of| of.median_ms, no_delay),
            "attempt_delay_max" => time(delay(), |of| of.largest_ms, no_delay),
            "over_ipv6" => {
                let of = &case()?.figures;
                let asked = of.over_ipv6 + of.over_ipv4;
                let share = f64::from(of.over_ipv6) / f64::from(asked);
                if asked > 0 { Ok(share) } else { Err(missing("no request was sent")) }
            }
            "addresses" => Ok(case()?.figures.addresses_tried.into()),
            _ => Err(missing("it is not known")),
        }
    }

    fn holds(&self, figure: &GivenFigure) -> Result<(bool, String), String> {
        match figure.name {
            "survives" => {
                let cases = self.cases_of(figure)?;
                let lost: Vec<String> = cases.iter().filter_map(|of| describe_lost(of)).collect();
                match (&lost[..], &cases[..]) {
                    ([], [only]) => Ok((true, describe_content(only))),
                    ([], all) => Ok((true, format!("the content arrives in {} cases", all.len()))),
                    (lost, _) => Ok((false, lost.join(", "))),
                }
            }
            "met" => {
                let name = figure.of.as_deref().unwrap_or_default();
                let finding = self.clauses.iter().find(|of| of.clause == name);
                let finding = finding.ok_or_else(|| format!("{name} was not judged"))?;
                let starts = format!("{} of {} starts", finding.met, finding.shown);
                match finding.state {
                    ClauseState::Met => Ok((true, format!("{name} is met in {starts}"))),
                    ClauseState::NotMet => Ok((false, format!("{name} is met in {starts}"))),
                    ClauseState::NotShown => Err(format!("no start shows {name}")),
                }
            }
            _ => Err(format!("{figure} is not known")),
        }
    }
}

impl EyesResult {
    /// Returns the cases that a figure is of.
    fn cases_of(&self, figure: &GivenFigure) -> Result<Vec<&CaseResult>, String> {
        let is_meant = |of: &&CaseResult| figure.of.as_ref().is_none_or(|name| of.case == *name);
        let cases: Vec<&CaseResult> = self.cases.iter().filter(is_meant).collect();
        if let (Some(name), true) = (&figure.of, cases.is_empty()) {
            return Err(format!("{name} was not watched"));
        }
        match cases.iter().find(|of| of.starts.iter().any(|start| start.lost_packets > 0)) {
            Some(of) => Err(format!("the capture lost packets in {}", of.case)),
            None => Ok(cases),
        }
    }
}

fn describe_lost(of: &CaseResult) -> Option<String> {
    let figures = &of.figures;
    (figures.survived < figures.starts).then(|| {
        format!("{}: content in {} of {} starts", of.case, figures.survived, figures.starts)
    })
}

fn describe_content(of: &CaseResult) -> String {
    let starts = of.figures.starts;
    let time = of.figures.content.map(|of| format!(", after {}", duration_us(of.median_ms * 1e3)));
    format!("{}: content in {starts} of {starts} starts{}", of.case, time.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use sixmark_document::environment::environment;
    use sixmark_document::provenance::{Ended, Tool};

    use super::*;
    use crate::clause::ClauseFinding;
    use crate::client_profile::{AttemptDelay, ClientProfile};
    use crate::eyes_case::SiteScheme;

    fn case(name: &str, survived: u32, content_ms: &[f64], delays_ms: &[f64]) -> CaseResult {
        let figures = CaseFigures {
            starts: 3,
            survived,
            over_ipv6: 1,
            over_ipv4: survived.saturating_sub(1),
            attempt_delay: TimeSpread::of(delays_ms.iter().copied()),
            content: TimeSpread::of(content_ms.iter().copied()),
            ..CaseFigures::of(&[])
        };
        CaseResult { figures, ..CaseResult::of(name, Vec::new()) }
    }

    fn result() -> EyesResult {
        let finding = |clause: &str, state, met, shown| ClauseFinding {
            clause: clause.to_owned(),
            state,
            met,
            shown,
        };
        EyesResult {
            schema: String::new(),
            tool: Tool::of_this_program(),
            started: String::new(),
            elapsed_s: 1.0,
            ended: Ended::Complete,
            environment: environment(Vec::new()),
            scheme: SiteScheme::Http,
            command: vec!["x".to_owned()],
            served_on: None,
            profile: ClientProfile {
                attempt_delay: TimeSpread::of([250.0, 260.0, 300.0])
                    .map(|all| AttemptDelay { all, is_fixed: Some(false) }),
                ..ClientProfile::default()
            },
            warnings: Vec::new(),
            cases: vec![
                case("healthy", 3, &[10.0, 12.0, 11.0], &[]),
                case("dead-ipv6", 3, &[260.0, 270.0, 265.0], &[250.0, 260.0]),
                case("slow-500", 2, &[400.0], &[300.0]),
            ],
            clauses: vec![
                finding("least-delay", ClauseState::Met, 6, 6),
                finding("interleaved", ClauseState::NotMet, 1, 6),
                finding("https-query", ClauseState::NotShown, 0, 0),
            ],
            gates: Vec::new(),
        }
    }

    fn figure(name: &'static str, of: &str) -> GivenFigure {
        let of = (!of.is_empty()).then(|| of.to_owned());
        GivenFigure { name, of, dimension: Dimension::Time }
    }

    #[test]
    fn figures_are_in_seconds_and_shares() {
        for (name, of, expected) in [
            ("content", "dead-ipv6", Ok(0.265)),
            ("content_max", "dead-ipv6", Ok(0.27)),
            ("attempt_delay", "dead-ipv6", Ok(0.255)),
            ("attempt_delay", "", Ok(0.26)),
            ("attempt_delay_max", "", Ok(0.3)),
            ("over_ipv6", "slow-500", Ok(0.5)),
            ("addresses", "healthy", Ok(0.0)),
            (
                "attempt_delay",
                "healthy",
                Err(
                    "attempt_delay(healthy) was not measured: no second attempt began before the first \
                     was over",
                ),
            ),
            ("content", "last-alive", Err("last-alive was not watched")),
            (
                "content",
                "slow-500",
                Err("content(slow-500) was not measured: content in 2 of 3 starts"),
            ),
        ] {
            let expected = expected.map_err(str::to_owned);
            assert_eq!(result().value(&figure(name, of)), expected, "{name}({of})");
        }
    }

    #[test]
    fn conditions_say_what_decided_them() {
        for (name, of, expected) in [
            (
                "survives",
                "dead-ipv6",
                Ok((true, "dead-ipv6: content in 3 of 3 starts, after 265 ms")),
            ),
            ("survives", "slow-500", Ok((false, "slow-500: content in 2 of 3 starts"))),
            ("survives", "", Ok((false, "slow-500: content in 2 of 3 starts"))),
            ("met", "least-delay", Ok((true, "least-delay is met in 6 of 6 starts"))),
            ("met", "interleaved", Ok((false, "interleaved is met in 1 of 6 starts"))),
            ("met", "https-query", Err("no start shows https-query")),
        ] {
            let found = result().holds(&figure(name, of));
            let expected = expected.map(|(holds, said)| (holds, said.to_owned()));
            assert_eq!(found, expected.map_err(str::to_owned), "{name}({of})");
        }
    }

    #[test]
    fn each_figure_has_a_value_or_is_a_condition() {
        let known = result();
        for of in &EYES_FIGURES {
            let name = if of.of == EyesFigureOf::Clause { "least-delay" } else { "dead-ipv6" };
            let figure = figure(of.name, name);
            let is_known = match of.kind {
                GivenKind::Condition => known.holds(&figure).is_ok(),
                GivenKind::Value(_) => known.value(&figure).is_ok(),
            };
            assert!(is_known, "{}", of.name);
        }
    }
}
