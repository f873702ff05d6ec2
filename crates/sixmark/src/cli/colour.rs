//! Colour in what is printed for people.

use std::borrow::Cow;
use std::env::var_os;
use std::io::{self, IsTerminal as _};

use sixmark_sheet::terminal::{FAILED, INDENT};

/// The escape sequences of red, and of the usual colour (ECMA-48, 8.3.117).
const RED: &str = "\x1b[31m";
const USUAL: &str = "\x1b[39m";

/// Returns true if the user wants no colour (NO_COLOR, see no-color.org).
pub(super) fn is_plain() -> bool {
    var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Returns true if standard output is a terminal that understands escape sequences, and the user
/// does not forbid colour.
fn is_coloured() -> bool {
    let understands = var_os("TERM").is_none_or(|term| term != "dumb");
    io::stdout().is_terminal() && understands && !is_plain()
}

/// Returns a text with the lines about what failed in red, if standard output shows colours.
pub(super) fn coloured(text: Cow<'_, str>) -> Cow<'_, str> {
    if is_coloured() { reddened(&text).into() } else { text }
}

/// Returns a text with each line that begins with [`FAILED`], and those that continue it, in red.
fn reddened(text: &str) -> String {
    let mut failed = false;
    let line = |line: &str| {
        failed = line.starts_with(FAILED) || (failed && line.starts_with(INDENT));
        let (words, end) = line.strip_suffix('\n').map_or((line, ""), |words| (words, "\n"));
        if failed { format!("{RED}{words}{USUAL}{end}") } else { line.to_owned() }
    };
    text.split_inclusive('\n').map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_failed_lines_and_their_continuations_red() {
        let text = "FAILED: all 20 requests over IPv6\n  (status 404).\n20 requests\n  IPv6  7\n";
        let expected = "\x1b[31mFAILED: all 20 requests over IPv6\x1b[39m\n\
                        \x1b[31m  (status 404).\x1b[39m\n20 requests\n  IPv6  7\n";
        assert_eq!(reddened(text), expected);
        assert_eq!(reddened("passed: x\n"), "passed: x\n");
    }
}
