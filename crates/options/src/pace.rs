//! The options of the open loop.

use std::time::Duration;

use sixmark_plan::pace::{ArrivalProcess, OpenLoop, Overload, Pace, RateStage, Timetable};

use crate::plan_options::PlanOptions;
use crate::search::FIRST;
use sixmark_sys::command_error::CommandError;

/// Returns what decides when exchanges start: the closed loop, a rate, or the times of a recording.
pub(crate) fn pace(
    options: &PlanOptions<'_>,
    timetable: Option<Timetable>,
) -> Result<Pace, CommandError> {
    if let Some(timetable) = timetable {
        return replay(options, timetable);
    }
    let Some((option, stages)) = stages(options) else {
        return alone(options).map_or(Ok(Pace::Closed), |line| Err(CommandError::Usage(line)));
    };
    let open =
        OpenLoop::new(stages).map_err(|error| CommandError::Usage(format!("{option}: {error}")))?;
    if open.first_rate().is_zero() && !options.workload.load.warmup.is_zero() {
        let line = "--warmup loads at the first rate, which is 0; omit it, or start above 0";
        return Err(CommandError::Usage(line.into()));
    }
    Ok(Pace::Open(OpenLoop {
        arrivals: options.workload.open_loop.arrivals.unwrap_or(ArrivalProcess::Constant),
        overload: options.workload.open_loop.overload.unwrap_or(Overload::Wait),
        spin: options.workload.open_loop.spin.unwrap_or(Duration::ZERO),
        ..open
    }))
}

/// Returns an open loop that follows the times of a recording.
fn replay(options: &PlanOptions<'_>, timetable: Timetable) -> Result<Pace, CommandError> {
    if !options.workload.load.warmup.is_zero() {
        let line = "--warmup can't be used with --replay; omit it";
        return Err(CommandError::Usage(line.into()));
    }
    Ok(Pace::Open(OpenLoop {
        overload: options.workload.open_loop.overload.unwrap_or(Overload::Wait),
        spin: options.workload.open_loop.spin.unwrap_or(Duration::ZERO),
        ..OpenLoop::replay(timetable)
    }))
}

/// Returns the rate over time, and the option that sets it. `None` for a closed loop.
fn stages(options: &PlanOptions<'_>) -> Option<(&'static str, Vec<RateStage>)> {
    let rate =
        options.workload.open_loop.rate.map(|rate| ("--rate", vec![RateStage::endless(rate)]));
    let ramp = || options.schedule.ramp.map(|stage| ("--ramp", vec![stage]));
    let steps = || {
        (!options.schedule.steps.is_empty()).then(|| ("--steps", options.schedule.steps.clone()))
    };
    let first = || {
        (!options.schedule.find_max.is_empty()).then(|| ("--rate", vec![RateStage::endless(FIRST)]))
    };
    rate.or_else(ramp).or_else(steps).or_else(first)
}

/// Returns an error message if an option was given that only an open loop has.
fn alone(options: &PlanOptions<'_>) -> Option<String> {
    let given = [
        ("--arrivals", options.workload.open_loop.arrivals.is_some()),
        ("--overload", options.workload.open_loop.overload.is_some()),
        ("--spin", options.workload.open_loop.spin.is_some()),
    ];
    let (option, _) = given.into_iter().find(|&(_, given)| given)?;
    Some(format!("{option} needs an open loop; add --rate, --ramp or --steps"))
}
