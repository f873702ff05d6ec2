//! `sixmark compare`.

mod args;
mod live;
mod sides;
mod words;

pub(super) use args::{Args, adapt};

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};

use sixmark_core::comparison::Settings;
use sixmark_core::comparison::result::{ComparisonResult, Schedule, Sides};
use sixmark_core::report;
use sixmark_core::result::Warning;

use super::out::{Place, complain, print};
use super::{run, stop_flag};
use crate::Error;
use crate::compare::{self, Comparing};
use live::Live;
use sides::Asked;

/// Plans both sides, measures and shows. The status is 1 where a gate failed, 3 where a side has no
/// NORMAL response at all.
pub(super) fn main(args: &Args, line: &[OsString]) -> Result<u8, Error> {
    check(args)?;
    let comparing = comparing(args, line)?;
    let doubts = comparing.doubts();
    warn(doubts.iter());
    let stop = stop_flag()?;
    let quiet = args.run.quiet;
    let mut live = Live::new(quiet, io::stderr().is_terminal(), comparing.threads());
    let result = compare::run(&comparing, &stop, |event| live.see(&event))?;
    live.clear();
    show(&result, doubts.len(), quiet || args.run.json == Some(Place::Standard))?;
    write(&result, args)?;
    nothing_normal(&result).map_or(Ok(0), |line| Err(Error::Measure(line)))
}

/// What makes no sense in a comparison, told before anything else.
fn check(args: &Args) -> Result<(), Error> {
    let run = &args.run;
    let wrong = [
        ("-d", run.duration.is_some(), "--block says how long each block is measured"),
        ("--find-max", !run.find_max.is_empty(), "it is a comparison of its own: sixmark run"),
        ("--ramp", run.ramp.is_some(), "all blocks are loaded alike; give a --rate"),
        ("--steps", !run.steps.is_empty(), "all blocks are loaded alike; give a --rate"),
        ("--replay", run.replay.is_some(), "all blocks are loaded alike; give a --rate"),
        ("--csv", run.csv.is_some(), "write --json and let `sixmark report --csv` read it"),
    ];
    if let Some((option, _, why)) = wrong.into_iter().find(|(_, given, _)| *given) {
        return Err(Error::Usage(format!("{option} is for `sixmark run`: {why}")));
    }
    let standard = [&run.json, &run.junit].into_iter().flatten();
    if standard.clone().filter(|place| **place == Place::Standard).count() > 1 {
        let line = "--json - and --junit - can't both have standard output; give one a file";
        return Err(Error::Usage(line.into()));
    }
    standard.clone().try_for_each(Place::check)
}

fn comparing(args: &Args, line: &[OsString]) -> Result<Comparing, Error> {
    let a = Asked { option: "--a", text: &args.a, name: args.name_a.as_deref() };
    let b = Asked { option: "--b", text: &args.b, name: args.name_b.as_deref() };
    let side = |asked: &Asked<'_>| sides::contender(asked, line, args.block());
    let mut sides = Sides { a: side(&a)?, b: side(&b)? };
    if sides.a.name == sides.b.name {
        sides.a.name.push_str(" (a)");
        sides.b.name.push_str(" (b)");
    }
    // Both meet the same arrivals, and what the seed decides is decided once.
    let seed = sides.a.planned.plan.seed;
    sides.b.planned.plan.seed = seed;
    let schedule = Schedule {
        pairs: args.blocks.get(),
        order: args.order,
        block_s: args.block().map(|block| block.as_secs_f64()),
        block_requests: args.block_requests().map(std::num::NonZero::get),
        warm_up_blocks: args.warm_up_blocks,
    };
    let settings = Settings { margin: args.margin, primary: args.metric, ..Settings::usual(seed) };
    Comparing::new(sides, schedule, settings, args.run.calibrate)
}

/// The table on standard output, unless that is to be quiet; warnings not told yet on standard error.
fn show(result: &ComparisonResult, told: usize, quiet: bool) -> Result<(), Error> {
    if !quiet {
        print(&report::comparison::table(result))?;
    }
    warn(result.warnings.iter().skip(told));
    Ok(())
}

fn write(result: &ComparisonResult, args: &Args) -> Result<(), Error> {
    let document = || {
        let text = serde_json::to_string_pretty(result);
        text.map(|text| text + "\n")
            .map_err(|error| Error::Measure(format!("can't encode the result: {error}")))
    };
    args.run.json.as_ref().map_or(Ok(()), |place| place.write(&document()?))
}

fn warn<'a>(warnings: impl Iterator<Item = &'a Warning>) {
    for warning in warnings {
        complain(&format!("warning: {} [{}]", warning.message, warning.code));
    }
}

/// One line on the sides without a single response, where there are any.
fn nothing_normal(result: &ComparisonResult) -> Option<String> {
    let sides = [&result.sides.a, &result.sides.b].into_iter();
    let silent = sides.filter(|side| side.figures.requests.completed == 0);
    let lines = silent.map(|side| run::silent(&side.name, &side.plan, &side.figures));
    lines.reduce(|lines, line| format!("{lines}; {line}"))
}
