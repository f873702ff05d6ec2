//! The options of `sixmark run` that the cells of a study may use.

use std::sync::Arc;

use clap::builder::Resettable;
use clap::{Args as _, FromArgMatches as _, Id};

use super::super::one_line;
use crate::cli::run::{RunArgs, vitals_from};
use sixmark_result::failed_lookup::explain_failed_lookups;
use sixmark_run::{Extras, Generators, Runnable};
use sixmark_study::engine::{CellOptions, CellUrls, Commands};
use sixmark_sys::command_error::CommandError;

/// Calls `use_them` with the options of `sixmark run` and a parser for them.
pub(in crate::cli) fn with_commands<T>(use_them: impl FnOnce(&Commands<'_>) -> T) -> T {
    let command = cell_command();
    let options: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
    let has_option = |name: &str| options.contains(&name);
    use_them(&Commands { has_option: &has_option, read: &read_words })
}

/// Creates the parser of `sixmark run`, but without a required URL: a cell has the URLs of its
/// server.
fn cell_command() -> clap::Command {
    RunArgs::augment_args(clap::Command::new("run"))
        .no_binary_name(true)
        .mut_arg("urls", |urls| urls.required_unless_present(Resettable::<Id>::Reset))
}

/// Parses the options of a cell. The error message is that of `sixmark run`, in one line.
fn read_words(words: &[String]) -> Result<Arc<dyn CellOptions>, String> {
    let matches = cell_command().try_get_matches_from(words);
    match matches.and_then(|matches| RunArgs::from_arg_matches(&matches)) {
        Ok(args) => Ok(Arc::new(OptionsAsTyped(args))),
        Err(error) => Err(one_line(&error.render().to_string(), "sixmark run --help")),
    }
}

/// The options of a run without its URLs, as they are in a study's file.
#[derive(Debug)]
struct OptionsAsTyped(RunArgs);

impl OptionsAsTyped {
    fn over(&self, urls: &[String]) -> RunArgs {
        let mut args = self.0.clone();
        args.workload.target.urls = urls.to_vec();
        // As in a block of a comparison: cells are compared, and many are shorter than the timeout.
        args.schedule.drain.get_or_insert(args.workload.load.timeout);
        args
    }
}

impl CellOptions for OptionsAsTyped {
    fn check(&self, urls: &[String]) -> Result<(), String> {
        let args = self.over(urls);
        match args.draft(None).and_then(|_| args.extras(None)) {
            // A name that can't be resolved here and now is no mistake in the file.
            Ok(_) | Err(CommandError::Measure(_) | CommandError::Interrupted(_)) => Ok(()),
            Err(CommandError::Usage(line)) => Err(line),
        }
    }

    fn runnable(
        &self,
        targets: CellUrls<'_>,
        seed: u64,
        folder: &dyn Fn(&str) -> Option<String>,
        fleet: Option<&Arc<dyn Generators>>,
    ) -> Result<(Runnable, Extras), CommandError> {
        let mut args = match targets {
            CellUrls::Given(urls) => self.over(urls),
            CellUrls::Listed(_) => self.over(&[]),
        };
        if let CellUrls::Listed(file) = targets {
            args.workload.target.targets = Some(file.into());
        }
        args.fill_braces(folder);
        args.session.seed.get_or_insert(seed);
        if vitals_from::host(&args.session)?.is_some() {
            let line = "--vitals-from names a host: a study measures its services itself \
                        (server_cpu_per_request); omit the option";
            return Err(CommandError::Usage(line.into()));
        }
        let draft = args.draft(fleet.map(|fleet| fleet.size()))?;
        // A cell that lacks a family by chance would count as one of the other family alone.
        if let Some(line) = explain_failed_lookups(&draft.dns) {
            return Err(CommandError::Measure(line));
        }
        let extras = args.extras(None)?;
        let runnable = match fleet {
            Some(fleet) => draft.check_on(Arc::clone(fleet))?,
            None => draft.check()?,
        };
        Ok((runnable, extras))
    }
}
