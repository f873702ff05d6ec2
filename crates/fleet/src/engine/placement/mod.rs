//! Placement: agents are started on hosts as processes of this command, and end with it.
//!
//! Each agent is reached through the standard streams of its process alone ([`tunnel`]): no port
//! is opened on its host for others, nothing secret is on a command line, and when either side is
//! gone, the other one's streams end.

pub mod frames;
mod lab;
mod last_words;
mod placed;
mod remote;
pub mod ssh;
mod start;
mod stream;
mod streams;
mod terms;
pub mod tunnel;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use sixmark_sys::command_error::CommandError;

use crate::hosts::HostList;
use crate::names::AgentName;
pub use placed::{Placed, end_all};
use start::{Event, Starting};
pub use terms::{AgentProgram, LineSink, PlacementTerms, StartInLab};

/// How often a waiting command looks whether a signal asked it to end.
const LOOK: Duration = Duration::from_millis(50);
/// The time that agents have to end when the placement of another one failed.
const HASTE: Duration = Duration::from_secs(5);

/// Places an agent on each host, on all of them at the same time. `hello` is what each one needs to
/// start; it is sent through its standard input.
///
/// The kernel ends the processes when the calling **thread** ends, for whatever reason: call this
/// in the main thread, or in one that outlives the load.
///
/// # Errors
/// An agent could not be placed, or `stop` was set. All others have been ended then.
pub fn place_all(
    hosts: &HostList,
    hello: impl Fn(&AgentName) -> Vec<u8>,
    terms: &PlacementTerms<'_>,
    stop: &AtomicBool,
) -> Result<Vec<Placed>, CommandError> {
    let (sender, events) = channel();
    let mut all: Vec<Starting> = Vec::new();
    for (index, (host, name)) in hosts.hosts().iter().enumerate() {
        // If this fails, those before it end when they are dropped.
        let event = sender.clone();
        let tell = move |kind| drop(event.send((index, kind)));
        let starting = Starting::begin(host, name, hello(name), terms, tell);
        all.push(starting.map_err(CommandError::Measure)?);
    }
    wait_for_answers(&mut all, &events, terms.patience, stop);
    if stop.load(Ordering::Relaxed) {
        end_all(all.into_iter().filter_map(|one| one.finish().ok()).collect(), HASTE);
        return Err(CommandError::Interrupted("ended while agents were being placed".into()));
    }
    let (mut placed, mut failed) = (Vec::new(), Vec::new());
    for one in all {
        match one.finish() {
            Ok(one) => placed.push(one),
            Err(failure) => failed.push(failure),
        }
    }
    if failed.is_empty() {
        placed.iter().for_each(|one| one.pass_lines_on(&terms.lines));
        return Ok(placed);
    }
    end_all(placed, HASTE);
    Err(CommandError::Measure(describe(&failed)))
}

/// Waits until every process is an agent or has failed to become one.
fn wait_for_answers(
    all: &mut [Starting],
    events: &Receiver<(usize, Event)>,
    patience: Duration,
    stop: &AtomicBool,
) {
    while all.iter().any(Starting::is_waiting) && !stop.load(Ordering::Relaxed) {
        match events.recv_timeout(LOOK) {
            Ok((index, event)) => {
                if let Some(one) = all.get_mut(index) {
                    one.take(event, Instant::now());
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            // Every thread has reported.
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let now = Instant::now();
        all.iter_mut().for_each(|one| one.check_patience(now, patience));
    }
}

/// Returns the first failure, and which other hosts failed.
fn describe(failed: &[start::Failure]) -> String {
    match failed {
        [] => String::new(),
        [one] => one.line.clone(),
        [one, others @ ..] => {
            let others: Vec<String> = others.iter().map(|one| one.host.to_string()).collect();
            format!("{} (and no agent could be placed on {})", one.line, others.join(", "))
        }
    }
}
