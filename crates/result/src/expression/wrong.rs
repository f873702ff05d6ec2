//! Errors in the text of a condition, with suggestions.

use std::fmt;

/// Why a text is not a valid condition, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateMistake {
    /// The position in characters, from 1.
    pub column: usize,
    /// What is wrong there, and what was expected.
    pub what: String,
}

impl GateMistake {
    /// Creates a mistake at a byte offset of `text`.
    pub fn at(text: &str, byte: usize, what: impl Into<String>) -> GateMistake {
        let before = text.get(..byte).unwrap_or(text);
        GateMistake { column: before.chars().count() + 1, what: what.into() }
    }
}

impl fmt::Display for GateMistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.what)
    }
}

impl std::error::Error for GateMistake {}

/// The length above which words are not compared with the known names.
const LONGEST: usize = 24;

/// Returns `: did you mean 'p99'?`, or a list of all names.
pub(crate) fn instead(word: &str, known: &[&str]) -> String {
    let near = nearest(word, known);
    if near.is_empty() {
        return format!(": {}", known.join(", "));
    }
    let near: Vec<String> = near.iter().map(|name| format!("'{name}'")).collect();
    let (last, others) = match near.split_last() {
        Some((last, [])) => (last, String::new()),
        Some((last, others)) => (last, format!("{} or ", others.join(", "))),
        None => return String::new(),
    };
    format!(": did you mean {others}{last}?")
}

/// Returns the known names that are nearest to a word, if any is near.
fn nearest<'a>(word: &str, known: &[&'a str]) -> Vec<&'a str> {
    if word.chars().count() > LONGEST {
        return Vec::new();
    }
    let lower = word.to_lowercase();
    let distances: Vec<usize> =
        known.iter().map(|name| distance(&lower, &name.to_lowercase())).collect();
    let least = distances.iter().copied().min().unwrap_or(usize::MAX);
    let letters = word.chars().count();
    // A word in which every letter differs is another word.
    if least > (letters / 3).max(1) || (least > 0 && least >= letters) {
        return Vec::new();
    }
    let near = known.iter().zip(distances).filter(|&(_, distance)| distance == least);
    near.map(|(name, _)| *name).collect()
}

/// Returns the number of letters that have to be inserted, deleted, replaced, or swapped with the
/// next one.
fn distance(one: &str, two: &str) -> usize {
    let (one, two): (Vec<char>, Vec<char>) = (one.chars().collect(), two.chars().collect());
    let mut rows = vec![vec![0; two.len() + 1]; one.len() + 1];
    for at in 0..=one.len() {
        for to in 0..=two.len() {
            rows[at][to] = step(&rows, &one, &two, at, to);
        }
    }
    rows[one.len()][two.len()]
}

/// Returns the distance of the first `at` and the first `to` letters, from the distances of shorter
/// prefixes.
fn step(rows: &[Vec<usize>], one: &[char], two: &[char], at: usize, to: usize) -> usize {
    if at == 0 || to == 0 {
        return at + to;
    }
    let changed = usize::from(one[at - 1] != two[to - 1]);
    let least =
        (rows[at - 1][to] + 1).min(rows[at][to - 1] + 1).min(rows[at - 1][to - 1] + changed);
    let swapped = at > 1 && to > 1 && one[at - 1] == two[to - 2] && one[at - 2] == two[to - 1];
    if swapped { least.min(rows[at - 2][to - 2] + 1) } else { least }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distance_counts_letters_and_transpositions() {
        for (one, two, expected) in
            [("", "", 0), ("", "p99", 3), ("p99", "p99", 0), ("p98", "p99", 1), ("wiat", "wait", 1)]
        {
            assert_eq!(distance(one, two), expected, "{one} {two}");
            assert_eq!(distance(two, one), expected, "{two} {one}");
        }
    }

    #[test]
    fn suggests_similar_names_or_lists_all_names() {
        assert_eq!(instead("ipv5", &["ipv6", "ipv4"]), ": did you mean 'ipv6' or 'ipv4'?");
        assert_eq!(instead("RESPONSE", &["response"]), ": did you mean 'response'?");
        assert_eq!(instead("x", &["s", "m"]), ": s, m");
        assert_eq!(instead("zebra", &["ipv6", "total"]), ": ipv6, total");
        assert_eq!(instead(&"x".repeat(4_000), &["wait"]), ": wait");
    }
}
