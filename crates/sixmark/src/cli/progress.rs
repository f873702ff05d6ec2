//! The line that shows how far a command has come, on a terminal that can repaint it.

use std::env::var_os;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

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

/// Returns the time since the start, and the time after which the command ends if that is known:
/// `   3 s`, `   3 of 500 s`.
pub(super) fn elapsed_text(seconds: u64, duration: Option<Duration>) -> String {
    match duration {
        Some(duration) => format!("{seconds:>4} of {} s", duration.as_secs_f64()),
        None => format!("{seconds:>4} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_was_asked_for_is_shown_in_seconds() {
        assert_eq!(elapsed_text(3, None), "   3 s");
        assert_eq!(elapsed_text(0, Some(Duration::from_secs(500))), "   0 of 500 s");
        assert_eq!(elapsed_text(12, Some(Duration::from_millis(90_500))), "  12 of 90.5 s");
    }
}
