//! The text of files from other systems.

use sixmark_units::plain_text::to_utf8;

/// The most characters of a line that is quoted.
const LONGEST_LINE: usize = 300;

/// Returns the text of a file. What is in neither UTF-8 nor UTF-16, such as quotes in a code page, is
/// replaced.
pub(super) fn decode(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&to_utf8(bytes)).into_owned()
}

/// Returns a text as one short line without control characters.
pub(super) fn one_line(text: &str) -> String {
    let shown = text.trim().chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
    let mut line: String = shown.clone().take(LONGEST_LINE).collect();
    if shown.count() > LONGEST_LINE {
        line.push('…');
    }
    line
}
