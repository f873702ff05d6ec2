//! `sixmark compare`.

mod args;
mod asked;
mod compare_progress;
mod lacks;
mod shared;
mod side_options;
mod sides;

pub(super) use args::{CompareArgs, adapt};
pub(super) use lacks::of_comparison as explain_lack;

use std::sync::Arc;

use crate::report::documents::Document;
use crate::report::headline::ListHeadline;
use crate::report::junit;
use sixmark_compare::Settings;
use sixmark_compare::comparison_result::{BlockSchedule, ComparedSides, ComparisonResult};
use sixmark_compare::gate::GateNames;
use sixmark_compare::text as comparison;
use sixmark_document::provenance::Ended;
use sixmark_result::failed_lookup::explain_failed_lookups;

use super::keep::Keeper;
use super::out::{self, OutputPlace, complain, encoded, print, warn};
use super::progress::ProgressForm;
use super::{gates, report, run, signals, stop_flag};
use crate::cli::run::SessionArgs;
use asked::Asked;
use compare_progress::LiveComparison;
use sixmark_compare::engine as compare;
use sixmark_compare::engine::{Comparing, ComparisonEvent};
use sixmark_options::draft::random_seed;
use sixmark_options::vitals_from;
use sixmark_run::Generators;
use sixmark_sys::command_error::CommandError;
use sixmark_units::quantity::counted;
use sixmark_vitals::engine::VitalsFrom;

/// Plans, measures and shows a comparison. Returns the exit status: 130 if a signal ended it; else
/// 3 if a side has no NORMAL response with an accepted status, or if a look-up failed; else 1 if a gate failed; else 0.
pub(super) fn main(args: &CompareArgs) -> Result<u8, CommandError> {
    let SessionArgs { json, html, gates: demanded, keep, quiet, .. } = &args.session;
    let quiet = *quiet;
    check_files(args)?;
    let form = args.session.progress.form(quiet)?;
    let sides = sides::workloads(args);
    run::check_session(&args.session, sides.iter().chain([args.shared.workload()]))?;
    let host =
        vitals_from::host(args.session.measure.vitals_from.as_deref(), args.session.inside.lab())?;
    args.session.inside.go()?;
    let fleet = args.session.fleet.take(&args.session.inside, stop_flag()?.as_ref())?;
    let comparing = continued(args, |seed| comparing(args, host, fleet.as_ref(), seed))?;
    let (a, b) = comparing.names();
    let gates = demanded.gates(&GateNames::of_comparison(a, b))?;
    let mut keeper = Keeper::open(keep)?;
    let doubts = comparing.doubts();
    warn(doubts.iter());
    let (mut result, shown_meanwhile) = measure(&comparing, form, &mut keeper)?;
    result.gates = gates.iter().map(|gate| gate.of_comparison(&result)).collect();
    let shown = !quiet && ![json, &demanded.junit, html].contains(&&Some(OutputPlace::Standard));
    let printed = show(&result, doubts.len() + shown_meanwhile, shown);
    out::do_all([printed, write_outputs(&result, args, &mut keeper)])?;
    let could_not =
        could_not_measure(&result, shown).or_else(|| explain_failed_lookups(&result.dns));
    let could_not = could_not.map(CommandError::Measure);
    let failed = gates::status_of_gates(&result.gates, shown);
    signals::status_after(result.ended, could_not.map_or(Ok(failed), Err))
}

/// Checks that no file to be written is one that a side reads.
fn check_files(args: &CompareArgs) -> Result<(), CommandError> {
    let files = args.session.files().inputs(args.shared.workload.inputs());
    let sides = sides::workloads(args).into_iter();
    sides.fold(files, |files, side| files.inputs(side.inputs())).check()
}

/// Measures, shows the progress, and stores the result so far after each pair. Returns the result
/// and the number of its warnings that were already shown.
fn measure(
    comparing: &Comparing,
    form: ProgressForm,
    keeper: &mut Keeper,
) -> Result<(ComparisonResult, usize), CommandError> {
    let stop = stop_flag()?;
    if matches!(form, ProgressForm::Line | ProgressForm::Plain) {
        complain(&comparing.describe());
    }
    let board = comparing.board();
    let mut live = LiveComparison::new(form, board, comparing.threads(), &stop);
    let (mut kept, mut lengthened) = (Ok(()), false);
    let result = compare::run_comparison(comparing, &stop, |event| {
        live.see(&event);
        if let ComparisonEvent::Lengthened(warning) = event {
            live.clear_line();
            lengthened = true;
            warn([warning]);
        }
        if let (ComparisonEvent::Pair(so_far), Ok(())) = (&event, &kept) {
            kept = keep(so_far, keeper);
        }
    })?;
    live.clear();
    if let Err(error) = kept {
        complain(&format!("warning: {error}; the comparison continues and is stored at the end"));
    }
    Ok((result, usize::from(lengthened)))
}

/// Stores the result so far. Its headline has no `ended`.
fn keep(so_far: &ComparisonResult, keeper: &mut Keeper) -> Result<(), CommandError> {
    let headline = ListHeadline { ended: None, ..ListHeadline::of_comparison(so_far) };
    keeper.save(&headline, &encoded(so_far)?)
}

/// Makes a comparison by `make`, which gets the seed of a stored one, and adds it to that, if pairs
/// are to be added.
fn continued(
    args: &CompareArgs,
    make: impl FnOnce(Option<u64>) -> Result<Comparing, CommandError>,
) -> Result<Comparing, CommandError> {
    let Some(word) = &args.earlier else { return make(None) };
    let refused = |why: String| CommandError::Usage(format!("--continue {word}: {why}"));
    let stored = match report::document_named(word, args.session.keep.store())? {
        Document::Comparison(stored) => stored,
        other => return Err(refused(format!("it is a {}, no comparison", other.schema()))),
    };
    let comparing = make(Some(stored.seed))?;
    let (comparing, differences) = comparing.continuing(&stored).map_err(refused)?;
    let pairs = counted(stored.comparison.pairs as u64, "pair", "pairs");
    complain(&format!("adding to {pairs} of {}", stored.started));
    differences.iter().for_each(|said| complain(&format!("warning: {said}")));
    Ok(comparing)
}

fn comparing(
    args: &CompareArgs,
    host: Option<VitalsFrom>,
    fleet: Option<&Arc<dyn Generators>>,
    earlier_seed: Option<u64>,
) -> Result<Comparing, CommandError> {
    let (primary, until) = args.ending()?;
    let [a, b] = asked::sides_asked(args)?;
    // Both sides have the same seed, so that both get the same arrivals.
    let seed = args.session.seed.seed.or(earlier_seed).unwrap_or_else(random_seed);
    let side = |asked: &Asked<'_>| sides::contender(asked, args, seed, fleet);
    let mut sides = ComparedSides { a: side(&a)?, b: side(&b)? };
    if sides.a.name == sides.b.name {
        sides.a.name.push_str(" (a)");
        sides.b.name.push_str(" (b)");
    }
    let schedule = BlockSchedule {
        pairs: args.pairs(),
        order: args.order,
        block_s: args.block().map(|block| block.as_secs_f64()),
        requested_block_s: None,
        block_requests: args.block_requests().map(std::num::NonZero::get),
        warm_up_blocks: args.warm_up_blocks,
    };
    let settings = Settings {
        until,
        margin: args.margin,
        false_alarms: args.false_alarms,
        primary,
        ..Settings::usual(seed)
    };
    let server = vitals_from::elsewhere(args.session.measure.vitals_from.as_deref())?.or(host);
    Ok(Comparing::new(sides, schedule, settings, args.session.measure.calibrate, server))
}

/// Prints the table to standard output if `table` is true, and the warnings after the first
/// `already_shown` to standard error.
fn show(result: &ComparisonResult, already_shown: usize, table: bool) -> Result<(), CommandError> {
    let printed = if table { print(&comparison::comparison_text(result)) } else { Ok(()) };
    // Where a side gave nothing, doubts about figures say nothing that matters.
    if result.ended != Ended::Hopeless {
        warn(result.warnings.iter().skip(already_shown));
    }
    printed
}

/// Writes all outputs, including the entry in the store. An error with one does not prevent the
/// others.
fn write_outputs(
    result: &ComparisonResult,
    args: &CompareArgs,
    keeper: &mut Keeper,
) -> Result<(), CommandError> {
    let (text, json) = (encoded(result)?, args.session.json.as_ref());
    let readers = args.session.keep.readers();
    let written = json.map_or(Ok(()), |place| place.write_for(readers, &text));
    let elsewhere = json.filter(|_| written.is_ok());
    let headline = ListHeadline::of_comparison(result);
    let kept = keeper.finish(&headline, &text, elsewhere, args.session.quiet);
    let also = args.session.gates.write(|| junit::of_comparison(result));
    let page = report::write_page(args.session.html.as_ref(), readers, || {
        Document::Comparison(Box::new(result.clone()))
    });
    out::do_all([written, kept, also, page])
}

/// Returns the last line about a comparison in which a side gave no usable response. The report has
/// the reason in its headline; where it was not printed, the line has it.
fn could_not_measure(result: &ComparisonResult, shown: bool) -> Option<String> {
    let why = result.describe_no_answers()?;
    if shown && result.comparison.pairs > 0 {
        Some("a side gave no usable response: see the report above".to_owned())
    } else {
        Some(why)
    }
}
