//! Claims that are another claim in other units: throughput is bytes over delay.

use super::tests_of_kinds::{ClaimTest, OrderTest, Relation, SidesTest, TrendShape, TrendTest};
use super::{ClaimSpec, KINDS};
use crate::study_result::ClaimKind;
use sixmark_document::fields::FileFields;

/// The claim that another one is in other units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedFrom {
    /// The id of the claim that is tested.
    pub id: String,
    /// The line of the file that says so, from 1.
    pub line: usize,
}

/// Parses `derived_from`.
pub(super) fn read_derived(fields: &mut FileFields<'_>) -> Option<DerivedFrom> {
    let field = fields.take("derived_from")?;
    Some(DerivedFrom { id: field.text()?, line: field.line() })
}

/// Returns the lines with claims that can't follow from the claims that they name, and the reasons.
/// Called for all claims of a form, because those for a lab may follow from those of the file.
pub(in crate::spec) fn find_wrong_derivations(all: &[ClaimSpec]) -> Vec<(usize, String)> {
    let wrong = |claim: &ClaimSpec| {
        let from = claim.derived_from.as_ref()?;
        Some((from.line, why_wrong(claim, &from.id, all)?))
    };
    all.iter().filter_map(wrong).collect()
}

fn why_wrong(claim: &ClaimSpec, id: &str, all: &[ClaimSpec]) -> Option<String> {
    if claim.id == id {
        return Some("a claim can't follow from itself".to_owned());
    }
    let Some(other) = all.iter().find(|other| other.id == id) else {
        return Some(format!("'{id}' is not a claim of this study"));
    };
    if let Some(further) = &other.derived_from {
        let further = &further.id;
        return Some(format!(
            "'{id}' itself follows from '{further}': name a claim that is tested"
        ));
    }
    if claim.kind != other.kind && mirrored_kind(claim.kind) != Some(other.kind) {
        let [kind, of] = [claim.kind, other.kind].map(name_of_kind);
        return Some(format!("a claim of the kind {kind} can't follow from one of the kind {of}"));
    }
    if claim.precondition.is_some() {
        return Some(format!("the precondition belongs to '{id}', which is tested"));
    }
    if claim.measure == other.measure {
        return Some(format!("'{id}' is about {} too", other.measure));
    }
    let is_same = if claim.kind == other.kind {
        claim.test == other.test
    } else {
        mirrored(&other.test).as_ref() == Some(&claim.test)
    };
    let is_same = is_same && claim.only == other.only && claim.group == other.group;
    (!is_same).then(|| format!("'{id}' is about other cells, levels or bounds"))
}

fn name_of_kind(kind: ClaimKind) -> &'static str {
    KINDS.iter().find(|(_, known)| *known == kind).map_or("", |(name, _)| name)
}

/// Returns the kind of the same claim about a figure that is low where the other is high.
fn mirrored_kind(kind: ClaimKind) -> Option<ClaimKind> {
    Some(match kind {
        ClaimKind::Higher => ClaimKind::Lower,
        ClaimKind::Lower => ClaimKind::Higher,
        ClaimKind::Rises => ClaimKind::Falls,
        ClaimKind::Falls => ClaimKind::Rises,
        ClaimKind::Highest => ClaimKind::Lowest,
        ClaimKind::Lowest => ClaimKind::Highest,
        _ => return None,
    })
}

/// Returns the same test about such a figure; `None` if it has none: a difference in one unit says
/// nothing about that in another.
fn mirrored(test: &ClaimTest) -> Option<ClaimTest> {
    Some(match test {
        ClaimTest::Sides(of) => {
            let relation = match of.relation {
                Relation::Higher(margin) => Relation::Lower(margin),
                Relation::Lower(margin) => Relation::Higher(margin),
                _ => return None,
            };
            if of.contrast.as_ref().is_some_and(|contrast| contrast.difference) {
                return None;
            }
            ClaimTest::Sides(SidesTest { relation, ..of.clone() })
        }
        ClaimTest::Trend(of) => {
            let shape = match of.shape {
                TrendShape::Rises => TrendShape::Falls,
                TrendShape::Falls => TrendShape::Rises,
                TrendShape::UShaped(_) => return None,
            };
            ClaimTest::Trend(TrendTest { shape, ..of.clone() })
        }
        ClaimTest::Order(of) if of.b.is_none() => {
            ClaimTest::Order(OrderTest { highest: !of.highest, ..of.clone() })
        }
        _ => return None,
    })
}
