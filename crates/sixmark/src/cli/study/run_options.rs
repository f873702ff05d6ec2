//! What a study has to know of `sixmark run`.

use std::sync::Arc;

use clap::builder::Resettable;
use clap::{Args as _, FromArgMatches as _, Id};

use super::super::one_line;
use crate::cli::run::{RunArgs, vitals_from};
use sixmark_run::{Extras, Runnable};
use sixmark_study::engine::{CellOptions, Commands};
use sixmark_sys::command_error::CommandError;

/// Lends `use_them` what a study has to know.
pub(super) fn with_commands<T>(use_them: impl FnOnce(&Commands<'_>) -> T) -> T {
    let command = cell_command();
    let options: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
    let has_option = |name: &str| options.contains(&name);
    use_them(&Commands { has_option: &has_option, read: &read_words })
}

/// `sixmark run`, but that a cell has the URLs of its place.
fn cell_command() -> clap::Command {
    RunArgs::augment_args(clap::Command::new("run"))
        .no_binary_name(true)
        .mut_arg("urls", |urls| urls.required_unless_present(Resettable::<Id>::Reset))
}

/// What the words say, or what is wrong with them, as `sixmark run` says it.
fn read_words(words: &[String]) -> Result<Arc<dyn CellOptions>, String> {
    let matches = cell_command().try_get_matches_from(words);
    match matches.and_then(|matches| RunArgs::from_arg_matches(&matches)) {
        Ok(args) => Ok(Arc::new(OptionsAsTyped(args))),
        Err(error) => Err(one_line(&error.render().to_string(), "sixmark run --help")),
    }
}

/// The options of a run without its URLs, as a study's file has them.
#[derive(Debug)]
struct OptionsAsTyped(RunArgs);

impl OptionsAsTyped {
    fn over(&self, urls: &[String]) -> RunArgs {
        let mut args = self.0.clone();
        args.workload.target.urls = urls.to_vec();
        // As a block of a comparison: cells are compared, and many are shorter than the timeout.
        args.course.drain.get_or_insert(args.workload.load.timeout);
        args
    }
}

impl CellOptions for OptionsAsTyped {
    fn check(&self, urls: &[String]) -> Result<(), String> {
        let args = self.over(urls);
        match args.draft().and_then(|_| args.extras(None)) {
            // A name that can't be resolved here and now is none of the file's faults.
            Ok(_) | Err(CommandError::Measure(_) | CommandError::Interrupted(_)) => Ok(()),
            Err(CommandError::Usage(line)) => Err(line),
        }
    }

    fn runnable(
        &self,
        urls: &[String],
        seed: u64,
        folder: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(Runnable, Extras), CommandError> {
        let mut args = self.over(urls);
        args.fill_braces(folder);
        args.session.seed.get_or_insert(seed);
        if vitals_from::host(&args.session)?.is_some() {
            let line = "--vitals-from names a host: a study measures its services itself \
                        (server_cpu_per_request); omit the option";
            return Err(CommandError::Usage(line.into()));
        }
        let draft = args.draft()?;
        let extras = args.extras(None)?;
        Ok((draft.check()?, extras))
    }
}
