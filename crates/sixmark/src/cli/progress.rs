//! How far a command has come: a full-screen view or a line that is repainted on a terminal, lines
//! elsewhere.

mod view;

use std::env::var_os;
use std::io::{self, IsTerminal as _, Write as _};

use super::colour::is_plain;
use sixmark_sys::command_error::CommandError;
use sixmark_units::visible::visible;

pub(super) use view::LiveView;

/// How progress is shown.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(skip)]
pub(super) struct ProgressArgs {
    /// Progress while it runs: a full-screen view (a terminal of at least 60 x 20), lines, or
    /// nothing; auto is the view on a terminal, else lines
    #[arg(long, value_name = "auto|live|plain|none", default_value = "auto",
          value_parser = asked, help_heading = "Output")]
    progress: AskedProgress,
}

/// What the user asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AskedProgress {
    Auto,
    Live,
    Plain,
    None,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgressForm {
    /// A full-screen view.
    View,
    /// One line, which is repainted.
    Line,
    /// Lines, one below the other.
    Plain,
    /// Nothing.
    Nothing,
}

impl ProgressArgs {
    /// Decides how progress is shown.
    ///
    /// # Errors
    /// A view was asked for, and there is no terminal for it.
    pub(super) fn form(self, quiet: bool) -> Result<ProgressForm, CommandError> {
        match self.progress {
            _ if quiet => Ok(ProgressForm::Nothing),
            AskedProgress::None => Ok(ProgressForm::Nothing),
            AskedProgress::Plain => Ok(ProgressForm::Plain),
            AskedProgress::Live if view::is_possible() => Ok(ProgressForm::View),
            AskedProgress::Live => {
                let line = "--progress live needs a terminal of at least 60 columns and 20 rows";
                Err(CommandError::Usage(line.to_owned()))
            }
            AskedProgress::Auto if !is_terminal() => Ok(ProgressForm::Plain),
            AskedProgress::Auto if view::is_possible() => Ok(ProgressForm::View),
            AskedProgress::Auto if can_repaint() => Ok(ProgressForm::Line),
            AskedProgress::Auto => Ok(ProgressForm::Plain),
        }
    }
}

fn asked(text: &str) -> Result<AskedProgress, String> {
    match text {
        "auto" => Ok(AskedProgress::Auto),
        "live" => Ok(AskedProgress::Live),
        "plain" => Ok(AskedProgress::Plain),
        "none" => Ok(AskedProgress::None),
        _ => Err("expected auto, live, plain or none".to_owned()),
    }
}

/// Returns true if standard error is a terminal that understands escape sequences.
fn is_terminal() -> bool {
    io::stderr().is_terminal() && var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Returns true if standard error is a terminal that supports the escape sequences of [`repaint`],
/// and the user does not forbid them (`TERM=dumb`, or `NO_COLOR`).
pub(super) fn can_repaint() -> bool {
    is_terminal() && !is_plain()
}

/// Replaces the terminal's current line.
pub(super) fn repaint(text: &str) {
    let mut terminal = io::stderr().lock();
    // Line wrapping (DECAWM) is off meanwhile, because a wrapped line can't be cleared. An error is
    // ignored: progress that can't be shown is no reason to stop.
    let text = visible(text);
    let _ = write!(terminal, "\r\x1b[?7l\x1b[K{text}\x1b[?7h").and_then(|()| terminal.flush());
}
