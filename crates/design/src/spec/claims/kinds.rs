//! Parsing of the keys that each kind of claim has.

use super::names::ClaimNames;
use super::tests_of_kinds::{
    ClaimBounds, ClaimTest, Contrast, ExactTest, IndependentTest, OrderTest, OrderedLevels,
    Relation, ShareTest, SidesTest, TrendShape, TrendTest,
};
use super::{SideLevels, is_pattern, items_or_one, margin};
use crate::study_result::ClaimKind;
use sixmark_document::fields::{FileField, FileFields};
use sixmark_tally::metric::{Metric, MetricKind, Quantity};

/// The maximum number of levels along which a claim is tested, because each is compared with each
/// other.
const MOST_LEVELS: usize = 200;

/// Parses the keys of a kind.
pub(super) fn read_test(
    fields: &mut FileFields<'_>,
    names: &ClaimNames<'_>,
    kind: ClaimKind,
    measure: Metric,
) -> Option<ClaimTest> {
    Some(match kind {
        ClaimKind::Higher
        | ClaimKind::Lower
        | ClaimKind::Equal
        | ClaimKind::Ratio
        | ClaimKind::Difference => ClaimTest::Sides(read_sides(fields, names, kind, measure)?),
        ClaimKind::Share => ClaimTest::Share(read_share(fields, names, measure)?),
        ClaimKind::Rises | ClaimKind::Falls | ClaimKind::UShaped => {
            ClaimTest::Trend(read_trend(fields, names, kind)?)
        }
        ClaimKind::Highest
        | ClaimKind::Lowest
        | ClaimKind::LargestDifference
        | ClaimKind::SmallestDifference => ClaimTest::Order(read_order(fields, names, kind)?),
        ClaimKind::Independent => {
            let (a, over) = (need_side(fields, names, "a"), read_over(fields, names, 2));
            ClaimTest::Independent(IndependentTest { a: a?, over: over?, margin: margin(fields) })
        }
        ClaimKind::AllOf | ClaimKind::NoneOf => {
            let all = kind == ClaimKind::AllOf;
            check_counted(fields, measure, all);
            ClaimTest::Counted { a: need_side(fields, names, "a")?, all }
        }
        ClaimKind::Exact => ClaimTest::Exact(read_exact(fields, names, measure)?),
    })
}

fn need_side(
    fields: &mut FileFields<'_>,
    names: &ClaimNames<'_>,
    side: &'static str,
) -> Option<SideLevels> {
    fields.need(side).map(|field| names.read_side(&field))
}

fn read_sides(
    fields: &mut FileFields<'_>,
    names: &ClaimNames<'_>,
    kind: ClaimKind,
    measure: Metric,
) -> Option<SidesTest> {
    let (a, b) = (need_side(fields, names, "a"), need_side(fields, names, "b"));
    let contrast = read_contrast(fields, names, kind);
    let each = fields.take("each").and_then(|field| read_levels(fields, names, &field, 2));
    let relation = match kind {
        ClaimKind::Higher => Relation::Higher(margin(fields)),
        ClaimKind::Lower => Relation::Lower(margin(fields)),
        ClaimKind::Ratio => Relation::Within(read_bounds(fields, f64::INFINITY)?),
        ClaimKind::Difference => Relation::Apart(read_difference(fields, measure)?),
        _ => Relation::Equal(margin(fields)),
    };
    let (a, b) = (a?, b?);
    if a == b {
        fields.wrong("a and b are the same cells");
    }
    let contrasted = contrast.as_ref().map(|contrast| &contrast.levels.factor);
    if let Some((factor, _)) = a.iter().chain(&b).find(|(factor, _)| Some(factor) == contrasted) {
        fields.wrong(&format!("{factor} is compared within each side, so a and b can't name it"));
    }
    let named = |factor: &str| a.iter().chain(&b).any(|(name, _)| name == factor);
    if let Some(each) = each.as_ref().filter(|each| {
        named(&each.factor) || contrasted.is_some_and(|factor| *factor == each.factor)
    }) {
        fields.wrong(&format!("{} is in each, so a, b and contrast can't name it", each.factor));
    }
    Some(SidesTest { a, b, relation, contrast, each })
}

/// Parses the bounds of a difference, in `unit`, by default the base unit of the measure.
fn read_difference(fields: &mut FileFields<'_>, measure: Metric) -> Option<ClaimBounds> {
    let unit = match fields.take("unit") {
        Some(unit) => unit.parsed(|name| measure.unit(name))?,
        None => measure.base_unit(),
    };
    if measure.kind() == MetricKind::Count {
        fields
            .wrong("difference needs a time or a rate; compare counts with higher, lower or equal");
    }
    let ClaimBounds { at_least, at_most } = read_bounds(fields, f64::INFINITY)?;
    let [at_least, at_most] = [at_least, at_most].map(|of| of.map(|bound| bound * unit.scale));
    Some(ClaimBounds { at_least, at_most })
}

/// Parses `contrast`, and `difference`, which belongs to it.
fn read_contrast(
    fields: &mut FileFields<'_>,
    names: &ClaimNames<'_>,
    kind: ClaimKind,
) -> Option<Contrast> {
    let levels = names.study.two_levels(fields.take("contrast"));
    let field = fields.take("difference");
    let difference = field.as_ref().and_then(|field| field.flag()).unwrap_or(false);
    let directed = matches!(kind, ClaimKind::Higher | ClaimKind::Lower);
    if let Some(field) = field.filter(|_| difference && !(directed && levels.is_some())) {
        field.wrong("difference belongs to a contrast of the kind higher or lower");
    }
    Some(Contrast { levels: levels?, difference })
}

/// Parses `at_least` and `at_most`, of which one must be there.
fn read_bounds(fields: &mut FileFields<'_>, most: f64) -> Option<ClaimBounds> {
    let [at_least, at_most] = ["at_least", "at_most"].map(|name| {
        let field = fields.take(name)?;
        let bound = field.number()?;
        if !(bound > 0.0 && bound < most) {
            field.wrong(&if most.is_finite() {
                format!("a bound is above 0 and below {most}")
            } else {
                "a bound is above 0".to_owned()
            });
        }
        Some(bound)
    });
    match (at_least, at_most) {
        (None, None) => {
            fields.wrong("give at_least, at_most, or both");
            None
        }
        (Some(least), Some(most)) if least >= most => {
            fields.wrong("at_least must be below at_most");
            None
        }
        _ => Some(ClaimBounds { at_least, at_most }),
    }
}

fn read_share(
    fields: &mut FileFields<'_>,
    names: &ClaimNames<'_>,
    measure: Metric,
) -> Option<ShareTest> {
    let of = fields.need("of").and_then(|field| field.parsed(str::parse::<Metric>));
    let a = need_side(fields, names, "a");
    let bounds = read_bounds(fields, 1.0);
    let of = of?;
    for count in [measure, of].into_iter().filter(|count| count.kind() != MetricKind::Count) {
        fields.wrong(&format!("{count} is not a count, which a share needs"));
    }
    Some(ShareTest { a: a?, of, bounds: bounds? })
}

/// Parses `over` and `levels`: a factor and at least `fewest` of its levels.
fn read_over(
    fields: &mut FileFields<'_>,
    names: &ClaimNames<'_>,
    fewest: usize,
) -> Option<OrderedLevels> {
    let over = fields.need("over");
    read_levels(fields, names, &over?, fewest)
}

/// Parses `levels` of the factor that a field names: at least `fewest`.
fn read_levels(
    fields: &mut FileFields<'_>,
    names: &ClaimNames<'_>,
    factor: &FileField<'_>,
    fewest: usize,
) -> Option<OrderedLevels> {
    let factor = names.factor(factor);
    let levels = fields.take("levels");
    let factor = factor?;
    let levels = match levels {
        Some(field) => names.named_levels(&factor, &field.items()),
        None => sorted(names.levels(&factor)),
    };
    // Imports may add any number of levels that a pattern matches.
    let may_grow = levels.iter().any(|level| is_pattern(level));
    if (levels.len() < fewest && !may_grow) || levels.len() > MOST_LEVELS {
        let most = MOST_LEVELS;
        fields.wrong(&format!("needs {fewest} to {most} levels of {factor}; give levels = [...]"));
        return None;
    }
    Some(OrderedLevels { factor, levels })
}

/// Sorts levels by their values if all are numbers.
fn sorted(levels: Vec<String>) -> Vec<String> {
    let number = |level: String| level.parse::<f64>().ok().map(|number| (number, level));
    let Some(mut numbers) = levels.iter().cloned().map(number).collect::<Option<Vec<_>>>() else {
        return levels;
    };
    numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
    numbers.into_iter().map(|(_, level)| level).collect()
}

fn read_trend(
    fields: &mut FileFields<'_>,
    names: &ClaimNames<'_>,
    kind: ClaimKind,
) -> Option<TrendTest> {
    let a = need_side(fields, names, "a");
    let over = read_over(fields, names, if kind == ClaimKind::UShaped { 5 } else { 2 });
    let margin = margin(fields);
    let shape = match kind {
        ClaimKind::Rises => Some(TrendShape::Rises),
        ClaimKind::Falls => Some(TrendShape::Falls),
        _ => read_turn(fields, over.as_ref()).map(TrendShape::UShaped),
    };
    Some(TrendTest { a: a?, over: over?, shape: shape?, margin })
}

/// Parses the level at which a trend turns. At least two levels lie on each side.
fn read_turn(fields: &mut FileFields<'_>, over: Option<&OrderedLevels>) -> Option<String> {
    let field = fields.need("turn")?;
    let turn = super::super::known_names::scalar(&field)?;
    let levels = &over?.levels;
    let inner = levels.get(2..levels.len().saturating_sub(2)).unwrap_or_default();
    if !inner.contains(&turn) {
        field.wrong(&format!("the figure can turn at one of: {}", inner.join(", ")));
    }
    Some(turn)
}

fn read_order(
    fields: &mut FileFields<'_>,
    names: &ClaimNames<'_>,
    kind: ClaimKind,
) -> Option<OrderTest> {
    let a = need_side(fields, names, "a");
    let differences = matches!(kind, ClaimKind::LargestDifference | ClaimKind::SmallestDifference);
    let b = if differences { Some(need_side(fields, names, "b")?) } else { None };
    let over = read_over(fields, names, 2);
    let at = fields.need("at");
    let (over, at) = (over?, at?);
    let levels = items_or_one(&at);
    let levels = names.named_levels(&over.factor, &levels);
    let is_all = levels.len() >= over.levels.len() && !levels.iter().any(|at| is_pattern(at));
    if is_all || levels.iter().any(|at| !over.levels.contains(at)) {
        at.wrong(&format!("names some of these levels, not all: {}", over.levels.join(", ")));
    }
    let highest = matches!(kind, ClaimKind::Highest | ClaimKind::LargestDifference);
    let margin = if differences { None } else { Some(margin(fields)) };
    Some(OrderTest { a: a?, b, over, at: levels, highest, margin })
}

fn read_exact(
    fields: &mut FileFields<'_>,
    names: &ClaimNames<'_>,
    measure: Metric,
) -> Option<ExactTest> {
    if measure.kind() != MetricKind::Count {
        fields.wrong(&format!("{measure} is not a count, which exact needs"));
    }
    let a = need_side(fields, names, "a");
    let over = fields.need("over").and_then(|field| names.factor(&field));
    let shares = fields.need("shares").and_then(|field| field.fields());
    let within = fields.take("within").and_then(|field| field.whole(0, 1_000_000));
    let (over, mut shares) = (over?, shares?);
    let known = names.levels(&over);
    let shares = shares.rest().into_iter().filter_map(|field| {
        let share = field.number()?;
        if !(0.0..=1.0).contains(&share) {
            field.wrong("a share is from 0 to 1");
        }
        if !known.is_empty() && !known.contains(&field.name) {
            field.wrong(&format!("is not a level of {over}; levels: {}", known.join(", ")));
        }
        Some((field.name.clone(), share))
    });
    Some(ExactTest { a: a?, shares: shares.collect(), over, within: within.unwrap_or(1) })
}

/// Checks the measure of a claim that is decided by counts: `all` needs a count of exchanges,
/// `none` any count.
fn check_counted(fields: &FileFields<'_>, measure: Metric, all: bool) {
    let of_exchanges = match measure {
        Metric::Outcome(_) => true,
        Metric::Quantity(of) => {
            matches!(of, Quantity::Completed | Quantity::Failed | Quantity::Unaccepted)
        }
        _ => false,
    };
    if all && !of_exchanges {
        fields.wrong(&format!(
            "{measure} does not count exchanges; all needs an outcome (NORMAL), completed, failed or \
             unaccepted"
        ));
    }
    if !all && measure.kind() != MetricKind::Count {
        fields.wrong(&format!("{measure} is not a count, which none needs"));
    }
}
