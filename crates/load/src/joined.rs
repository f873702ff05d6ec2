//! Merging several loads into one.

use sixmark_document::provenance::{Ended, RouteTaken};
use sixmark_record::clocks::Clocks;
use sixmark_record::interval::Interval;
use sixmark_record::lapses::Lapses;
use sixmark_record::tally::Tally;
use sixmark_record::truth::TruthBook;
use sixmark_sys::usage::Usage;

use super::{AgentLoad, FleetLoad, Loaded, classify_in_flight, worst};

/// Merges consecutive loads. The seconds of each load are numbered after those of the loads before
/// it.
pub fn one_after_the_other<'a>(loads: impl Iterator<Item = &'a Loaded>) -> Loaded {
    let mut one = nothing();
    for (at, load) in loads.enumerate() {
        let seconds = one.intervals.last().map_or(0, |interval| interval.second + 1);
        let later = |of: &Interval| Interval { second: of.second + seconds, ..of.clone() };
        one.intervals.extend(load.intervals.iter().map(later));
        one.busiest = one.busiest.max(load.busiest);
        one.tally += &load.tally;
        one.clocks += &load.clocks;
        one.lapses.add_later(&load.lapses);
        one.elapsed_ns += load.elapsed_ns;
        one.driver = load.driver;
        one.fleet = joined_fleet(one.fleet.take(), load.fleet.as_deref());
        one.usage.user_s += load.usage.user_s;
        one.usage.system_s += load.usage.system_s;
        one.usage.peak_rss_bytes = one.usage.peak_rss_bytes.max(load.usage.peak_rss_bytes);
        if at == 0 || load.ended != Ended::Hopeless {
            one.ended = load.ended;
        }
    }
    one
}

/// Merges the shares of one load, which ran at the same time. `intervals` are the seconds of all
/// shares together.
pub fn at_the_same_time<'a>(
    shares: impl Iterator<Item = &'a Loaded> + Clone,
    intervals: Vec<Interval>,
) -> Loaded {
    let mut one =
        Loaded { intervals, ended: worst(shares.clone().map(|share| share.ended)), ..nothing() };
    let times = shares.clone().map(|share| (share.put_off_ns, share.elapsed_ns));
    (one.put_off_ns, one.elapsed_ns) = joined_time(times);
    for share in shares {
        one.busiest = one.busiest.max(share.busiest);
        one.tally += &share.tally;
        one.clocks += &share.clocks;
        one.lapses.add_worker(&share.lapses);
        one.driver = share.driver;
        one.usage.user_s += share.usage.user_s;
        one.usage.system_s += share.usage.system_s;
        // Of several machines, that of the one that used the most memory.
        one.usage.peak_rss_bytes = one.usage.peak_rss_bytes.max(share.usage.peak_rss_bytes);
    }
    classify_in_flight(&mut one);
    one
}

/// Returns when the measurement of parts of one load, which ran at the same time, began after the
/// warm-up, and how long it lasted: from the first beginning to the last end. Each part has both of
/// its own, in nanoseconds; one that never began has no beginning.
pub(crate) fn joined_time(
    parts: impl Iterator<Item = (Option<u64>, u64)> + Clone,
) -> (Option<u64>, u64) {
    let first = parts.clone().filter_map(|(put_off, _)| put_off).min();
    let ends = parts.map(|(put_off, elapsed)| put_off.unwrap_or(0).saturating_add(elapsed));
    (first, ends.max().unwrap_or(0).saturating_sub(first.unwrap_or(0)))
}

fn nothing() -> Loaded {
    Loaded {
        tally: Tally::default(),
        intervals: Vec::new(),
        tenths: Vec::new(),
        busiest: 0.0,
        elapsed_ns: 0,
        put_off_ns: None,
        begun_late_ns: 0,
        ended: Ended::Complete,
        driver: "none",
        clocks: Clocks::default(),
        lapses: Lapses::default(),
        usage: Usage::default(),
        book: TruthBook::default(),
        fleet: None,
    }
}

/// Returns the fleet of consecutive loads. Agents are told by their names.
fn joined_fleet(
    before: Option<Box<FleetLoad>>,
    later: Option<&FleetLoad>,
) -> Option<Box<FleetLoad>> {
    let Some(later) = later else { return before };
    let Some(mut fleet) = before else { return Some(Box::new(later.clone())) };
    fleet.server_restarts += later.server_restarts;
    fleet.duplicates += later.duplicates;
    fleet.foreign += later.foreign;
    for agent in &later.agents {
        match fleet.agents.iter_mut().find(|known| known.name == agent.name) {
            Some(known) => add_later_share(known, agent),
            None => fleet.agents.push(agent.clone()),
        }
    }
    Some(fleet)
}

/// Adds a later share of the same agent.
fn add_later_share(agent: &mut AgentLoad, later: &AgentLoad) {
    agent.loaded = one_after_the_other([&agent.loaded, &later.loaded].into_iter());
    if agent.incomplete_from.is_none() {
        agent.incomplete_from = later.incomplete_from;
        agent.lost_because.clone_from(&later.lost_because);
    }
    agent.adds_up &= later.adds_up;
    agent.conflicts += later.conflicts;
    if agent.spool_failed.is_none() {
        agent.spool_failed.clone_from(&later.spool_failed);
    }
    // The sides of a comparison have different targets.
    let known = agent.environment.routes.clone();
    let is_new = |route: &&RouteTaken| known.iter().all(|known| known.to != route.to);
    let new = later.environment.routes.iter().filter(is_new).cloned();
    agent.environment.routes.extend(new);
    if later.clock.bound_ns > agent.clock.bound_ns {
        agent.clock = later.clock;
    }
    agent.late_ns = agent.late_ns.max(later.late_ns);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_lasts_from_the_first_beginning_to_the_last_end() {
        let time = |parts: &[(Option<u64>, u64)]| joined_time(parts.iter().copied());
        assert_eq!(time(&[]), (None, 0));
        assert_eq!(time(&[(Some(0), 9), (Some(0), 7)]), (Some(0), 9));
        assert_eq!(time(&[(Some(5), 10), (Some(3), 10)]), (Some(3), 12));
        // A part without a request does not move the beginning to the end of the warm-up.
        assert_eq!(time(&[(None, 0), (Some(5), 10)]), (Some(5), 10));
        assert_eq!(time(&[(Some(u64::MAX), u64::MAX), (Some(1), 1)]), (Some(1), u64::MAX - 1));
    }
}
