//! The list of trials and what was found say the same of a rate.

use sixmark_result::rate_decision::RateDecision;

use super::*;

/// Returns the load of a server on a busy machine: short trials hold up to 300/s, and longer ones have
/// so many slow exchanges that they show neither.
fn uneven(family: Family, rate: f64, number_of_stages: usize) -> Loaded {
    let mut loaded = server(family, rate, 300.0);
    if rate <= 300.0 && number_of_stages > STAGES[0] as usize {
        // One in a hundred is what the condition allows.
        let (tally, slow) = (&mut loaded.tally[family], SENT / 100);
        tally.phases.response.record_many(1_000 * MS, slow);
        for step in &mut tally.steps[..8] {
            step.exchanges.response.record_many(1_000 * MS, slow / 8);
        }
    }
    loaded
}

#[test]
fn lists_a_rate_as_undecided_if_longer_trials_do_not_confirm_it() {
    let (plan, asked) = (plan(PlanRatio::only(Family::Ipv6)), asked(Duration::MAX));
    let load = |plan: &Plan, _: &mut dyn FnMut(SearchEvent<'_>)| {
        let (family, rate) = of(plan);
        Ok(uneven(family, rate, plan.load.pace.open().unwrap().stages.len()))
    };
    let searched = search(&plan, &asked, &|| Duration::ZERO, load, &mut |_| {}).unwrap();
    let result = result(&plan, &asked, searched);
    let of = found(&result, Family::Ipv6);
    let held: Vec<&Trial> = of.trials.iter().filter(|trial| trial.held).collect();
    let highest = held.iter().map(|trial| trial.rate).fold(0.0, f64::max);
    assert!(of.holds < Some(highest), "{of:?}");
    for trial in held.iter().filter(|trial| trial.rate == highest) {
        assert_eq!(trial.decision, Some(RateDecision::Undecided));
        assert_eq!(trial.result(), "held alone, undecided with other trials");
    }
    // No trial is listed as held at a rate above the one that is said to hold.
    let holding = of.trials.iter().filter(|trial| trial.result() == "held");
    assert!(holding.clone().all(|trial| Some(trial.rate) <= of.holds), "{of:?}");
    for trial in &of.trials {
        let same = of.trials.iter().filter(|other| other.rate == trial.rate);
        assert!(same.clone().all(|other| other.decision == trial.decision), "{of:?}");
    }
}
