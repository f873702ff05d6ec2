//! The options of the open loop.

use std::time::Duration;

use sixmark_model::pace::{Open, Overload, Pace, Process, Stage, Timetable};

use super::args::RunArgs;
use super::search::FIRST;
use sixmark_machine::Error;

/// What decides when exchanges begin.
pub(super) fn pace(args: &RunArgs, timetable: Option<Timetable>) -> Result<Pace, Error> {
    if let Some(timetable) = timetable {
        return replay(args, timetable);
    }
    let Some((option, stages)) = stages(args) else {
        return alone(args).map_or(Ok(Pace::Closed), |line| Err(Error::Usage(line)));
    };
    let open = Open::new(stages).map_err(|error| Error::Usage(format!("{option}: {error}")))?;
    if open.first_rate().is_zero() && !args.warmup.is_zero() {
        let line =
            "--warmup keeps up the first rate, and that is 0; leave it out, or begin above 0";
        return Err(Error::Usage(line.into()));
    }
    Ok(Pace::Open(Open {
        arrivals: args.arrivals.unwrap_or(Process::Constant),
        overload: args.overload.unwrap_or(Overload::Wait),
        spin: args.spin.unwrap_or(Duration::ZERO),
        ..open
    }))
}

/// When a recording says.
fn replay(args: &RunArgs, timetable: Timetable) -> Result<Pace, Error> {
    if !args.warmup.is_zero() {
        let line = "--warmup: nothing comes before the beginning of a --replay; leave it out";
        return Err(Error::Usage(line.into()));
    }
    Ok(Pace::Open(Open {
        overload: args.overload.unwrap_or(Overload::Wait),
        spin: args.spin.unwrap_or(Duration::ZERO),
        ..Open::replay(timetable)
    }))
}

/// The rate over time, and the option that says it.
fn stages(args: &RunArgs) -> Option<(&'static str, Vec<Stage>)> {
    let rate = args.rate.map(|rate| ("--rate", vec![Stage::endless(rate)]));
    let ramp = || args.ramp.map(|stage| ("--ramp", vec![stage]));
    let steps = || (!args.steps.is_empty()).then(|| ("--steps", args.steps.clone()));
    let first = || (!args.find_max.is_empty()).then(|| ("--rate", vec![Stage::endless(FIRST)]));
    rate.or_else(ramp).or_else(steps).or_else(first)
}

/// An option that says nothing in a closed loop.
fn alone(args: &RunArgs) -> Option<String> {
    let given = [
        ("--arrivals", args.arrivals.is_some()),
        ("--overload", args.overload.is_some()),
        ("--spin", args.spin.is_some()),
    ];
    let (option, _) = given.into_iter().find(|&(_, given)| given)?;
    Some(format!("{option} is for an open loop; give it a rate with --rate, --ramp or --steps"))
}
