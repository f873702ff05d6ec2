//! One host that does what a script of MGEN's says; the others may be MGEN's.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use sixmark_model::provenance::Ended;
use sixmark_model::traffic::Script;
use sixmark_model::traffic::result::{OfferedTraffic, TrafficResult};

use super::assemble::{Ends, Facts, assemble_traffic};
use super::near::watch;
use super::{Counters, Half, Port, ReadyFlows, TrafficReceiver};
use crate::traffic::ports::QUIET;
use sixmark_machine::CommandError;

/// A script, read, with what else bears on it.
#[derive(Clone, Debug)]
pub struct ScriptJob {
    /// What it says.
    pub script: Script,
    /// Its file's name, for the result.
    pub file: String,
    /// When to end, before the script may; none is at the script's end.
    pub duration: Option<Duration>,
    /// Decides what is drawn.
    pub seed: u64,
}

/// Does what the script says in the network namespace of the calling thread, until its end, the
/// duration's, or until `stop` is set; `see` is shown what was sent and heard, some times a second.
///
/// # Errors
/// In one line: a port of the beginning can't be listened on.
pub fn run_script(
    job: &ScriptJob,
    stop: &AtomicBool,
    mut see: impl FnMut(&Counters, &Counters),
) -> Result<TrafficResult, CommandError> {
    let ScriptJob { script, seed, .. } = job;
    let started = SystemTime::now();
    let ports: Vec<Port> = script.listening.iter().flat_map(Port::of_script).collect();
    let receiver = TrafficReceiver::start(&ports)?;
    let sender = ReadyFlows::unconnected(script.flows.clone(), *seed).go()?;
    let end = script.end_ns().map(Duration::from_nanos);
    // What is due at the end still has to arrive.
    let end = match (end, job.duration) {
        (Some(end), Some(duration)) => Some(end.min(duration)),
        (end, duration) => end.or(duration),
    };
    let began = Instant::now();
    watch(end, stop, |over| {
        see(sender.counters(), receiver.counters());
        over
    });
    let elapsed = began.elapsed();
    let stopped = stop.load(Ordering::Relaxed);
    let sent = sender.stop();
    if !stopped {
        receiver.settle(QUIET, QUIET * 20);
    }
    let ends = Ends { near: Half::new(sent, receiver.stop()), far: None, shared_clock: true };
    let facts = Facts {
        started,
        elapsed,
        // To one without an end of its own the signal is its end.
        ended: if stopped && end.is_some() { Ended::Interrupted } else { Ended::Complete },
        asked: OfferedTraffic::Script {
            file: job.file.clone(),
            duration_s: job.duration.map(|duration| duration.as_secs_f64()),
            notes: script.notes.clone(),
        },
        seed: *seed,
    };
    Ok(assemble_traffic(facts, &ends))
}
