//! The side that requests traffic.

use crate::engine::ports::open_ports;
use crate::engine::ports::outgoing;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::traffic_result::{OfferedTraffic, TrafficResult};
use crate::{Flow, TrafficMix, TrafficSide};
use sixmark_document::provenance::Ended;
use sixmark_units::family::{Family, PerFamily};

use super::assemble::{Ends, Facts, assemble_traffic};
use super::control::{Answers, Asks, CONNECTING, ControlLine, LineBound, VERSION, clock};
use super::{Counters, Half, ReadyFlows, TrafficReceiver, TrafficSender};
use crate::engine::ports::{LONGEST, QUIET, ports};
use crate::warnings::far_side_lost;
use sixmark_sys::command_error::CommandError;

/// The interval at which progress is checked.
const GLANCE: Duration = Duration::from_millis(20);
const CONNECT: Duration = Duration::from_secs(5);

/// A checked description of the traffic to send.
#[derive(Clone, Debug)]
pub struct TrafficJob {
    /// The mix of traffic.
    pub mix: TrafficMix,
    /// The duration; `None` means until interrupted.
    pub duration: Option<Duration>,
    /// The seed of the random numbers.
    pub seed: u64,
    /// The control addresses of the far side, one for each family that is used.
    pub to: PerFamily<Option<SocketAddr>>,
}

/// Starts traffic with the far side and measures until the duration is over or `stop` is set. `see`
/// is called several times per second with the counters of messages sent and received here.
///
/// # Errors
/// Returns a one-line error if the address of a family is missing, or if the far side can't be
/// reached or refuses.
pub fn run_near_side(
    job: &TrafficJob,
    stop: &AtomicBool,
    mut see: impl FnMut(&Counters, &Counters),
) -> Result<TrafficResult, CommandError> {
    let flows = timed(job.mix.flows(job.seed).map_err(CommandError::Usage)?, job.duration);
    let started = SystemTime::now();
    let bound = LineBound { stop: Some(stop), ..LineBound::ANSWERS };
    let (mut lines, far_clock) = connect(job, &flows, &bound)?;
    let Some(line) = lines.first_mut() else {
        return Err(CommandError::Usage("there is nothing to send".into()));
    };
    let (receiver, sender) = begin_flows(line, job, &flows, &bound)?;
    let began = Instant::now();
    watch(job.duration, stop, |over| {
        see(sender.counters(), receiver.counters());
        over && sender.over()
    });
    let elapsed = began.elapsed();
    let interrupted = stop.load(Ordering::Relaxed);
    let (near, far) = end_flows(line, sender, receiver);
    let shared_clock = !far_clock.is_empty() && far_clock == clock();
    let (far, lost) = match far {
        Ok(far) => (Some(far), None),
        Err(error) => (None, Some(error)),
    };
    let ends = Ends { near, far, shared_clock };
    let facts = Facts {
        started,
        elapsed: job.duration.map_or(elapsed, |duration| duration.min(elapsed)),
        ended: if interrupted { Ended::Interrupted } else { Ended::Complete },
        asked: OfferedTraffic::Mix {
            mix: job.mix.clone(),
            duration_s: job.duration.map(|duration| duration.as_secs_f64()),
            to: job.to.iter().filter_map(|(_, to)| *to).collect(),
        },
        seed: job.seed,
    };
    let mut result = assemble_traffic(facts, &ends);
    result.warnings.extend(lost.map(|error| far_side_lost(&error)));
    Ok(result)
}

/// Returns the flows with their end set to that of the duration.
fn timed(mut flows: Vec<Flow>, duration: Option<Duration>) -> Vec<Flow> {
    let stop_ns = duration.map(|duration| duration.as_nanos() as u64);
    flows.iter_mut().for_each(|flow| flow.stop_ns = stop_ns);
    flows
}

/// Connects over each family that is used. The first connection carries the commands.
fn connect(
    job: &TrafficJob,
    flows: &[Flow],
    bound: &LineBound<'_>,
) -> Result<(Vec<ControlLine>, String), CommandError> {
    // The session is unpredictable: someone who guesses that of another side could direct traffic
    // to it.
    let session = RandomState::new().hash_one(std::process::id());
    let (mut lines, mut theirs) = (Vec::new(), String::new());
    for to in addresses_of_flows(job, flows)? {
        let failed = |what: &str| CommandError::Measure(format!("the far side at {to}: {what}"));
        let stream = TcpStream::connect_timeout(&to, CONNECT).map_err(|error| {
            failed(&format!("{error}; start `sixmark traffic --listen` there, or check --to"))
        })?;
        let mut line = ControlLine::new(stream);
        match ask(&mut line, &Asks::Hello { version: VERSION, session }, bound)? {
            Answers::Hello { version: VERSION, clock } => theirs = clock,
            _ => return Err(failed("it is another version of sixmark")),
        }
        lines.push(line);
    }
    Ok((lines, theirs))
}

/// Returns the far side's address of each family that is used.
fn addresses_of_flows(job: &TrafficJob, flows: &[Flow]) -> Result<Vec<SocketAddr>, CommandError> {
    let used = |family: &Family| flows.iter().any(|flow| flow.family == *family);
    let address = |family: Family| {
        let share = if family == Family::Ipv6 { 0 } else { 100 };
        let other = family.other();
        let line = format!(
            "{family} has a share of the traffic, but --to has no {family} address; give one more \
             --to, or --ipv6 {share} for {other} alone"
        );
        job.to[family].ok_or(CommandError::Usage(line))
    };
    Family::BOTH.into_iter().filter(used).map(address).collect()
}

/// Makes both sides listen, connect and start sending.
fn begin_flows(
    line: &mut ControlLine,
    job: &TrafficJob,
    flows: &[Flow],
    bound: &LineBound<'_>,
) -> Result<(TrafficReceiver, TrafficSender), CommandError> {
    let receiver = TrafficReceiver::start(&ports(flows, TrafficSide::Far))?;
    let (own, seed) = (open_ports(&receiver), job.seed);
    let prepare = Asks::Prepare { flows: flows.to_vec(), seed, doors: own };
    let Answers::Listening { doors } = ask(line, &prepare, bound)? else {
        return Err(out_of_turn());
    };
    let out = outgoing(flows, TrafficSide::Near, &job.to, &doors).map_err(CommandError::Measure)?;
    let ready = ReadyFlows::new(out, job.seed, CONNECTING)?;
    done(line, &Asks::Connect, bound)?;
    done(line, &Asks::Go, bound)?;
    Ok((receiver, ready.go()?))
}

/// Stops both sides. Returns what this side knows, and what the far side reports.
fn end_flows(
    line: &mut ControlLine,
    sender: TrafficSender,
    receiver: TrafficReceiver,
) -> (Half, Result<Half, CommandError>) {
    let sent = sender.stop();
    // After an interruption the far side's figures are still waited for.
    let far = done(line, &Asks::Stop, &LineBound::ANSWERS).and_then(|()| {
        match ask(line, &Asks::Report, &LineBound::ANSWERS)? {
            Answers::Report { half } => Ok(*half),
            _ => Err(out_of_turn()),
        }
    });
    receiver.settle(QUIET, LONGEST);
    (Half::new(sent, receiver.stop()), far)
}

/// Waits until `duration` has passed and `see` returns true, or until `stop` is set.
pub(super) fn watch(
    duration: Option<Duration>,
    stop: &AtomicBool,
    mut see: impl FnMut(bool) -> bool,
) {
    let began = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        let left = duration.map(|duration| duration.saturating_sub(began.elapsed()));
        // Streams without room may have more to send at the end of the duration; they get no more
        // time.
        let late = duration.is_some_and(|duration| began.elapsed() > duration + GLANCE);
        if see(left == Some(Duration::ZERO)) || late {
            return;
        }
        std::thread::sleep(left.filter(|left| !left.is_zero()).unwrap_or(GLANCE).min(GLANCE));
    }
}

fn ask(
    line: &mut ControlLine,
    asks: &Asks,
    bound: &LineBound<'_>,
) -> Result<Answers, CommandError> {
    let to = line.stream().peer_addr().map_or_else(|_| "?".to_owned(), |to| to.to_string());
    let failed = |why: String| {
        let line = format!("the far side at {to}: {why}");
        if bound.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            CommandError::Interrupted(line)
        } else {
            CommandError::Measure(line)
        }
    };
    line.say(asks).map_err(failed)?;
    match line.hear::<Answers>(bound).map_err(failed)? {
        Some(Answers::Failed { why }) => Err(failed(why)),
        Some(answer) => Ok(answer),
        None => Err(failed("it closed the connection".into())),
    }
}

fn done(line: &mut ControlLine, asks: &Asks, bound: &LineBound<'_>) -> Result<(), CommandError> {
    match ask(line, asks, bound)? {
        Answers::Done => Ok(()),
        _ => Err(out_of_turn()),
    }
}

fn out_of_turn() -> CommandError {
    CommandError::Measure("the far side sent an unexpected answer".into())
}
