//! The part of a result about the agents of a fleet.

use super::generated_load::{AgentLoad, FleetLoad};
use sixmark_document::provenance::{Environment, Warning};
use sixmark_plan::plan::Plan;
use sixmark_result::fleet::{AgentFamily, AgentResult, FleetSection};
use sixmark_result::generator::is_saturated;
use sixmark_tally::counted::families_of;
use sixmark_tally::family_result::Families;
use sixmark_units::family::{Family, PerFamily};
use sixmark_vitals::section::Vitals;

/// Returns the section of the agents that executed a load. `elapsed_s` is how long each family was
/// loaded: the rates of all agents add up to that of the load.
pub fn fleet_section(plan: &Plan, fleet: &FleetLoad, elapsed_s: PerFamily<f64>) -> FleetSection {
    let sent = |agent: &AgentLoad| Family::BOTH.map(|family| agent.loaded.tally[family].sent);
    let all: u64 = fleet.agents.iter().flat_map(sent).sum();
    let share = |agent: &AgentLoad| {
        let of_agent: u64 = sent(agent).into_iter().sum();
        (all > 0).then(|| of_agent as f64 / all as f64)
    };
    FleetSection {
        load: fleet.name.clone(),
        agents: fleet
            .agents
            .iter()
            .map(|agent| agent_result(plan, agent, share(agent), elapsed_s))
            .collect(),
        server_restarts: fleet.server_restarts,
        duplicates: fleet.duplicates,
        foreign: fleet.foreign,
    }
}

/// Returns what the load cost the first agent, and its server if an agent read the server's vitals,
/// with the warnings of all agents.
pub(crate) fn fleet_vitals(fleet: &FleetLoad) -> (Option<Vitals>, Vec<Warning>) {
    let of_agent = |agent: &AgentLoad| {
        let (_, doubts) = agent.vitals.clone().unzip();
        let named = |doubt: Warning| Warning {
            message: format!("agent {}: {}", agent.name, doubt.message),
            ..doubt
        };
        doubts.unwrap_or_default().into_iter().map(named).collect::<Vec<_>>()
    };
    let mut doubts: Vec<Warning> = fleet.agents.iter().flat_map(of_agent).collect();
    let (server, of_server) = fleet.server.clone().unzip();
    doubts.extend(of_server.unwrap_or_default());
    let first = fleet.agents.first().and_then(|agent| agent.vitals.clone());
    (first.map(|(vitals, _)| Vitals { server, ..vitals }), doubts)
}

fn agent_result(
    plan: &Plan,
    agent: &AgentLoad,
    share: Option<f64>,
    elapsed_s: PerFamily<f64>,
) -> AgentResult {
    let loaded = &agent.loaded;
    let mut tally = loaded.tally.clone();
    for family in Family::BOTH {
        tally[family].classify_in_flight();
    }
    let [ipv6, ipv4] = Family::BOTH.map(|family| {
        let mtu = lowest_mtu(&agent.environment, family);
        let (families, _) = families_of(plan, &tally, elapsed_s[family]);
        families.of(family).map(|figures| AgentFamily::of(figures, mtu))
    });
    AgentResult {
        name: agent.name.clone(),
        host: agent.host.clone(),
        environment: agent.environment.clone(),
        driver: loaded.driver.to_owned(),
        workers: agent.workers,
        share,
        incomplete_from: agent.incomplete_from,
        lost_because: agent.lost_because.clone(),
        adds_up: agent.adds_up,
        conflicts: agent.conflicts,
        spool_failed: agent.spool_failed.clone(),
        clock_offset_s: agent.clock.offset_ns as f64 / 1e9,
        clock_bound_s: agent.clock.bound_ns as f64 / 1e9,
        start_late_s: agent.late_ns as f64 / 1e9,
        busiest: loaded.busiest,
        saturated: is_saturated(loaded.busiest),
        cpu_user_s: loaded.usage.user_s,
        cpu_sys_s: loaded.usage.system_s,
        peak_rss_bytes: loaded.usage.peak_rss_bytes,
        families: Families { ipv6, ipv4 },
        truth: agent.truth.clone(),
        vitals: agent.vitals.as_ref().map(|(vitals, _)| vitals.clone()),
    }
}

fn lowest_mtu(environment: &Environment, family: Family) -> Option<u32> {
    let of_family = environment.routes.iter().filter(|route| Family::of(route.to.ip()) == family);
    of_family.filter_map(|route| route.mtu).min()
}
