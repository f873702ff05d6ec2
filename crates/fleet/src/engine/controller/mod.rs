//! The controller of a fleet: it finds the agents, has them carry out loads together, and merges
//! what they counted.

mod attempt;
mod clocks;
mod collect;
mod give_up;
mod kept;
mod lease;
mod loads;
mod members;
mod stall;

use std::fmt;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sixmark_document::provenance::{RouteTaken, Warning};
use sixmark_plan::plan::Plan;
use sixmark_run::{AgentExtras, FleetSize, GeneratedLoad, Generators};
use sixmark_sys::command_error::CommandError;
use sixmark_tally::tally::Slice;

use crate::engine::transport::ControllerSide;
use crate::messages::{AgentAnswer, AskedOfAgent};
use crate::names::{AgentName, LoadName};
pub use kept::{KeptLoad, abort_all, collect_kept, forget_kept, list_agents};
use lease::LeaseKeeper;
pub use members::{Member, Wanted, find_members};

/// How long the fleet belongs to a controller after its last sign of life, and how long agents go
/// on without one.
pub const LEASE: Duration = Duration::from_secs(30);

/// How long an agent may take to answer a request.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is known of a fleet besides the messages of its agents.
pub trait FleetWatch: fmt::Debug + Send + Sync {
    /// Returns why an agent is known to be gone, if it is.
    fn lost(&self, agent: &AgentName) -> Option<String>;

    /// Returns how often the server between both sides was started again so far.
    fn server_restarts(&self) -> u32;

    /// Returns true if agents outlast the controller, so that another one can collect the records
    /// that they keep.
    fn agents_stay(&self) -> bool;

    /// Reports something at once, in one line, to whoever waits for the load.
    fn report(&self, line: &str);
}

/// What is done with reports on the course of a load, each of one line.
pub type ReportSink = Arc<dyn Fn(&str) + Send + Sync>;

/// A fleet of which nothing is known but its messages.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl FleetWatch for Unwatched {
    fn lost(&self, _: &AgentName) -> Option<String> {
        None
    }

    fn server_restarts(&self) -> u32 {
        0
    }

    fn agents_stay(&self) -> bool {
        true
    }

    fn report(&self, _: &str) {}
}

/// How long a controller waits for records that do not come.
#[derive(Clone, Copy, Debug)]
pub struct CollectPatience {
    /// After this time, it reports why and creates again what the transport may have lost.
    pub report: Duration,
    /// After this time, it goes on without them.
    pub give_up: Duration,
    /// The same after an interruption.
    pub interrupted: Duration,
}

impl Default for CollectPatience {
    fn default() -> CollectPatience {
        CollectPatience {
            report: Duration::from_secs(6),
            give_up: Duration::from_secs(30),
            interrupted: Duration::from_secs(10),
        }
    }
}

/// A load whose records have arrived, and who still keeps them.
#[derive(Debug)]
struct CollectedLoad {
    load: LoadName,
    /// The agents whose records are complete and beyond doubt.
    certain: Vec<Member>,
    /// Whether the transport need not keep them either: none is missing, and none is in doubt.
    is_certain: bool,
}

impl CollectedLoad {
    /// Has the records removed that are beyond doubt. What an agent lacks may still come, and what
    /// disagrees is evidence: it stays, and `fleet status` lists it.
    fn confirm(self, side: &dyn ControllerSide) {
        let seal = |_| AskedOfAgent::Seal(self.load.clone());
        // An agent that does not answer keeps its records, which does no harm.
        drop(members::ask_each(side, &self.certain, seal, PATIENCE));
        if self.is_certain {
            let _ = side.forget(&self.load);
        }
    }
}

/// A fleet that this process controls.
pub struct FleetController {
    // It is dropped first: the lease is given up while there is still a server.
    lease: LeaseKeeper,
    side: Arc<dyn ControllerSide>,
    members: Vec<Member>,
    /// The name of this controller, and the first part of the names of its loads.
    name: String,
    /// The number of the next load.
    next: AtomicU32,
    /// The routes of each agent to the targets of all plans that were checked: the sides of a
    /// comparison have different ones.
    routes: Mutex<Vec<Vec<RouteTaken>>>,
    clocks: Mutex<clocks::FleetClocks>,
    /// The loads that have been collected.
    collected: Mutex<Vec<CollectedLoad>>,
    watch: Box<dyn FleetWatch>,
    patience: CollectPatience,
}

impl fmt::Debug for FleetController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetController").field("name", &self.name).finish_non_exhaustive()
    }
}

impl FleetController {
    /// Takes a fleet: finds its agents and takes its lease, which is renewed until this is dropped.
    /// `name` is that of the controller; it must fit into the name of a load.
    ///
    /// # Errors
    /// There are too few agents, one is of another version or is busy, or another controller has
    /// the fleet.
    pub fn take(
        side: Arc<dyn ControllerSide>,
        name: &str,
        wanted: Wanted,
        watch: Box<dyn FleetWatch>,
    ) -> Result<FleetController, CommandError> {
        let lease = LeaseKeeper::take(Arc::clone(&side), name)?;
        let members = find_members(side.as_ref(), wanted)?;
        let clocks = Mutex::new(clocks::FleetClocks::measure(side.as_ref(), &members)?);
        let routes = Mutex::new(vec![Vec::new(); members.len()]);
        let (name, next) = (name.to_owned(), AtomicU32::new(1));
        let collected = Mutex::default();
        let patience = CollectPatience::default();
        Ok(FleetController {
            lease,
            side,
            members,
            name,
            next,
            routes,
            clocks,
            collected,
            watch,
            patience,
        })
    }

    /// Sets how long to wait for records that do not come.
    #[must_use]
    pub fn with_patience(mut self, patience: CollectPatience) -> FleetController {
        self.patience = patience;
        self
    }

    /// Returns the agents, in the order of their shares.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Asks each agent something, all at the same time. The answers are in the agents' order.
    fn ask_each(
        &self,
        request: impl Fn(usize) -> AskedOfAgent + Sync,
    ) -> Vec<Result<AgentAnswer, String>> {
        members::ask_each(self.side.as_ref(), &self.members, request, PATIENCE)
    }

    /// Has every agent do something. Returns an error that names the agents that did not.
    fn have_each(
        &self,
        request: impl Fn(usize) -> AskedOfAgent + Sync,
    ) -> Result<(), CommandError> {
        let answers = self.ask_each(request);
        let refused =
            self.members.iter().zip(answers).filter_map(|(member, answer)| match answer {
                Ok(AgentAnswer::Done) => None,
                Ok(AgentAnswer::Refused(why)) | Err(why) => Some(member.says(&why)),
                Ok(other) => Some(member.says(&format!("unexpected answer {other:?}"))),
            });
        all_or_error(refused.collect())
    }

    /// Notes that a load has been collected. Agents keep its records until whoever asked for the
    /// load had the time to write its result: until the next load, or the end of this controller.
    fn confirm_later(&self, load: CollectedLoad) {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner).push(load);
    }

    /// Tells the agents that they need not keep the records of the loads that have been collected.
    fn confirm_collected(&self) {
        let mut collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        collected.drain(..).for_each(|load| load.confirm(self.side.as_ref()));
    }

    fn next_load(&self) -> Result<LoadName, CommandError> {
        let number = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        format!("{}-{number}", self.name).parse().map_err(CommandError::Usage)
    }
}

impl Drop for FleetController {
    fn drop(&mut self) {
        self.confirm_collected();
    }
}

impl Generators for FleetController {
    fn size(&self) -> FleetSize {
        let agents = NonZeroU32::new(self.members.len() as u32).unwrap_or(NonZeroU32::MIN);
        let cores = self.members.iter().map(|member| member.card.environment.cores as u32).min();
        let cores = cores.and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
        FleetSize { agents, cores }
    }

    fn check(&self, plan: &Plan) -> Result<(Vec<RouteTaken>, Vec<Warning>), CommandError> {
        let what = loads::wire_load(plan)?;
        let answers = self.ask_each(|_| AskedOfAgent::Check(Box::new(what.clone())));
        let (mut routes, mut doubts, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for (member, answer) in self.members.iter().zip(answers) {
            match answer {
                Ok(AgentAnswer::Checked { routes: found, doubts: of_agent }) => {
                    routes.push(found);
                    doubts.extend(of_agent.into_iter().map(|warning| member.warns(warning)));
                }
                Ok(AgentAnswer::Refused(why)) | Err(why) => refused.push(member.says(&why)),
                Ok(other) => refused.push(member.says(&format!("unexpected answer {other:?}"))),
            }
        }
        all_or_error(refused)?;
        let each_once = loads::routes_of_all(&routes);
        let mut known = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        for (known, found) in known.iter_mut().zip(routes) {
            known.retain(|route| found.iter().all(|newer| newer.to != route.to));
            known.extend(found);
        }
        Ok((each_once, doubts))
    }

    fn load(
        &self,
        plan: &Plan,
        extras: &AgentExtras,
        stop: &Arc<AtomicBool>,
        watch: &mut dyn FnMut(&Slice),
    ) -> Result<GeneratedLoad, CommandError> {
        self.confirm_collected();
        attempt::carry_out(self, plan, extras, stop, watch)
    }
}

/// Returns an error that names every agent that refused.
fn all_or_error(refused: Vec<String>) -> Result<(), CommandError> {
    if refused.is_empty() { Ok(()) } else { Err(CommandError::Measure(refused.join("; "))) }
}
