//! Findings that a study tests: what somebody claimed, as a comparison that can bear it out or not.
//!
//! ```toml
//! [[findings]]
//! text = "More congestion, more delay"
//! measure = "delay.mean"
//! claim = "higher"
//! a = { level = ["C4B", "C5B", "C6B"] }
//! b = { level = ["C1B", "C2B", "C3B"] }
//! ```

use super::FAMILY;
use crate::fields::{FileField, FileFields};
use crate::metric::Metric;
use crate::study::result::{Claim, MARGIN_PERCENT};
use crate::study::spec::column::Where;
use crate::study::spec::known_names::KnownNames;

/// A finding to be tested.
#[derive(Clone, Debug, PartialEq)]
pub struct FindingSpec {
    /// What was claimed.
    pub text: String,
    /// In what.
    pub measure: Metric,
    /// What is said of A against B.
    pub claim: Claim,
    /// The cells on the one side: of each factor named, any of the levels.
    pub a: Vec<(String, Vec<String>)>,
    /// Those on the other.
    pub b: Vec<(String, Vec<String>)>,
    /// Not the measure itself is compared, but IPv6's over IPv4's.
    pub of_families: bool,
    /// Only cells of these levels.
    pub only: Where,
}

/// The findings of a file.
pub(super) fn findings(tables: Vec<FileFields<'_>>, names: &KnownNames<'_>) -> Vec<FindingSpec> {
    tables.into_iter().filter_map(|fields| read_finding(fields, names)).collect()
}

fn read_finding(mut fields: FileFields<'_>, names: &KnownNames<'_>) -> Option<FindingSpec> {
    let text = fields.need("text").and_then(|field| field.text());
    let measure = fields.need("measure").and_then(|field| field.parsed(str::parse::<Metric>));
    let claim = fields.need("claim").and_then(|field| field.one_of(&CLAIMS));
    let margin = margin(&mut fields);
    let claim = claim.map(|claim| match claim {
        Claim::Equal { .. } => Claim::Equal { margin_percent: margin },
        other => other,
    });
    let of_families = fields.take("of_families").and_then(|field| field.flag()).unwrap_or(false);
    let (a, b) = (fields.need("a"), fields.need("b"));
    let sides = [a, b].map(|field| field.map_or(Vec::new(), |field| read_side(&field, names)));
    let only = names.only(fields.table("where"));
    let [a, b] = sides;
    if of_families && a.iter().chain(&b).any(|(factor, _)| factor == FAMILY) {
        fields.wrong("families are compared within each side, so that a and b can't name them");
    }
    if a == b {
        fields.wrong("a and b are the same cells");
    }
    fields.end();
    Some(FindingSpec { text: text?, measure: measure?, claim: claim?, a, b, of_families, only })
}

/// The difference that would not matter, percent.
pub(super) fn margin(fields: &mut FileFields<'_>) -> f64 {
    let margin = fields.take("margin").and_then(|field| field.number()).unwrap_or(MARGIN_PERCENT);
    if !(margin > 0.0 && margin < 100.0) {
        fields.wrong("margin is a percentage above 0 and below 100");
    }
    margin
}

const CLAIMS: [(&str, Claim); 3] = [
    ("higher", Claim::Higher),
    ("lower", Claim::Lower),
    ("equal", Claim::Equal { margin_percent: MARGIN_PERCENT }),
];

/// Factors with one level or several.
fn read_side(field: &FileField<'_>, names: &KnownNames<'_>) -> Vec<(String, Vec<String>)> {
    let Some(mut fields) = field.fields() else { return Vec::new() };
    let one = |field: &FileField<'_>| {
        let items = if field.is_list() { field.items() } else { vec![field.clone()] };
        let levels = items.iter().filter_map(|item| names.level_of(&field.name, item)).collect();
        (field.name.clone(), levels)
    };
    fields.rest().iter().filter(|field| names.is_factor(field)).map(one).collect()
}
