//! Makes untrusted text safe to show: its control characters cannot move the cursor or change the
//! terminal, and no invisible character or change of text direction can make one name look like
//! another.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns whether `c` is hidden: a control character other than a line break or tab, a character
/// that sets the direction of text (UAX 9), an invisible character, or a tag character.
pub fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns text for a terminal, in which each hidden character is replaced by its code point, such
/// as `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    make_visible(text, |c, to| {
        let _ = write!(to, "\\u{{{:x}}}", u32::from(c));
    })
}

/// Returns JSON for a terminal, in which each hidden character within a string is replaced by its
/// JSON escape, so that the meaning of the JSON is unchanged.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    make_visible(json, |c, to| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(to, "\\u{unit:04x}");
        }
    })
}

fn make_visible(text: &str, show: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut all = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) { show(c, &mut all) } else { all.push(c) }
    }
    all.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_control_and_invisible_characters() {
        for (text, expected) in [
            ("one\n\ttwo Ünï ⚠ ≠ 👍🏽 العربية", None),
            ("\u{1b}[2J", Some("\\u{1b}[2J")),
            ("\u{9b}31m", Some("\\u{9b}31m")),
            ("a\rb\u{7}\u{0}\u{7f}", Some("a\\u{d}b\\u{7}\\u{0}\\u{7f}")),
            ("\u{202e}moc.elpmaxe", Some("\\u{202e}moc.elpmaxe")),
            ("a\u{2066}b\u{200b}c\u{feff}\u{61c}", Some("a\\u{2066}b\\u{200b}c\\u{feff}\\u{61c}")),
            ("\u{e0041}", Some("\\u{e0041}")),
        ] {
            assert_eq!(visible(text), expected.unwrap_or(text));
            assert_eq!(matches!(visible(text), Cow::Borrowed(_)), expected.is_none());
            let json = serde_json::to_string(text).unwrap();
            let shown = visible_json(&json);
            assert!(!shown.contains(is_hidden), "{shown}");
            assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        }
    }
}
