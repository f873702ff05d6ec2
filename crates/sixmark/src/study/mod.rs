//! Studies: an experiment in a file, carried out cell by cell, kept so that nothing is lost.
//!
//! A study's folder holds `study.json` (`sixmark.study/1`, whole after every cell), `cells/` with a
//! document for each cell, `logs/` with what services said, and a copy of what was read.

mod background;
mod builtin;
mod captured;
mod cell;
mod changes;
mod check;
mod doubts;
mod engine;
mod external;
mod files;
mod folder;
mod hooks;
mod options;
mod program;
mod source;
mod stage;
mod start;
mod work;

pub use check::wrongs;
pub use engine::{Event, Finished, run};
pub use folder::check_begun;
pub use options::Options;
pub use program::{Need, needs};
pub use source::{Form, Source, builtin_names};

use crate::run::Ready;
use sixmark_machine::Error;

/// Looks into the words of a run.
pub type Check<'a> = &'a (dyn Fn(&[String], bool) -> Result<(), String> + Sync);

/// Makes a run of words.
pub type Prepare<'a> = &'a (dyn Fn(&[String]) -> Result<Ready, Error> + Sync);

/// What the command line knows of `sixmark run`, for an engine that must not know the command line.
#[derive(Clone, Copy)]
pub struct Commands<'a> {
    /// Whether there is a long option of this name.
    pub has_option: &'a (dyn Fn(&str) -> bool + Sync),
    /// What is wrong with the words behind `sixmark run`, in its own words. Where `all` is false what
    /// they name need not be there yet.
    pub check: Check<'a>,
    /// The run that they describe.
    pub ready: Prepare<'a>,
}
