//! `sixmark watch`.

mod args;
mod watch_progress;

pub(super) use args::WatchArgs;

use std::cell::RefCell;

use crate::report::documents::Document;
use crate::report::headline::ListHeadline;
use crate::report::junit;
use sixmark_compare::gate::GateNames;
use sixmark_document::provenance::Warning;
use sixmark_report::csv;
use sixmark_units::family::Family;
use sixmark_watch::describe_not_followed;
use sixmark_watch::sheet::watch_text;
use sixmark_watch::watch_result::WatchResult;

use super::keep::Keeper;
use super::out::{self, OutputPlace, encoded, print, warn};
use super::{gates, report, signals, stop_flag};
use sixmark_document::provenance::file_incomplete;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output::Readers;
use sixmark_watch::engine as watch;
use sixmark_watch::engine::WatchProgress;
use watch_progress::LiveWatch;

/// The most kinds of packets that are named where no connection was seen.
const MOST_KINDS: usize = 6;

/// Watches and shows. Returns the exit status: 3 if a file is incomplete; else 130 if a signal
/// ended the watch early; else 3 if no connection was seen; else 1 if a gate failed; else 0.
pub(super) fn main(args: &WatchArgs) -> Result<u8, CommandError> {
    args.check()?;
    args.inside.go()?;
    let gates = args.gates.gates(&GateNames::of_run(Family::BOTH))?;
    let mut keeper = Keeper::open(&args.keep)?;
    let (mut result, told) = look(args)?;
    result.gates = gates.iter().map(|g| g.of_measurement(&result)).collect();
    let places = [&args.json, &args.csv, &args.gates.junit, &args.html];
    let shown = !args.quiet && !places.contains(&&Some(OutputPlace::Standard));
    let printed = if shown { print(&watch_text(&result)) } else { Ok(()) };
    warn(result.warnings.iter().filter(|warning| !told.contains(warning)));
    out::do_all([printed, write_document(args, &result, &mut keeper), also(args, &result)])?;
    if out::is_incomplete(&result.warnings) {
        return Ok(out::INCOMPLETE);
    }
    let failed = gates::status_of_gates(&result.gates, shown);
    signals::status_after(result.ended, nothing(&result).map_or(Ok(failed), Err))
}

/// Measures. Returns the result and the warnings that were already printed.
fn look(args: &WatchArgs) -> Result<(WatchResult, Vec<Warning>), CommandError> {
    let stop = stop_flag()?;
    let form = args.progress.form(args.quiet)?;
    let live = RefCell::new(LiveWatch::new(form, args.duration, &stop));
    let mut told = Vec::new();
    let mut tell = |progress: &WatchProgress| {
        let new: Vec<_> = progress.lost_files.iter().map(|why| file_incomplete(why)).collect();
        warn(&new);
        told.extend(new);
    };
    let result = match &args.read {
        Some(path) => watch::watch_file(path, &args.settings(), &stop, |progress| {
            tell(&progress);
            live.borrow_mut().read(&progress);
        }),
        None => {
            let begun = |names: &[String]| live.borrow_mut().begun(names);
            watch::live(&args.live_settings(), &args.settings(), &stop, begun, |progress| {
                tell(&progress);
                live.borrow_mut().see(&progress);
            })
        }
    };
    live.into_inner().clear();
    Ok((result?, told))
}

/// Writes the document to the place of `--json` and to the store.
fn write_document(
    args: &WatchArgs,
    result: &WatchResult,
    keeper: &mut Keeper,
) -> Result<(), CommandError> {
    let document = encoded(result)?;
    let written = args.json.as_ref().map_or(Ok(()), |place| place.write(&document));
    let elsewhere = args.json.as_ref().filter(|_| written.is_ok());
    let kept = keeper.finish(&ListHeadline::of_watch(result), &document, elsewhere, args.quiet);
    out::do_all([written, kept])
}

/// Writes all other outputs.
fn also(args: &WatchArgs, result: &WatchResult) -> Result<(), CommandError> {
    let lines =
        args.csv.as_ref().map_or(Ok(()), |place| place.write(&csv::csv_of_families(result)));
    let gates = args.gates.write(|| junit::of_watch(result, &result.gates));
    let page = report::write_page(args.html.as_ref(), Readers::Umask, || {
        Document::Watch(Box::new(result.clone()))
    });
    out::do_all([lines, gates, page])
}

/// Returns an error if no connection was seen.
fn nothing(result: &WatchResult) -> Option<CommandError> {
    let watched = &result.watched;
    let connections: u64 = watched.families.iter().map(|(_, of)| of.connections).sum();
    (connections == 0).then(|| {
        let packets = sixmark_units::quantity::counted(watched.packets, "packet", "packets");
        let ports = watched.ports.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
        let (to, what) = if watched.ports.is_empty() {
            (String::new(), "is it the right interface or file?")
        } else {
            (format!(" to port {ports}"), "is it the right port (--port) and interface?")
        };
        let kinds = describe_not_followed(watched);
        let kinds = kinds.into_iter().take(MOST_KINDS).collect::<Vec<_>>().join(", ");
        let kinds = if kinds.is_empty() { kinds } else { format!(" ({kinds})") };
        CommandError::Measure(format!("no connection{to} was seen in {packets}{kinds}; {what}"))
    })
}
