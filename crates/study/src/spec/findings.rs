//! Findings that a study tests: claims, each with a comparison or a count that confirms or refutes
//! it.
//!
//! ```toml
//! [[findings]]
//! text = "More congestion, more delay"
//! measure = "delay.mean"
//! claim = "higher"
//! a = { level = ["C4B", "C5B", "C6B"] }
//! b = { level = ["C1B", "C2B", "C3B"] }
//! confirmed = "more congestion takes {percent} longer"
//! refuted = "more congestion takes {percent} less time"
//!
//! [[findings]]
//! text = "Large responses stall"
//! measure = "NORMAL"
//! claim = "none"
//! a = { file = "large" }
//! ```

mod sentence;

use super::FAMILY;
use crate::spec::column::LevelFilter;
use crate::spec::known_names::KnownNames;
use crate::study_result::{Claim, MARGIN_PERCENT};
use sixmark_document::fields::{FileField, FileFields};
use sixmark_record::metric::{Metric, MetricKind, Quantity};

pub use sentence::FindingSentences;

/// A finding to be tested.
#[derive(Clone, Debug, PartialEq)]
pub struct FindingSpec {
    /// The claim in words.
    pub text: String,
    /// Whether it is a claim of the published study.
    pub published: bool,
    /// The measure that the claim is about.
    pub measure: Metric,
    /// The claimed relation of A to B, or the claim about A alone.
    pub claim: Claim,
    /// The cells of side A: those with one of the listed levels in each listed factor.
    pub a: SideLevels,
    /// The cells of side B; empty for a claim about all or none of the exchanges.
    pub b: SideLevels,
    /// Whether the sides are compared by the ratio of IPv6's figure to IPv4's, not by the figure
    /// itself.
    pub of_families: bool,
    /// The levels to which it is restricted.
    pub only: LevelFilter,
    /// The sentences for the headline of the report.
    pub sentences: FindingSentences,
}

/// Factors, each with the levels that are selected.
pub type SideLevels = Vec<(String, Vec<String>)>;

/// Parses the findings of a file.
pub(super) fn findings(tables: Vec<FileFields<'_>>, names: &KnownNames<'_>) -> Vec<FindingSpec> {
    tables.into_iter().filter_map(|fields| read_finding(fields, names)).collect()
}

fn read_finding(mut fields: FileFields<'_>, names: &KnownNames<'_>) -> Option<FindingSpec> {
    let text = fields.need("text").and_then(|field| field.text());
    let published = is_published(&mut fields, names);
    let measure = fields.need("measure").and_then(|field| field.parsed(str::parse::<Metric>));
    let claim = read_claim(&mut fields);
    let of_families = fields.take("of_families").and_then(|field| field.flag()).unwrap_or(false);
    let counts = !matches!(claim, Some(Claim::Higher | Claim::Lower | Claim::Equal { .. }));
    let (a, b) = (fields.need("a"), if counts { fields.take("b") } else { fields.need("b") });
    if let Some(b) = b.as_ref().filter(|_| counts) {
        b.wrong("a claim about all or none is about a alone: omit b");
    }
    let [a, b] = [a, b].map(|field| field.map_or(Vec::new(), |field| read_side(&field, names)));
    let only = names.only(fields.table("where"));
    check_families(&fields, of_families, counts, [&a, &b]);
    if let (Some(measure), Some(claim)) = (measure, claim) {
        check_counted(&fields, measure, claim);
    }
    if a == b && !counts {
        fields.wrong("a and b are the same cells");
    }
    let sentence =
        |field: Option<FileField<'_>>| sentence::read_sentence(&field?, claim?, of_families);
    let [confirmed, refuted] = ["confirmed", "refuted"].map(|name| fields.take(name));
    let sentences = FindingSentences { confirmed: sentence(confirmed), refuted: sentence(refuted) };
    fields.end();
    let (text, measure, claim) = (text?, measure?, claim?);
    Some(FindingSpec { text, published, measure, claim, a, b, of_families, only, sentences })
}

/// Parses whether the claim is one of the published study.
fn is_published(fields: &mut FileFields<'_>, names: &KnownNames<'_>) -> bool {
    let Some(field) = fields.take("published") else { return false };
    let published = field.flag().unwrap_or(false);
    if published && names.published.is_none() {
        field.wrong("the study has no published figures (published = \"published.toml\")");
    }
    published
}

fn read_claim(fields: &mut FileFields<'_>) -> Option<Claim> {
    let claim = fields.need("claim").and_then(|field| field.one_of(&CLAIMS));
    let margin = margin(fields);
    claim.map(|claim| match claim {
        Claim::Equal { .. } => Claim::Equal { margin_percent: margin },
        other => other,
    })
}

fn check_families(
    fields: &FileFields<'_>,
    of_families: bool,
    counts: bool,
    [a, b]: [&SideLevels; 2],
) {
    if of_families && counts {
        fields.wrong("a claim about all or none counts: omit of_families");
    }
    if of_families && a.iter().chain(b).any(|(factor, _)| factor == FAMILY) {
        fields.wrong("families are compared within each side, so that a and b can't name them");
    }
}

/// Checks the measure of a claim that is decided by counts: `all` needs a count of exchanges,
/// `none` any count.
fn check_counted(fields: &FileFields<'_>, measure: Metric, claim: Claim) {
    let of_exchanges = match measure {
        Metric::Outcome(_) => true,
        Metric::Quantity(of) => {
            matches!(of, Quantity::Completed | Quantity::Failed | Quantity::Unaccepted)
        }
        _ => false,
    };
    if claim == Claim::AllOf && !of_exchanges {
        fields.wrong(&format!(
            "{measure} does not count exchanges; all needs an outcome (NORMAL), completed, failed or \
             unaccepted"
        ));
    }
    if claim == Claim::NoneOf && measure.kind() != MetricKind::Count {
        fields.wrong(&format!("{measure} is not a count, which none needs"));
    }
}

/// Parses the difference that does not matter, in percent; default: [`MARGIN_PERCENT`].
pub(super) fn margin(fields: &mut FileFields<'_>) -> f64 {
    let margin = fields.take("margin").and_then(|field| field.number()).unwrap_or(MARGIN_PERCENT);
    if !(margin > 0.0 && margin < 100.0) {
        fields.wrong("margin is a percentage above 0 and below 100");
    }
    margin
}

const CLAIMS: [(&str, Claim); 5] = [
    ("higher", Claim::Higher),
    ("lower", Claim::Lower),
    ("equal", Claim::Equal { margin_percent: MARGIN_PERCENT }),
    ("all", Claim::AllOf),
    ("none", Claim::NoneOf),
];

/// Parses the selection of a side: factors, each with one level or several.
fn read_side(field: &FileField<'_>, names: &KnownNames<'_>) -> SideLevels {
    let Some(mut fields) = field.fields() else { return Vec::new() };
    let one = |field: &FileField<'_>| {
        let items = if field.is_list() { field.items() } else { vec![field.clone()] };
        let levels = items.iter().filter_map(|item| names.level_of(&field.name, item)).collect();
        (field.name.clone(), levels)
    };
    fields.rest().iter().filter(|field| names.is_factor(field)).map(one).collect()
}
