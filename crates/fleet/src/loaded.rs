//! What a fleet counted, as one load.

use std::collections::BTreeMap;

use sixmark_document::provenance::{Ended, Environment};
use sixmark_load::{Loaded, at_the_same_time, one_after_the_other};
use sixmark_plan::plan::Plan;
use sixmark_run::{AgentLoad, ClockOffset, FleetLoad, GeneratedLoad};
use sixmark_sys::usage::Usage;
use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};
use sixmark_tally::seconds::SliceCollector;
use sixmark_tally::tally::{FamilyTally, Tally};
use sixmark_units::family::Family;

use crate::collector::{RecordCollector, RecordSeries};
use crate::load_note::{LoadNote, NotedAgent};
use crate::names::AgentName;
use crate::reason::reason;
use crate::records::EndRecord;

/// The records of a load, and its seconds so far.
#[derive(Debug)]
pub struct Collected {
    /// The records of each agent.
    pub records: RecordCollector,
    /// The seconds of all agents together.
    pub seconds: SliceCollector,
    /// Why the records of agents are not complete, as far as it is known.
    pub lost: BTreeMap<AgentName, String>,
}

/// Merges what the agents counted. `server_restarts` is how often the server between was started
/// again meanwhile.
pub fn loaded_of(
    plan: &Plan,
    note: &LoadNote,
    collected: Collected,
    server_restarts: u32,
) -> GeneratedLoad {
    let Collected { records, seconds, mut lost } = collected;
    let agents: Vec<AgentLoad> = note
        .agents
        .iter()
        .filter_map(|agent| {
            let why = lost.remove(&agent.name);
            Some(agent_load(plan, agent, records.of(&agent.name)?, why))
        })
        .collect();
    let loaded = at_the_same_time(agents.iter().map(|agent| &agent.loaded), seconds.end());
    let fleet = FleetLoad {
        name: note.load.to_string(),
        agents,
        server: None,
        server_restarts,
        duplicates: records.duplicates,
        foreign: records.foreign,
    };
    GeneratedLoad { loaded, fleet: Some(Box::new(fleet)) }
}

fn agent_load(
    plan: &Plan,
    agent: &NotedAgent,
    series: &RecordSeries,
    lost: Option<String>,
) -> AgentLoad {
    let end = series.end.as_deref();
    let cut_short = end.and_then(|end| end.cut_short.as_deref()).map(reason);
    let next = series.last_second.map_or(0, |last| last + 1);
    let loaded = end.map_or_else(|| loaded_of_seconds(plan, series), loaded_of_end);
    let incomplete_from = (cut_short.is_some() || end.is_none()).then_some(next);
    let lost_because = cut_short.or_else(|| lost.filter(|_| end.is_none()));
    AgentLoad {
        name: agent.name.to_string(),
        host: agent.host.clone(),
        environment: Environment { routes: agent.routes.clone(), ..agent.environment.clone() },
        workers: agent.workers.len() as u32,
        loaded,
        incomplete_from,
        lost_because,
        adds_up: series.adds_up(),
        conflicts: series.conflicts,
        spool_failed: end.and_then(|end| end.spool_failed.as_deref()).map(reason),
        clock: ClockOffset { offset_ns: agent.clock_offset_ns, bound_ns: agent.clock_bound_ns },
        late_ns: end.map_or(0, |end| i64::try_from(end.late_ns).unwrap_or(i64::MAX)),
        truth: end.and_then(|end| end.truth.clone()),
        vitals: end.and_then(|end| end.vitals.clone()),
    }
}

fn loaded_of_end(end: &EndRecord) -> Loaded {
    Loaded {
        tally: end.tally.clone(),
        busiest: end.busiest,
        elapsed_ns: end.elapsed_ns,
        put_off_ns: end.put_off_ns,
        begun_late_ns: end.late_ns,
        // The section of the fleet reports that it is not complete; the others went on.
        ended: if end.cut_short.is_some() { Ended::Complete } else { end.ended },
        driver: driver_name(&end.driver),
        clocks: end.clocks,
        lapses: end.lapses,
        usage: Usage {
            user_s: end.cpu_user_s,
            system_s: end.cpu_sys_s,
            peak_rss_bytes: end.peak_rss_bytes,
        },
        ..one_after_the_other([].into_iter())
    }
}

/// Returns the load of an agent that was lost. What was in flight when its records end was cut off.
fn loaded_of_seconds(plan: &Plan, series: &RecordSeries) -> Loaded {
    let mut tally: Tally = series.sum.clone();
    Family::BOTH.into_iter().for_each(|family| cut_off(&mut tally[family]));
    let longest = plan.load.duration.map_or(u64::MAX, |of| of.as_nanos() as u64);
    Loaded {
        tally,
        busiest: series.busiest,
        elapsed_ns: series.length_ns.min(longest),
        // The load went on without it. The section of the fleet says so.
        ended: Ended::Complete,
        ..one_after_the_other([].into_iter())
    }
}

fn cut_off(tally: &mut FamilyTally) {
    let in_flight = tally.sent.saturating_sub(tally.ended());
    if in_flight > 0 {
        tally.failures.add(Failure::new(Outcome::Abandoned, FailurePhase::Wait), in_flight);
    }
}

/// Returns the name of a kernel interface as this program knows it.
fn driver_name(name: &str) -> &'static str {
    ["uring", "epoll", "none"].into_iter().find(|known| *known == name).unwrap_or("other")
}
