//! `--find-max`: how a search changes the plan.

use std::time::Duration;

use sixmark_http::HttpVersion;
use sixmark_plan::pace::{OpenLoop, Overload, RequestRate};
use sixmark_plan::plan::ratio::PlanRatio;
use sixmark_plan::plan::{LoadPlan, Plan};
use sixmark_units::family::Family;

use crate::plan_options::PlanOptions;
use sixmark_run::find::FEWEST;
use sixmark_run::search_asked::SearchAsked;
use sixmark_sys::command_error::CommandError;

/// The rate of the first trial if none is given: 100/s.
pub(crate) const FIRST: RequestRate = RequestRate::HUNDRED;
/// Duration of a trial, unless -d is given.
const TRIAL: Duration = Duration::from_secs(2);
/// How many times as long as a trial a search may take, unless --at-most is given: ten minutes with
/// trials of 2 s.
const AT_MOST: u32 = 300;
/// The warm-up lasts at least the duration of a trial divided by this, so that opening connections
/// is not judged.
const WARMUP: u32 = 10;

/// Returns what the search is to find, and how long it may take.
pub(crate) fn asked(options: &PlanOptions<'_>, plan: &Plan, more_places: bool) -> SearchAsked {
    let trial = plan.load.duration.unwrap_or(TRIAL);
    let at_most = options.schedule.at_most.unwrap_or_else(|| trial.saturating_mul(AT_MOST));
    SearchAsked { conditions: options.schedule.find_max.clone(), more_places, at_most }
}

/// Returns the ratio for a search. Each family has trials of its own, so both have the same weight,
/// whatever the target list says.
pub(crate) fn search_ratio(options: &PlanOptions<'_>, ratio: PlanRatio) -> PlanRatio {
    let both = Family::BOTH.into_iter().all(|family| ratio.uses(family));
    if !options.schedule.find_max.is_empty() && both { PlanRatio::EVEN } else { ratio }
}

/// Returns the load of the first trial.
pub(crate) fn search_load(
    options: &PlanOptions<'_>,
    load: LoadPlan,
) -> Result<LoadPlan, CommandError> {
    if options.schedule.find_max.is_empty() {
        return Ok(load);
    }
    let trial = options.schedule.duration.unwrap_or(TRIAL);
    let rate = load.pace.open().map_or(FIRST, OpenLoop::first_rate);
    if let Some(line) = wrong(options, rate, trial) {
        return Err(CommandError::Usage(line));
    }
    Ok(LoadPlan {
        duration: Some(trial),
        warmup: options.workload.load.warmup.max(trial / WARMUP),
        ..load
    })
}

fn wrong(options: &PlanOptions<'_>, rate: RequestRate, trial: Duration) -> Option<String> {
    if options.workload.open_loop.overload == Some(Overload::Drop) {
        let line = "--find-max judges all exchanges that fall due, and --overload drop omits some; \
                    use wait";
        return Some(line.to_owned());
    }
    let connecting =
        options.schedule.find_max.iter().find(|condition| condition.needs_connecting());
    if let Some(condition) = connecting.filter(|_| keeps_connections(options)) {
        return Some(format!(
            "--find-max '{condition}': connections are opened in the warm-up and reused, so none \
             is measured; add --no-keep-alive"
        ));
    }
    few(rate, trial)
}

/// Returns an error if a condition needs something that the connections of the plan don't have.
pub(crate) fn fits(options: &PlanOptions<'_>, plan: &Plan) -> Result<(), CommandError> {
    let wrong = options.schedule.find_max.iter().find_map(|condition| {
        let why = match plan.http.version {
            _ if condition.needs_tls() && plan.tls.is_none() => "no target is https://",
            HttpVersion::Http3 if condition.needs_tcp() => {
                "with HTTP/3, connecting is part of the handshake; use tls instead"
            }
            _ => return None,
        };
        Some(format!("--find-max '{condition}': {why}"))
    });
    wrong.map_or(Ok(()), |line| Err(CommandError::Usage(line)))
}

fn keeps_connections(options: &PlanOptions<'_>) -> bool {
    !options.workload.connection.no_keep_alive
        && options.workload.connection.requests_per_connection.is_none()
}

fn few(rate: RequestRate, trial: Duration) -> Option<String> {
    (rate.per_s() * trial.as_secs_f64() < FEWEST).then(|| {
        format!(
            "--find-max: a trial of {} at {rate} has fewer than {FEWEST} exchanges; increase -d or \
             --rate",
            humantime::format_duration(trial)
        )
    })
}
