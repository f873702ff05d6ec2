//! A single run, which turns a plan into a result: checks before it ([`preflight`], [`resolve`]),
//! the noise floor ([`calibrate`]), and what is measured beside the load. [`find`] searches for the
//! highest rate with many trials of one plan.
//!
//! This crate reads no option. Begin with [`Draft`], which becomes a [`Runnable`], and
//! [`run_plan`].

mod assemble;
pub mod calibrate;
pub mod find;
mod fleet_section;
mod generated_load;
mod generators;
pub mod preflight;
pub mod resolve;
mod runnable;
pub mod search_asked;
#[cfg(test)]
mod warning_tests;

pub use assemble::{Circumstances, Measured, assemble, generator};
pub use fleet_section::fleet_section;
pub use generated_load::{AgentLoad, ClockOffset, FleetLoad, GeneratedLoad, join_loads};
pub use generators::{AgentExtras, FleetSize, Generators, run_load_on};
pub use runnable::{Draft, Runnable};

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sixmark_plan::plan::Plan;
use sixmark_result::result::RunResult;
use sixmark_result::truth::Truth;
use sixmark_result::work::work_of_run;
use sixmark_tally::tally::Slice;

use sixmark_load::{self as load, Loaded, PreparedLoad};
use sixmark_sys::command_error::CommandError;
use sixmark_vitals::engine::{Meter, VitalsFrom};
use sixmark_watch::truth::TruthCapture;

/// What a run measures besides its load.
#[derive(Clone, Debug, Default)]
pub struct Extras {
    /// Measure first what sixmark itself adds to the times.
    pub calibrate: bool,
    /// Capture the packets of the run.
    pub truth: bool,
    /// The source of the server's vitals.
    pub vitals_from: Option<VitalsFrom>,
    /// The same source as it was written, for agents of a fleet, which read it where they are.
    pub vitals_from_text: Option<String>,
}

/// Runs the plan. Setting `stop` ends the run early; `watch` is called for every second of each
/// worker when it ends.
///
/// # Errors
/// Returns an error if something could not be measured.
pub fn run_plan(
    runnable: Runnable,
    extras: &Extras,
    stop: &Arc<AtomicBool>,
    watch: impl FnMut(&Slice),
) -> Result<RunResult, CommandError> {
    if let Some(fleet) = runnable.generators().cloned() {
        return run_on_fleet(runnable, fleet.as_ref(), extras, stop, watch);
    }
    let plan = runnable.plan().clone();
    let calibration = if extras.calibrate { calibrate::calibrate(&plan, stop)? } else { None };
    let truth_capture = if extras.truth { Some(TruthCapture::start(&plan)?) } else { None };
    let meter = Meter::start(extras.vitals_from.as_ref(), plan.load.warmup)?;
    let (prepared, known) = runnable.begin();
    let (loaded, truth) = match truth_capture {
        Some(truth_capture) => beside(truth_capture, &plan, prepared, stop, watch)?,
        None => (load::run_load(prepared.in_tenths(), stop, watch).map_err(cannot_start)?, None),
    };
    let metered = meter.map(Meter::end);
    let measured = Measured { calibration, truth, ..Measured::of(plan, loaded) };
    let vitals = metered.map(|metered| {
        let elapsed_s = measured.elapsed_s();
        let (families, intervals) = (&measured.families, &measured.loaded.intervals);
        let began_us = metered.began_us(elapsed_s);
        metered.section(&work_of_run(families, intervals, elapsed_s, began_us))
    });
    Ok(assemble(known, Measured { vitals, ..measured }))
}

/// Runs the plan on the agents of a fleet, which measure what else was asked for.
fn run_on_fleet(
    runnable: Runnable,
    fleet: &dyn Generators,
    extras: &Extras,
    stop: &Arc<AtomicBool>,
    mut watch: impl FnMut(&Slice),
) -> Result<RunResult, CommandError> {
    let plan = runnable.plan().clone();
    let vitals_from = extras.vitals_from_text.clone();
    let wanted = AgentExtras { truth: extras.truth, vitals_from };
    let (_, known) = runnable.begin();
    let loaded = fleet.load(&plan, &wanted, stop, &mut watch)?;
    Ok(assemble(known, Measured::of(plan, loaded)))
}

/// Runs the load while packets are captured.
fn beside(
    truth_capture: TruthCapture,
    plan: &Plan,
    prepared: PreparedLoad,
    stop: &Arc<AtomicBool>,
    watch: impl FnMut(&Slice),
) -> Result<(Loaded, Option<Truth>), CommandError> {
    let prepared = prepared.telling().in_tenths();
    let mut loaded = load::run_load(prepared, stop, watch).map_err(cannot_start)?;
    let truth = truth_capture.end(plan, std::mem::take(&mut loaded.client_records))?;
    Ok((loaded, Some(truth)))
}

/// Returns the error of a run whose workers could not be started.
pub fn cannot_start(error: io::Error) -> CommandError {
    CommandError::Measure(format!("can't start the workers: {error}"))
}
