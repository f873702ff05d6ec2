//! Sentences of a claim, with names in braces that its figures replace.

use super::tests_of_kinds::{ClaimTest, SidesTest};
use sixmark_document::braces::{fill, names_in_braces};
use sixmark_document::fields::FileField;

/// The sentences of a claim for the headline, by verdict, without full stops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimSentences {
    /// The sentence for a claim that holds; if `None`, the claim itself is shown.
    pub confirmed: Option<String>,
    /// The sentence for a claim that does not hold; if `None`, the claim is shown with this answer.
    pub refuted: Option<String>,
}

/// The names of the figures of a claim that compares two sides.
const OF_TWO_SIDES: [&str; 5] = ["a", "b", "difference", "ratio", "percent"];
/// The names of the figures of a claim that compares effects of a factor, which have no unit.
const OF_RATIOS: [&str; 4] = ["a", "b", "ratio", "percent"];
/// The names of the figures of a claim about all or none of the exchanges.
const OF_COUNTS: [&str; 2] = ["count", "sent"];

/// Returns the names of the figures of a claim.
pub(super) fn figure_names(test: &ClaimTest) -> &'static [&'static str] {
    match test {
        ClaimTest::Counted { .. } => &OF_COUNTS,
        ClaimTest::Sides(SidesTest { contrast: None, .. }) => &OF_TWO_SIDES,
        ClaimTest::Sides(SidesTest { contrast: Some(of), .. }) if !of.difference => &OF_RATIOS,
        _ => &[],
    }
}

/// Reads a sentence, and records a mistake for every brace that no figure replaces.
pub(super) fn read_sentence(field: &FileField<'_>, known: &[&str]) -> Option<String> {
    let text = field.text()?;
    let allowed = || {
        let names: Vec<_> = known.iter().map(|name| format!("{{{name}}}")).collect();
        names.join(", ")
    };
    if let Some(other) = names_in_braces(&text).into_iter().find(|name| !known.contains(name)) {
        field.wrong(&format!("{{{other}}} is not a figure of this claim; figures: {}", allowed()));
        return None;
    }
    if fill(&text, |_| Some(String::new())).contains(['{', '}']) {
        field.wrong(&format!("braces are for figures alone: {}", allowed()));
        return None;
    }
    let text = text.trim().trim_end_matches('.').to_owned();
    if text.is_empty() {
        field.wrong("a sentence is not empty");
        return None;
    }
    Some(text)
}
