//! One host that carries out a script of MGEN. The other hosts may run MGEN itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::Script;
use crate::traffic_result::{OfferedTraffic, TrafficResult};
use sixmark_document::provenance::Ended;

use super::assemble::{Ends, Facts, assemble_traffic};
use super::near::watch;
use super::{Counters, Half, Port, ReadyFlows, TrafficReceiver};
use crate::engine::ports::QUIET;
use sixmark_sys::command_error::CommandError;

/// A parsed script with its settings.
#[derive(Clone, Debug)]
pub struct ScriptJob {
    /// The script.
    pub script: Script,
    /// The name of its file, for the result.
    pub file: String,
    /// The duration after which it ends early; `None` means the end of the script.
    pub duration: Option<Duration>,
    /// The seed of the random numbers.
    pub seed: u64,
}

/// Carries out the script in the network namespace of the calling thread, until its end, the end of
/// the duration, or until `stop` is set. `see` is called several times per second with the counters
/// of sent and received messages.
///
/// # Errors
/// Returns a one-line error if a port that is open from the beginning can't be listened on.
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
    // Messages due at the end still have to arrive.
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
        // For a script without an end, the signal is the regular end.
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
