//! Collects the records of a load until every agent's are complete, or an agent is lost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sixmark_document::provenance::{Ended, Warning};
use sixmark_load::Loaded;
use sixmark_plan::plan::Plan;
use sixmark_run::{AgentExtras, GeneratedLoad};
use sixmark_sys::command_error::CommandError;
use sixmark_tally::seconds::SliceCollector;
use sixmark_tally::tally::{FamilyTally, Slice, SliceTally};
use sixmark_units::family::PerFamily;
use sixmark_vitals::section::MachineRole;

use super::members::{Member, ask, ask_each};
use super::stall::Stall;
use super::{CollectedLoad, FleetController, LEASE};
use crate::collector::{RecordCollector, RecordSeries};
use crate::engine::transport::{RecordSource, TransportError};
use crate::load_note::{LoadNote, NotedAgent};
use crate::loaded::{Collected, loaded_of};
use crate::messages::{AgentAnswer, AskedOfAgent, FromAgent, LoadWork, ShareState};
use crate::names::AgentName;
use crate::reason::reason;
use crate::records::SecondRecord;

/// How long to wait for a record before other things are looked at.
const WAIT: Duration = Duration::from_millis(100);
/// An agent from which nothing has come for this long is asked how far it is.
const QUIET: Duration = Duration::from_secs(3);
/// How long to wait for the records that are still under way of an agent that is known to be gone,
/// or to have published all.
const LAST_WAIT: Duration = Duration::from_secs(2);
/// How long to wait before agents are told again to end.
const AGAIN: Duration = Duration::from_secs(5);
/// How long an agent may take to say how far it is.
const PATIENCE: Duration = Duration::from_secs(2);

/// Collects a load that has begun. Setting `stop` ends it early.
pub(super) fn collect(
    fleet: &FleetController,
    plan: &Plan,
    note: &LoadNote,
    extras: &AgentExtras,
    stop: &Arc<AtomicBool>,
    watch: &mut dyn FnMut(&Slice),
) -> Result<GeneratedLoad, CommandError> {
    let restarts = fleet.watch.server_restarts();
    let mut collecting = Collecting::new(fleet, plan, note);
    let mut source = None;
    while !collecting.is_over() {
        if std::mem::take(&mut collecting.reread) {
            source = None;
        }
        match next_record(fleet, note, &mut source) {
            Some(record) => collecting.add(&record, watch),
            None => {
                collecting.drained = Instant::now();
                collecting.look_after_agents();
            }
        }
        if stop.load(Ordering::Relaxed) || fleet.lease.is_lost() {
            collecting.end_load();
        }
    }
    let restarts = fleet.watch.server_restarts() - restarts;
    let collected = collecting.collected_load();
    collecting.withhold();
    let interrupted = collecting.ended.is_some();
    let mut loaded = loaded_of(plan, note, collecting.collected, restarts);
    if interrupted {
        // Agents whose last record is missing did not say so.
        loaded.ended = Ended::Interrupted;
    }
    let server = extras.vitals_from.as_ref().and_then(|_| server_cost(fleet, note, &loaded));
    if let Some(fleet) = &mut loaded.fleet {
        fleet.server = server;
    }
    fleet.confirm_later(collected);
    Ok(loaded)
}

/// Returns what the load cost its server, as the first agent saw it.
fn server_cost(
    fleet: &FleetController,
    note: &LoadNote,
    loaded: &Loaded,
) -> Option<(MachineRole, Vec<Warning>)> {
    let of = |number: fn(&FamilyTally) -> u64| PerFamily {
        ipv6: number(&loaded.tally.ipv6),
        ipv4: number(&loaded.tally.ipv4),
    };
    let whole = loaded.intervals.iter().filter(|second| second.length_s > 0.999);
    let seconds = whole.map(|second| PerFamily {
        ipv6: second.families.ipv6.completed,
        ipv4: second.families.ipv4.completed,
    });
    let work = LoadWork {
        requests: of(FamilyTally::completed),
        bytes: of(|tally| tally.bytes.received + tally.bytes.sent),
        seconds: seconds.collect(),
        elapsed_s: loaded.elapsed_ns as f64 / 1e9,
    };
    let request = AskedOfAgent::ServerCost { load: note.load.clone(), work };
    match ask(fleet.side.as_ref(), fleet.members.first()?, &request, PATIENCE) {
        Ok(AgentAnswer::ServerCost(cost)) => cost.map(|cost| *cost),
        _ => None,
    }
}

/// Returns the next record, or `None` if none arrived for a while. A server that is gone for now
/// may come back: agents keep what they counted.
fn next_record(
    fleet: &FleetController,
    note: &LoadNote,
    source: &mut Option<Box<dyn RecordSource>>,
) -> Option<FromAgent> {
    if source.is_none() {
        *source = fleet.side.records(&note.load).ok();
    }
    let next = source.as_mut().map(|source| source.next(WAIT));
    match next {
        Some(Ok(content)) => content,
        Some(Err(TransportError::Silent(_) | TransportError::Refused(_))) | None => {
            *source = None;
            std::thread::sleep(WAIT);
            None
        }
    }
}

/// What is collected so far.
pub(super) struct Collecting<'a> {
    pub(super) fleet: &'a FleetController,
    pub(super) note: &'a LoadNote,
    pub(super) collected: Collected,
    pub(super) agents: BTreeMap<AgentName, AgentWatch>,
    /// When the agents were first and last told to end the load early.
    pub(super) ended: Option<[Instant; 2]>,
    /// When the transport was last made to have what it needs.
    pub(super) restored: Option<Instant>,
    /// When there was last no record that had arrived and was not read yet. Only then is an agent
    /// given up: what has not been read may be its own.
    drained: Instant,
    /// True if the records are to be read from the first one again: a server that lost the last
    /// ones when it was killed counts others at their places.
    pub(super) reread: bool,
    looked: Instant,
}

/// What is known about whether an agent still counts.
pub(super) struct AgentWatch {
    /// When something last came from it.
    pub(super) heard: Instant,
    /// Since when records are due and none comes.
    pub(super) stalled: Option<Stall>,
    /// When it became known that no new records will come, although the last one is missing, and
    /// why.
    over: Option<(Instant, String)>,
    /// When it was last asked how far it is.
    asked: Option<Instant>,
    /// True if its records are no longer waited for.
    pub(super) given_up: bool,
}

impl AgentWatch {
    fn new(heard: Instant) -> AgentWatch {
        AgentWatch { heard, stalled: None, over: None, asked: None, given_up: false }
    }

    /// Notes what the agent said about its share, of which records are still to come.
    fn learn(&mut self, answer: AgentAnswer) {
        let now = Instant::now();
        match answer {
            AgentAnswer::State(ShareState::Unknown) => {
                let line = "it was started again, and does not know the load";
                self.over = Some((now, line.to_owned()));
            }
            AgentAnswer::State(ShareState::Failed(why)) => self.over = Some((now, reason(&why))),
            AgentAnswer::State(ShareState::Publishing { refused }) => {
                self.heard = now;
                Stall::note(&mut self.stalled, refused.as_deref());
            }
            _ => self.heard = now,
        }
    }
}

impl<'a> Collecting<'a> {
    fn new(fleet: &'a FleetController, plan: &Plan, note: &'a LoadNote) -> Collecting<'a> {
        let heard = Instant::now();
        let watch = || AgentWatch::new(heard);
        // Agents without workers count nothing, but report their end like the others.
        let agents = note.agents.iter().map(|agent| (agent.name.clone(), watch())).collect();
        let collected = Collected::new(plan, note);
        Collecting {
            fleet,
            note,
            collected,
            agents,
            ended: None,
            restored: None,
            drained: heard,
            reread: false,
            looked: heard,
        }
    }

    fn is_over(&self) -> bool {
        self.collected.records.all().all(|(name, series)| {
            series.is_complete() || self.agents.get(name).is_none_or(|agent| agent.given_up)
        })
    }

    fn add(&mut self, record: &FromAgent, watch: &mut dyn FnMut(&Slice)) {
        for (name, second) in self.collected.records.add(record) {
            if let Some(agent) = self.agents.get_mut(&name) {
                (agent.heard, agent.over, agent.stalled) = (Instant::now(), None, None);
            }
            if let Some(agent) = self.note.agents.iter().find(|agent| agent.name == name) {
                for slice in slices(agent, &second) {
                    self.collected.seconds.add(&slice);
                    watch(&slice);
                }
            }
        }
        if self.looked.elapsed() > QUIET {
            self.look_after_agents();
        }
    }

    /// Asks quiet agents how far they are, has missing records sent again, and gives up those that
    /// are gone. Waits for the answer of one silent agent at most, so that records are read.
    fn look_after_agents(&mut self) {
        self.look_at_each();
        self.look_after_stalls();
        self.looked = Instant::now();
    }

    fn look_at_each(&mut self) {
        let (fleet, note, drained) = (self.fleet, self.note, self.drained);
        for member in &fleet.members {
            let name = &member.card.name;
            let Some(agent) = self.agents.get_mut(name).filter(|agent| !agent.given_up) else {
                continue;
            };
            let Some(series) = self.collected.records.of(name).filter(|of| !of.is_complete())
            else {
                continue;
            };
            if let Some((over, why)) = &agent.over {
                if drained > *over + LAST_WAIT {
                    agent.given_up = true;
                    self.collected.lost.insert(name.clone(), why.clone());
                }
                continue;
            }
            if let Some(why) = fleet.watch.lost(name) {
                agent.over = Some((Instant::now(), reason(&why)));
                continue;
            }
            let is_quiet = agent.heard.elapsed() > QUIET || series.missing().is_some();
            if !is_quiet || agent.asked.is_some_and(|asked| asked.elapsed() < QUIET) {
                continue;
            }
            agent.asked = Some(Instant::now());
            let state =
                ask(fleet.side.as_ref(), member, &AskedOfAgent::State(note.load.clone()), PATIENCE);
            let resend = AskedOfAgent::Resend {
                load: note.load.clone(),
                incarnation: member.card.incarnation,
                from: series.counted(),
            };
            match state {
                Ok(AgentAnswer::State(ShareState::Published)) => {
                    // Everything was published and yet something is missing.
                    let sent = ask(fleet.side.as_ref(), member, &resend, PATIENCE);
                    let lacks =
                        || (Instant::now(), "records that it published are lost".to_owned());
                    agent.over = sent.is_ok().then(lacks);
                    self.reread = true;
                }
                Ok(answer) => agent.learn(answer),
                // It may be out of reach for a while, like the server between.
                Err(why) => {
                    if drained > agent.heard + LEASE + QUIET {
                        agent.given_up = true;
                        let line = format!("{}{}", reason(&why), self.where_records_are());
                        self.collected.lost.insert(name.clone(), line);
                    }
                    return;
                }
            }
        }
    }

    /// Ends the load early: agents report what they have counted. They are told again until they
    /// have done so, since the server between may be gone for a while.
    fn end_load(&mut self) {
        if self.ended.is_none_or(|[_, last]| last.elapsed() > AGAIN) {
            let end = |_| AskedOfAgent::End(self.note.load.clone());
            // An agent that does not answer ends by itself when the lease is over.
            drop(ask_each(self.fleet.side.as_ref(), &self.fleet.members, end, PATIENCE));
            let now = Instant::now();
            self.ended = Some([self.ended.map_or(now, |[first, _]| first), now]);
        }
    }

    /// Returns what follows the reason for which records are missing.
    pub(super) fn where_records_are(&self) -> String {
        if self.fleet.watch.agents_stay() {
            format!(
                "; it may hold more records: `sixmark fleet collect {}`, or `forget`",
                self.note.load
            )
        } else {
            String::new()
        }
    }

    /// Tells agents whose records are no longer waited for to publish no more of them: they would
    /// be before those of the next load.
    fn withhold(&self) {
        let given_up =
            |of: &&Member| self.agents.get(&of.card.name).is_some_and(|agent| agent.given_up);
        let members: Vec<Member> = self.fleet.members.iter().filter(given_up).cloned().collect();
        let withhold = |_| AskedOfAgent::Withhold(self.note.load.clone());
        // One that does not answer learns it from the next load.
        drop(ask_each(self.fleet.side.as_ref(), &members, withhold, PATIENCE));
    }

    fn collected_load(&self) -> CollectedLoad {
        self.collected.as_collected(self.note, &self.fleet.members)
    }
}

/// Returns the slices of an agent's workers for a second: the first has its counts, so that those
/// who wait for every worker need not know of agents.
pub(super) fn slices(agent: &NotedAgent, second: &SecondRecord) -> Vec<Slice> {
    let families = PerFamily {
        ipv6: SliceTally::of(&second.tally.ipv6),
        ipv4: SliceTally::of(&second.tally.ipv4),
    };
    let name: Arc<str> = agent.name.to_string().into();
    let empty = |worker| Slice {
        worker,
        agent: Some(Arc::clone(&name)),
        second: second.second,
        length_ns: second.length_ns,
        ..Slice::default()
    };
    let mut slices: Vec<Slice> = agent.workers.clone().map(empty).collect();
    if let Some(first) = slices.first_mut() {
        (first.families, first.busy_ns) = (families, second.busy_ns);
    }
    slices
}

impl Collected {
    /// Creates what is collected of a load before its first record.
    pub(super) fn new(plan: &Plan, note: &LoadNote) -> Collected {
        let agents = note.agents.iter().map(|agent| (agent.name.clone(), agent.incarnation));
        Collected {
            records: RecordCollector::new(note.load.clone(), agents),
            seconds: SliceCollector::new(plan.load.threads.get()),
            lost: BTreeMap::new(),
        }
    }

    /// Returns which of these agents need not keep their records.
    pub(super) fn as_collected(&self, note: &LoadNote, members: &[Member]) -> CollectedLoad {
        let is_certain = |member: &&Member| {
            let series = self.records.of(&member.card.name);
            series.is_some_and(RecordSeries::is_beyond_doubt)
        };
        CollectedLoad {
            load: note.load.clone(),
            certain: members.iter().filter(is_certain).cloned().collect(),
            is_certain: self.records.is_beyond_doubt(),
        }
    }
}
