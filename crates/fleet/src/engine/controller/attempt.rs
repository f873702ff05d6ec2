//! The course of one load: agents get ready, begin at the same time, and their records are
//! collected.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use sixmark_document::provenance::RouteTaken;
use sixmark_plan::plan::Plan;
use sixmark_run::{AgentExtras, GeneratedLoad};
use sixmark_sys::clock;
use sixmark_sys::command_error::CommandError;
use sixmark_tally::tally::Slice;

use super::collect::collect;
use super::{FleetController, LEASE, loads};
use crate::load_note::{LoadNote, NotedAgent};
use crate::messages::{AgentAnswer, AskedOfAgent, ShareOrder, ShareState, WireLoad};
use crate::names::LoadName;
use crate::split::worker_ranges;

/// How often a load is tried whose beginning some agents learnt of too late.
const ATTEMPTS: u32 = 4;
/// The least time from the order to begin to the beginning. It is longer where round trips are, and
/// doubled with each attempt.
const NOTICE: Duration = Duration::from_millis(150);
/// How often agents that get ready are asked how far they are.
const LOOK: Duration = Duration::from_millis(20);

/// Carries out a plan on all agents.
pub(super) fn carry_out(
    fleet: &FleetController,
    plan: &Plan,
    extras: &AgentExtras,
    stop: &Arc<AtomicBool>,
    watch: &mut dyn FnMut(&Slice),
) -> Result<GeneratedLoad, CommandError> {
    let what = loads::wire_load(plan)?;
    for number in 0..ATTEMPTS {
        let load = fleet.next_load()?;
        let attempt = LoadAttempt { fleet, plan, load: &load };
        match attempt.begin(&what, extras, stop, number) {
            Ok(Begun::Yes(note)) => return collect(fleet, plan, &note, extras, stop, watch),
            Ok(Begun::Late) => attempt.undo(),
            Err(error) => {
                attempt.undo();
                return Err(error);
            }
        }
    }
    Err(CommandError::Measure(
        "the order to begin reached some agents too late, each time; is the path to them congested?"
            .to_owned(),
    ))
}

/// One attempt to carry out a plan.
struct LoadAttempt<'a> {
    fleet: &'a FleetController,
    plan: &'a Plan,
    load: &'a LoadName,
}

/// Whether a load has begun.
enum Begun {
    /// All agents will begin together.
    Yes(Box<LoadNote>),
    /// Some agents learnt of it too late, and refused.
    Late,
}

impl LoadAttempt<'_> {
    fn begin(
        &self,
        what: &WireLoad,
        extras: &AgentExtras,
        stop: &AtomicBool,
        attempt: u32,
    ) -> Result<Begun, CommandError> {
        let fleet = self.fleet;
        fleet.lease.tell();
        let note = self.note()?;
        let text = serde_json::to_vec(&note).map_err(|error| cannot(&error))?;
        fleet.side.keep_note(self.load, &text).map_err(|error| cannot(&error))?;
        fleet.have_each(|number| {
            AskedOfAgent::Prepare(Box::new(ShareOrder {
                load: self.load.clone(),
                controller: fleet.name.clone(),
                lease_s: LEASE.as_secs(),
                what: what.clone(),
                workers: note.agents[number].workers.clone(),
                agents: note.agents.len() as u32,
                truth: extras.truth,
                // One agent is enough: all would read the same.
                vitals_from: extras.vitals_from.clone().filter(|_| number == 0),
            }))
        })?;
        self.wait_until_ready(stop)?;
        self.order(&note, attempt)
    }

    /// Returns what another controller needs to know of this load.
    fn note(&self) -> Result<LoadNote, CommandError> {
        let fleet = self.fleet;
        let mut clocks = fleet.clocks.lock().unwrap_or_else(PoisonError::into_inner);
        clocks.refresh(fleet.side.as_ref(), &fleet.members)?;
        let routes = fleet.routes.lock().unwrap_or_else(PoisonError::into_inner);
        let number = fleet.members.len() as u32;
        let targets = self.plan.all_endpoints();
        let is_target = |route: &&RouteTaken| targets.iter().any(|of| of.address == route.to);
        let ranges = worker_ranges(self.plan.load.threads.get(), number);
        let agents = fleet.members.iter().zip(ranges).zip(clocks.offsets.iter().zip(routes.iter()));
        let agents = agents.map(|((member, workers), (clock, routes))| NotedAgent {
            name: member.card.name.clone(),
            incarnation: member.card.incarnation,
            host: member.card.host.clone(),
            environment: member.card.environment.clone(),
            routes: routes.iter().filter(is_target).cloned().collect(),
            workers,
            clock_offset_ns: clock.offset_ns,
            clock_bound_ns: clock.bound_ns,
        });
        Ok(LoadNote {
            load: self.load.clone(),
            started: humantime::format_rfc3339_millis(SystemTime::now()).to_string(),
            plan: self.plan.clone(),
            agents: agents.collect(),
        })
    }

    /// Waits until the workers of every agent are ready, with the connections that are to be open.
    fn wait_until_ready(&self, stop: &AtomicBool) -> Result<(), CommandError> {
        let fleet = self.fleet;
        loop {
            let began = Instant::now();
            let states = fleet.ask_each(|_| AskedOfAgent::State(self.load.clone()));
            let mut ready = true;
            for (member, state) in fleet.members.iter().zip(states) {
                match state {
                    Ok(AgentAnswer::State(ShareState::Ready)) => {}
                    Ok(AgentAnswer::State(ShareState::Preparing)) => ready = false,
                    Ok(AgentAnswer::State(ShareState::Failed(why))) | Err(why) => {
                        return Err(CommandError::Measure(member.says(&why)));
                    }
                    Ok(other) => {
                        let line = format!("it does not get ready ({other:?})");
                        return Err(CommandError::Measure(member.says(&line)));
                    }
                }
            }
            if stop.load(Ordering::Relaxed) {
                return Err(CommandError::Interrupted("interrupted before the load began".into()));
            }
            if ready {
                return Ok(());
            }
            std::thread::sleep(LOOK.saturating_sub(began.elapsed()));
        }
    }

    /// Orders all agents to begin at the same time.
    fn order(&self, note: &LoadNote, attempt: u32) -> Result<Begun, CommandError> {
        let fleet = self.fleet;
        let round_trip = fleet.clocks.lock().unwrap_or_else(PoisonError::into_inner).round_trip;
        let notice = (NOTICE + 4 * round_trip) * 2_u32.pow(attempt);
        let begin_ns = clock::real() + notice.as_nanos() as u64;
        let answers = fleet.ask_each(|number| AskedOfAgent::Begin {
            load: self.load.clone(),
            at_ns: begin_ns.saturating_add_signed(note.agents[number].clock_offset_ns),
        });
        let mut late = false;
        for (member, answer) in fleet.members.iter().zip(answers) {
            match answer {
                Ok(AgentAnswer::Done) => {}
                Ok(AgentAnswer::Late(_)) => late = true,
                Ok(AgentAnswer::Refused(why)) | Err(why) => {
                    return Err(CommandError::Measure(member.says(&why)));
                }
                Ok(other) => {
                    let line = format!("unexpected answer {other:?}");
                    return Err(CommandError::Measure(member.says(&line)));
                }
            }
        }
        Ok(if late { Begun::Late } else { Begun::Yes(Box::new(note.clone())) })
    }

    /// Ends what was begun, and removes its records: nothing of it counts.
    fn undo(&self) {
        let fleet = self.fleet;
        // An agent that does not answer ends its share when the lease is over.
        drop(fleet.ask_each(|_| AskedOfAgent::End(self.load.clone())));
        drop(fleet.ask_each(|_| AskedOfAgent::Seal(self.load.clone())));
        let _ = fleet.side.forget(self.load);
    }
}

fn cannot(error: &dyn std::fmt::Display) -> CommandError {
    CommandError::Measure(error.to_string())
}
