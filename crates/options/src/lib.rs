//! The options of a load: as typed on the command line or in a study's file, and the draft of a plan
//! that they describe.
//!
//! Begin with [`args`], the options in groups, and [`draft`], which makes a plan of them. [`cell`]
//! has those of a cell of a study.

pub mod args;
pub mod cell;
pub mod draft;
mod inputs;
mod pace;
pub mod plan_options;
mod requests;
mod search;
mod source;
pub mod times;
pub mod tls;
mod values;
pub mod vitals_from;

pub use values::positive;

/// Joins clap's message and its tips into one line, without the usage. `help` is the command that
/// explains the options.
pub fn one_line(text: &str, help: &str) -> String {
    let said = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let said: Vec<&str> = said.filter(|line| !line.is_empty()).collect();
    let said = said.join(" ").replace(" tip: ", "; ");
    let said =
        said.trim_start_matches("error: ").replace(" For more information, try '--help'.", "");
    format!("{said}; see `{help}`")
}
