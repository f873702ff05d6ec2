//! `sixmark run`.

mod args;
mod fleet_options;
mod run_progress;
mod search;
mod text;

pub(super) use args::{RunArgs, SessionArgs};
pub(super) use fleet_options::check_session;
pub(super) use run_progress::figures_of_slice;

use crate::report::documents::Document;
use crate::report::headline::ListHeadline;
use crate::report::junit;
use sixmark_compare::gate::GateNames;
use sixmark_document::warning_codes::is_remark;
use sixmark_options::draft::{draft, random_seed};
use sixmark_options::plan_options::PlanOptions;
use sixmark_options::vitals_from;
use sixmark_report::csv;
use sixmark_report::text as shown;
use sixmark_report::text::Detail;
use sixmark_result::failed_lookup::explain_failed_lookups;
use sixmark_result::find::FindMax;
use sixmark_result::result::RunResult;

use super::keep::Keeper;
use super::out::{self, OutputPlace, encoded, print, warn};
use super::progress::ProgressForm;
use super::{gates, report, signals, stop_flag};

use run_progress::LiveRun;
use sixmark_run::{Draft, Extras, FleetSize, Runnable};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output::Readers;
use sixmark_vitals::engine::VitalsFrom;

/// Plans, executes and shows a run. Returns the exit status: 130 if a signal ended the run; else 3
/// if a family has no NORMAL response with an accepted status, if the look-up of its addresses
/// failed, or if a trial of a search could not be run; else 1 if a gate failed; else 0.
pub(super) fn main(args: &RunArgs) -> Result<u8, CommandError> {
    let SessionArgs { json, html, gates: demanded, keep, quiet, .. } = &args.session;
    let (csv, quiet) = (&args.csv, *quiet);
    args.detail.show_codes();
    let files = args.session.files().document("--csv", csv.as_ref());
    files.inputs(args.workload.inputs()).check()?;
    fleet_options::check_options(args)?;
    let form = args.session.progress.form(quiet)?;
    let host =
        vitals_from::host(args.session.measure.vitals_from.as_deref(), args.session.inside.lab())?;
    args.session.inside.go()?;
    let draft = args.draft(None)?;
    let extras = args.extras(host)?;
    let fleet = args.session.fleet.take(&args.session.inside, stop_flag()?.as_ref())?;
    // Agents keep what they counted until this is dropped, after the result was written.
    let _held = fleet.clone();
    let runnable = match fleet {
        Some(fleet) => args.draft(Some(fleet.size()))?.check_on(fleet)?,
        None => draft.check()?,
    };
    let gates = demanded.gates(&GateNames::of_run(runnable.plan().families()))?;
    let mut keeper = Keeper::open(keep)?;
    let already_shown = runnable.doubts().len();
    warn(runnable.doubts().iter());
    let mut result = measure(runnable, &extras, form)?;
    result.gates = gates.iter().map(|g| g.of_measurement(&result)).collect();
    let shown =
        !quiet && ![json, csv, &demanded.junit, html].contains(&&Some(OutputPlace::Standard));
    // If no connection was established, there is no table: one line says why.
    let reached = result.total.connections.opened + result.total.requests.completed > 0;
    let printed = if reached {
        show(&result, already_shown, shown.then(|| args.detail.detail()))
    } else {
        // How a target was read may be why it was not reached.
        warn(result.warnings.iter().filter(|warning| is_remark(&warning.code)));
        Ok(())
    };
    let readers = keep.readers();
    let written =
        write_outputs(&result, [json.as_ref(), csv.as_ref()], readers, |document, elsewhere| {
            keeper.finish(&ListHeadline::of_run(&result), document, elsewhere, quiet)
        });
    let also = demanded.write(|| junit::of_run(&result, &result.gates));
    let page =
        report::write_page(html.as_ref(), readers, || Document::Run(Box::new(result.clone())));
    out::do_all([printed, written, also, page])?;
    // A family that was asked for and gave no response in time could not be measured.
    let could_not = [
        text::nothing_normal(&result),
        explain_failed_lookups(&result.dns),
        result.find_max.as_ref().and_then(FindMax::describe_stop),
    ];
    let could_not = could_not.into_iter().flatten().reduce(|all, one| format!("{all}; {one}"));
    let could_not = could_not.map(CommandError::Measure);
    let failed = gates::status_of_gates(&result.gates, shown && reached);
    signals::status_after(result.ended, could_not.map_or(Ok(failed), Err))
}

impl RunArgs {
    /// Creates the plan that the options describe. `fleet` are the agents that carry it out, if it
    /// is not this process.
    ///
    /// # Errors
    /// See [`draft`].
    pub(super) fn draft(&self, fleet: Option<FleetSize>) -> Result<Draft, CommandError> {
        draft(&PlanOptions {
            workload: &self.workload,
            schedule: &self.schedule,
            seed: self.session.seed.seed.unwrap_or_else(random_seed),
            keep_secrets: self.session.keep.keeps_secrets(),
            fleet,
        })
    }

    /// Returns what is measured beside the load. `host` is the host of a lab that was named, if
    /// any.
    ///
    /// # Errors
    /// The server's vitals are not available from the given source.
    pub(super) fn extras(&self, host: Option<VitalsFrom>) -> Result<Extras, CommandError> {
        let (calibrate, truth) = (self.session.measure.calibrate, self.truth);
        let vitals_from = if self.session.fleet.is_given() {
            None
        } else {
            vitals_from::elsewhere(self.session.measure.vitals_from.as_deref())?.or(host)
        };
        let vitals_from_text = self.session.measure.vitals_from.clone();
        Ok(Extras { calibrate, truth, vitals_from, vitals_from_text })
    }
}

fn measure(
    runnable: Runnable,
    extras: &Extras,
    form: ProgressForm,
) -> Result<RunResult, CommandError> {
    let stop = stop_flag()?;
    if runnable.searches() {
        return search::run_search(runnable, form, &stop);
    }
    let plan = runnable.plan().clone();
    let mut live = LiveRun::new(form, &plan, &stop);
    live.begin();
    let result = sixmark_run::run_plan(runnable, extras, &stop, |slice| live.see(slice))?;
    live.clear();
    Ok(result)
}

/// Prints the table to standard output if `table` is given, and the warnings that were not shown
/// yet to standard error.
fn show(
    result: &RunResult,
    already_shown: usize,
    table: Option<Detail>,
) -> Result<(), CommandError> {
    let print_text = |detail| print(&shown::run_text(result, detail));
    let printed = table.map_or(Ok(()), print_text);
    warn(text::new_doubts(result, already_shown));
    printed
}

/// Writes all outputs, including the entry in the store (`keep`). An error with one does not
/// prevent the others.
fn write_outputs(
    result: &RunResult,
    [json, csv]: [Option<&OutputPlace>; 2],
    readers: Readers,
    keep: impl FnOnce(&str, Option<&OutputPlace>) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let text = encoded(result)?;
    let written = json.map_or(Ok(()), |place| place.write_for(readers, &text));
    let kept = keep(&text, json.filter(|_| written.is_ok()));
    let also = csv.map_or(Ok(()), |place| place.write(&csv::csv_of_families(result)));
    out::do_all([written, kept, also])
}
