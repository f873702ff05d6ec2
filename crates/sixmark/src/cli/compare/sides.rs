//! What a side loads, from its own options and the shared ones.

use std::sync::Arc;

use super::args::CompareArgs;
use super::asked::Asked;
use crate::cli::compare::side_options::words;
use crate::cli::keep::{KeepArgs, quoted};
use sixmark_compare::engine::Contender;
use sixmark_options::args::{ScheduleArgs, WorkloadArgs};
use sixmark_options::draft::draft;
use sixmark_options::plan_options::PlanOptions;
use sixmark_run::Generators;
use sixmark_sys::command_error::CommandError;

/// Creates a side from the shared options and its own, which take precedence. Its URLs replace the
/// shared ones.
///
/// # Errors
/// The side's options are wrong, or its plan can't be executed.
pub(super) fn contender(
    asked: &Asked<'_>,
    args: &CompareArgs,
    seed: u64,
    fleet: Option<&Arc<dyn Generators>>,
) -> Result<Contender, CommandError> {
    let said =
        |why: String| CommandError::Usage(format!("{} '{}': {why}", asked.place, asked.text));
    let typed = if asked.is_url {
        vec![asked.text.to_owned()]
    } else {
        words(asked.text).map_err(&said)?
    };
    let keep = &args.session.keep;
    let options = shown_options(keep, asked.text, &typed);
    let words = if asked.is_url { typed } else { expanded(typed) };
    let workload = args.shared.overlaid(&words).map_err(&said)?;
    if workload.target.urls.is_empty() && workload.target.targets.is_none() {
        return Err(said("no URL: give one for this side, or one for both sides".to_owned()));
    }
    let drafted = draft(&PlanOptions {
        workload: &workload,
        schedule: &ScheduleArgs {
            duration: args.block(),
            // Requests without a response must end as a TIMEOUT within their own block, although
            // blocks may be shorter than the timeout.
            drain: Some(workload.load.timeout),
            ..ScheduleArgs::default()
        },
        seed,
        keep_secrets: keep.keeps_secrets(),
        fleet: fleet.map(|fleet| fleet.size()),
    });
    let draft = drafted.map_err(|error| of_side(asked, error))?;
    Ok(Contender {
        name: asked.name.unwrap_or(&options).trim().to_owned(),
        options,
        runnable: match fleet {
            Some(fleet) => draft.check_on(Arc::clone(fleet))?,
            None => draft.check()?,
        },
    })
}

/// Returns the options of a side as they may be written. `typed` are the words of `text`.
fn shown_options(keep: &KeepArgs, text: &str, typed: &[String]) -> String {
    let shown = keep.shown(typed.to_vec());
    if shown == typed {
        return text.to_owned();
    }
    let quoted: Vec<String> = shown.iter().map(|word| quoted(word)).collect();
    quoted.join(" ")
}

/// Returns the workloads of the sides that have options of their own and whose options can be
/// parsed.
pub(super) fn workloads(args: &CompareArgs) -> Vec<WorkloadArgs> {
    let workload = |text: &String| args.shared.overlaid(&expanded(words(text).ok()?)).ok();
    [&args.a, &args.b].into_iter().flatten().filter_map(workload).collect()
}

/// Replaces the names of families by the options that select them.
fn expanded(words: Vec<String>) -> Vec<String> {
    let expand = |word: String| match word.as_str() {
        "ipv6" => "-6".to_owned(),
        "ipv4" => "-4".to_owned(),
        _ => word,
    };
    words.into_iter().map(expand).collect()
}

/// Returns the same error, with the side in front.
fn of_side(asked: &Asked<'_>, error: CommandError) -> CommandError {
    error.map(|line| format!("{} '{}': {line}", asked.place, asked.text))
}
