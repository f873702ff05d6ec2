//! Texts in brackets and in quotes within a line of a log.

use std::borrow::Cow;

use crate::import::when::{RecordedTime, parse_log_time};

/// Returns the first time in brackets, and the text after it.
pub(super) fn find_time(line: &[u8]) -> Option<(RecordedTime, &[u8])> {
    let brackets = line.iter().enumerate().filter(|&(_, &byte)| byte == b'[');
    brackets.map(|(at, _)| &line[at + 1..]).find_map(|rest| {
        let time = parse_log_time(rest.get(..26)?)?;
        Some((time, rest[26..].strip_prefix(b"]")?))
    })
}

/// Returns the next quoted text. Servers escape quotes and non-printable characters in it.
pub(super) fn quoted(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    let begin = text.iter().position(|&byte| byte == b'"')? + 1;
    unquoted(&text[begin..]).map(|(text, _)| text)
}

/// Returns the text up to the closing quote, and what is behind it.
fn unquoted(text: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    let mut at = 0;
    while *text.get(at)? != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    let inside = &text[..at];
    let plain = if inside.contains(&b'\\') { unescape(inside).into() } else { inside.into() };
    Some((plain, &text[at + 1..]))
}

/// Splits a line at its spaces and tabs. A column in quotes may contain them.
pub(super) fn split_quoted(line: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let (mut columns, mut rest) = (Vec::new(), line.trim_ascii_start());
    while !rest.is_empty() {
        let in_quotes = rest.strip_prefix(b"\"").and_then(unquoted);
        let (column, after) = in_quotes.unwrap_or_else(|| {
            let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
            (rest[..end].into(), &rest[end..])
        });
        columns.push(column);
        rest = after.trim_ascii_start();
    }
    columns
}

fn unescape(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let (byte, after) = match (first, after) {
            (b'\\', [b'x', high, low, after @ ..]) if hex(*high, *low).is_some() => {
                (hex(*high, *low).unwrap_or_default(), after)
            }
            (b'\\', [b'n', after @ ..]) => (b'\n', after),
            (b'\\', [b't', after @ ..]) => (b'\t', after),
            (b'\\', [b'r', after @ ..]) => (b'\r', after),
            (b'\\', [other, after @ ..]) => (*other, after),
            (other, after) => (*other, after),
        };
        plain.push(byte);
        rest = after;
    }
    plain
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    Some(digit(high)? << 4 | digit(low)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_at_spaces_outside_of_quotes() {
        let columns = |line: &str| {
            let columns = split_quoted(line.as_bytes());
            columns.iter().map(|c| String::from_utf8_lossy(c).into_owned()).collect::<Vec<_>>()
        };
        for (line, found) in [
            ("a \"b c\" d", &["a", "b c", "d"][..]),
            ("  a \t \"\"\t-", &["a", "", "-"]),
            ("\"a\\\"b\\x2c\" c", &["a\"b,", "c"]),
            ("a\"b c\"", &["a\"b", "c\""]),
            ("\"open end", &["\"open", "end"]),
            ("\"a\"b", &["a", "b"]),
            ("", &[]),
        ] {
            assert_eq!(columns(line), found, "{line}");
        }
    }
}
