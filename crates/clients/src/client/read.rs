//! Parsing of numbers in the output of programs.

/// Returns the rest of the first line that begins with `label`, or an error if there is none.
pub(crate) fn behind<'a>(text: &'a str, label: &str) -> Result<&'a str, String> {
    maybe(text, label).ok_or_else(|| format!("its output has no line '{label}'"))
}

/// Returns the rest of the first line that begins with `label`, if there is one.
pub(crate) fn maybe<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.trim_start().strip_prefix(label)).map(str::trim)
}

/// Parses the first word as a number; a comma after it is ignored.
pub(crate) fn parse_number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    let word = text.split_whitespace().next().unwrap_or_default().trim_end_matches(',');
    word.parse().map_err(|_| format!("its output has '{word}' where a number should be"))
}

/// Parses a number with a unit, such as `1.23ms`, and multiplies it by the unit's scale.
pub(crate) fn scaled(text: &str, units: &[(&str, f64)]) -> Result<f64, String> {
    let wrong = || format!("its output has '{text}' where a number with a unit should be");
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
    let number: f64 = text[..end].parse().map_err(|_| wrong())?;
    let unit = text[end..].trim();
    let scale = units.iter().find(|(name, _)| *name == unit).map(|(_, scale)| scale);
    scale.map(|scale| number * scale).ok_or_else(wrong)
}

/// Units of time, in microseconds.
pub(crate) const TIMES: [(&str, f64); 5] =
    [("us", 1.0), ("ms", 1e3), ("s", 1e6), ("m", 60e6), ("h", 3_600e6)];
