//! Loads that a fleet carries out, whatever carries its messages: the same plan with the same seed
//! counts what one process counts.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;
use std::time::Duration;

use sixmark_fleet::allow::AllowedTargets;
use sixmark_fleet::engine::agent::{Agent, AgentSettings};
use sixmark_fleet::engine::controller::{FleetController, Unwatched, Wanted};
use sixmark_fleet::engine::transport::{AgentSide, ControllerSide};
use sixmark_load::{Loaded, PreparedLoad, run_load};
use sixmark_plan::pace::{ArrivalProcess, OpenLoop, Overload, Pace, RateStage, RequestRate};
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_plan::plan::{Connection, LoadPlan, Plan, Target};
use sixmark_result::fixture;
use sixmark_run::{AgentExtras, GeneratedLoad, Generators};
use sixmark_tally::tally::FamilyTally;
use sixmark_units::family::Family;

use crate::Origin;

/// The number of agents of the suite.
const AGENTS: u32 = 4;

/// Agents in threads of this process. They end when this is dropped.
#[derive(Debug)]
pub struct AgentThreads {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl AgentThreads {
    /// Starts agents called `a0`, `a1` and so on, with folders below `folder`. The clock of each is
    /// ahead by so many nanoseconds.
    pub fn start(
        folder: &Path,
        ahead_ns: &[i64],
        side: impl Fn(&str) -> Arc<dyn AgentSide>,
    ) -> AgentThreads {
        let stop: Arc<AtomicBool> = Arc::default();
        let start = |(number, ahead): (usize, &i64)| {
            let name = format!("a{number}");
            let settings = AgentSettings {
                name: name.parse().unwrap(),
                allowed: AllowedTargets::EVERYTHING.into(),
                longest: None,
                cores: Some(1),
                clock_ahead_ns: *ahead,
            };
            let (folder, side) = (folder.join(&name), side(&name));
            let agent = Agent::start(settings, &folder, side, Arc::clone(&stop)).unwrap();
            std::thread::spawn(move || agent.serve())
        };
        let threads = ahead_ns.iter().enumerate().map(start).collect();
        AgentThreads { stop, threads }
    }
}

impl Drop for AgentThreads {
    fn drop(&mut self) {
        self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}

/// Runs the whole suite. No other agents may be connected.
pub fn conform(
    controller: &dyn Fn() -> Arc<dyn ControllerSide>,
    agent: &dyn Fn(&str) -> Arc<dyn AgentSide>,
) {
    let folder = tempfile::tempdir().unwrap();
    let agents = AgentThreads::start(folder.path(), &[0; AGENTS as usize], agent);
    let origin = Origin::start();
    let wanted = Wanted::Number(AGENTS as usize);
    let fleet = FleetController::take(controller(), "suite", wanted, Box::new(Unwatched)).unwrap();
    counts_are_those_of_one_process(&fleet, &origin);
    every_agent_has_the_ratio_at_a_constant_rate(&fleet, &origin);
    seconds_add_up_and_all_agents_begin_together(&fleet, &origin);
    a_load_that_is_stopped_is_collected(&fleet, &origin);
    a_second_controller_is_refused(controller);
    drop(fleet);
    assert!(kept(folder.path()).is_empty(), "sealed records are removed");
    drop(agents);
}

/// Returns the records that agents keep.
pub fn kept(folder: &Path) -> Vec<String> {
    let agents = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = agents.flat_map(|agent| std::fs::read_dir(agent).unwrap());
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".records")).collect()
}

/// Returns a plan that loads the server over both families, with a worker for each agent.
pub fn plan(origin: &Origin) -> Plan {
    let plan = fixture::plan();
    let addresses = Family::BOTH.map(|family| origin.address(family)).to_vec();
    let target = Target {
        url: "http://localhost/bytes/100".to_owned(),
        path: "/bytes/100".to_owned(),
        addresses,
        ..plan.targets[0].clone()
    };
    let sixteen = NonZeroU32::new(16).unwrap();
    Plan {
        targets: vec![target],
        load: LoadPlan {
            connections: sixteen,
            threads: NonZeroU32::new(AGENTS).unwrap(),
            timeout: Duration::from_secs(5),
            ..plan.load
        },
        connection: Connection { most_open: sixteen, ..plan.connection },
        ..plan
    }
}

/// Returns the plan with a number of requests at a ratio.
fn counted(origin: &Origin, requests: u64, ratio: PlanRatio) -> Plan {
    let plan = plan(origin);
    let (requests, duration) = (NonZeroU64::new(requests), None);
    Plan { ratio, load: LoadPlan { requests, duration, ..plan.load }, ..plan }
}

/// Returns the plan with a rate, for a duration.
pub fn timed(origin: &Origin, per_s: f64, duration: Duration) -> Plan {
    let plan = plan(origin);
    let pace = Pace::Open(OpenLoop {
        arrivals: ArrivalProcess::Poisson,
        overload: Overload::Wait,
        spin: Duration::ZERO,
        stages: vec![RateStage::endless(RequestRate::new(per_s).unwrap())],
        timetable: None,
    });
    let load = LoadPlan { requests: None, duration: Some(duration), pace, ..plan.load };
    Plan { load, ..plan }
}

/// Carries out a plan in this process.
fn alone(plan: &Plan) -> Loaded {
    run_load(PreparedLoad::new(plan).unwrap(), &Arc::default(), |_| {}).unwrap()
}

/// Carries out a plan on a fleet.
pub fn together(fleet: &FleetController, plan: &Plan) -> GeneratedLoad {
    fleet.check(plan).unwrap();
    fleet.load(plan, &AgentExtras::default(), &Arc::default(), &mut |_| {}).unwrap()
}

fn sent(loaded: &Loaded) -> [u64; 2] {
    Family::BOTH.map(|family| loaded.tally[family].sent)
}

fn counts_are_those_of_one_process(fleet: &FleetController, origin: &Origin) {
    for (requests, ratio) in [(1_000, [3, 1]), (777, [1, 1]), (5, [1, 1]), (400, [0, 1])] {
        let ratio = PlanRatio::new(ratio[0], ratio[1]).unwrap();
        let plan = counted(origin, requests, ratio);
        let (one, all) = (alone(&plan), together(fleet, &plan));
        assert_eq!(sent(&one), sent(&all), "{requests} {ratio}");
        assert_eq!(sent(&all).iter().sum::<u64>(), requests);
        let completed = |loaded: &Loaded| Family::BOTH.map(|f| loaded.tally[f].completed());
        assert_eq!(completed(&one), completed(&all));
        let bytes = |loaded: &Loaded| Family::BOTH.map(|f| loaded.tally[f].bytes.body);
        assert_eq!(bytes(&one), bytes(&all));
    }
}

/// An agent that is further away than the others would otherwise look like a slow family.
fn every_agent_has_the_ratio_at_a_constant_rate(fleet: &FleetController, origin: &Origin) {
    for (ratio, threads, each) in [([1, 1], AGENTS, [100, 100]), ([3, 1], 2 * AGENTS, [150, 50])] {
        let mut plan = timed(origin, 800.0, Duration::from_secs(1));
        plan.ratio = PlanRatio::new(ratio[0], ratio[1]).unwrap();
        plan.load.threads = NonZeroU32::new(threads).unwrap();
        let Pace::Open(open) = &mut plan.load.pace else { panic!("no rate") };
        open.arrivals = ArrivalProcess::Constant;
        let loaded = together(fleet, &plan);
        for agent in &loaded.fleet.as_ref().unwrap().agents {
            let tally = &agent.loaded.tally;
            let due = Family::BOTH.map(|family| tally[family].sent + tally[family].unsent);
            assert_eq!(due, each, "{:?} at {}", agent.workers, plan.ratio);
        }
    }
}

fn seconds_add_up_and_all_agents_begin_together(fleet: &FleetController, origin: &Origin) {
    let plan = timed(origin, 500.0, Duration::from_millis(2_500));
    let (one, all) = (alone(&plan), together(fleet, &plan));
    // The same arrivals are drawn. A busy machine may not send all of them in time.
    let due = |loaded: &Loaded| {
        Family::BOTH.map(|family| loaded.tally[family].sent + loaded.tally[family].unsent)
    };
    assert_eq!(due(&one), due(&all));
    let of_seconds: u64 = all.intervals.iter().map(|second| second.families.ipv6.sent).sum();
    assert_eq!(of_seconds, all.tally.ipv6.sent);
    let numbers: Vec<u64> = all.intervals.iter().map(|second| second.second).collect();
    assert_eq!(numbers, [0, 1, 2]);
    let section = all.fleet.as_ref().unwrap();
    assert_eq!(section.agents.len(), AGENTS as usize);
    let mut sum = FamilyTally::default();
    for agent in &section.agents {
        assert!(agent.adds_up && agent.incomplete_from.is_none(), "{agent:?}");
        assert_eq!(agent.workers, 1);
        sum += &agent.loaded.tally.ipv6;
    }
    assert_eq!(sum.sent, all.tally.ipv6.sent);
    assert_eq!(sum.phases.response, all.tally.ipv6.phases.response, "merged, not averaged");
}

fn a_load_that_is_stopped_is_collected(fleet: &FleetController, origin: &Origin) {
    let plan = timed(origin, 300.0, Duration::from_secs(600));
    let stop: Arc<AtomicBool> = Arc::default();
    let mut seen = 0;
    let to_stop = Arc::clone(&stop);
    let mut watch = |_: &sixmark_tally::tally::Slice| {
        seen += 1;
        to_stop.store(true, std::sync::atomic::Ordering::Relaxed);
    };
    let loaded = fleet.load(&plan, &AgentExtras::default(), &stop, &mut watch).unwrap();
    assert_eq!(loaded.ended, sixmark_document::provenance::Ended::Interrupted);
    assert!(seen > 0 && loaded.tally.ipv6.completed() > 0);
    let complete = loaded.fleet.unwrap().agents.iter().all(|agent| agent.incomplete_from.is_none());
    assert!(complete);
}

fn a_second_controller_is_refused(controller: &dyn Fn() -> Arc<dyn ControllerSide>) {
    let second = FleetController::take(controller(), "second", Wanted::All, Box::new(Unwatched));
    let line = second.unwrap_err().to_string();
    assert!(line.contains("another controller has the fleet") && line.contains("suite"), "{line}");
}
