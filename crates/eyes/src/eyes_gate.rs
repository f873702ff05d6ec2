//! The figures of a client that gates know, and the results of gates.

use serde::{Deserialize, Serialize};
use sixmark_result::expression::{
    Dimension, GateNames, GivenFigure, GivenFigures, GivenKind, GivenName,
};
use sixmark_sheet::write::write_time;

use crate::clause::{CLAUSES, ClauseState};
use crate::eyes_result::{CaseResult, EyesResult};
use crate::figures::TimeSpread;

/// A gate and its result: a condition that must hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EyesGateResult {
    /// The condition, as written.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub gate: String,
    /// True if the condition does not hold or cannot be determined.
    pub failed: bool,
    /// The figures that decided, or what was missing, as human-readable text.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub because: String,
}

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
        about: "when the content arrives, the median",
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
        about: "the share of the starts with a request whose request goes over IPv6",
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
        let Some(name) = &figure.of else { return Ok(self.cases.iter().collect()) };
        let found = self.cases.iter().find(|of| of.case == *name);
        found.map(|of| vec![of]).ok_or_else(|| format!("{name} was not watched"))
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
    let time = of.figures.content.map(|of| format!(", after {}", write_time(of.median_ms * 1e3)));
    format!("{}: content in {starts} of {starts} starts{}", of.case, time.unwrap_or_default())
}
