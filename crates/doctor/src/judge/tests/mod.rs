//! Facts of other machines, and what is said of them.

mod families;
mod kernel;
mod limits;
mod machine;
mod outcome;

use super::{CHECK_NAMES, judge};
use crate::doctor_result::judge_purposes;
use crate::finding::CheckState;
use crate::purpose::Purpose;
use machine::good;

#[test]
fn reports_no_problem_on_a_good_machine() {
    let found = judge(&good());
    let wrong: Vec<_> = found.iter().filter(|one| one.state != CheckState::Ok).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(found.iter().all(|one| one.mend.is_empty() && one.prevents.is_empty()));
    let purposes = judge_purposes(&found);
    assert!(purposes.iter().all(|purpose| purpose.state == CheckState::Ok), "{purposes:?}");
}

#[test]
fn lists_the_names_of_all_checks() {
    let names: Vec<String> = judge(&good()).into_iter().map(|finding| finding.name).collect();
    assert_eq!(names, CHECK_NAMES);
}

#[test]
fn every_purpose_uses_at_least_one_check() {
    let found = judge(&good());
    for purpose in Purpose::ALL {
        assert!(found.iter().any(|one| one.used_by.contains(&purpose)), "{purpose:?}");
    }
}
