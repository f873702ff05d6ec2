//! The test of a trial of a search: do its exchanges show that a rate holds, that it does not, or
//! neither?
//!
//! Each condition is a share of exchanges with a limit: `failures < 1%` bounds the share of those
//! that failed, `response.p99 < 10ms` bounds the share of those above 10 ms by 1 %. Slow exchanges
//! and failures come together, so a trial is divided into stages of the same rate, and the variation
//! between these says how much its exchanges tell.

use std::borrow::Cow;

use crate::condition::Condition;
use sixmark_document::timing::Timing;
use sixmark_stats::{ClusteredShare, Count, StudentEstimate, design_effect};
use sixmark_tally::by_step::StepTally;
use sixmark_tally::metric::Metric;
use sixmark_tally::outcome::Outcome;
use sixmark_tally::tally::FamilyTally;
use sixmark_tally::timed_phase::{TimePoint, TimedPhase};

/// The one-sided level of the test of a trial. On each side of the capacity one or two rates of a
/// search are so near to it that their tests can be wrong.
const LEVEL: f64 = 0.005;
/// The largest share of exchanges that may fail, unless a condition bounds failures.
pub const FAILED: f64 = 0.01;
/// The fewest exchanges that show that none is above a limit.
const FEWEST: u64 = 10;
/// How many exchanges a late one may have made slow: itself, and one whose response arrived while
/// sixmark was late and was read late.
const PER_LATE: u64 = 2;
/// What comes at once is a pause if it is more than this share of all that is beyond a limit.
const PAUSE: f64 = 0.75;

/// What the exchanges of a trial show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// All conditions hold.
    Holds,
    /// A condition on durations does not hold.
    Slow,
    /// Too many exchanges failed.
    Failing,
    /// The figures are too near to a limit, or too few.
    Undecided,
    /// The lateness of sixmark decides: without it the answer may be another.
    Spoiled,
}

/// The counts of the trials of one rate, on which its conditions are tested.
#[derive(Clone, Debug, Default)]
pub struct TrialSample {
    /// The counts for each condition, and for the failures that are always bounded.
    figures: Vec<Figure>,
    /// Exchanges that began late by sixmark's doing.
    late: u64,
}

/// The counts for one limit.
#[derive(Clone, Debug)]
enum Figure {
    Share(ShareFigure),
    /// The mean of each stage in nanoseconds, and its limit.
    Mean(Vec<f64>, f64),
}

/// Exchanges beyond a limit.
#[derive(Clone, Debug)]
struct ShareFigure {
    /// Those beyond it and all, for each stage.
    stages: Vec<Count>,
    /// The same of the later half of each trial.
    later: Vec<Count>,
    /// The smallest design effect, if stages do not show it.
    least_effect: f64,
    /// The share that may be beyond the limit.
    bound: f64,
    /// Whether the limit is one of time, which lateness of sixmark can break.
    is_time: bool,
}

impl TrialSample {
    /// Returns the counts of one trial with these conditions, whose stages are the steps of `of`.
    pub fn new(conditions: &[Condition], of: &FamilyTally) -> TrialSample {
        let mut figures: Vec<Figure> =
            conditions.iter().map(|condition| figure(condition, of)).collect();
        if conditions.iter().all(|condition| condition.failures_bound().is_none()) {
            figures.push(failures(of, FAILED, turned_away));
        }
        if !conditions.iter().any(|condition| condition.response_bound_s().is_some()) {
            // No condition bounds time: a server that is too slow shows by what never began.
            figures.push(by_stage(of, FAILED, true, |step| {
                let never = step.unsent + step.dropped;
                Count { part: never, whole: never + step.exchanges.outcome_counts().ended() }
            }));
        }
        TrialSample { figures, late: of.late }
    }

    /// Adds another trial of the same rate with the same conditions.
    pub fn add(&mut self, other: TrialSample) {
        if self.figures.is_empty() {
            *self = other;
            return;
        }
        self.late += other.late;
        for (figure, more) in self.figures.iter_mut().zip(other.figures) {
            match (figure, more) {
                (Figure::Share(of), Figure::Share(more)) => {
                    of.stages.extend(more.stages);
                    of.later.extend(more.later);
                    of.least_effect = of.least_effect.max(more.least_effect);
                }
                (Figure::Mean(of, _), Figure::Mean(more, _)) => of.extend(more),
                _ => {}
            }
        }
    }

    /// Tests all conditions. A busy generator may be the reason for anything but that they hold.
    pub fn test(&self, busy: bool) -> Shown {
        let level = LEVEL / self.figures.len().max(1) as f64;
        let excused = self.late.saturating_mul(PER_LATE);
        let beyond = |excused: u64| self.figures.iter().find(|of| of.is_above(excused, level));
        let holds = |excused: u64| self.figures.iter().all(|of| of.is_below(excused, level));
        match beyond(excused) {
            Some(Figure::Share(of)) if !of.is_time => return Shown::Failing,
            Some(_) if !busy => return Shown::Slow,
            Some(_) => return Shown::Spoiled,
            None => {}
        }
        match () {
            () if holds(0) => Shown::Holds,
            () if beyond(0).is_some() || holds(excused) => Shown::Spoiled,
            () if busy => Shown::Spoiled,
            () => Shown::Undecided,
        }
    }

    /// Returns for each limit the design effect of this one trial, if most of what is beyond the limit
    /// came at once, and breaks it alone for a trial `times` as long: a pause, of which another trial
    /// may see none. 1 for all others.
    pub fn effects_of_pauses(&self, times: f64) -> Vec<f64> {
        let excused = self.late.saturating_mul(PER_LATE);
        let effect = |figure: &Figure| match figure {
            Figure::Share(of) => of.effect_of_pause(excused, times),
            Figure::Mean(..) => 1.0,
        };
        self.figures.iter().map(effect).collect()
    }

    /// Makes the tests expect that exchanges come together as much as in other trials, by the design
    /// effect for each limit.
    pub fn expect_effects(&mut self, effects: &[f64]) {
        for (figure, &effect) in self.figures.iter_mut().zip(effects) {
            if let Figure::Share(of) = figure {
                of.least_effect = of.least_effect.max(effect);
            }
        }
    }

    /// Returns true if a figure is so far beyond its limit that a search looks below this rate
    /// first, although no test decided.
    pub fn leans_to_failure(&self) -> bool {
        self.figures.iter().any(Figure::leans_to_failure)
    }
}

impl Figure {
    /// Returns whether the limit is shown to be broken, not counting `excused` exchanges.
    fn is_above(&self, excused: u64, level: f64) -> bool {
        match self {
            Figure::Share(of) => of.is_above(excused, level),
            Figure::Mean(stages, bound) => {
                excused == 0 && of_mean(stages).is_some_and(|mean| mean.above(*bound) < level)
            }
        }
    }

    /// Returns whether the limit is shown to be kept, not counting `excused` exchanges.
    fn is_below(&self, excused: u64, level: f64) -> bool {
        match self {
            Figure::Share(of) => of.is_below(excused, level),
            Figure::Mean(stages, bound) => {
                of_mean(stages).is_some_and(|mean| mean.below(*bound) < level)
            }
        }
    }

    fn leans_to_failure(&self) -> bool {
        match self {
            Figure::Share(of) => {
                sum(&of.stages).share().is_some_and(|share| share > 2.0 * of.bound)
            }
            Figure::Mean(stages, bound) => of_mean(stages).is_some_and(|mean| mean.value > *bound),
        }
    }
}

impl ShareFigure {
    fn is_above(&self, excused: u64, level: f64) -> bool {
        if self.bound == 0.0 {
            return sum(&self.stages).part > self.excused(excused);
        }
        self.share(&self.stages, excused, level).is_some_and(|of| of.above(self.bound) < level)
    }

    /// Also of the later half alone the share must be within the limit: a queue that grows is short
    /// in the beginning.
    fn is_below(&self, excused: u64, level: f64) -> bool {
        if self.bound == 0.0 {
            let Count { part, whole } = sum(&self.stages);
            return part <= self.excused(excused) && whole >= FEWEST;
        }
        let later = self.share(&self.later, excused, level);
        let later = later.is_none_or(|later| later.share <= self.bound);
        let whole = self.share(&self.stages, excused, level);
        later && whole.is_some_and(|of| of.below(self.bound) < level)
    }

    fn share(&self, stages: &[Count], excused: u64, level: f64) -> Option<ClusteredShare> {
        let all = sum(stages);
        let found = ClusteredShare::of(stages, self.least_effect, level).ok()?;
        let part = all.part.saturating_sub(self.excused(excused));
        Some(ClusteredShare { share: part as f64 / all.whole as f64, ..found })
    }

    /// Returns the design effect of the stages, if two neighbours have most of what is beyond the
    /// limit, and break it alone; else 1.
    fn effect_of_pause(&self, excused: u64, times: f64) -> f64 {
        let all = sum(&self.stages);
        let at_once = self.stages.windows(2).map(|two| sum(two).part).max().unwrap_or(0);
        let at_once = at_once.saturating_sub(self.excused(excused)) as f64;
        let breaks = at_once > times * self.bound * all.whole as f64;
        if breaks && at_once > PAUSE * all.part as f64 {
            design_effect(&self.stages).unwrap_or(1.0)
        } else {
            1.0
        }
    }

    /// Returns how many of `excused` exchanges this limit excuses: being late makes an exchange slow,
    /// but does not make it fail.
    fn excused(&self, excused: u64) -> u64 {
        if self.is_time { excused } else { 0 }
    }
}

fn of_mean(stages: &[f64]) -> Option<StudentEstimate> {
    StudentEstimate::of_mean(stages).ok()
}

fn sum(counts: &[Count]) -> Count {
    let sum = |of: fn(&Count) -> u64| counts.iter().map(of).sum();
    Count { part: sum(|count| count.part), whole: sum(|count| count.whole) }
}

/// Returns the counts for one condition.
fn figure(condition: &Condition, of: &FamilyTally) -> Figure {
    let limit_ns = condition.limit() * 1e3;
    match condition.metric() {
        Metric::Time(TimedPhase::Response, TimePoint::Mean) => {
            let means = of.steps.iter().filter_map(|step| step.exchanges.response.mean());
            Figure::Mean(means.collect(), limit_ns)
        }
        // Only response times are counted by stage. The mean of another phase is one of the whole
        // trial, so that it takes several trials to decide.
        Metric::Time(phase, TimePoint::Mean) => {
            let mean = timing(of, phase).and_then(|times| times.mean());
            Figure::Mean(mean.into_iter().collect(), limit_ns)
        }
        Metric::Time(TimedPhase::Response, point) => {
            let slow = |step: &StepTally| {
                slower(condition, &step.exchanges.response, step.unsent + step.dropped)
            };
            by_stage(of, bound_of(point), true, slow)
        }
        Metric::Time(phase, point) => of_whole_trial(condition, of, phase, bound_of(point)),
        _ => failures(of, condition.failures_bound().unwrap_or(FAILED), |step| {
            step.exchanges.unaccepted.max(turned_away(step))
        }),
    }
}

/// Returns the counts of durations that are counted for the whole trial only. They are taken to come
/// together as slow responses do.
fn of_whole_trial(
    condition: &Condition,
    of: &FamilyTally,
    phase: TimedPhase,
    bound: f64,
) -> Figure {
    let never = of.unsent + of.dropped;
    let all = timing(of, phase).map_or(Count::default(), |times| slower(condition, &times, never));
    let slowest = of.phases.response.quantile(1.0 - bound).unwrap_or(u64::MAX);
    let slow: Vec<Count> = of
        .steps
        .iter()
        .map(|step| count_above(&step.exchanges.response, |ns| ns > slowest))
        .collect();
    Figure::Share(ShareFigure {
        stages: vec![all],
        later: Vec::new(),
        least_effect: design_effect(&slow).unwrap_or(1.0),
        bound,
        is_time: true,
    })
}

/// Returns the counts of failed exchanges: those without a complete response, and of the others
/// those that `refused` counts.
fn failures(of: &FamilyTally, bound: f64, refused: fn(&StepTally) -> u64) -> Figure {
    by_stage(of, bound, false, |step| {
        let counted = step.exchanges.outcome_counts();
        // Neither what the end cut off nor what this host prevented says anything of the server.
        let void =
            [Outcome::Abandoned, Outcome::NoPort, Outcome::Local].map(|of| counted.outcome(of));
        let void = void.iter().sum::<u64>();
        let refused = refused(step).min(counted.completed());
        Count { part: counted.unfinished() - void + refused, whole: counted.ended() - void }
    })
}

fn by_stage(
    of: &FamilyTally,
    bound: f64,
    is_time: bool,
    count: impl Fn(&StepTally) -> Count,
) -> Figure {
    let stages: Vec<Count> = of.steps.iter().map(count).collect();
    let later = stages[stages.len() / 2..].to_vec();
    Figure::Share(ShareFigure { stages, later, least_effect: 1.0, bound, is_time })
}

/// Counts durations beyond the limit of a condition, and exchanges that never began as beyond it.
fn slower(condition: &Condition, times: &Timing, never: u64) -> Count {
    let beyond = |ns: u64| !condition.admits(Some(ns as f64 / 1e3));
    let Count { part, whole } = count_above(times, beyond);
    Count { part: part + never, whole: whole + never }
}

fn count_above(times: &Timing, beyond: impl Fn(u64) -> bool) -> Count {
    let above = times.recorded().filter(|&(ns, _)| beyond(ns));
    Count { part: above.map(|(_, count)| count).sum(), whole: times.count() }
}

/// Returns the share of durations that may exceed the limit of this quantile.
fn bound_of(point: TimePoint) -> f64 {
    match point {
        TimePoint::P50 => 0.5,
        TimePoint::P90 => 0.1,
        TimePoint::P95 => 0.05,
        TimePoint::P99 => 0.01,
        TimePoint::P999 => 0.001,
        _ => 0.0,
    }
}

fn timing(of: &FamilyTally, phase: TimedPhase) -> Option<Cow<'_, Timing>> {
    phase.is_bounded().then(|| of.durations(phase))
}

/// Returns the number of responses that only report an overloaded or broken server: 429 (RFC 6585,
/// 4) and 5xx. They are fast.
fn turned_away(step: &StepTally) -> u64 {
    let no = |status: u16| status == 429 || status >= 500;
    let status = step.exchanges.status.sorted();
    status.iter().filter(|&(&status, _)| no(status)).map(|(_, count)| count).sum()
}
