//! Error messages for options of `sixmark run` that a comparison, or one of its sides, does not
//! have.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Command};

use crate::cli::keep::KeepArgs;
use crate::cli::run::{RunArgs, SessionArgs};

/// Returns the message for an option of `sixmark run` that `sixmark compare` lacks. `None` for
/// other errors.
pub(in crate::cli) fn of_comparison(error: &clap::Error) -> Option<String> {
    let option = unknown(error).filter(|option| has::<RunArgs>(option))?;
    Some(format!("{option} is for `sixmark run`{}", why_lacking(option)))
}

/// Returns the message for an option that one side can't have. `None` for other errors.
pub(super) fn of_side(error: &clap::Error) -> Option<String> {
    let option = unknown(error)?;
    if has::<SessionArgs>(option) {
        Some(format!("{} applies to the whole comparison, not to one side", together(option)))
    } else {
        of_comparison(error)
    }
}

/// Returns the end of the message: why a comparison lacks the option, or what to use instead.
fn why_lacking(option: &str) -> &'static str {
    match option {
        "-d" | "--duration" => "; --block sets the measured duration of a block",
        "--find-max" => ", which searches for each family's highest rate",
        "--ramp" | "--steps" | "--replay" => ": all blocks have the same load; use --rate",
        "--truth" => ", which compares the clock with packets",
        "--csv" => "; write --json, then use `sixmark report --csv`",
        _ => "",
    }
}

/// Returns the unknown option as it was written. `None` for other errors.
fn unknown(error: &clap::Error) -> Option<&str> {
    match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) => Some(option),
        _ => None,
    }
}

/// Returns true if this group of options has one of this name.
fn has<T: Args>(option: &str) -> bool {
    names_of_options::<T>().iter().any(|name| name == option)
}

/// Returns the names of a group's options, short and long.
fn names_of_options<T: Args>() -> Vec<String> {
    let command = T::augment_args(Command::new("group"));
    let of = |arg: &clap::Arg| {
        let short = arg.get_short().map(|short| format!("-{short}"));
        short.into_iter().chain(arg.get_long().map(|long| format!("--{long}"))).collect()
    };
    command.get_arguments().flat_map(of as fn(&clap::Arg) -> Vec<String>).collect()
}

/// Returns the option's name. The options that decide whether and how a result is stored are named
/// together.
fn together(option: &str) -> String {
    let keeping = names_of_options::<KeepArgs>();
    match (keeping.iter().any(|name| name == option), keeping.split_last()) {
        (true, Some((last, others))) => format!("{} or {last}", others.join(", ")),
        _ => option.to_owned(),
    }
}
