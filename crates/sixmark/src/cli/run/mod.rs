//! `sixmark run`.

mod args;
mod live;
mod pace;
mod plan;
mod requests;
mod search;
mod source;
mod text;
mod tls;
mod values;
pub(super) mod vitals_from;

pub(super) use args::RunArgs;
pub(super) use live::figures;
pub(super) use plan::{only_family, plan};
pub(super) use text::silent;
pub(super) use values::{positive, positive_time};

use sixmark_model::document::Document;
use sixmark_model::gate::Names;
use sixmark_model::result::RunResult;
use sixmark_report::headline::Headline;
use sixmark_report::{csv, junit, text as shown};

use super::keep::Keeper;
use super::out::{self, Place, encoded, print, warn};
use super::progress::can_repaint;
use super::{gates, report, signals, stop_flag};

use crate::run::Ready;
use live::Live;
use sixmark_machine::Error;

/// Plans, runs and shows. The status is 130 where a signal ended the run, else 3 where a family has no
/// NORMAL response at all, or errors only, else 1 where a gate failed.
pub(super) fn main(args: RunArgs) -> Result<u8, Error> {
    let (json, csv, quiet) = (args.json.clone(), args.csv.clone(), args.quiet);
    let (keep, demanded, html) = (args.keep.clone(), args.gates.clone(), args.html.clone());
    out::check([&json, &csv, &demanded.junit, &html])?;
    let host = vitals_from::host(&args)?;
    args.inside.go()?;
    let mut planned = plan::plan(args)?;
    planned.vitals_from = planned.vitals_from.or(host);
    let ready = Ready::new(planned)?;
    let gates = demanded.gates(&names(&ready))?;
    let mut keeper = Keeper::open(&keep)?;
    let told = ready.doubts().len();
    warn(ready.doubts().iter());
    let mut result = measure(ready, quiet)?;
    result.gates = gates.iter().map(|g| g.of_run(&result)).collect();
    let shown = !quiet && ![&json, &csv, &demanded.junit, &html].contains(&&Some(Place::Standard));
    // Where nothing was even reached there is nothing to show, and one line says why.
    let reached = result.total.connections.opened + result.total.requests.completed > 0;
    let printed = if reached { show(&result, told, shown) } else { Ok(()) };
    let written = write(&result, json.as_ref(), csv.as_ref(), |document, elsewhere| {
        keeper.finish(&Headline::of_run(&result), document, elsewhere, quiet)
    });
    let also = demanded.write(|| junit::of_run(&result, &result.gates));
    let page = report::page(html.as_ref(), || Document::Run(Box::new(result.clone())));
    out::all([printed, written, also, page])?;
    // A family that was asked for and gave no response to time could not be measured.
    let could_not = text::nothing_normal(&result).map(Error::Measure);
    let failed = gates::status(&result.gates, shown && reached);
    signals::status(result.ended, could_not.map_or(Ok(failed), Err))
}

/// What gates may speak of.
fn names(ready: &Ready) -> Names {
    Names::of_run(ready.plan().families())
}

fn measure(ready: Ready, quiet: bool) -> Result<RunResult, Error> {
    let stop = stop_flag()?;
    let mut live = Live::new(!quiet && can_repaint(), &ready.plan().load);
    let result = match ready.searches() {
        true => search::run(ready, &stop, &live)?,
        false => crate::run::run(ready, &stop, |slice| live.see(slice))?,
    };
    live.clear();
    Ok(result)
}

/// The table on standard output, if it is wanted; warnings not told yet on standard error.
fn show(result: &RunResult, told: usize, table: bool) -> Result<(), Error> {
    let printed = if table { print(&shown::table(result)) } else { Ok(()) };
    warn(text::doubts(result, told));
    printed
}

/// What can't be written does not keep anything else from being written, the store (`keep`) included.
fn write(
    result: &RunResult,
    json: Option<&Place>,
    csv: Option<&Place>,
    keep: impl FnOnce(&str, Option<&Place>) -> Result<(), Error>,
) -> Result<(), Error> {
    let text = encoded(result)?;
    let written = json.map_or(Ok(()), |place| place.write(&text));
    let kept = keep(&text, json.filter(|_| written.is_ok()));
    let also = csv.map_or(Ok(()), |place| place.write(&csv::lines(result)));
    out::all([written, kept, also])
}
