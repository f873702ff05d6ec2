//! Warnings about the agents of a fleet.

use crate::fleet::{AgentResult, FleetSection};
use sixmark_document::provenance::{Warning, warning};
use sixmark_units::quantity::{counted, duration_us};

/// The uncertainty of a common start, in seconds, that gets a warning.
const APART_S: f64 = 0.01;
/// An agent is slow if a worker of it completes less than this share of what one of the median
/// agent does.
const SLOW: f64 = 0.8;

/// Returns the warnings about the agents.
pub fn of_fleet(fleet: &FleetSection) -> Vec<Warning> {
    let lost = fleet.agents.iter().filter_map(lost);
    let each = lost
        .chain(fleet.agents.iter().filter_map(disagree))
        .chain(fleet.agents.iter().filter_map(conflict))
        .chain(fleet.agents.iter().filter_map(unspooled));
    let all = [foreign(fleet), apart(fleet), slow(fleet), restarted(fleet)];
    each.chain(all.into_iter().flatten()).collect()
}

fn lost(agent: &AgentResult) -> Option<Warning> {
    let second = agent.incomplete_from?;
    let why = agent.lost_because.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    let message = format!(
        "agent {} was lost{why}: its counts are INCOMPLETE from second {second} on; totals include \
         what it counted before",
        agent.name
    );
    Some(warning("agent_lost", message))
}

fn disagree(agent: &AgentResult) -> Option<Warning> {
    let message = format!(
        "the seconds of agent {} don't add up to what it counted in all; its figures are those of \
         its last record",
        agent.name
    );
    (!agent.adds_up).then(|| warning("agent_disagrees", message))
}

/// Warns if records show that someone else may have the key of an agent.
fn conflict(agent: &AgentResult) -> Option<Warning> {
    let number = Some(agent.conflicts).filter(|number| *number > 0)?;
    let disagree = if number == 1 { "disagrees" } else { "disagree" };
    let message = format!(
        "{} of agent {} {disagree} with what was counted of it: someone else may have its key, or its          clone runs; records of this load were not removed",
        counted(number, "record", "records"),
        agent.name
    );
    Some(warning("agent_conflict", message))
}

/// Warns if the records of an agent would have been lost with it.
fn unspooled(agent: &AgentResult) -> Option<Warning> {
    let why = agent.spool_failed.as_ref()?;
    let message = format!(
        "agent {} could not keep its records on its disk ({why}); they were published all the same",
        agent.name
    );
    Some(warning("agent_spool_failed", message))
}

fn foreign(fleet: &FleetSection) -> Option<Warning> {
    let number = Some(fleet.foreign).filter(|number| *number > 0)?;
    let message = format!(
        "{} of this load came from agents that took no part in it, and {} not counted",
        counted(number, "record", "records"),
        if number == 1 { "was" } else { "were" }
    );
    Some(warning("agent_conflict", message))
}

/// Warns if it is not certain that all agents began together.
fn apart(fleet: &FleetSection) -> Option<Warning> {
    let apart = |agent: &AgentResult| agent.clock_bound_s + agent.start_late_s.abs();
    let most = fleet.agents.iter().max_by(|a, b| apart(a).total_cmp(&apart(b)))?;
    (apart(most) > APART_S).then(|| {
        let message = format!(
            "agent {} may have begun up to {} before or after the others: its clock is known to \
             ±{}, and it began {} late",
            most.name,
            duration_us(apart(most) * 1e6),
            duration_us(most.clock_bound_s * 1e6),
            duration_us(most.start_late_s * 1e6),
        );
        warning("agents_apart", message)
    })
}

/// Warns about agents that complete clearly less than the median agent.
fn slow(fleet: &FleetSection) -> Option<Warning> {
    let whole = || fleet.agents.iter().filter(|agent| agent.incomplete_from.is_none());
    let mut rates: Vec<f64> = whole().map(rate_of_worker).collect();
    rates.sort_by(f64::total_cmp);
    // Of two agents, the faster one is the measure.
    let median = rates.get(rates.len() / 2).copied()?;
    let slow: Vec<String> = whole()
        .filter(|agent| rate_of_worker(agent) < SLOW * median)
        .map(|agent| {
            let share = if median > 0.0 { rate_of_worker(agent) / median } else { 0.0 };
            format!("{} ({:.0} %)", agent.name, share * 100.0)
        })
        .collect();
    (!slow.is_empty()).then(|| {
        let message = format!(
            "{} slower than the median agent: {}; its machine or its path may be why; shares are \
             not rebalanced",
            counted(slow.len() as u64, "agent is", "agents are"),
            slow.join(", ")
        );
        warning("agent_slow", message)
    })
}

fn rate_of_worker(agent: &AgentResult) -> f64 {
    let rate: f64 = agent.families.iter().map(|(_, of)| of.requests_per_s).sum();
    rate / f64::from(agent.workers.max(1))
}

fn restarted(fleet: &FleetSection) -> Option<Warning> {
    let times = Some(fleet.server_restarts).filter(|times| *times > 0)?;
    let message = format!(
        "the server between agents and controller was started again {}; agents kept their counts \
         meanwhile, and none is missing for that",
        counted(times.into(), "time", "times")
    );
    Some(warning("fleet_server_restarted", message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::agent;
    use sixmark_tally::family_result::Families;

    fn codes(agents: Vec<AgentResult>) -> Vec<String> {
        let fleet = FleetSection { agents, ..FleetSection::default() };
        of_fleet(&fleet).into_iter().map(|warning| warning.code).collect()
    }

    #[test]
    fn does_not_warn_about_healthy_agents() {
        assert_eq!(codes(vec![agent("a", 1_000.0), agent("b", 900.0)]), [""; 0]);
    }

    #[test]
    fn warns_about_each_problem_of_an_agent() {
        let with = |change: fn(&mut AgentResult)| {
            let mut changed = agent("b", 1_000.0);
            change(&mut changed);
            codes(vec![agent("a", 1_000.0), changed, agent("c", 1_000.0)])
        };
        assert_eq!(with(|b| b.incomplete_from = Some(7)), ["agent_lost"]);
        assert_eq!(with(|b| b.conflicts = 1), ["agent_conflict"]);
        assert_eq!(with(|b| b.spool_failed = Some("full".to_owned())), ["agent_spool_failed"]);
        assert_eq!(with(|b| b.adds_up = false), ["agent_disagrees"]);
        assert_eq!(with(|b| b.clock_bound_s = 0.02), ["agents_apart"]);
        assert_eq!(with(|b| b.start_late_s = 0.02), ["agents_apart"]);
        assert_eq!(with(|b| b.families = agent("b", 700.0).families), ["agent_slow"]);
        assert_eq!(with(|b| b.families = Families::default()), ["agent_slow"]);
        let fleet = FleetSection { server_restarts: 1, ..FleetSection::default() };
        assert_eq!(of_fleet(&fleet)[0].code, "fleet_server_restarted");
    }
}
