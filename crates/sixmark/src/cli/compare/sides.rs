//! From a side's own options, and those of both, to what it loads.

use std::ffi::OsString;
use std::time::Duration;

use super::super::run;
use super::super::{Command, parse_again};
use super::args::CompareArgs;
use super::asked::Asked;
use super::words::words;
use crate::compare::Contender;
use sixmark_machine::Error;

/// What a side loads: the options of both, then its own, which go before. Its URLs take the place
/// of those of both.
pub(super) fn contender(
    asked: &Asked<'_>,
    common: &[OsString],
    block: Option<Duration>,
) -> Result<Contender, Error> {
    let said = |why: String| Error::Usage(format!("{} '{}': {why}", asked.place, asked.text));
    let words = match asked.is_url {
        true => vec![asked.text.to_owned()],
        false => expanded(words(asked.text).map_err(&said)?),
    };
    let own = alone(&words).map_err(&said)?;
    let mut args = together(common, &words).map_err(&said)?;
    own.take_targets(&mut args.run);
    if args.run.urls.is_empty() && args.run.targets.is_none() {
        return Err(said("no URL is given, neither here nor for both sides".to_owned()));
    }
    args.run.calibrate = false;
    args.run.duration = block;
    let options = args.run.keep.shown(asked.text);
    Ok(Contender {
        name: asked.name.unwrap_or(&options).trim().to_owned(),
        options: options.clone(),
        planned: run::plan(args.run).map_err(|error| of_side(asked, error))?,
    })
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

/// What a side says of its targets.
struct Own {
    urls: usize,
    list: bool,
}

impl Own {
    fn take_targets(&self, args: &mut run::RunArgs) {
        if self.urls > 0 {
            let common = args.urls.len() - self.urls;
            args.urls.drain(..common);
            if !self.list {
                args.targets = None;
            }
        } else if self.list {
            args.urls.clear();
        }
    }
}

/// Reads a side's options by themselves, as those of a run.
fn alone(words: &[String]) -> Result<Own, String> {
    // A list of targets stands for the URL that a side need not have.
    let before = ["sixmark", "run", "--targets=-"].map(OsString::from);
    let line: Vec<OsString> = before.into_iter().chain(words.iter().map(OsString::from)).collect();
    match parse_again(&line).map_err(|error| one_line(&error))?.command {
        Command::Run(args) => {
            if let Some(option) = of_both(&args) {
                return Err(format!("{option} is the comparison's, not one side's"));
            }
            let list = words.iter().any(|word| word.starts_with("--targets"));
            Ok(Own { urls: args.urls.len(), list })
        }
        _ => unreachable!("the words above are those of a run"),
    }
}

/// An option that says how to compare, or what to do with the result.
fn of_both(args: &run::RunArgs) -> Option<&'static str> {
    let given = [
        ("-d", args.duration.is_some()),
        ("--find-max", !args.find_max.is_empty()),
        ("--calibrate", args.calibrate),
        ("--json", args.json.is_some()),
        ("--truth", args.truth),
        ("--csv", args.csv.is_some()),
        ("--quiet", args.quiet),
        ("--fail-if", !args.gates.fail_if.is_empty()),
        ("--junit", args.gates.junit.is_some()),
        ("--html", args.html.is_some()),
        ("--seed", args.seed.is_some()),
        ("--store, --label or --keep-secrets", args.keep.is_given()),
        ("--in", args.inside.is_given()),
        ("--vitals-from", args.vitals_from.is_some()),
    ];
    given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
}

/// Reads the options of both with a side's own behind them.
fn together(common: &[OsString], words: &[String]) -> Result<CompareArgs, String> {
    let line: Vec<OsString> =
        common.iter().cloned().chain(words.iter().map(OsString::from)).collect();
    match parse_again(&line).map_err(|error| one_line(&error))?.command {
        Command::Compare(args) => Ok(*args),
        _ => unreachable!("the words are those of a comparison"),
    }
}

fn one_line(error: &clap::Error) -> String {
    super::super::one_line(&error.render().to_string(), "sixmark compare --help")
}

/// The same error, with the side that it is of.
fn of_side(asked: &Asked<'_>, error: Error) -> Error {
    error.map(|line| format!("{} '{}': {line}", asked.place, asked.text))
}
