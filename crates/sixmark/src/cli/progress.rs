//! The line that shows how far a command has come, on a terminal that can repaint it.

use std::env::var_os;
use std::io::{self, IsTerminal as _, Write as _};

use sixmark_units::visible::visible;

/// True where standard error is a terminal that knows the sequences which [`repaint`] needs, and whose
/// user has nothing against them (`NO_COLOR`, no-color.org).
pub(super) fn can_repaint() -> bool {
    let is = |name, of: fn(&std::ffi::OsStr) -> bool| var_os(name).is_some_and(|value| of(&value));
    let plain = is("TERM", |term| term == "dumb") || is("NO_COLOR", |value| !value.is_empty());
    io::stderr().is_terminal() && !plain
}

/// Replaces the terminal's current line.
pub(super) fn repaint(text: &str) {
    let mut terminal = io::stderr().lock();
    // No wrapping while it is written: a line that wraps can't be wiped (DECAWM). Progress that can't
    // be shown is no reason to stop.
    let text = visible(text);
    let _ = write!(terminal, "\r\x1b[?7l\x1b[K{text}\x1b[?7h").and_then(|()| terminal.flush());
}
