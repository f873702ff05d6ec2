//! From a side's own options, and those of both, to what it loads.

use super::super::run::{self, CourseArgs, PlanOptions, WorkloadArgs};
use super::args::CompareArgs;
use super::asked::Asked;
use crate::cli::compare::side_options::words;
use sixmark_compare::engine::Contender;
use sixmark_sys::command_error::CommandError;

/// What a side loads: the options of both, then its own, which go before. Its URLs take the place
/// of those of both.
///
/// # Errors
/// What is wrong with its options, or can't be done.
pub(super) fn contender(
    asked: &Asked<'_>,
    args: &CompareArgs,
    seed: u64,
) -> Result<Contender, CommandError> {
    let said =
        |why: String| CommandError::Usage(format!("{} '{}': {why}", asked.place, asked.text));
    let words = match asked.is_url {
        true => vec![asked.text.to_owned()],
        false => expanded(words(asked.text).map_err(&said)?),
    };
    let workload = args.shared.overlaid(&words).map_err(&said)?;
    if workload.target.urls.is_empty() && workload.target.targets.is_none() {
        return Err(said("no URL: give one for this side, or one for both sides".to_owned()));
    }
    let keep = &args.session.keep;
    let options = keep.shown(asked.text);
    let draft = run::draft(&PlanOptions {
        workload: &workload,
        course: &CourseArgs {
            duration: args.block(),
            // What is stuck must become a TIMEOUT in each block: blocks are shorter than that.
            drain: Some(workload.load.timeout),
            ..CourseArgs::default()
        },
        seed,
        keep_secrets: keep.keeps_secrets(),
    });
    Ok(Contender {
        name: asked.name.unwrap_or(&options).trim().to_owned(),
        options,
        runnable: draft.map_err(|error| of_side(asked, error))?.check()?,
    })
}

/// The workloads of the sides that have options of their own, as far as these can be read.
pub(super) fn workloads(args: &CompareArgs) -> Vec<WorkloadArgs> {
    let workload = |text: &String| args.shared.overlaid(&expanded(words(text).ok()?)).ok();
    [&args.a, &args.b].into_iter().flatten().filter_map(workload).collect()
}

/// The families by their names.
fn expanded(words: Vec<String>) -> Vec<String> {
    let expand = |word: String| match word.as_str() {
        "ipv6" => "-6".to_owned(),
        "ipv4" => "-4".to_owned(),
        _ => word,
    };
    words.into_iter().map(expand).collect()
}

/// The same error, with the side that it is of.
fn of_side(asked: &Asked<'_>, error: CommandError) -> CommandError {
    error.map(|line| format!("{} '{}': {line}", asked.place, asked.text))
}
