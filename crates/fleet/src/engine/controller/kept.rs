//! What a controller that comes later finds: agents, loads whose records are kept, their results.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sixmark_document::environment;
use sixmark_plan::plan::Plan;
use sixmark_result::result::RunResult;
use sixmark_run::{Circumstances, Measured, assemble};
use sixmark_sys::command_error::CommandError;

use super::CollectedLoad;
use super::collect::slices;
use super::members::{Member, ask, ask_each, ask_for_cards};
use crate::engine::transport::{ControllerSide, TransportError};
use crate::load_note::LoadNote;
use crate::loaded::{Collected, loaded_of};
use crate::messages::{AgentAnswer, AgentCard, AskedOfAgent, AskedOfAll};
use crate::names::{AgentName, LoadName};

/// How long to wait for records that may still come.
const QUIET: Duration = Duration::from_secs(3);
/// How long agents may take to say that they are there.
const GATHERING: Duration = Duration::from_secs(2);
/// How often a signal is looked for.
const WAIT: Duration = Duration::from_millis(100);

/// Returns the agents that answer within `patience`, by name.
///
/// # Errors
/// The transport can't be used.
pub fn list_agents(
    side: &dyn ControllerSide,
    patience: Duration,
) -> Result<Vec<AgentCard>, CommandError> {
    ask_for_cards(side, None, patience)
}

/// Ends every load of a fleet, whoever began it. What was counted is kept.
///
/// # Errors
/// The transport can't be used.
pub fn abort_all(side: &dyn ControllerSide) -> Result<(), CommandError> {
    let message = serde_json::to_vec(&AskedOfAll::Abort).unwrap_or_default();
    side.announce(&message).map_err(|error| cannot(&error))
}

/// The result of a load that was made from kept records.
#[derive(Debug)]
pub struct KeptLoad {
    /// The result.
    pub result: RunResult,
    collected: CollectedLoad,
    side: Arc<dyn ControllerSide>,
}

impl KeptLoad {
    /// Has the records removed, once the result is written: those that are complete and disagree
    /// with nothing.
    pub fn confirm(self) {
        self.collected.confirm(self.side.as_ref());
    }
}

/// Makes the result of a load from the records that are kept of it. Agents that still have records
/// of it publish them again. Setting `stop` ends it with what has arrived.
///
/// # Errors
/// There is no such load, its controller is still at work, or the transport can't be used.
pub fn collect_kept(
    side: Arc<dyn ControllerSide>,
    load: &LoadName,
    stop: &AtomicBool,
) -> Result<KeptLoad, CommandError> {
    let note = note_of(side.as_ref(), load)?;
    let agents = list_agents(side.as_ref(), GATHERING)?;
    refuse_busy(&agents, load)?;
    let plan = note.plan.clone();
    let keeping: Vec<Member> = agents
        .into_iter()
        .filter(|card| card.kept.contains(load))
        .map(|card| Member { card })
        .collect();
    let gathered = gather(side.as_ref(), &plan, &note, &keeping, stop)?;
    let collected = gathered.as_collected(&note, &keeping);
    let loaded = loaded_of(&plan, &note, gathered, 0);
    let environment = environment::environment(Vec::new());
    let known = Circumstances { started: note.started, environment, ..Circumstances::default() };
    let result = assemble(known, Measured::of(plan, loaded));
    Ok(KeptLoad { result, collected, side })
}

/// Removes the records of a load from the transport and from the agents that keep some. Returns the
/// names of those agents.
///
/// # Errors
/// An agent is still generating the load, or the transport can't be used.
pub fn forget_kept(
    side: &dyn ControllerSide,
    load: &LoadName,
) -> Result<Vec<AgentName>, CommandError> {
    let agents = list_agents(side, GATHERING)?;
    refuse_busy(&agents, load)?;
    let keeping: Vec<Member> = agents
        .into_iter()
        .filter(|card| card.kept.contains(load))
        .map(|card| Member { card })
        .collect();
    let answers = ask_each(side, &keeping, |_| AskedOfAgent::Seal(load.clone()), QUIET);
    side.forget(load).map_err(|error| cannot(&error))?;
    let mut forgot = Vec::new();
    for (member, answer) in keeping.iter().zip(answers) {
        match answer {
            Ok(AgentAnswer::Done) => forgot.push(member.card.name.clone()),
            Ok(AgentAnswer::Refused(why)) | Err(why) => {
                return Err(CommandError::Measure(member.says(&why)));
            }
            Ok(other) => {
                let line = format!("unexpected answer {other:?}");
                return Err(CommandError::Measure(member.says(&line)));
            }
        }
    }
    Ok(forgot)
}

fn refuse_busy(agents: &[AgentCard], load: &LoadName) -> Result<(), CommandError> {
    let busy = agents.iter().find(|card| card.busy.as_ref() == Some(load));
    busy.map_or(Ok(()), |busy| {
        let line = format!("agent {} is still generating load {load}", busy.name);
        Err(CommandError::Measure(line))
    })
}

fn note_of(side: &dyn ControllerSide, load: &LoadName) -> Result<LoadNote, CommandError> {
    let note = side.note(load).map_err(|error| cannot(&error))?;
    let note = note.ok_or_else(|| {
        let line = format!("no records of load {load} are kept; `sixmark fleet status` lists them");
        CommandError::Usage(line)
    })?;
    crate::messages::read_json(&note)
        .map_err(|error| CommandError::Measure(format!("can't read the note of {load}: {error}")))
}

/// Gathers the records until all are there, or no more come.
fn gather(
    side: &dyn ControllerSide,
    plan: &Plan,
    note: &LoadNote,
    keeping: &[Member],
    stop: &AtomicBool,
) -> Result<Collected, CommandError> {
    let mut collected = Collected::new(plan, note);
    let mut source = side.records(&note.load).map_err(|error| cannot(&error))?;
    let (mut news, mut asked) = (Instant::now(), false);
    while !collected.records.is_complete() && !stop.load(Ordering::Relaxed) {
        if let Some(record) = source.next(WAIT).map_err(|error| cannot(&error))? {
            news = Instant::now();
            for (name, second) in collected.records.add(&record) {
                let agent = note.agents.iter().find(|agent| agent.name == name);
                for slice in agent.iter().flat_map(|agent| slices(agent, &second)) {
                    collected.seconds.add(&slice);
                }
            }
        } else if !asked {
            // What is in the transport has been read.
            asked = true;
            keeping.iter().for_each(|member| resend(side, member, note, &collected));
            news = Instant::now();
        } else if news.elapsed() > QUIET {
            break;
        }
    }
    Ok(collected)
}

/// Has an agent publish again what is missing.
fn resend(side: &dyn ControllerSide, member: &Member, note: &LoadNote, collected: &Collected) {
    let name = &member.card.name;
    let noted = note.agents.iter().find(|agent| agent.name == *name);
    let series = collected.records.of(name).filter(|series| !series.is_complete());
    if let (Some(agent), Some(series)) = (noted, series) {
        let (load, incarnation) = (note.load.clone(), agent.incarnation);
        let request = AskedOfAgent::Resend { load, incarnation, from: series.counted() };
        // An agent that does not answer has no more records for us.
        let _ = ask(side, member, &request, QUIET);
    }
}

fn cannot(error: &TransportError) -> CommandError {
    CommandError::Measure(error.to_string())
}
