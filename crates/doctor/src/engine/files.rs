//! Small files of the kernel.

use std::fs;

use crate::facts::Reading;

/// Reads a file as text without the spaces at its end.
pub(super) fn text(path: &str) -> Reading<String> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text.trim_end().to_owned()),
        Err(error) => Err(format!("{path} can't be read: {error}")),
    }
}

/// Reads a file that contains a number.
pub(super) fn number(path: &str) -> Reading<u64> {
    let text = text(path)?;
    text.trim().parse().map_err(|_| format!("{path} is '{text}', not a number"))
}

/// Reads a file of words.
pub(super) fn words(path: &str) -> Reading<Vec<String>> {
    Ok(text(path)?.split_whitespace().map(str::to_owned).collect())
}
