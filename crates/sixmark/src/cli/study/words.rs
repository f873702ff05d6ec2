//! What a study has to know of `sixmark run`.

use std::ffi::OsString;

use clap::{CommandFactory as _, Parser as _};

use super::super::{Cli, Command, one_line, run};
use crate::cli::run::vitals_from;
use crate::run::Ready;
use crate::study::Commands;
use sixmark_machine::Error;

/// Lends `use_them` what a study has to know.
pub(super) fn with_commands<T>(use_them: impl FnOnce(&Commands<'_>) -> T) -> T {
    let cli = Cli::command();
    let options: Vec<String> = cli
        .find_subcommand("run")
        .into_iter()
        .flat_map(clap::Command::get_arguments)
        .filter_map(|argument| argument.get_long().map(str::to_owned))
        .collect();
    let has_option = |name: &str| options.iter().any(|option| option == name);
    use_them(&Commands { has_option: &has_option, check: &check, ready: &ready })
}

/// What is wrong with the words, as `sixmark run` says it.
fn check(words: &[String], all: bool) -> Result<(), String> {
    let args = parse(words).map_err(|error| error.to_string())?;
    if !all {
        return Ok(());
    }
    match run::plan(args) {
        // A name that can't be resolved here and now is none of the file's faults.
        Ok(_) | Err(Error::Measure(_) | Error::Interrupted(_)) => Ok(()),
        Err(Error::Usage(line)) => Err(line),
    }
}

fn ready(words: &[String]) -> Result<Ready, Error> {
    let args = parse(words)?;
    if vitals_from::host(&args)?.is_some() {
        let line = "--vitals-from names a host: a study tells what its services use by itself \
                    (server_cpu_per_request); leave it out";
        return Err(Error::Usage(line.into()));
    }
    Ready::new(run::plan(args)?)
}

fn parse(words: &[String]) -> Result<run::RunArgs, Error> {
    let own = ["sixmark", "run"].map(OsString::from);
    let all = own.into_iter().chain(words.iter().map(OsString::from));
    let cli = Cli::try_parse_from(all).map_err(|error| {
        Error::Usage(one_line(&error.render().to_string(), "sixmark run --help"))
    })?;
    match cli.command {
        Command::Run(args) => Ok(*args),
        _ => unreachable!("the words above are those of a run"),
    }
}
