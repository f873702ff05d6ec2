//! What is said of a machine.

use super::machine::with;
use crate::facts::Facts;
use crate::finding::{CheckState, Finding};
use crate::judge::judge;

pub(super) fn find(all: &[Finding], name: &str) -> Finding {
    all.iter().find(|finding| finding.name == name).unwrap_or_else(|| panic!("no {name}")).clone()
}

/// The state of a check, and the commands that mend it.
pub(super) fn outcome(facts: &Facts, name: &str) -> (CheckState, Vec<String>) {
    let finding = find(&judge(facts), name);
    (finding.state, finding.mend.into_iter().filter_map(|mend| mend.command).collect())
}

/// A change of the good machine, a check, its state, and the commands that mend it.
pub(super) type Case = (fn(&mut Facts), &'static str, CheckState, &'static [&'static str]);

pub(super) fn check_cases(cases: &[Case]) {
    for (number, (change, name, state, commands)) in cases.iter().enumerate() {
        let found = outcome(&with(change), name);
        assert_eq!(found, (*state, commands.iter().map(|&of| of.to_owned()).collect()), "{number}");
    }
}
