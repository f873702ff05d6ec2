//! The rows of a table that say what one level is better by than another.

use super::grid::Grid;
use super::{four, pretty};
use sixmark_model::study::result::{Row, Table, Value};

/// What stands in such a row in the place of a level.
const NAME: &str = "% improvement";

/// Its row, and the published one below.
pub(super) fn rows(grid: &mut Grid, table: &Table, better: &Row) {
    let name = |(level, factor): (&String, &String)| {
        let compared = table.improvement.as_ref().is_some_and(|of| of.factor == *factor);
        if compared { NAME.to_owned() } else { pretty(level).to_owned() }
    };
    let names = better.levels.iter().zip(&table.factors).map(name);
    grid.row(names.chain(better.values.iter().map(percent)).collect());
    if better.values.iter().any(|value| value.published.is_some()) {
        let mut names = vec![String::new(); better.levels.len()];
        names[0] = "  published".to_owned();
        let published =
            better.values.iter().map(|value| value.published.map_or("-".into(), signed));
        grid.row(names.into_iter().chain(published).collect());
    }
}

/// Below the table.
pub(super) fn note(table: &Table) -> Option<String> {
    let of = table.improvement.as_ref().filter(|of| !of.rows.is_empty())?;
    Some(format!(
        "{NAME}: {} over {}, of the means; of processor time and others that are better when lower, how \
         much lower",
        pretty(&of.of),
        pretty(&of.over)
    ))
}

/// Why speeds have no percentage.
pub(super) fn unlike(of: &Table) -> Option<String> {
    let said = of.improvement.as_ref()?.unlike.as_ref()?;
    Some(format!("Some speeds are not comparable: {said}."))
}

/// With its interval: `+1.20 [-0.3, +2.7]`.
fn percent(value: &Value) -> String {
    let Some(measured) = value.measured else { return "-".to_owned() };
    match (value.low, value.high) {
        (Some(low), Some(high)) => {
            format!("{} [{}, {}]", signed(measured), signed(low), signed(high))
        }
        _ => signed(measured),
    }
}

fn signed(value: f64) -> String {
    match value.abs() {
        size if size < 99.95 => format!("{value:+.1}"),
        _ if value > 0.0 => format!("+{}", four(value)),
        _ => four(value),
    }
}
