//! Loads that a fleet carries out within this process.
#![cfg(test)]

use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use sixmark_document::provenance::Ended;
use sixmark_fleet::engine::controller::{FleetController, Unwatched, Wanted};
use sixmark_fleet::engine::in_process::{InProcess, InProcessController};
use sixmark_fleet::engine::transport::{ControllerSide, RecordSource, TransportError};
use sixmark_fleet::messages::{AskedOfAgent, FromAgent, ShareOrder, WireLoad};
use sixmark_fleet::names::{AgentName, LoadName};
use sixmark_fleet::records::{AgentRecord, RecordContent};
use sixmark_plan::plan::wire_form::WirePlan;
use sixmark_testkit::fleet_loads::{AgentThreads, conform, kept, timed, together};
use sixmark_testkit::{DEADLINE, Origin};

#[test]
fn an_in_process_fleet_counts_the_same_as_a_single_process() {
    let board = InProcess::new();
    conform(&|| Arc::new(board.controller()), &|_| Arc::new(board.agent()));
}

/// How far the agents' clocks are ahead, in nanoseconds.
const AHEAD_NS: [i64; 3] = [3_000_000_000, -7_000_000_000, 0];

#[test]
fn bounds_clock_offsets_of_agents_behind_an_asymmetric_delay() {
    let (board, folder, origin) = (InProcess::new(), tempfile::tempdir().unwrap(), Origin::start());
    let _agents = AgentThreads::start(folder.path(), &AHEAD_NS, |_| Arc::new(board.agent()));
    let (there, back) = (Duration::from_millis(12), Duration::from_millis(2));
    let side = Delayed { side: board.controller(), there, back };
    let wanted = Wanted::Number(AHEAD_NS.len());
    let fleet =
        FleetController::take(Arc::new(side), "clocks", wanted, Box::new(Unwatched)).unwrap();
    let mut plan = timed(&origin, 300.0, Duration::from_secs(1));
    plan.load.threads = 3.try_into().unwrap();
    let loaded = together(&fleet, &plan);
    for (agent, ahead_ns) in loaded.fleet.unwrap().agents.iter().zip(AHEAD_NS) {
        // All agents have one clock here, so that the true difference is known. The start of a load
        // is wrong by as much as the difference is.
        let wrong_by = (agent.clock.offset_ns - ahead_ns).unsigned_abs();
        assert!(wrong_by <= agent.clock.bound_ns, "{ahead_ns}: {:?}", agent.clock);
        // The delay is longer in one direction, which no probe can see.
        assert!(wrong_by >= 4_000_000, "{ahead_ns}: {:?}", agent.clock);
        assert!(agent.clock.bound_ns >= 7_000_000, "{ahead_ns}: {:?}", agent.clock);
    }
}

#[test]
fn without_its_controller_a_load_ends_with_its_lease_and_keeps_records() {
    let (board, folder, origin) = (InProcess::new(), tempfile::tempdir().unwrap(), Origin::start());
    let _agents = AgentThreads::start(folder.path(), &[0], |_| Arc::new(board.agent()));
    let (side, load) = (board.controller(), LoadName::from_str("left").unwrap());
    let plan = timed(&origin, 100.0, Duration::from_secs(3_600));
    let order = ShareOrder {
        load: load.clone(),
        controller: "gone".to_owned(),
        lease_s: 1,
        what: WireLoad { plan: WirePlan::of(&plan), files: Vec::new() },
        workers: 0..plan.load.threads.get(),
        agents: 1,
        truth: false,
        vitals_from: None,
    };
    let endless = ShareOrder { lease_s: 301, ..order.clone() };
    let why = r#"{"refused":"the lease of 301 s is longer than 300 s"}"#;
    assert_eq!(answer(&side, &AskedOfAgent::Prepare(Box::new(endless))), why);
    assert_answer(&side, &AskedOfAgent::Prepare(Box::new(order)), "done");
    let at_ns = sixmark_sys::clock::real() + 500_000_000;
    assert_answer(&side, &AskedOfAgent::Begin { load: load.clone(), at_ns }, "done");
    // Nobody says that the controller is alive: the last record comes by itself.
    let mut source = side.records(&load).unwrap();
    let end = loop {
        let content = source.next(DEADLINE).unwrap().unwrap().content;
        let record: AgentRecord = serde_json::from_slice(&content).unwrap();
        if let RecordContent::End(end) = record.content {
            break end;
        }
    };
    assert_eq!(end.ended, Ended::Interrupted);
    let why = "its controller gave no sign of life for 1 s, so it ended the load";
    assert_eq!(end.cut_short.as_deref(), Some(why));
    assert!(end.tally.ipv6.sent > 0);
    assert_eq!(kept(folder.path()).len(), 1, "nobody has confirmed it");
    assert_answer(&side, &AskedOfAgent::Seal(load), "done");
    assert!(kept(folder.path()).is_empty());
}

fn answer(side: &InProcessController, request: &AskedOfAgent) -> String {
    let request = serde_json::to_vec(request).unwrap();
    let said = side.ask(&"a0".parse().unwrap(), &request, DEADLINE).unwrap();
    String::from_utf8(said).unwrap()
}

fn assert_answer(side: &InProcessController, request: &AskedOfAgent, expected: &str) {
    assert_eq!(answer(side, request), format!("\"{expected}\""));
}

/// A controller's side behind a network that takes its time, longer in one direction.
#[derive(Debug)]
struct Delayed {
    side: InProcessController,
    there: Duration,
    back: Duration,
}

impl ControllerSide for Delayed {
    fn ask_all(
        &self,
        question: &[u8],
        expected: Option<usize>,
        patience: Duration,
    ) -> Result<Vec<FromAgent>, TransportError> {
        self.side.ask_all(question, expected, patience)
    }

    fn ask(
        &self,
        agent: &AgentName,
        request: &[u8],
        patience: Duration,
    ) -> Result<Vec<u8>, TransportError> {
        std::thread::sleep(self.there);
        let answer = self.side.ask(agent, request, patience);
        std::thread::sleep(self.back);
        answer
    }

    fn announce(&self, message: &[u8]) -> Result<(), TransportError> {
        self.side.announce(message)
    }

    fn take_lease(
        &self,
        holder: &str,
        length: Duration,
    ) -> Result<Result<(), String>, TransportError> {
        self.side.take_lease(holder, length)
    }

    fn give_up_lease(&self, holder: &str) -> Result<(), TransportError> {
        self.side.give_up_lease(holder)
    }

    fn keep_note(&self, load: &LoadName, content: &[u8]) -> Result<(), TransportError> {
        self.side.keep_note(load, content)
    }

    fn note(&self, load: &LoadName) -> Result<Option<Vec<u8>>, TransportError> {
        self.side.note(load)
    }

    fn loads(&self) -> Result<Vec<LoadName>, TransportError> {
        self.side.loads()
    }

    fn records(&self, load: &LoadName) -> Result<Box<dyn RecordSource>, TransportError> {
        self.side.records(load)
    }

    fn restore(&self) -> Result<(), TransportError> {
        self.side.restore()
    }

    fn forget(&self, load: &LoadName) -> Result<(), TransportError> {
        self.side.forget(load)
    }
}
