//! The line that shows how far a command has come, on a terminal that can repaint it.

use std::env::var_os;
use std::io::{self, IsTerminal as _, Write as _};

use sixmark_units::visible::visible;

/// Returns true if standard error is a terminal that supports the escape sequences of [`repaint`],
/// and the user does not forbid them (`TERM=dumb`, or `NO_COLOR`, see no-color.org).
pub(super) fn can_repaint() -> bool {
    let is = |name, of: fn(&std::ffi::OsStr) -> bool| var_os(name).is_some_and(|value| of(&value));
    let plain = is("TERM", |term| term == "dumb") || is("NO_COLOR", |value| !value.is_empty());
    io::stderr().is_terminal() && !plain
}

/// Replaces the terminal's current line.
pub(super) fn repaint(text: &str) {
    let mut terminal = io::stderr().lock();
    // Line wrapping (DECAWM) is off meanwhile, because a wrapped line can't be cleared. An error is
    // ignored: progress that can't be shown is no reason to stop.
    let text = visible(text);
    let _ = write!(terminal, "\r\x1b[?7l\x1b[K{text}\x1b[?7h").and_then(|()| terminal.flush());
}
