//! Searches of which a trial can't be run.

use super::*;

/// What the kernel says if a ring for a worker finds no memory.
const NO_MEMORY: &str = "can't create an io_uring: Cannot allocate memory (os error 12)";

/// Searches servers of 1,000 exchanges per second until the load number `failing`, which has this
/// error.
fn stopped_at(failing: usize, error: &CommandError) -> Result<RunResult, CommandError> {
    let (plan, asked) = (plan(PlanRatio::EVEN), asked(Duration::MAX));
    let mut number = 0;
    let load = |plan: &Plan, _: &mut dyn FnMut(SearchEvent<'_>)| {
        let (family, rate) = of(plan);
        number += 1;
        if number == failing { Err(error.clone()) } else { Ok(server(family, rate, 1_000.0)) }
    };
    let searched = search(&plan, &asked, &|| Duration::ZERO, load, &mut |_| {})?;
    Ok(result(&plan, &asked, searched))
}

#[test]
fn keeps_earlier_results_if_a_later_trial_cannot_run() {
    let result = stopped_at(15, &CommandError::Measure(NO_MEMORY.to_owned())).unwrap();
    for family in Family::BOTH {
        let of = found(&result, family);
        assert_eq!(of.trials.len(), 7);
        assert_eq!((of.holds, of.ended), (Some(951.0), Some(SearchEnd::Stopped)), "{of:?}");
        assert_eq!(of.shown().map(|trial| trial.rate), Some(951.0));
        assert!(result.families.of(family).unwrap().accepted() > 0);
    }
    let found = result.find_max.as_ref().unwrap();
    assert_eq!(found.ratio, None);
    let why = found.describe_stop().unwrap();
    assert!(why.starts_with("the search ended early: a trial over IPv"), "{why}");
    assert!(why.ends_with(&format!("/s could not be run: {NO_MEMORY}")), "{why}");
    let told = result.warnings.iter().filter(|warning| warning.code == "search_stopped");
    assert_eq!(told.map(|warning| &warning.message).collect::<Vec<_>>(), [&why]);
    // It is no failure of a server, and no signal.
    assert_eq!((result.ended, result.describe_no_answers()), (Ended::Complete, None));
}

#[test]
fn does_not_report_an_untried_family_as_silent() {
    let result = stopped_at(2, &CommandError::Measure(NO_MEMORY.to_owned())).unwrap();
    let tried = |family: &Family| !found(&result, *family).trials.is_empty();
    let [one] = Family::BOTH.into_iter().filter(tried).collect::<Vec<_>>()[..] else { panic!() };
    let other = found(&result, one.other());
    assert_eq!((other.holds, other.ended), (None, Some(SearchEnd::Stopped)));
    assert_eq!(result.describe_no_answers(), None);
    assert!(result.warnings.iter().all(|warning| warning.code != "family_fell_away"));
}

#[test]
fn returns_the_error_if_the_first_trial_cannot_run() {
    let error = CommandError::Measure(NO_MEMORY.to_owned());
    assert_eq!(stopped_at(1, &error).unwrap_err(), error);
}

/// Agents of a fleet agree on a time to begin: a signal can come before that.
#[test]
fn a_signal_before_a_trial_begins_interrupts_the_search() {
    let result = stopped_at(4, &CommandError::Interrupted("a signal".to_owned())).unwrap();
    let [v6, v4] = Family::BOTH.map(|family| found(&result, family));
    assert_eq!([v6.ended, v4.ended], [Some(SearchEnd::Interrupted); 2]);
    assert_eq!(result.find_max.as_ref().unwrap().describe_stop(), None);
    assert_eq!(result.ended, Ended::Interrupted);
}
