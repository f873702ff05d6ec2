//! Comparison of two sides in turns: two plans are measured in alternating blocks, which become a
//! comparison.

mod assemble;
mod comparison_run;
mod dead_side;
mod each_agent;
mod earlier;
mod stored_load;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use crate::block_begin::{BlockBegin, describe_schedule, describe_until, planned_block_s};
use crate::board::ComparisonBoard;
use crate::comparison_result::{BlockSchedule, ComparedSides, ComparisonResult, SideName};
use crate::{Comparison, Settings};
use sixmark_document::provenance::Warning;
use sixmark_plan::plan::Plan;
use sixmark_tally::tally::Slice;
use sixmark_units::family::spoken;

use crate::warnings::{blocks_lengthened, too_few_blocks};
use comparison_run::{ComparisonRun, Lengthened, Measurement};
use earlier::EarlierPairs;
use sixmark_run::{Generators, Runnable};
use sixmark_sys::command_error::CommandError;
use sixmark_vitals::engine::VitalsFrom;

/// The number of bootstrap resamples of the intervals shown during the measurement, after each
/// pair. It is lower than that of the final result to save time.
const LIVE_RESAMPLES: u32 = 400;

/// One side as the user specified it.
#[derive(Debug)]
pub struct Contender {
    /// Its name.
    pub name: String,
    /// Its own options as the user wrote them.
    pub options: String,
    /// The run of each of its blocks. The duration and warm-up of a block are those of the plan.
    pub runnable: Runnable,
}

/// Two sides that have been checked and can be loaded.
#[derive(Debug)]
pub struct Comparing {
    sides: ComparedSides<Contender>,
    schedule: BlockSchedule,
    settings: Settings,
    calibrate: bool,
    server: Option<VitalsFrom>,
    earlier: Option<EarlierPairs>,
}

/// An event of a comparison in progress.
#[derive(Debug)]
pub enum ComparisonEvent<'a> {
    /// A block begins.
    Begin(BlockBegin),
    /// A second of one worker in the block has ended.
    Second(&'a Slice),
    /// The blocks to come are longer than requested.
    Lengthened(&'a Warning),
    /// A pair of A with itself is complete.
    Noise(&'a Comparison),
    /// A pair is complete. The document is what the result would be if this pair were the last.
    Pair(&'a ComparisonResult),
}

impl Comparing {
    /// Creates a comparison that measures two sides by `schedule` and compares them with
    /// `settings`. `calibrate` compares A with itself first; `server` is the source of the vitals
    /// of the server of both sides.
    pub fn new(
        sides: ComparedSides<Contender>,
        schedule: BlockSchedule,
        settings: Settings,
        calibrate: bool,
        server: Option<VitalsFrom>,
    ) -> Comparing {
        Comparing { sides, schedule, settings, calibrate, server, earlier: None }
    }

    /// Returns the warnings known before the run; the result's warnings begin with them.
    pub fn doubts(&self) -> Vec<Warning> {
        let [a, b] = [&self.sides.a, &self.sides.b].map(|side| side.runnable.doubts().to_vec());
        let few = too_few_blocks(self.schedule.pairs as usize, &self.settings);
        let before = self.earlier.as_ref().map_or(Vec::new(), |earlier| earlier.warnings.clone());
        without_repeats([a, b, before, few.into_iter().collect()].concat())
    }

    /// Describes what is going to be measured, and how long that takes at least.
    pub fn describe(&self) -> String {
        let ComparedSides { a, b } = self.plans();
        let block_s = planned_block_s(&ComparedSides { a: a.clone(), b: b.clone() });
        let described = describe_schedule(&self.schedule, self.calibrate, block_s);
        match &self.settings.until {
            Some(until) => describe_until(until, &described),
            None => described,
        }
    }

    /// Returns the names of the sides.
    pub fn names(&self) -> (&str, &str) {
        (&self.sides.a.name, &self.sides.b.name)
    }

    /// Returns the warning that blocks are longer than requested.
    fn warn_of(&self, lengthened: Lengthened) -> Warning {
        let (a, b) = self.names();
        let name = if lengthened.side == SideName::A { a } else { b };
        let Lengthened { response_s, requested_s, longer_s, .. } = lengthened;
        blocks_lengthened(name, response_s, [requested_s, longer_s])
    }

    /// Returns the most workers that load a block.
    pub fn threads(&self) -> u32 {
        let of = |side: &Contender| side.runnable.plan().load.threads.get();
        of(&self.sides.a).max(of(&self.sides.b))
    }

    /// Returns the board of a live view, of which nothing is known yet.
    pub fn board(&self) -> ComparisonBoard {
        let (a, b) = self.names();
        let (plan_a, plan_b) = (self.plans().a, self.plans().b);
        let targets = match (plan_a.describe_targets(), plan_b.describe_targets()) {
            (a, b) if a == b => a,
            (a, b) => format!("{a} and {b}"),
        };
        let names = ComparedSides { a: spoken(a), b: spoken(b) };
        let title = format!("{} against {}: {targets}", names.a, names.b);
        let schedule = &self.schedule;
        let blocks = schedule.pairs.saturating_add(schedule.warm_up_blocks);
        let of_side = schedule.block_s.map(|block_s| block_s.ceil() * f64::from(blocks));
        let of_side = of_side.and_then(|of_side| Duration::try_from_secs_f64(of_side).ok());
        // A comparison of A with itself is as long again.
        let of_side = of_side.filter(|_| !self.calibrate && schedule.block_requests.is_none());
        ComparisonBoard::new(title, &names, self.threads()).lasting(of_side)
    }

    /// Returns the agents that carry out the blocks; `None` if it is this process.
    fn generators(&self) -> Option<Arc<dyn Generators>> {
        self.sides.a.runnable.generators().cloned()
    }

    fn plans(&self) -> ComparedSides<&Plan> {
        ComparedSides { a: self.sides.a.runnable.plan(), b: self.sides.b.runnable.plan() }
    }
}

/// Measures all blocks and compares the sides. Setting `stop` ends it early with what was measured
/// by then. So does a side that gives no usable response, after the first pair that shows it.
pub fn run_comparison(
    comparing: &Comparing,
    stop: &Arc<AtomicBool>,
    mut tell: impl FnMut(ComparisonEvent<'_>),
) -> Result<ComparisonResult, CommandError> {
    let now = || humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let started = comparing.earlier.as_ref().map_or_else(now, |earlier| earlier.started.clone());
    let (noise, lengthened) =
        if comparing.calibrate { noise(comparing, stop, &mut tell)? } else { (None, None) };
    let live = Settings { resamples: LIVE_RESAMPLES, ..comparing.settings.clone() };
    let document = |run: &ComparisonRun<'_>, settings: &Settings| {
        assemble::assemble_comparison(comparing, run, settings, noise.as_ref(), started.clone())
    };
    let mut run =
        ComparisonRun::new(comparing.plans(), &comparing.schedule, comparing.settings.seed)
            .looking_at(comparing.server.as_ref())
            .until(comparing.settings.until.as_ref())
            .on(comparing.generators())
            .after(comparing.earlier.as_ref());
    lengthened.into_iter().for_each(|lengthened| run.lengthen(lengthened));
    while let Some(turn) = run.next(stop) {
        tell(run.begin(turn, false));
        match run.measure(turn, stop, |slice| tell(ComparisonEvent::Second(slice)))? {
            Measurement::Block | Measurement::GivenUp => {}
            Measurement::Pair => {
                let so_far = document(&run, &live);
                tell(ComparisonEvent::Pair(&so_far));
                if is_decided(&so_far, &run, &comparing.settings) {
                    run.decide();
                }
            }
            Measurement::Lengthened(by) => {
                tell(ComparisonEvent::Lengthened(&comparing.warn_of(by)))
            }
        }
    }
    Ok(document(&run, &comparing.settings))
}

/// Returns true if a comparison that ends when it is decided ends with the pairs so far: each named
/// metric has a verdict, or a look at the responses shows that they are not the same.
fn is_decided(so_far: &ComparisonResult, run: &ComparisonRun<'_>, settings: &Settings) -> bool {
    let Some(until) = &settings.until else { return false };
    let found = &so_far.comparison;
    let level = settings.level_of_look(found.pairs);
    let differs = level.is_some_and(|level| run.differs_in_responses(settings.margin, level));
    differs || (found.not_same().is_none() && until.is_decided_by(found))
}

/// Compares A with itself, in the same way as A with B. Returns the comparison, and why its blocks
/// were longer than requested, if they were.
fn noise(
    comparing: &Comparing,
    stop: &Arc<AtomicBool>,
    tell: &mut impl FnMut(ComparisonEvent<'_>),
) -> Result<(Option<Comparison>, Option<Lengthened>), CommandError> {
    let a = comparing.plans().a;
    let name = comparing.sides.a.name.as_str();
    let seed = comparing.settings.seed;
    let mut run = ComparisonRun::new(ComparedSides { a, b: a }, &comparing.schedule, seed)
        .on(comparing.generators());
    let live = Settings { resamples: LIVE_RESAMPLES, ..comparing.settings.clone() };
    while let Some(turn) = run.next(stop) {
        tell(run.begin(turn, true));
        match run.measure(turn, stop, |slice| tell(ComparisonEvent::Second(slice)))? {
            Measurement::Block | Measurement::GivenUp => {}
            Measurement::Pair => tell(ComparisonEvent::Noise(&run.compare((name, name), &live))),
            Measurement::Lengthened(by) => {
                tell(ComparisonEvent::Lengthened(&comparing.warn_of(by)))
            }
        }
    }
    Ok((Some(run.compare((name, name), &comparing.settings)), run.lengthened))
}

fn without_repeats(warnings: Vec<Warning>) -> Vec<Warning> {
    let mut once: Vec<Warning> = Vec::new();
    for warning in warnings {
        if !once.contains(&warning) {
            once.push(warning);
        }
    }
    once
}
