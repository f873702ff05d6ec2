//! Sentences of a finding, with names in braces that its figures replace.

use crate::study_result::Claim;
use sixmark_document::braces::{fill, names_in_braces};
use sixmark_document::fields::FileField;

/// The sentences of a finding for the headline, by verdict, without full stops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingSentences {
    /// The sentence for a confirmed claim; if `None`, the claim itself is shown.
    pub confirmed: Option<String>,
    /// The sentence for a refuted claim; if `None`, the claim is shown as refuted.
    pub refuted: Option<String>,
}

/// The names of the figures of a claim that compares two sides.
const OF_TWO_SIDES: [&str; 5] = ["a", "b", "difference", "ratio", "percent"];
/// The names of the figures of a claim that compares ratios of the families, which have no unit.
const OF_RATIOS: [&str; 4] = ["a", "b", "ratio", "percent"];
/// The names of the figures of a claim about all or none of the exchanges.
const OF_COUNTS: [&str; 2] = ["count", "sent"];

/// Returns the names of the figures of a claim.
fn figure_names(claim: Claim, of_families: bool) -> &'static [&'static str] {
    match (claim, of_families) {
        (Claim::AllOf | Claim::NoneOf, _) => &OF_COUNTS,
        (_, true) => &OF_RATIOS,
        (_, false) => &OF_TWO_SIDES,
    }
}

/// Reads a sentence, and records a mistake for every brace that no figure replaces.
pub(super) fn read_sentence(
    field: &FileField<'_>,
    claim: Claim,
    of_families: bool,
) -> Option<String> {
    let text = field.text()?;
    let known = figure_names(claim, of_families);
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
