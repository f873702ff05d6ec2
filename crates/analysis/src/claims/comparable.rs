//! Whether the speeds that a claim is about can be compared.

use crate::observation::Observation;
use crate::unlike;
use sixmark_design::spec::{ClaimSpec, ClaimTest, FAMILY, Relation, SideLevels, SidesTest};
use sixmark_design::study_result::MARGIN_PERCENT;
use sixmark_units::family::spoken;

/// Returns why the speeds that a claim compares can't be compared: the families gave different
/// responses at some levels, a family gave only errors, or two sides gave different responses.
/// Returns `None` if they can be compared, or if the measure is not a speed.
pub(super) fn find_unlike(spec: &ClaimSpec, seen: &[Observation<'_>]) -> Option<String> {
    if !spec.measure.is_of_speed() {
        return None;
    }
    let of = |side: &SideLevels| -> Vec<&Observation<'_>> {
        seen.iter().filter(|one| is_of(one, &spec.only) && is_of(one, side)).collect()
    };
    let sides: Vec<&SideLevels> = match &spec.test {
        ClaimTest::Sides(SidesTest { a, b, .. }) => vec![a, b],
        ClaimTest::Order(test) => std::iter::once(&test.a).chain(&test.b).collect(),
        ClaimTest::Trend(test) => vec![&test.a],
        ClaimTest::Independent(test) => vec![&test.a],
        ClaimTest::Share(_) | ClaimTest::Counted { .. } | ClaimTest::Exact(_) => return None,
    };
    let groups: Vec<Vec<&Observation<'_>>> = sides.iter().map(|side| of(side)).collect();
    let all: Vec<&Observation<'_>> = groups.iter().flatten().copied().collect();
    let found = unlike::unlike_families(&all, margin_of(&spec.test) / 100.0)
        .or_else(|| unlike::only_errors(&all));
    match (found, groups.as_slice(), sides.as_slice()) {
        (None, [a, b], [of_a, of_b]) => {
            unlike::unlike_sides([a, b], [of_a, of_b].map(|side| name_of_side(side)))
        }
        (found, ..) => found,
    }
}

fn margin_of(test: &ClaimTest) -> f64 {
    match test {
        ClaimTest::Sides(SidesTest { relation: Relation::Equal(margin), .. }) => *margin,
        ClaimTest::Independent(of) => of.margin,
        _ => MARGIN_PERCENT,
    }
}

/// Returns true if the observation has one of the selected levels in each factor of `side`.
pub(super) fn is_of(one: &Observation<'_>, side: &SideLevels) -> bool {
    side.iter().all(|(factor, levels)| {
        one.at.iter().any(|at| at.factor == *factor && levels.contains(&at.level))
    })
}

/// Returns the name of a side: the levels that it selects.
fn name_of_side(side: &SideLevels) -> String {
    let of_factor = |(factor, levels): &(String, Vec<String>)| {
        let levels = levels.iter().map(|level| spoken(level)).collect::<Vec<_>>().join(" or ");
        if factor == FAMILY { levels } else { format!("{factor} {levels}") }
    };
    side.iter().map(of_factor).collect::<Vec<_>>().join(", ")
}
