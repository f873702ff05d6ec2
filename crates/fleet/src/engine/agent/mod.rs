//! An agent: it answers its controller, generates its share of a load, and keeps what it counted
//! until the controller has it.

mod publisher;
mod share;
mod wire_files;

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sixmark_document::environment;
use sixmark_run::Draft;
use sixmark_sys::clock;
use sixmark_sys::command_error::CommandError;

use crate::allow::{AllowedTargets, first_refused};
use crate::engine::spool::{SpoolFile, SpoolFolder};
use crate::engine::transport::AgentSide;
use crate::messages::{
    AgentAnswer, AgentCard, AskedOfAgent, AskedOfAll, PROTOCOL, ShareOrder, ShareState, WireLoad,
};
use crate::names::{AgentName, LoadName};
use publisher::Publisher;
use share::Share;
use wire_files::WireFiles;

/// The longest lease that an agent accepts: it goes on for so long without a controller.
const LONGEST_LEASE: Duration = Duration::from_secs(300);
/// How long an agent that ends waits until what it counted is published.
const LAST_RECORDS: Duration = Duration::from_secs(3);
/// How often an agent looks whether it is to end, or its controller is gone.
const LOOK: Duration = Duration::from_millis(100);

/// What an agent is told when it starts.
#[derive(Clone, Debug)]
pub struct AgentSettings {
    /// Its name within the fleet.
    pub name: AgentName,
    /// The targets that it may load. Without any, it refuses every plan.
    pub allowed: Vec<AllowedTargets>,
    /// The longest load that it carries out, with its warm-up; `None`: any.
    pub longest: Option<Duration>,
    /// The number of cores that it offers; `None`: all of the machine.
    pub cores: Option<usize>,
    /// Nanoseconds by which its clock is ahead of the machine's: only tests, which want clocks
    /// that differ, set it.
    pub clock_ahead_ns: i64,
}

/// A running agent.
pub struct Agent {
    shared: Arc<AgentShared>,
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("name", &self.shared.settings.name).finish_non_exhaustive()
    }
}

/// What the handler of messages, the share and the publishers have in common.
struct AgentShared {
    settings: AgentSettings,
    spool: SpoolFolder,
    side: Arc<dyn AgentSide>,
    publisher: Publisher,
    work: Mutex<AgentWork>,
    stop: Arc<AtomicBool>,
}

/// What an agent is doing.
#[derive(Default)]
struct AgentWork {
    share: Option<Share>,
    /// The last sign of life of the controller of the share.
    heard: Option<Instant>,
}

impl Agent {
    /// Starts an agent: it answers messages from now on, and publishes the records that an agent
    /// before it left in `folder`. It ends when `stop` is set.
    ///
    /// # Errors
    /// The folder can't be used, or the transport.
    pub fn start(
        settings: AgentSettings,
        folder: &Path,
        side: Arc<dyn AgentSide>,
        stop: Arc<AtomicBool>,
    ) -> Result<Agent, CommandError> {
        let spool = SpoolFolder::open(folder).map_err(|error| {
            let folder = folder.display();
            CommandError::Measure(format!("can't keep records in '{folder}': {error}"))
        })?;
        let publisher = Publisher::start(settings.name.clone(), Arc::clone(&side))?;
        spool.kept().into_iter().for_each(|file| publisher.recover(file));
        let (work, name) = (Mutex::default(), settings.name.clone());
        let shared = Arc::new(AgentShared {
            settings,
            spool,
            side: Arc::clone(&side),
            publisher,
            work,
            stop,
        });
        let weak = Arc::downgrade(&shared);
        let handler = move |message: &[u8]| weak.upgrade()?.answer(message);
        let cannot = |error| CommandError::Measure(format!("{error}"));
        side.serve(&name, Arc::new(handler)).map_err(cannot)?;
        Ok(Agent { shared })
    }

    /// Returns whether it generates load, or has records that are not published yet.
    pub fn is_busy(&self) -> bool {
        let running = self.shared.work().share.as_ref().is_some_and(Share::is_running);
        running || !self.shared.publisher.is_idle()
    }

    /// Returns whether records are kept that no controller has confirmed.
    pub fn keeps_records(&self) -> bool {
        !self.shared.spool.kept().is_empty()
    }

    /// Serves until `stop` is set or the transport is gone for good. A load that is under way then
    /// is ended, and its records stay on the disk.
    pub fn serve(&self) {
        let shared = &self.shared;
        while !shared.stop.load(Ordering::Relaxed) && shared.side.is_open() {
            shared.end_without_controller();
            std::thread::sleep(LOOK);
        }
        let share = shared.work().share.take();
        if let Some(share) = share {
            share.cut_short("the agent was told to end");
            share.wait();
        }
        let end = Instant::now() + LAST_RECORDS;
        while shared.side.is_open() && !shared.publisher.is_idle() && Instant::now() < end {
            std::thread::sleep(LOOK);
        }
    }
}

impl AgentShared {
    fn work(&self) -> MutexGuard<'_, AgentWork> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the agent's time in nanoseconds since 1970.
    fn time(&self) -> u64 {
        clock::real().saturating_add_signed(self.settings.clock_ahead_ns)
    }

    /// Answers a message. A message that can't be read gets a refusal: it may be of another
    /// version.
    fn answer(&self, message: &[u8]) -> Option<Vec<u8>> {
        if let Ok(asked) = crate::messages::read_json::<AskedOfAll>(message) {
            return self.answer_all(&asked);
        }
        let answer = match crate::messages::read_json::<AskedOfAgent>(message) {
            Ok(asked) => self.answer_one(asked),
            Err(error) => AgentAnswer::Refused(format!("can't read the request: {error}")),
        };
        serde_json::to_vec(&answer).ok()
    }

    fn answer_all(&self, asked: &AskedOfAll) -> Option<Vec<u8>> {
        match asked {
            AskedOfAll::Who => serde_json::to_vec(&self.card()).ok(),
            AskedOfAll::Alive { controller } => {
                let mut work = self.work();
                let is_ours = |share: &Share| share.controller() == controller;
                if work.share.as_ref().is_some_and(is_ours) {
                    work.heard = Some(Instant::now());
                }
                None
            }
            AskedOfAll::Abort => {
                self.work().share.as_ref().inspect(|share| share.end());
                None
            }
        }
    }

    fn card(&self) -> AgentCard {
        let mut environment = environment::environment(Vec::new());
        environment.cores = self.settings.cores.unwrap_or(environment.cores);
        let work = self.work();
        let running = work.share.as_ref().filter(|share| share.is_running());
        AgentCard {
            name: self.settings.name.clone(),
            incarnation: self.spool.incarnation(),
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host: host_name(),
            environment,
            busy: running.map(|share| share.load().clone()),
            allowed: self.settings.allowed.clone(),
            kept: self.spool.kept().into_iter().map(|file| file.load).collect(),
        }
    }

    fn answer_one(&self, asked: AskedOfAgent) -> AgentAnswer {
        let done = |done: Result<(), String>| match done {
            Ok(()) => AgentAnswer::Done,
            Err(why) => AgentAnswer::Refused(why),
        };
        match asked {
            AskedOfAgent::Time => AgentAnswer::Time(self.time()),
            AskedOfAgent::Check(what) => self.check(*what).unwrap_or_else(AgentAnswer::Refused),
            AskedOfAgent::Prepare(order) => done(self.prepare(*order)),
            AskedOfAgent::State(load) => AgentAnswer::State(self.state(&load)),
            AskedOfAgent::Begin { load, at_ns } => self.begin(&load, at_ns),
            AskedOfAgent::End(load) => {
                self.work()
                    .share
                    .as_ref()
                    .filter(|share| *share.load() == load)
                    .inspect(|s| s.end());
                AgentAnswer::Done
            }
            AskedOfAgent::Resend { load, incarnation, from } => {
                done(self.resend(&load, incarnation, from))
            }
            AskedOfAgent::ServerCost { load, work } => {
                let of_agent = self.work();
                let share = of_agent.share.as_ref().filter(|share| *share.load() == load);
                let cost = share.and_then(|share| share.server_cost(&work));
                AgentAnswer::ServerCost(cost.map(Box::new))
            }
            AskedOfAgent::Withhold(load) => {
                self.publisher.forget(&load);
                AgentAnswer::Done
            }
            AskedOfAgent::Seal(load) => done(self.seal(&load)),
        }
    }

    /// Returns the plan with the files that it needs, if this agent may carry it out.
    fn accept(&self, what: WireLoad) -> Result<(Draft, WireFiles), String> {
        let (plan, files) = wire_files::unpack(what)?;
        let targets = plan.targets.iter().flat_map(|target| target.addresses.iter().copied());
        if let Some(target) = first_refused(&self.settings.allowed, targets) {
            return Err(if self.settings.allowed.is_empty() {
                "it was started without --allow, so it loads nothing".to_owned()
            } else {
                format!("its --allow does not include {target}")
            });
        }
        if let (Some(longest), Some(duration)) = (self.settings.longest, plan.load.duration)
            && duration + plan.load.warmup > longest
        {
            let longest = humantime::format_duration(longest);
            return Err(format!("it runs no load longer than {longest} (--longest)"));
        }
        let (search, dns, warnings) = Default::default();
        Ok((Draft { plan, search, dns, warnings }, files))
    }

    fn check(&self, what: WireLoad) -> Result<AgentAnswer, String> {
        let (draft, _files) = self.accept(what)?;
        let runnable = draft.check().map_err(|error| error.to_string())?;
        let (routes, doubts) = (runnable.routes.clone(), runnable.doubts().to_vec());
        Ok(AgentAnswer::Checked { routes, doubts })
    }

    fn prepare(&self, order: ShareOrder) -> Result<(), String> {
        let longest = LONGEST_LEASE.as_secs();
        if order.lease_s > longest {
            return Err(format!("the lease of {} s is longer than {longest} s", order.lease_s));
        }
        let mut work = self.work();
        if let Some(share) = work.share.as_ref().filter(|share| share.is_running()) {
            return Err(format!("it is busy with load {} of {}", share.load(), share.controller()));
        }
        let (draft, files) = self.accept(order.what.clone())?;
        let runnable = draft.check().map_err(|error| error.to_string())?;
        let spool = self
            .spool
            .begin(&order.load)
            .map_err(|error| format!("can't keep records: {error}"))?;
        let share = Share::start(&self.settings, order, runnable, files, spool, &self.publisher)?;
        (work.share, work.heard) = (Some(share), Some(Instant::now()));
        Ok(())
    }

    fn state(&self, load: &LoadName) -> ShareState {
        let work = self.work();
        let share = work.share.as_ref().filter(|share| share.load() == load);
        match share.map(Share::state) {
            Some(ShareState::Publishing { .. } | ShareState::Published) | None => {
                self.publisher.state(load)
            }
            Some(state) => state,
        }
    }

    fn begin(&self, load: &LoadName, at_ns: u64) -> AgentAnswer {
        let work = self.work();
        let Some(share) = work.share.as_ref().filter(|share| share.load() == load) else {
            return AgentAnswer::Refused(format!("it does not know load {load}"));
        };
        let now = self.time();
        match at_ns.checked_sub(now) {
            Some(left) if left >= share::LEAST_NOTICE_NS => {
                if share.begin_at(clock::now() + left) {
                    AgentAnswer::Done
                } else {
                    AgentAnswer::Refused(format!("load {load} has begun already"))
                }
            }
            _ => {
                AgentAnswer::Late(now.saturating_add(share::LEAST_NOTICE_NS).saturating_sub(at_ns))
            }
        }
    }

    fn resend(&self, load: &LoadName, incarnation: u64, from: u64) -> Result<(), String> {
        let file = self.kept(load).find(|file| file.incarnation == incarnation);
        let file = file.ok_or_else(|| format!("it keeps no such records of load {load}"))?;
        self.publisher.publish_again(file, from);
        Ok(())
    }

    fn seal(&self, load: &LoadName) -> Result<(), String> {
        self.publisher.forget(load);
        for file in self.kept(load) {
            file.remove().map_err(|error| format!("can't remove records: {error}"))?;
        }
        Ok(())
    }

    fn kept(&self, load: &LoadName) -> impl Iterator<Item = SpoolFile> {
        let load = load.clone();
        self.spool.kept().into_iter().filter(move |file| file.load == load)
    }

    /// Ends the load if its controller has given no sign of life for the length of the lease, or if
    /// it has lasted for longer than any may.
    fn end_without_controller(&self) {
        let work = self.work();
        if let (Some(share), Some(heard)) = (&work.share, work.heard)
            && share.is_running()
        {
            let (lease, longest) = (share.lease(), self.settings.longest);
            if heard.elapsed() > lease {
                share.cut_short(&format!(
                    "its controller gave no sign of life for {} s, so it ended the load",
                    lease.as_secs()
                ));
            } else if let Some(longest) = longest.filter(|longest| share.age() > *longest) {
                let longest = humantime::format_duration(longest);
                share.cut_short(&format!("it ends loads after {longest} (--longest)"));
            }
        }
    }
}

/// Returns the host's own name.
pub(super) fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

impl Drop for AgentShared {
    fn drop(&mut self) {
        self.publisher.close();
    }
}
