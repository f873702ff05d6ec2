//! Searches for the highest rate that each family sustains. Each trial loads one family at one
//! rate, and the families take turns.

mod places;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use sixmark_document::provenance::Ended;
use sixmark_record::board::BUSY;
use sixmark_record::condition::Condition;
use sixmark_record::family_result::{Families, FamilyResult};
use sixmark_record::find::{Conduct, FindMax, FoundRate, Trial};
use sixmark_record::pace::{OpenLoop, Pace, RateStage, RequestRate};
use sixmark_record::plan::ratio::PlanRatio;
use sixmark_record::plan::{LoadPlan, Plan};
use sixmark_record::result::{RunResult, planned_result};
use sixmark_record::search::{AGREE, Bracket, Search};
use sixmark_record::tally::{FamilyTally, Slice};
use sixmark_sys::usage::{Usage, usage};
use sixmark_units::family::{Family, PerFamily};

use crate::{Measured, Runnable, run_load_on};
use sixmark_load::{self as load, Loaded};
use sixmark_sys::command_error::CommandError;

/// The fewest exchanges due in a trial. With fewer, the quantiles of a trial are luck.
pub const FEWEST: f64 = 10.0;
/// The order in which the families take turns, so that a machine that slows down gradually affects
/// both alike.
const TURNS: [Family; 4] = [Family::Ipv6, Family::Ipv4, Family::Ipv4, Family::Ipv6];
/// The highest rate to try, per second: more than any machine can send.
const HIGHEST: f64 = 1e9;

/// What happens during a search.
#[derive(Clone, Copy, Debug)]
pub enum SearchEvent<'a> {
    /// A trial of a family at a rate begins.
    Begins(Family, RequestRate),
    /// A worker of the current trial reports a second.
    Second(&'a Slice),
    /// A trial is over, after which this is known of the family.
    Over(Family, &'a Trial, Bracket),
}

/// Runs the search that the plan's first trial describes. Setting `stop` ends it early with what is
/// known by then; `watch` is called for everything that happens.
///
/// # Errors
/// Returns an error if a trial can't start.
pub fn run_search(
    runnable: Runnable,
    stop: &Arc<AtomicBool>,
    mut watch: impl FnMut(SearchEvent<'_>),
) -> Result<RunResult, CommandError> {
    let (before, began) = (usage(), Instant::now());
    let (conditions, more_places) = (runnable.conditions().to_vec(), runnable.more_places);
    let generators = runnable.generators().cloned();
    let (prepared, known) = runnable.begin();
    let plan = prepared.plan();
    let load = |plan: &Plan, watch: &mut dyn FnMut(SearchEvent<'_>)| {
        run_load_on(generators.as_ref(), plan, stop, |slice| watch(SearchEvent::Second(slice)))
    };
    let sides = search(plan, &conditions, more_places, load, &mut watch)?;
    let cost = SearchCost { usage: usage().since(before), took: began.elapsed() };
    Ok(crate::assemble(known, assemble_search(plan, &conditions, sides, cost)))
}

/// What all trials of a search together took.
#[derive(Clone, Copy, Debug, Default)]
struct SearchCost {
    usage: Usage,
    took: Duration,
}

/// The search of one family.
#[derive(Debug)]
struct Side {
    family: Family,
    search: Search,
    trials: Vec<Trial>,
    /// The last trial at the highest rate that held, and the last trial of all others, each with
    /// its index in `trials`.
    best: Option<(usize, Loaded)>,
    last: Option<(usize, Loaded)>,
    /// The number of consecutive trials without a single response.
    silent: u32,
}

/// Makes trials until every family's bracket is closed or a trial is interrupted.
fn search(
    plan: &Plan,
    conditions: &[Condition],
    more_places: bool,
    mut load: impl FnMut(&Plan, &mut dyn FnMut(SearchEvent<'_>)) -> Result<Loaded, CommandError>,
    watch: &mut dyn FnMut(SearchEvent<'_>),
) -> Result<PerFamily<Option<Side>>, CommandError> {
    let side = |family| plan.ratio.uses(family).then(|| Side::new(family, plan));
    let mut sides = PerFamily::from_fn(side);
    for family in TURNS.into_iter().cycle() {
        if sides.iter().all(|(_, side)| side.as_ref().and_then(Side::next).is_none()) {
            break;
        }
        let Some((side, rate)) =
            sides[family].as_mut().and_then(|side| side.next().map(|rate| (side, rate)))
        else {
            continue;
        };
        let plan = side.plan(plan, rate)?;
        let plan = if more_places { places::with_room(plan, conditions, rate) } else { plan };
        watch(SearchEvent::Begins(family, asked_rate(rate)?));
        let loaded = load(&plan, watch)?;
        let interrupted = loaded.ended == Ended::Interrupted;
        side.take(&plan, rate, conditions, loaded);
        if let Some(trial) = side.trials.last() {
            watch(SearchEvent::Over(family, trial, side.search.bracket()));
        }
        if interrupted {
            break;
        }
    }
    Ok(sides)
}

impl Side {
    fn new(family: Family, plan: &Plan) -> Side {
        let first = plan.load.pace.open().map_or(RequestRate::ZERO, OpenLoop::first_rate);
        let search = Search::new(first.per_s(), FEWEST / trial_s(plan), HIGHEST);
        Side { family, search, trials: Vec::new(), best: None, last: None, silent: 0 }
    }

    fn next(&self) -> Option<f64> {
        self.search.next()
    }

    /// Returns the plan of the next trial. Its seed differs from trial to trial, because two trials
    /// with the same random arrivals would not be independent.
    fn plan(&self, plan: &Plan, rate: f64) -> Result<Plan, CommandError> {
        let plan = plan.clone();
        let stages = vec![RateStage::endless(asked_rate(rate)?)];
        let pace = match plan.load.pace {
            Pace::Open(open) => Pace::Open(OpenLoop { stages, ..open }),
            Pace::Closed => Pace::Closed,
        };
        Ok(Plan {
            load: LoadPlan { pace, ..plan.load },
            ratio: PlanRatio::only(self.family),
            seed: plan.seed.wrapping_add(self.trials.len() as u64),
            ..plan
        })
    }

    /// Judges a trial and records it.
    fn take(&mut self, plan: &Plan, rate: f64, conditions: &[Condition], loaded: Loaded) {
        let conduct = Conduct {
            in_flight: plan.in_flight(),
            elapsed_s: measured_seconds(&loaded),
            saturated: loaded.busiest > BUSY,
            late: late(&loaded.tally[self.family]),
            interrupted: loaded.ended == Ended::Interrupted,
        };
        let of = figures_of_family(plan, self.family, &loaded);
        let trial = Trial::new(rate, conditions, &of, conduct);
        self.keep(&trial, loaded);
        self.trials.push(trial);
    }

    fn keep(&mut self, trial: &Trial, loaded: Loaded) {
        let (at, held_before) = (self.trials.len(), self.search.bracket().holds);
        let Some(verdict) = trial.verdict() else {
            // An interrupted trial is shown only if there is no other one.
            self.last.get_or_insert((at, loaded));
            return;
        };
        self.search.tried(verdict);
        match self.search.bracket().holds == held_before {
            true => self.last = Some((at, loaded)),
            false => self.best = Some((at, loaded)),
        }
        self.silent = if trial.requests.completed == 0 { self.silent + 1 } else { 0 };
        if self.silent >= AGREE && self.best.is_none() {
            self.search.give_up();
        }
    }

    /// Returns the rate that was found, and the load whose figures are shown.
    fn done(self) -> (FoundRate, Option<Loaded>) {
        let (shown, loaded) = self.best.or(self.last).unzip();
        (FoundRate::new(self.search.bracket(), self.trials, shown), loaded)
    }
}

fn asked_rate(per_s: f64) -> Result<RequestRate, CommandError> {
    RequestRate::new(per_s).map_err(CommandError::Measure)
}

/// Reports whether more than one in a hundred exchanges began late because of the generator. The
/// share is one of all exchanges, because only a few may have found a free connection at once, and
/// a single late one among those would prove nothing.
fn late(tally: &FamilyTally) -> bool {
    tally.late * 100 > tally.sent
}

fn trial_s(plan: &Plan) -> f64 {
    plan.load.duration.map_or(0.0, |duration| duration.as_secs_f64())
}

fn measured_seconds(loaded: &Loaded) -> f64 {
    loaded.elapsed_ns as f64 / 1e9
}

fn figures_of_family(plan: &Plan, family: Family, loaded: &Loaded) -> FamilyResult {
    let addresses = plan.endpoints(family).into_iter().map(|endpoint| endpoint.address).collect();
    planned_result(plan, &loaded.tally[family], addresses, measured_seconds(loaded), true)
}

/// Assembles what the shown trials measured, as if they were one run. The figures of a family are
/// those of its trial; `cost` covers all trials.
fn assemble_search(
    plan: &Plan,
    conditions: &[Condition],
    sides: PerFamily<Option<Side>>,
    cost: SearchCost,
) -> Measured {
    let interrupted = sides.iter().filter_map(|(_, side)| side.as_ref()).any(Side::is_interrupted);
    let sides = sides.map(|side| side.map(Side::done));
    let trials = sides.iter().filter_map(|(_, side)| side.as_ref()?.0.shown());
    let connections = places::most(plan, trials);
    let plan = Plan { load: LoadPlan { connections, ..plan.load.clone() }, ..plan.clone() };
    let shown =
        || sides.iter().filter_map(|(family, side)| Some((family, side.as_ref()?.1.as_ref()?)));
    let of = |family| {
        shown()
            .find(|&(of, _)| of == family)
            .map(|(_, loaded)| figures_of_family(&plan, family, loaded))
    };
    let [ipv6, ipv4] = Family::BOTH.map(of);
    let one = load::one_after_the_other(shown().map(|(_, loaded)| loaded));
    let ended = if interrupted { Ended::Interrupted } else { one.ended };
    let trial_s = trial_s(&plan);
    let one = Measured::of(plan, Loaded { ended, usage: cost.usage, ..one });
    let families = Families { ipv6: ipv6.or(one.families.ipv6), ipv4: ipv4.or(one.families.ipv4) };
    let PerFamily { ipv6, ipv4 } = sides.map(|side| side.map(|(found, _)| found));
    let found = FindMax::new(conditions.to_vec(), trial_s, Families { ipv6, ipv4 });
    let found = FindMax { took_s: Some(cost.took.as_secs_f64()), ..found };
    // Each family's trial had its own rate, so the responses of an overloaded server can't be
    // compared with those of the other family.
    Measured { families, find_max: Some(found), sameness: None, ..one }
}

impl Side {
    fn is_interrupted(&self) -> bool {
        self.trials.last().is_some_and(|trial| trial.verdict().is_none())
    }
}
