//! Parsing of the outputs in a study's file.

use super::{ChartSpec, ComparisonSpec, Levels, Outputs, TableSpec};
use crate::spec::FAMILY;
use crate::spec::claims::{claims, margin};
use crate::spec::column::column_name;
use crate::spec::column::column_of;
use crate::spec::column::{ColumnSpec, LevelFilter};
use crate::spec::known_names::KnownNames;
use crate::study_result::Statistic;
use sixmark_document::fields::{FileField, FileFields};
use sixmark_tally::metric::Metric;

/// Parses all outputs of a file.
pub(in crate::spec) fn outputs(fields: &mut FileFields<'_>, names: &KnownNames<'_>) -> Outputs {
    let of = |tables: Vec<FileFields<'_>>| -> Vec<TableSpec> {
        tables.into_iter().filter_map(|fields| read_table(fields, names)).collect()
    };
    let tables = of(fields.tables("tables"));
    let charts = fields.tables("figures");
    let charts = charts.into_iter().filter_map(|fields| chart(fields, names)).collect();
    let comparisons = fields.tables("comparisons");
    let comparisons =
        comparisons.into_iter().filter_map(|fields| read_comparison(fields, names)).collect();
    let claims = claims(fields.tables("claims"), names);
    Outputs { tables, charts, comparisons, claims }
}

fn read_name(fields: &mut FileFields<'_>) -> Option<String> {
    fields.need("name")?.parsed(column_name)
}

/// Parses `statistic`, which is `mean` (the default) or `median`.
fn statistic(fields: &mut FileFields<'_>) -> Statistic {
    let allowed = [("mean", Statistic::Mean), ("median", Statistic::Median)];
    fields.take("statistic").and_then(|field| field.one_of(&allowed)).unwrap_or_default()
}

fn read_table(mut fields: FileFields<'_>, names: &KnownNames<'_>) -> Option<TableSpec> {
    let name = read_name(&mut fields);
    let title = fields.text("title");
    let rows = names.several(fields.take("rows"));
    let mut columns = names.several(fields.take("columns"));
    let measures = fields.need("measures").map_or(Vec::new(), |field| field.items());
    let measures: Vec<_> = measures.iter().filter_map(column).collect();
    let statistic = statistic(&mut fields);
    let group = names.group(fields.take("group"));
    let only = names.only(fields.table("where"));
    let improvement = improvement(&mut fields, names, &rows, statistic);
    if improvement.is_some() && measures.iter().any(|measure| measure.of.is_some()) {
        fields.wrong("improvement does not apply to shares: omit of");
    }
    let published = names.published(fields.take("published"));
    let remarks = fields.texts("remarks");
    if let Some(twice) = rows.iter().find(|factor| columns.contains(factor)) {
        fields.wrong(&format!("{twice} is in both rows and columns"));
    }
    let mentioned = |factor: &String| factor == FAMILY;
    if !rows.iter().any(mentioned)
        && !columns.iter().any(mentioned)
        && !only.iter().any(|at| at.factor == FAMILY)
    {
        columns.push(FAMILY.to_owned());
    }
    fields.end();
    let name = name?;
    let title = title.unwrap_or_else(|| name.clone());
    Some(TableSpec {
        name,
        title,
        rows,
        columns,
        measures,
        statistic,
        group,
        only,
        improvement,
        published,
        remarks,
    })
}

/// Parses `improvement`, which adds a row that says how much better one level is than another.
fn improvement(
    fields: &mut FileFields<'_>,
    names: &KnownNames<'_>,
    rows: &[String],
    statistic: Statistic,
) -> Option<Levels> {
    let levels = names.two_levels(fields.take("improvement"))?;
    if !rows.contains(&levels.factor) {
        fields.wrong(&format!(
            "improvement needs a factor of the rows, and {} is not one",
            levels.factor
        ));
    }
    if statistic != Statistic::Mean {
        fields.wrong("improvement compares means: omit statistic");
    }
    Some(levels)
}

/// Parses a measure, or a table with its unit and label.
pub(in crate::spec) fn column(field: &FileField<'_>) -> Option<ColumnSpec> {
    if !field.is_table() {
        let measure: Metric = field.parsed(str::parse)?;
        return Some(ColumnSpec {
            measure,
            of: None,
            unit: measure.base_unit(),
            label: measure.to_string(),
        });
    }
    let mut fields = field.fields()?;
    let spec = column_of(&mut fields);
    fields.end();
    spec
}

fn chart(mut fields: FileFields<'_>, names: &KnownNames<'_>) -> Option<ChartSpec> {
    let name = read_name(&mut fields);
    let title = fields.text("title");
    let x = fields.need("x").and_then(|field| names.factor(&field));
    let y = fields.need("y").and_then(|field| {
        let column = column(&field)?;
        if column.of.is_some() {
            field.wrong("a figure does not show shares: omit of");
        }
        Some(column)
    });
    let mut series = names.several(fields.take("series"));
    let mut flag = |name| fields.take(name).and_then(|field| field.flag()).unwrap_or(false);
    let logarithmic = [flag("log_x"), flag("log_y")];
    let statistic = statistic(&mut fields);
    let group = names.group(fields.take("group"));
    let only = names.only(fields.table("where"));
    let x_unit = fields.text("x_unit").unwrap_or_default();
    let published = names.published(fields.take("published"));
    fields.end();
    let (name, x, y) = (name?, x?, y?);
    let known = series.iter().chain([&x]).chain(only.iter().map(|at| &at.factor));
    if !known.into_iter().any(|factor| factor == FAMILY) {
        series.push(FAMILY.to_owned());
    }
    let title = title.unwrap_or_else(|| name.clone());
    Some(ChartSpec {
        name,
        title,
        x,
        y,
        series,
        logarithmic,
        statistic,
        group,
        only,
        x_unit,
        published,
    })
}

fn read_comparison(mut fields: FileFields<'_>, names: &KnownNames<'_>) -> Option<ComparisonSpec> {
    let name = read_name(&mut fields);
    let title = fields.text("title");
    let factor = match fields.take("factor") {
        Some(field) => names.factor(&field)?,
        None => FAMILY.to_owned(),
    };
    let measure = fields.need("measure").and_then(|field| field.parsed(str::parse::<Metric>));
    let sides = [fields.take("a"), fields.take("b")];
    let by = names.several(fields.take("by"));
    let group = names.group(fields.take("group"));
    let only = names.only(fields.table("where"));
    let interaction = interaction(&mut fields, names, &factor, &by, &only);
    let published = fields.take("published").and_then(|field| published_analysis(&field, names));
    let margin_percent = margin(&mut fields);
    if by.contains(&factor) || only.iter().any(|at| at.factor == factor) {
        fields.wrong(&format!("{factor} is compared, so it can't be in by or where"));
    }
    let usual = names.levels_in(group.as_deref(), &factor);
    let [a, b] = two_sides(&sides, names, (&factor, &usual), &mut fields);
    fields.end();
    let (name, measure, a, b) = (name?, measure?, a?, b?);
    let title = title.unwrap_or_else(|| name.clone());
    Some(ComparisonSpec {
        name,
        title,
        factor,
        a,
        b,
        measure,
        by,
        interaction,
        margin_percent,
        group,
        only,
        published,
    })
}

/// Parses the title of one of the study's published analyses.
fn published_analysis(field: &FileField<'_>, names: &KnownNames<'_>) -> Option<String> {
    let title = field.text()?;
    let known = names.published.map_or(&[][..], |published| &published.analyses);
    let known: Vec<_> = known.iter().map(|analysis| analysis.title.as_str()).collect();
    if !known.contains(&title.as_str()) {
        field.wrong(&format!("no analysis is titled '{title}': {}", known.join("; ")));
    }
    Some(title)
}

/// Returns the two levels of the factor that are compared: those that are named, else the first
/// two of `usual`.
fn two_sides(
    sides: &[Option<FileField<'_>>; 2],
    names: &KnownNames<'_>,
    (factor, usual): (&str, &[&str]),
    fields: &mut FileFields<'_>,
) -> [Option<String>; 2] {
    let [a, b] = [0, 1].map(|side| match &sides[side] {
        Some(field) => names.level(factor, field),
        None => usual.get(side).map(|level| (*level).to_owned()),
    });
    if a.is_some() && a == b || sides.iter().any(Option::is_none) && usual.len() < 2 {
        fields.wrong(&format!("a and b must be two levels of {factor}: {}", usual.len()));
    }
    [a, b]
}

/// Parses `interaction`, two levels of another factor between which the comparison may differ.
fn interaction(
    fields: &mut FileFields<'_>,
    names: &KnownNames<'_>,
    factor: &str,
    by: &[String],
    only: &LevelFilter,
) -> Option<Levels> {
    let levels = names.two_levels(fields.take("interaction"))?;
    let other = &levels.factor;
    if other == factor || by.contains(other) || only.iter().any(|at| at.factor == *other) {
        fields.wrong(&format!(
            "interaction needs another factor: {other} is compared itself, or is in by or where"
        ));
    }
    Some(levels)
}
