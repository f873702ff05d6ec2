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

pub(super) use args::Args;
pub(super) use plan::plan;

use std::io::{self, IsTerminal as _};

use sixmark_core::report;
use sixmark_core::result::{RunResult, Warning};

use super::out::{Place, complain, print};
use super::stop_flag;
use crate::Error;
use crate::run::Ready;
use live::Live;

/// Plans, runs and shows. The status is 3 where a family has no NORMAL response at all.
pub(super) fn main(args: Args) -> Result<u8, Error> {
    let (json, csv, quiet) = (args.json.clone(), args.csv.clone(), args.quiet);
    check_places(json.as_ref(), csv.as_ref())?;
    let ready = Ready::new(plan::plan(args)?)?;
    let told = ready.doubts().len();
    warn(ready.doubts().iter());
    let stop = stop_flag()?;
    let mut live = Live::new(!quiet && io::stderr().is_terminal(), ready.plan().load.threads.get());
    let result = match ready.searches() {
        true => search::run(ready, &stop, &live)?,
        false => crate::run::run(ready, &stop, |slice| live.see(slice))?,
    };
    live.clear();
    if result.total.connections.opened + result.total.requests.completed > 0 {
        // Where nothing was even reached there is nothing to show, and one line says why.
        show(&result, told, quiet || [&json, &csv].contains(&&Some(Place::Standard)))?;
    }
    write(&result, json.as_ref(), csv.as_ref())?;
    // A family that was asked for and gave no response to time could not be measured.
    text::nothing_normal(&result).map_or(Ok(0), |line| Err(Error::Measure(line)))
}

fn check_places(json: Option<&Place>, csv: Option<&Place>) -> Result<(), Error> {
    if json == Some(&Place::Standard) && csv == Some(&Place::Standard) {
        let line = "--json - and --csv - can't both have standard output; give one a file";
        return Err(Error::Usage(line.into()));
    }
    [json, csv].into_iter().flatten().try_for_each(Place::check)
}

/// The table on standard output, unless that is to be quiet; warnings not told yet on standard error.
fn show(result: &RunResult, told: usize, quiet: bool) -> Result<(), Error> {
    if !quiet {
        print(&report::text::table(result))?;
    }
    warn(text::doubts(result, told));
    Ok(())
}

/// A document that can't be written does not keep the other from being written.
fn write(result: &RunResult, json: Option<&Place>, csv: Option<&Place>) -> Result<(), Error> {
    let written = json.map_or(Ok(()), |place| place.write(&document(result)?));
    let also = csv.map_or(Ok(()), |place| place.write(&report::csv::lines(result)));
    written.and(also)
}

fn warn<'a>(warnings: impl Iterator<Item = &'a Warning>) {
    for warning in warnings {
        complain(&format!("warning: {} [{}]", warning.message, warning.code));
    }
}

fn document(result: &RunResult) -> Result<String, Error> {
    let text = serde_json::to_string_pretty(result);
    text.map(|text| text + "\n")
        .map_err(|e| Error::Measure(format!("can't encode the result: {e}")))
}
