//! `sixmark.doctor/1`: the document that `sixmark doctor` writes.

use serde::{Deserialize, Serialize};
use sixmark_document::provenance::{Environment, Tool};

use crate::finding::{CheckState, Finding};
use crate::purpose::Purpose;

/// The name and version of the document format.
pub const SCHEMA: &str = "sixmark.doctor/1";

/// The document that sixmark doctor writes: what a machine allows sixmark. docs/doctor.md describes
/// it for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DoctorResult {
    /// The name and version of the document format.
    pub schema: String,
    /// The program that made the document.
    pub tool: Tool,
    /// When the checks began, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME)))]
    pub started: String,
    /// The machine that was checked.
    pub environment: Environment,
    /// What made the container in which the process ran, such as podman; null outside of one.
    pub container: Option<String>,
    /// The effective user id of the process; null if it could not be read.
    pub user: Option<u32>,
    /// What was required: the names of purposes and checks.
    pub required: Vec<String>,
    /// Those of them that are not met; the exit status is 1 if there are any.
    pub unmet: Vec<String>,
    /// What sixmark is used for, and whether that works here.
    pub purposes: Vec<PurposeResult>,
    /// What the checks found out.
    pub checks: Vec<Finding>,
}

/// Whether one use of sixmark works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PurposeResult {
    /// The purpose.
    pub name: Purpose,
    /// `missing` if it does not work, `limited` if it does with limits, `unknown` if a check that
    /// decides it could not be made.
    pub state: CheckState,
    /// The checks that made it so; empty if it works.
    pub because: Vec<String>,
}

/// What one name after `--require` stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Required {
    /// A purpose.
    Purpose(Purpose),
    /// A check.
    Check(String),
}

/// Returns whether each purpose works, by what the checks found out.
pub fn judge_purposes(checks: &[Finding]) -> Vec<PurposeResult> {
    Purpose::ALL.into_iter().map(|purpose| judge_purpose(purpose, checks)).collect()
}

fn judge_purpose(purpose: Purpose, checks: &[Finding]) -> PurposeResult {
    let names = |is_so: &dyn Fn(&Finding) -> bool| -> Vec<String> {
        checks.iter().filter(|check| is_so(check)).map(|check| check.name.clone()).collect()
    };
    let uses = |check: &Finding, state| check.state == state && check.used_by.contains(&purpose);
    let reasons = [
        (CheckState::Missing, names(&|check| check.prevents.contains(&purpose))),
        (CheckState::Unknown, names(&|check| uses(check, CheckState::Unknown))),
        (CheckState::Limited, names(&|check| uses(check, CheckState::Limited))),
    ];
    let first = reasons.into_iter().find(|(_, because)| !because.is_empty());
    let (state, because) = first.unwrap_or((CheckState::Ok, Vec::new()));
    PurposeResult { name: purpose, state, because }
}

impl Required {
    /// Returns the names of the requirements that are not met. What is limited is met; what is
    /// unknown is not.
    pub fn unmet(all: &[Required], purposes: &[PurposeResult], checks: &[Finding]) -> Vec<String> {
        let is_met = |state: CheckState| matches!(state, CheckState::Ok | CheckState::Limited);
        let meets = |required: &&Required| match required {
            Required::Purpose(purpose) => {
                purposes.iter().any(|of| of.name == *purpose && is_met(of.state))
            }
            Required::Check(name) => {
                checks.iter().any(|check| check.name == *name && is_met(check.state))
            }
        };
        all.iter().filter(|required| !meets(required)).map(|of| of.name().to_owned()).collect()
    }

    /// Returns the name that was given.
    pub fn name(&self) -> &str {
        match self {
            Required::Purpose(purpose) => purpose.name(),
            Required::Check(name) => name,
        }
    }
}

/// Returns the findings of a state, in their order.
pub fn of_state(checks: &[Finding], state: CheckState) -> impl Iterator<Item = &Finding> {
    checks.iter().filter(move |check| check.state == state)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, state: CheckState, used_by: &[Purpose]) -> Finding {
        Finding::new(name, state, "found", "means").used_by(used_by)
    }

    #[test]
    fn a_purpose_takes_the_state_of_its_worst_check() {
        let run = [Purpose::Run];
        let ok = check("ipv6", CheckState::Ok, &run);
        let limited = check("b", CheckState::Limited, &run);
        let unknown = check("c", CheckState::Unknown, &run);
        let missing = check("d", CheckState::Missing, &run);
        let prevents = check("e", CheckState::Limited, &run).preventing(&run);
        for (checks, state, because) in [
            (vec![ok.clone()], CheckState::Ok, vec![]),
            (vec![ok.clone(), limited.clone()], CheckState::Limited, vec!["b"]),
            (vec![limited.clone(), unknown.clone()], CheckState::Unknown, vec!["c"]),
            (vec![limited, unknown, missing], CheckState::Missing, vec!["d"]),
            (vec![ok, prevents], CheckState::Missing, vec!["e"]),
        ] {
            let found = judge_purposes(&checks);
            let run = found.iter().find(|of| of.name == Purpose::Run).unwrap();
            assert_eq!(
                (run.state, &run.because[..]),
                (state, &because.iter().map(|&b| b.to_owned()).collect::<Vec<_>>()[..])
            );
            let lab = found.iter().find(|of| of.name == Purpose::Lab).unwrap();
            assert_eq!(lab.state, CheckState::Ok, "what no check uses is not prevented");
        }
    }

    #[test]
    fn reports_missing_and_unknown_requirements_as_unmet() {
        let checks = [
            check("ipv6", CheckState::Missing, &[Purpose::Run]),
            check("capture", CheckState::Ok, &[Purpose::Watch]),
            check("governor", CheckState::Unknown, &[]),
            check("offloads", CheckState::Limited, &[]),
        ];
        let purposes = judge_purposes(&checks);
        let all = [
            Required::Purpose(Purpose::Run),
            Required::Purpose(Purpose::Watch),
            Required::Check("governor".into()),
            Required::Check("offloads".into()),
            Required::Check("lab-links".into()),
        ];
        assert_eq!(Required::unmet(&all, &purposes, &checks), ["run", "governor", "lab-links"]);
    }
}
