//! Two sides in turns: two plans go in, blocks are measured, a comparison comes out.

mod assemble;
mod course;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use sixmark_model::comparison::result::{BlockSchedule, ComparedSides, ComparisonResult, SideName};
use sixmark_model::comparison::{Comparison, Settings};
use sixmark_model::plan::Plan;
use sixmark_model::provenance::Warning;
use sixmark_model::tally::Slice;

use crate::run::Runnable;
use crate::vitals::VitalsFrom;
use course::ComparisonCourse;
use sixmark_machine::CommandError;

/// Intervals that are shown while the blocks are measured are drawn so often: less than those that
/// stay, for they come after each pair.
const LIVE_RESAMPLES: u32 = 400;

/// One side as it was asked for.
#[derive(Debug)]
pub struct Contender {
    /// What it is called.
    pub name: String,
    /// Its own options as they were written.
    pub options: String,
    /// What to run in each of its blocks; each block's duration and warm-up are the plan's.
    pub runnable: Runnable,
}

/// Two sides that have been found possible to load.
#[derive(Debug)]
pub struct Comparing {
    sides: ComparedSides<Contender>,
    schedule: BlockSchedule,
    settings: Settings,
    calibrate: bool,
    server: Option<VitalsFrom>,
}

/// What is to be seen of a comparison under way.
#[derive(Debug)]
pub enum ComparisonEvent<'a> {
    /// A block begins: the so-manieth, from 1, of so many.
    Begin {
        /// Its number, from 1.
        block: usize,
        /// How many there are to be.
        of: usize,
        /// Whose it is.
        side: SideName,
        /// True where it is A against itself.
        noise: bool,
    },
    /// A worker's second in it ended.
    Second(&'a Slice),
    /// A pair of A against itself is complete.
    Noise(&'a Comparison),
    /// A pair is complete: the document as it would be were it the last.
    Pair(&'a ComparisonResult),
}

impl Comparing {
    /// Two sides to be measured by `schedule` and compared by `settings`. `calibrate`: A is compared with
    /// itself first. `server`: where the vitals of both sides' server are to be had.
    pub fn new(
        sides: ComparedSides<Contender>,
        schedule: BlockSchedule,
        settings: Settings,
        calibrate: bool,
        server: Option<VitalsFrom>,
    ) -> Comparing {
        Comparing { sides, schedule, settings, calibrate, server }
    }

    /// What may go wrong; the result's warnings begin with this.
    pub fn doubts(&self) -> Vec<Warning> {
        let [a, b] = [&self.sides.a, &self.sides.b].map(|side| side.runnable.doubts().to_vec());
        without_repeats([a, b].concat())
    }

    /// What the sides are called.
    pub fn names(&self) -> (&str, &str) {
        (&self.sides.a.name, &self.sides.b.name)
    }

    /// How many workers load each block at most.
    pub fn threads(&self) -> u32 {
        let of = |side: &Contender| side.runnable.plan().load.threads.get();
        of(&self.sides.a).max(of(&self.sides.b))
    }

    fn plans(&self) -> ComparedSides<&Plan> {
        ComparedSides { a: self.sides.a.runnable.plan(), b: self.sides.b.runnable.plan() }
    }
}

/// Measures all blocks and compares. `stop` ends it early, with what was measured by then.
pub fn run_comparison(
    comparing: &Comparing,
    stop: &Arc<AtomicBool>,
    mut tell: impl FnMut(ComparisonEvent<'_>),
) -> Result<ComparisonResult, CommandError> {
    let started = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
    let noise = match comparing.calibrate {
        true => Some(noise(comparing, stop, &mut tell)?),
        false => None,
    };
    let live = Settings { resamples: LIVE_RESAMPLES, ..comparing.settings.clone() };
    let document = |course: &ComparisonCourse<'_>, settings: &Settings| {
        assemble::assemble_comparison(comparing, course, settings, noise.as_ref(), started.clone())
    };
    let mut course =
        ComparisonCourse::new(comparing.plans(), &comparing.schedule, comparing.settings.seed)
            .looking_at(comparing.server.as_ref());
    while let Some(turn) = course.next(stop) {
        tell(course.begin(turn, false));
        if course.measure(turn, stop, |slice| tell(ComparisonEvent::Second(slice)))? {
            tell(ComparisonEvent::Pair(&document(&course, &live)));
        }
    }
    Ok(document(&course, &comparing.settings))
}

/// A against itself, as A is to be compared with B.
fn noise(
    comparing: &Comparing,
    stop: &Arc<AtomicBool>,
    tell: &mut impl FnMut(ComparisonEvent<'_>),
) -> Result<Comparison, CommandError> {
    let a = comparing.plans().a;
    let name = comparing.sides.a.name.as_str();
    let seed = comparing.settings.seed;
    let mut course = ComparisonCourse::new(ComparedSides { a, b: a }, &comparing.schedule, seed);
    let live = Settings { resamples: LIVE_RESAMPLES, ..comparing.settings.clone() };
    while let Some(turn) = course.next(stop) {
        tell(course.begin(turn, true));
        if course.measure(turn, stop, |slice| tell(ComparisonEvent::Second(slice)))? {
            tell(ComparisonEvent::Noise(&course.compare((name, name), &live)));
        }
    }
    Ok(course.compare((name, name), &comparing.settings))
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
