//! Trials that showed something else than a search found, where it found no rate instead.

use sixmark_sheet::write;

use sixmark_result::find::{FoundRate, SearchEnd, Trial};
use sixmark_result::rate_decision::RateDecision;

/// Describes the trials that showed a rate to hold, or not to, which the missing sides of the bracket
/// contradict: words that follow `although`. `None` if there are none.
pub(super) fn describe_other_trials(of: &FoundRate) -> Option<String> {
    if of.ended == Some(SearchEnd::NoAnswer) {
        return None;
    }
    let lower = of.holds.is_none().then(|| highest_that_held(of)).flatten();
    let upper = of.fails.is_none().then(|| lowest_that_failed(of)).flatten();
    let said: Vec<String> = [lower, upper].into_iter().flatten().filter_map(describe).collect();
    (!said.is_empty()).then(|| said.join(", and "))
}

/// Returns the trial of the highest rate that held, of those that could be the lower side.
fn highest_that_held(of: &FoundRate) -> Option<&Trial> {
    let held = of.trials.iter().filter(|trial| trial.alone() == Some(RateDecision::Held));
    let possible = held.filter(|trial| of.fails.is_none_or(|fails| trial.rate <= fails));
    possible.max_by(|a, b| a.rate.total_cmp(&b.rate))
}

/// Returns the trial of the lowest rate that did not hold, of those that could be the upper side.
fn lowest_that_failed(of: &FoundRate) -> Option<&Trial> {
    let failed = of.trials.iter().filter(|trial| trial.alone() == Some(RateDecision::DidNotHold));
    let possible = failed.filter(|trial| of.holds.is_none_or(|holds| trial.rate >= holds));
    possible.min_by(|a, b| a.rate.total_cmp(&b.rate))
}

fn describe(trial: &Trial) -> Option<String> {
    let (alone, known) = (trial.alone()?, trial.decision?);
    let what = format!("{} requests/s {}", write::per_s(trial.rate), alone.words());
    Some(match known {
        RateDecision::Undecided => format!("{what} at first: later trials left that undecided"),
        RateDecision::Held if alone != known => format!("{what} at first: in later trials it did"),
        RateDecision::DidNotHold if alone != known => {
            format!("{what} at first: in later trials it did not")
        }
        _ => format!("{what}: the server changed during the search, or varies"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::search::tests::found;
    use super::*;
    use sixmark_result::find::Limit;

    /// A family of which one trial at 300/s held, or did not, and this is known at the end.
    fn described(held: bool, known: RateDecision) -> Option<String> {
        let (holds, fails) = if held { (Some(300.0), None) } else { (None, Some(300.0)) };
        let mut of = found(holds, fails, Limit::Condition);
        of.trials.truncate(1);
        of.trials[0].decision = Some(known);
        (of.holds, of.fails) = (None, None);
        describe_other_trials(&of)
    }

    #[test]
    fn explains_a_missing_bracket_side_that_a_trial_had_shown() {
        for (held, known, said) in [
            (true, RateDecision::Undecided, "held at first: later trials left that undecided"),
            (true, RateDecision::DidNotHold, "held at first: in later trials it did not"),
            (true, RateDecision::Held, "held: the server changed during the search, or varies"),
            (true, RateDecision::Varies, "held: the server changed during the search, or varies"),
            (
                false,
                RateDecision::Undecided,
                "did not hold at first: later trials left that undecided",
            ),
            (false, RateDecision::Held, "did not hold at first: in later trials it did"),
        ] {
            let expected = format!("300 requests/s {said}");
            assert_eq!(described(held, known), Some(expected), "{held} {known:?}");
        }
    }

    #[test]
    fn a_bracket_with_both_sides_needs_no_explanation() {
        let mut of = found(Some(300.0), Some(320.0), Limit::Condition);
        of.trials[0].decision = Some(RateDecision::Undecided);
        assert_eq!(describe_other_trials(&of), None);
    }
}
