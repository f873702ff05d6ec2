//! Loads whose records can't be kept: the controller reports why, and goes on without them.
#![cfg(test)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sixmark_document::provenance::Ended;
use sixmark_fleet::engine::controller::{
    CollectPatience, FleetController, FleetWatch, Wanted, collect_kept, forget_kept,
};
use sixmark_fleet::engine::in_process::{InProcess, InProcessAgent};
use sixmark_fleet::engine::transport::{AgentSide, Handler, PublishedRecord, TransportError};
use sixmark_fleet::names::AgentName;
use sixmark_plan::plan::Plan;
use sixmark_run::{AgentExtras, GeneratedLoad, Generators};
use sixmark_testkit::Origin;
use sixmark_testkit::fleet_loads::{AgentThreads, kept, timed};

const WHY: &str = "the disk of the server is full";

/// An agent's side whose records are refused while the switch is on.
#[derive(Debug)]
struct Refusing {
    side: InProcessAgent,
    refuses: Arc<AtomicBool>,
}

impl AgentSide for Refusing {
    fn serve(&self, agent: &AgentName, handler: Handler) -> Result<(), TransportError> {
        self.side.serve(agent, handler)
    }

    fn publish(&self, record: &PublishedRecord, patience: Duration) -> Result<(), TransportError> {
        if self.refuses.load(Ordering::Relaxed) {
            Err(TransportError::Refused(WHY.to_owned()))
        } else {
            self.side.publish(record, patience)
        }
    }

    fn is_open(&self) -> bool {
        self.side.is_open()
    }
}

#[derive(Clone, Debug, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl FleetWatch for Lines {
    fn lost(&self, _: &AgentName) -> Option<String> {
        None
    }

    fn server_restarts(&self) -> u32 {
        0
    }

    fn agents_stay(&self) -> bool {
        true
    }

    fn report(&self, line: &str) {
        self.0.lock().unwrap().push(line.to_owned());
    }
}

/// Two agents, of which the second can't have its records kept.
struct Scene {
    board: InProcess,
    folder: tempfile::TempDir,
    origin: Origin,
    refuses: Arc<AtomicBool>,
    lines: Lines,
    _agents: [AgentThreads; 1],
}

impl Scene {
    fn set() -> Scene {
        let (board, folder) = (InProcess::new(), tempfile::tempdir().unwrap());
        let refuses: Arc<AtomicBool> = Arc::new(AtomicBool::new(true));
        let side = |name: &str| {
            let refuses = if name == "a1" { Arc::clone(&refuses) } else { Arc::default() };
            Arc::new(Refusing { side: board.agent(), refuses }) as Arc<dyn AgentSide>
        };
        let agents = AgentThreads::start(folder.path(), &[0, 0], side);
        let (origin, lines) = (Origin::start(), Lines::default());
        Scene { board, folder, origin, refuses, lines, _agents: [agents] }
    }

    fn take(&self) -> FleetController {
        let (side, watch) = (Arc::new(self.board.controller()), Box::new(self.lines.clone()));
        let fleet = FleetController::take(side, "stalls", Wanted::Number(2), watch).unwrap();
        // Agents are asked every 3 s how far they are.
        let [report, give_up, interrupted] = [100, 1_000, 4_000].map(Duration::from_millis);
        fleet.with_patience(CollectPatience { report, give_up, interrupted })
    }

    fn load(&self, plan: &Plan, stop: bool) -> GeneratedLoad {
        let fleet = self.take();
        fleet.check(plan).unwrap();
        let stopped = Arc::new(AtomicBool::new(false));
        let stop_at_first = |_: &_| stopped.store(stop, Ordering::Relaxed);
        fleet.load(plan, &AgentExtras::default(), &stopped, &mut { stop_at_first }).unwrap()
    }
}

/// The counts of the first agent, and why those of the second are missing.
fn assert_second_is_missing(loaded: &GeneratedLoad) {
    let [first, second] = loaded.fleet.as_ref().unwrap().agents.as_slice() else { panic!() };
    assert_eq!((first.incomplete_from, &first.lost_because), (None, &None));
    assert!(first.loaded.tally.ipv6.sent > 0);
    assert_eq!(second.incomplete_from, Some(0));
    let why = second.lost_because.as_ref().unwrap();
    assert!(why.starts_with(WHY) && why.contains("sixmark fleet collect stalls-1"), "{why}");
}

#[test]
fn a_load_continues_when_records_are_refused_and_reports_why() {
    let scene = Scene::set();
    let mut plan = timed(&scene.origin, 200.0, Duration::from_secs(1));
    plan.load.threads = 2.try_into().unwrap();
    assert_second_is_missing(&scene.load(&plan, false));
    let lines = scene.lines.0.lock().unwrap();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("agent a1: its records do not arrive: the disk"), "{lines:?}");
}

#[test]
fn an_interrupted_load_does_not_wait_for_records_that_are_refused() {
    let scene = Scene::set();
    let mut plan = timed(&scene.origin, 200.0, Duration::from_secs(3_600));
    plan.load.threads = 2.try_into().unwrap();
    let loaded = scene.load(&plan, true);
    assert_second_is_missing(&loaded);
    assert_eq!(loaded.ended, Ended::Interrupted);
}

#[test]
fn records_left_on_agents_can_be_collected_or_deleted_later() {
    let scene = Scene::set();
    let mut plan = timed(&scene.origin, 200.0, Duration::from_secs(1));
    plan.load.threads = 2.try_into().unwrap();
    scene.load(&plan, false);
    assert_eq!(kept(scene.folder.path()).len(), 1);
    scene.refuses.store(false, Ordering::Relaxed);
    let load = "stalls-1".parse().unwrap();
    let result = collect_kept(Arc::new(scene.board.controller()), &load, &AtomicBool::default());
    let collected = result.unwrap();
    let fleet = collected.result.fleet.as_ref().unwrap();
    assert_eq!((fleet.complete(), fleet.agents.len()), (2, 2));
    assert_eq!(kept(scene.folder.path()).len(), 1, "until the result is written");
    drop(collected);
    let forgot = forget_kept(&scene.board.controller(), &load).unwrap();
    assert_eq!(forgot.len(), 1, "{forgot:?}");
    assert!(kept(scene.folder.path()).is_empty());
    let side = scene.board.controller();
    let again = collect_kept(Arc::new(side), &load, &AtomicBool::default());
    assert!(again.unwrap_err().to_string().contains("no records of load stalls-1"));
}
