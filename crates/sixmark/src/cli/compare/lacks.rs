//! What to say of an option that a comparison, or a side of it, has not, and `sixmark run` has.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Command};

use crate::cli::keep::KeepArgs;
use crate::cli::run::{RunArgs, SessionArgs};

/// Of an option of `sixmark run` that a comparison has not.
pub(in crate::cli) fn of_comparison(error: &clap::Error) -> Option<String> {
    let option = unknown(error).filter(|option| has::<RunArgs>(option))?;
    Some(format!("{option} is for `sixmark run`{}", why_lacking(option)))
}

/// Of an option that is not one side's alone.
pub(super) fn of_side(error: &clap::Error) -> Option<String> {
    let option = unknown(error)?;
    match has::<SessionArgs>(option) {
        true => Some(format!("{} is the comparison's, not one side's", together(option))),
        false => of_comparison(error),
    }
}

/// Why a comparison has not got it, where there is more to say than that.
fn why_lacking(option: &str) -> &'static str {
    match option {
        "-d" | "--duration" => ": --block says how long each block is measured",
        "--find-max" => ": it is a comparison of its own: sixmark run",
        "--ramp" | "--steps" | "--replay" => ": all blocks are loaded alike; give a --rate",
        "--truth" => ": it holds clock against packets, not one side against the other",
        "--csv" => ": write --json and let `sixmark report --csv` read it",
        _ => "",
    }
}

/// The option that is not known, as it was written.
fn unknown(error: &clap::Error) -> Option<&str> {
    match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) => Some(option),
        _ => None,
    }
}

/// Whether options of this group are called so.
fn has<T: Args>(option: &str) -> bool {
    names_of_options::<T>().iter().any(|name| name == option)
}

/// The names of a group's options, short and long.
fn names_of_options<T: Args>() -> Vec<String> {
    let command = T::augment_args(Command::new("group"));
    let of = |arg: &clap::Arg| {
        let short = arg.get_short().map(|short| format!("-{short}"));
        short.into_iter().chain(arg.get_long().map(|long| format!("--{long}"))).collect()
    };
    command.get_arguments().flat_map(of as fn(&clap::Arg) -> Vec<String>).collect()
}

/// The option, with those that say the same thing with it: whether and how a result is kept.
fn together(option: &str) -> String {
    let keeping = names_of_options::<KeepArgs>();
    match (keeping.iter().any(|name| name == option), keeping.split_last()) {
        (true, Some((last, others))) => format!("{} or {last}", others.join(", ")),
        _ => option.to_owned(),
    }
}
