//! Searches for the highest rate that each family sustains. Each trial loads one family at one
//! rate, and the families take turns.

mod pauses;
mod places;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use sixmark_document::provenance::Ended;
use sixmark_plan::pace::{OpenLoop, Pace, RateStage, RequestRate};
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_plan::plan::{LoadPlan, Plan};
use sixmark_result::condition::Condition;
use sixmark_result::find::{Conduct, FindMax, FoundRate, Limit, SearchEnd, Trial};
use sixmark_result::generator::is_saturated;
use sixmark_result::result::RunResult;
use sixmark_result::search::{Bracket, NextTrial, Search, SearchStop, TrialLength};
use sixmark_result::trial_test::{Shown, TrialSample};
use sixmark_sys::usage::{Usage, usage};
use sixmark_tally::counted::planned_result;
use sixmark_tally::family_result::{Families, FamilyResult};
use sixmark_tally::tally::Slice;
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::random::Random;

use self::pauses::Pauses;
use crate::search_asked::SearchAsked;
use crate::{GeneratedLoad, Measured, Runnable, join_loads, run_load_on};
use sixmark_load::Loaded;
use sixmark_sys::command_error::CommandError;

/// The fewest exchanges due in a trial. With fewer, the quantiles of a trial are luck.
pub const FEWEST: f64 = 10.0;
/// The highest rate to try, per second: more than any machine can send.
const HIGHEST: f64 = 1e9;
/// The number of stages of equal rate by which a trial is counted, a short one and others: the
/// variation between them says how much its exchanges tell.
const STAGES: [u32; 2] = [8, 16];
/// The warm-up lasts at least the duration of a trial divided by this.
const WARMUP: u32 = 10;
/// The number of trials without any usable answer, if there was none before, that end a search.
const SILENT: usize = 2;
/// The stream of random numbers that says which family is first.
const TURNS: u64 = 0x7475_726e;

/// What happens during a search.
#[derive(Clone, Copy, Debug)]
pub enum SearchEvent<'a> {
    /// A trial of a family begins.
    Begins(TrialBegins),
    /// A worker of the current trial reports a second.
    Second(&'a Slice),
    /// A trial is over, the last of these of its family, after which this is known of the family.
    Over(Family, &'a [Trial], Bracket),
}

/// A trial that begins.
#[derive(Clone, Copy, Debug)]
pub struct TrialBegins {
    /// The family that it loads.
    pub family: Family,
    /// Its rate.
    pub rate: RequestRate,
    /// How long it will be measured.
    pub length: Duration,
    /// The time that the search has left.
    pub left: Duration,
}

/// Runs the search that the plan's first trial describes. Setting `stop` ends it early with what is
/// known by then, and so does a trial that can't be run; `watch` is called for everything that
/// happens.
///
/// # Errors
/// Returns an error if the first trial can't be run.
pub fn run_search(
    runnable: Runnable,
    stop: &Arc<AtomicBool>,
    mut watch: impl FnMut(SearchEvent<'_>),
) -> Result<RunResult, CommandError> {
    let (before, began) = (usage(), Instant::now());
    let asked = runnable.search().clone();
    let generators = runnable.generators().cloned();
    let (prepared, known) = runnable.begin();
    let plan = prepared.plan();
    let load = |plan: &Plan, watch: &mut dyn FnMut(SearchEvent<'_>)| {
        run_load_on(generators.as_ref(), plan, stop, |slice| watch(SearchEvent::Second(slice)))
    };
    let searched = search(plan, &asked, &|| began.elapsed(), load, &mut watch)?;
    let cost = SearchCost { usage: usage().since(before), took: began.elapsed() };
    Ok(crate::assemble(known, assemble_search(plan, &asked, searched, cost)))
}

/// Searches with loads from anywhere, as a simulation makes them. `clock` says how long the search
/// has lasted.
///
/// # Errors
/// The error of the first load.
pub fn search_on(
    plan: &Plan,
    asked: &SearchAsked,
    clock: &dyn Fn() -> Duration,
    mut load: impl FnMut(&Plan) -> Result<Loaded, CommandError>,
) -> Result<FindMax, CommandError> {
    let Searched { sides, stopped_by } =
        search(plan, asked, clock, |plan, _| load(plan), &mut |_| {})?;
    let found = sides.map(|side| side.map(|side| side.done().0));
    Ok(FindMax { stopped_by, ..find_max(plan, asked, found, clock()) })
}

/// What a search came to.
#[derive(Debug)]
struct Searched {
    sides: PerFamily<Option<Side>>,
    /// Why a trial could not be run, if one could not.
    stopped_by: Option<String>,
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
    /// The counts of the long trials of one rate.
    sample: Option<(f64, TrialSample)>,
    pauses: Pauses,
    /// The longest trial at each rate that held, and the last one of all others, with its index in
    /// `trials`.
    held: Vec<(usize, GeneratedLoad)>,
    last: Option<(usize, GeneratedLoad)>,
    /// Why it ended, if not by the search itself.
    ended: Option<SearchEnd>,
}

/// Makes trials until every family's search is finished, the time is over, or a trial is
/// interrupted or can't be run. Families take turns in random order, so that a machine or a server that changes
/// affects both alike.
fn search<L: Into<GeneratedLoad>>(
    plan: &Plan,
    asked: &SearchAsked,
    clock: &dyn Fn() -> Duration,
    mut load: impl FnMut(&Plan, &mut dyn FnMut(SearchEvent<'_>)) -> Result<L, CommandError>,
    watch: &mut dyn FnMut(SearchEvent<'_>),
) -> Result<Searched, CommandError> {
    let side = |family| plan.ratio.uses(family).then(|| Side::new(family, plan));
    let mut sides = PerFamily::from_fn(side);
    let mut random = Random::new(plan.seed, TURNS);
    loop {
        let mut turns = Family::BOTH;
        if random.below(2) == 1 {
            turns.reverse();
        }
        let mut tried = false;
        for family in turns {
            let Some(side) = sides[family].as_mut() else { continue };
            let left = asked.at_most.saturating_sub(clock());
            let Some(next) = side.next_within(plan, left) else { continue };
            tried = true;
            let made = side.make_trial(plan, asked, next, left, &mut load, watch);
            if let Err(error) = made {
                return stop_search(sides, family, next, error);
            }
            if side.ended == Some(SearchEnd::Interrupted) {
                end_unfinished(&mut sides, SearchEnd::Interrupted);
                return Ok(Searched { sides, stopped_by: None });
            }
        }
        if !tried {
            return Ok(Searched { sides, stopped_by: None });
        }
    }
}

/// Ends the search because a trial could not be run. What the others showed is kept; without
/// any the error is all that there is.
fn stop_search(
    mut sides: PerFamily<Option<Side>>,
    family: Family,
    next: NextTrial,
    error: CommandError,
) -> Result<Searched, CommandError> {
    let made = |side: &Option<Side>| side.as_ref().is_some_and(|side| !side.trials.is_empty());
    if !sides.iter().any(|(_, side)| made(side)) {
        return Err(error);
    }
    let rate = asked_rate(next.rate)?;
    let (end, stopped_by) = match error {
        CommandError::Interrupted(_) => (SearchEnd::Interrupted, None),
        CommandError::Measure(why) | CommandError::Usage(why) => {
            let why = format!("a trial over {family} at {rate} could not be run: {why}");
            (SearchEnd::Stopped, Some(why))
        }
    };
    end_unfinished(&mut sides, end);
    Ok(Searched { sides, stopped_by })
}

/// Ends the searches that are not finished.
fn end_unfinished(sides: &mut PerFamily<Option<Side>>, end: SearchEnd) {
    for family in Family::BOTH {
        if let Some(side) = sides[family].as_mut().filter(|side| side.search.stop().is_none()) {
            side.ended.get_or_insert(end);
        }
    }
}

impl Side {
    fn new(family: Family, plan: &Plan) -> Side {
        let first = plan.load.pace.open().map_or(RequestRate::ZERO, OpenLoop::first_rate);
        let search = Search::new(first.per_s(), FEWEST / trial_s(plan), HIGHEST);
        let (trials, held, pauses) = (Vec::new(), Vec::new(), Pauses::default());
        Side { family, search, trials, sample: None, pauses, held, last: None, ended: None }
    }

    /// Returns the next trial if the time left suffices for it. If not, the search ends.
    fn next_within(&mut self, plan: &Plan, left: Duration) -> Option<NextTrial> {
        let next = self.search.next().filter(|_| self.ended.is_none())?;
        if length(plan, next) + warmup(plan, next) > left {
            self.ended = Some(SearchEnd::Budget);
            return None;
        }
        Some(next)
    }

    fn make_trial<L: Into<GeneratedLoad>>(
        &mut self,
        plan: &Plan,
        asked: &SearchAsked,
        next: NextTrial,
        left: Duration,
        load: &mut impl FnMut(&Plan, &mut dyn FnMut(SearchEvent<'_>)) -> Result<L, CommandError>,
        watch: &mut dyn FnMut(SearchEvent<'_>),
    ) -> Result<(), CommandError> {
        let (family, rate, length) = (self.family, asked_rate(next.rate)?, length(plan, next));
        let plan = self.plan(plan, next)?;
        let plan = if asked.more_places {
            places::with_room(plan, &asked.conditions, next.rate)
        } else {
            plan
        };
        watch(SearchEvent::Begins(TrialBegins { family, rate, length, left }));
        let loaded = load(&plan, watch)?.into();
        self.take(&plan, next, &asked.conditions, loaded);
        watch(SearchEvent::Over(family, &self.trials, self.search.bracket()));
        Ok(())
    }

    /// Returns the plan of the next trial. Its seed differs from trial to trial, because two trials
    /// with the same random arrivals would not be independent.
    fn plan(&self, plan: &Plan, next: NextTrial) -> Result<Plan, CommandError> {
        let (plan, length, warmup) = (plan.clone(), length(plan, next), warmup(plan, next));
        let stages = stages_of(asked_rate(next.rate)?, length, next.length);
        let pace = match plan.load.pace {
            Pace::Open(open) => Pace::Open(OpenLoop { stages, ..open }),
            Pace::Closed => Pace::Closed,
        };
        Ok(Plan {
            load: LoadPlan { pace, duration: Some(length), warmup, ..plan.load },
            ratio: PlanRatio::only(self.family),
            seed: plan.seed.wrapping_add(self.trials.len() as u64),
            ..plan
        })
    }

    /// Judges a trial and records it.
    fn take(
        &mut self,
        plan: &Plan,
        next: NextTrial,
        conditions: &[Condition],
        loaded: GeneratedLoad,
    ) {
        let conduct = Conduct {
            in_flight: plan.in_flight(),
            length_s: trial_s(plan),
            elapsed_s: measured_seconds(&loaded),
            interrupted: loaded.ended == Ended::Interrupted,
        };
        let busy = is_saturated(loaded.busiest);
        let sample = TrialSample::new(conditions, &loaded.tally[self.family]);
        let times = f64::from(TrialLength::Long.factor()) / f64::from(next.length.factor());
        let (alone, effects) = (sample.test(busy), sample.effects_of_pauses(times.max(1.0)));
        let sample = self.with_others(next, sample, alone == Shown::Spoiled);
        let shown = if alone == Shown::Spoiled { alone } else { sample.test(busy) };
        let of = figures_of_family(plan, self.family, &loaded);
        let trial = Trial::new(next.rate, conditions, &of, shown, conduct);
        let verdict = trial.verdict(sample.leans_to_failure());
        self.trials.push(trial);
        self.keep(loaded);
        if !busy {
            self.pauses.note(next, verdict, effects, sample);
        }
        match verdict {
            Some(verdict) => self.search.tried(verdict),
            None => self.ended = Some(SearchEnd::Interrupted),
        }
        for trial in &mut self.trials {
            trial.decision = self.search.decision(trial.rate);
        }
        let silent = self.trials.iter().all(Trial::is_silent) && self.trials.len() >= SILENT;
        if silent && self.ended.is_none() {
            self.search.give_up();
        }
    }

    /// Returns the counts of a long trial together with those of others at its rate that were not
    /// spoiled; of a short one, its own.
    fn with_others(&mut self, next: NextTrial, sample: TrialSample, spoilt: bool) -> TrialSample {
        if next.length == TrialLength::Short || spoilt {
            return sample;
        }
        let before = self.sample.take().filter(|(rate, _)| *rate == next.rate);
        let mut all = before.map_or_else(TrialSample::default, |(_, sample)| sample);
        all.add(sample);
        self.sample = Some((next.rate, all.clone()));
        all
    }

    /// Keeps the load of the last trial if its figures may be shown.
    fn keep(&mut self, loaded: GeneratedLoad) {
        let at = self.trials.len() - 1;
        let trial = &self.trials[at];
        if trial.held {
            let same = |&(at, _): &(usize, GeneratedLoad)| self.trials[at].rate == trial.rate;
            match self.held.iter().position(same) {
                Some(place) if self.trials[self.held[place].0].length_s > trial.length_s => {}
                Some(place) => self.held[place] = (at, loaded),
                None => self.held.push((at, loaded)),
            }
        } else if self.last.is_none() || trial.reason != Some(Limit::Interrupted) {
            // An interrupted trial is shown only if there is no other one.
            self.last = Some((at, loaded));
        }
    }

    /// Returns the rate that was found, and the load whose figures are shown.
    fn done(mut self) -> (FoundRate, Option<GeneratedLoad>) {
        let holds = self.search.bracket().holds;
        let may_miss = holds.is_some_and(|rate| self.pauses.may_be_missed_at(rate));
        let best = self.held.iter().position(|&(at, _)| Some(self.trials[at].rate) == holds);
        let best = best.map(|place| self.held.swap_remove(place));
        let other = || self.last.or_else(|| self.held.pop());
        let (shown, loaded) = best.or_else(other).unzip();
        let ended = self.ended.unwrap_or(match self.search.stop() {
            Some(SearchStop::Bracketed) if may_miss => SearchEnd::Pauses,
            Some(SearchStop::Bracketed) => SearchEnd::Confirmed,
            Some(SearchStop::Spoiled) => SearchEnd::Generator,
            Some(SearchStop::GivenUp) => SearchEnd::NoAnswer,
            Some(SearchStop::Open) | None => SearchEnd::Open,
        });
        (FoundRate::new(&self.search, ended, self.trials, shown), loaded)
    }
}

fn asked_rate(per_s: f64) -> Result<RequestRate, CommandError> {
    RequestRate::new(per_s).map_err(CommandError::Measure)
}

/// Returns the stages of a trial, which all have the same rate.
fn stages_of(rate: RequestRate, whole: Duration, length: TrialLength) -> Vec<RateStage> {
    let number = STAGES[usize::from(length != TrialLength::Short)];
    let each = whole / number;
    let last = whole - each * (number - 1);
    let lasts = (1..number).map(|_| each).chain([last]);
    lasts.map(|duration| RateStage::level(rate, duration)).collect()
}

/// Returns how long a trial is measured.
fn length(plan: &Plan, next: NextTrial) -> Duration {
    plan.load.duration.unwrap_or_default() * next.length.factor()
}

/// Returns how long a trial's warm-up is.
fn warmup(plan: &Plan, next: NextTrial) -> Duration {
    plan.load.warmup.max(length(plan, next) / WARMUP)
}

fn trial_s(plan: &Plan) -> f64 {
    plan.load.duration.map_or(0.0, |duration| duration.as_secs_f64())
}

fn measured_seconds(loaded: &Loaded) -> f64 {
    loaded.elapsed_ns as f64 / 1e9
}

/// Returns the figures of a trial. Its stages have the same rate and are none of the user's.
fn figures_of_family(plan: &Plan, family: Family, loaded: &Loaded) -> FamilyResult {
    let addresses = plan.endpoints(family).into_iter().map(|endpoint| endpoint.address).collect();
    let seconds = measured_seconds(loaded);
    let figures = planned_result(plan, &loaded.tally[family], addresses, seconds, true);
    FamilyResult { by_step: Vec::new(), ..figures }
}

/// Returns the result of all families' searches.
fn find_max(
    plan: &Plan,
    asked: &SearchAsked,
    found: PerFamily<Option<FoundRate>>,
    took: Duration,
) -> FindMax {
    let PerFamily { ipv6, ipv4 } = found;
    let found = FindMax::new(asked.conditions.clone(), trial_s(plan), Families { ipv6, ipv4 });
    let [took_s, at_most_s] = [took, asked.at_most].map(|time| Some(time.as_secs_f64()));
    FindMax { took_s, at_most_s, ..found }
}

/// Assembles what the shown trials measured, as if they were one run. The figures of a family are
/// those of its trial; `cost` covers all trials.
fn assemble_search(
    plan: &Plan,
    asked: &SearchAsked,
    searched: Searched,
    cost: SearchCost,
) -> Measured {
    let Searched { sides, stopped_by } = searched;
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
    let all: Vec<&GeneratedLoad> = shown().map(|(_, loaded)| loaded).collect();
    let mut one = join_loads(all.into_iter());
    one.ended = if interrupted { Ended::Interrupted } else { one.ended };
    one.usage = cost.usage;
    let one = Measured::of(plan.clone(), one);
    let families = Families { ipv6: ipv6.or(one.families.ipv6), ipv4: ipv4.or(one.families.ipv4) };
    let found = sides.map(|side| side.map(|(found, _)| found));
    let found = FindMax { stopped_by, ..find_max(&plan, asked, found, cost.took) };
    // Each family's trial had its own rate, so the responses of an overloaded server can't be
    // compared with those of the other family.
    Measured { families, find_max: Some(found), sameness: None, ..one }
}

impl Side {
    fn is_interrupted(&self) -> bool {
        self.ended == Some(SearchEnd::Interrupted)
    }
}
