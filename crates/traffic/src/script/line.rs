//! Splits a script into lines and words.

use super::ScriptMistake;

/// Returns the words of each line that has any, with the line number. Comments are removed, a
/// backslash at the end of a line joins it with the next, and brackets are separate words.
pub(super) fn split_lines(
    text: &str,
    most: usize,
) -> Result<Vec<(usize, Vec<String>)>, ScriptMistake> {
    let mut found: Vec<(usize, Vec<String>)> = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        if number > most {
            return Err(ScriptMistake {
                line: number,
                what: format!("a script has at most {most} lines"),
            });
        }
        let line = line.split('#').next().unwrap_or_default().trim_end();
        let (line, more) = line.strip_suffix('\\').map_or((line, false), |line| (line, true));
        let (first, mut whole) = open.take().unwrap_or((number, String::new()));
        whole.push_str(line);
        whole.push(' ');
        if more {
            open = Some((first, whole));
        } else {
            keep(&mut found, first, &whole);
        }
    }
    if let Some((first, whole)) = open {
        keep(&mut found, first, &whole);
    }
    Ok(found)
}

fn keep(found: &mut Vec<(usize, Vec<String>)>, line: usize, text: &str) {
    let text = text.replace('[', " [ ").replace(']', " ] ");
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    if !words.is_empty() {
        found.push((line, words));
    }
}

/// An iterator over the words of a line.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    rest: &'a [String],
}

impl<'a> Words<'a> {
    pub(super) fn new(rest: &'a [String]) -> Words<'a> {
        Words { rest }
    }

    /// Returns the next word, or `None` at the end.
    pub(super) fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    /// Returns the next word. `what` describes it in the error at the end of the line.
    pub(super) fn word(&mut self, what: &str) -> Result<&'a str, String> {
        self.next().ok_or_else(|| format!("the line ends where {what} should be"))
    }

    /// Skips the next word, which must be `wanted`.
    pub(super) fn exactly(&mut self, wanted: &str) -> Result<(), String> {
        let found = self.word(&format!("'{wanted}'"))?;
        if found.eq_ignore_ascii_case(wanted) {
            Ok(())
        } else {
            Err(format!("'{}' should be '{wanted}'", shown_word(found)))
        }
    }

    /// Parses a whole number from 0 to `most`, hexadecimal with the prefix `0x`.
    pub(super) fn whole(&mut self, what: &str, most: u64) -> Result<u64, String> {
        let text = self.word(what)?;
        let value = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        };
        let found = value.filter(|&value| value <= most);
        found.ok_or_else(|| {
            format!("'{}' is not {what}, a whole number from 0 to {most}", shown_word(text))
        })
    }

    /// Parses a number from 0 to 10^9.
    pub(super) fn number(&mut self, what: &str) -> Result<f64, String> {
        let text = self.word(what)?;
        let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let value = text.parse::<f64>().ok().filter(|v| plain && *v <= 1e9);
        value
            .ok_or_else(|| format!("'{}' is not {what}, a number from 0 to 10^9", shown_word(text)))
    }

    /// Parses a number of seconds. Returns nanoseconds.
    pub(super) fn seconds(&mut self, what: &str) -> Result<u64, String> {
        self.number(what).map(|seconds| (seconds * 1e9).round() as u64)
    }
}

/// Returns a word for an error message: at most 40 characters, control characters replaced.
pub(super) fn shown_word(word: &str) -> String {
    word.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect()
}
