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

pub use check::{CellOptions, OptionsOfCells, WrongOption, read_options};
pub use engine::{Finished, StudyEvent, run_cells};
pub use folder::check_begun;
pub use options::Options;
pub use program::{Need, needs};
pub use source::{Form, Source, builtin_names};

use std::sync::Arc;

/// Reads the words of options.
pub type ReadOptions<'a> = &'a dyn Fn(&[String]) -> Result<Arc<dyn CellOptions>, String>;

/// What the command line knows of `sixmark run`, for an engine that must not know the command line.
#[derive(Clone, Copy)]
pub struct Commands<'a> {
    /// Whether there is a long option of this name.
    pub has_option: &'a dyn Fn(&str) -> bool,
    /// The options that the words behind `sixmark run` say, or what is wrong, in its own words.
    pub read: ReadOptions<'a>,
}
