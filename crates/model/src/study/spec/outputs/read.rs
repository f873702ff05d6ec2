//! Reads from a study's file what is made of its cells.

use super::{
    ChartSpec, ColumnSpec, ComparisonSpec, Levels, Outputs, PublishedOf, TableSpec, Where,
};
use crate::fields::{Field, Fields};
use crate::plan::braces::is_name;
use crate::study::measure::Measure;
use crate::study::result::{At, Statistic};
use crate::study::spec::findings::{findings, margin};
use crate::study::spec::published::PublishedFigures;
use crate::study::spec::{FAMILY, Factor};

/// What names are known.
#[derive(Clone, Copy)]
pub(in crate::study::spec) struct Names<'a> {
    pub(in crate::study::spec) factors: &'a [Factor],
    /// The same with the levels of every form.
    pub(in crate::study::spec) long: &'a [Factor],
    pub(in crate::study::spec) published: Option<&'a PublishedFigures>,
}

impl Names<'_> {
    fn all(&self) -> Vec<&str> {
        let own = self.factors.iter().map(|factor| factor.name.as_str());
        let mut all: Vec<_> = own.collect();
        if !all.contains(&FAMILY) {
            all.push(FAMILY);
        }
        all
    }

    /// True of the name of a factor; else that is told.
    pub(in crate::study::spec) fn is_factor(&self, field: &Field<'_>) -> bool {
        let known = self.all();
        let found = known.contains(&field.name.as_str());
        if !found {
            field.wrong(&format!("is not a factor; factors: {}", known.join(", ")));
        }
        found
    }

    /// A level of a factor, of the long form where the short one has not got it.
    pub(in crate::study::spec) fn level_of(
        &self,
        factor: &str,
        field: &Field<'_>,
    ) -> Option<String> {
        Names { factors: self.long, ..*self }.level(factor, field)
    }

    fn levels(&self, factor: &str) -> Vec<&str> {
        levels(self.factors, factor)
    }

    fn factor(&self, field: &Field<'_>) -> Option<String> {
        let name = field.text()?;
        let known = self.all();
        if !known.contains(&name.as_str()) {
            field.wrong(&format!("'{name}' is not a factor; factors: {}", known.join(", ")));
            return None;
        }
        Some(name)
    }

    fn several(&self, field: Option<Field<'_>>) -> Vec<String> {
        let items = field.map_or(Vec::new(), |field| field.items());
        items.iter().filter_map(|item| self.factor(item)).collect()
    }

    fn level(&self, factor: &str, field: &Field<'_>) -> Option<String> {
        let name = scalar(field)?;
        let known = levels(self.long, factor);
        if !known.contains(&name.as_str()) {
            field.wrong(&format!(
                "'{name}' is not a level of {factor}; levels: {}",
                known.join(", ")
            ));
            return None;
        }
        Some(name)
    }

    /// Levels of some factors.
    pub(in crate::study::spec) fn only(&self, fields: Option<Fields<'_>>) -> Where {
        let rest = fields.map_or(Vec::new(), |mut fields| fields.rest());
        let at = |field: &Field<'_>| {
            if !self.is_factor(field) {
                return None;
            }
            let level = self.level(&field.name, field)?;
            Some(At { factor: field.name.clone(), level })
        };
        rest.iter().filter_map(at).collect()
    }

    /// `{ factor = "family", of = "ipv6", over = "ipv4" }`
    fn two_levels(&self, field: Option<Field<'_>>) -> Option<Levels> {
        let field = field?;
        let mut fields = field.fields()?;
        let factor = fields.need("factor").and_then(|field| self.factor(&field));
        let sides = ["of", "over"].map(|name| fields.need(name));
        fields.end();
        let factor = factor?;
        let [of, over] = sides.map(|side| self.level(&factor, &side?));
        let (of, over) = (of?, over?);
        if of == over {
            field.wrong("of and over are two levels");
        }
        Some(Levels { factor, of, over })
    }

    fn published(&self, field: Option<Field<'_>>) -> Option<PublishedOf> {
        let field = field?;
        let (name, at) = if field.is_table() {
            let mut fields = field.fields()?;
            let name = fields.need("table").and_then(|name| name.text())?;
            let at = fields.table("at").map_or(Vec::new(), |mut at| at.rest());
            let at = at
                .iter()
                .filter_map(|field| Some(At { factor: field.name.clone(), level: scalar(field)? }));
            let at = at.collect();
            fields.end();
            (name, at)
        } else {
            (field.text()?, Vec::new())
        };
        let tables = self.published.map_or(&[][..], |published| &published.tables);
        if !tables.iter().any(|table| table.name == name) {
            let known: Vec<_> = tables.iter().map(|table| table.name.as_str()).collect();
            let known = if known.is_empty() { "there are none".into() } else { known.join(", ") };
            field.wrong(&format!("no published table is called '{name}': {known}"));
            return None;
        }
        Some(PublishedOf { table: name, at })
    }
}

fn levels<'a>(factors: &'a [Factor], name: &str) -> Vec<&'a str> {
    match factors.iter().find(|known| known.name == name) {
        Some(factor) => factor.levels.iter().map(|level| level.name.as_str()).collect(),
        None => crate::study::spec::FAMILIES.to_vec(),
    }
}

fn scalar(field: &Field<'_>) -> Option<String> {
    Some(match field.scalar()? {
        crate::fields::Scalar::Flag(flag) => flag.to_string(),
        crate::fields::Scalar::Text(text) => text,
    })
}

/// All of a file's outputs.
pub(in crate::study::spec) fn outputs(fields: &mut Fields<'_>, names: &Names<'_>) -> Outputs {
    let of = |tables: Vec<Fields<'_>>| -> Vec<TableSpec> {
        tables.into_iter().filter_map(|fields| table(fields, names)).collect()
    };
    let tables = of(fields.tables("tables"));
    let charts = fields.tables("figures");
    let charts = charts.into_iter().filter_map(|fields| chart(fields, names)).collect();
    let comparisons = fields.tables("comparisons");
    let comparisons =
        comparisons.into_iter().filter_map(|fields| comparison(fields, names)).collect();
    let findings = findings(fields.tables("findings"), names);
    Outputs { tables, charts, comparisons, findings }
}

fn named(fields: &mut Fields<'_>) -> Option<String> {
    fields.need("name")?.parsed(name)
}

/// A name of a table, a figure, a comparison.
pub(in crate::study::spec) fn name(text: &str) -> Result<String, String> {
    match is_name(text) {
        true => Ok(text.to_owned()),
        false => Err(format!("'{text}' is no name: use lower-case letters, digits, - and _")),
    }
}

/// `mean` or `median`.
fn statistic(fields: &mut Fields<'_>) -> Statistic {
    let allowed = [("mean", Statistic::Mean), ("median", Statistic::Median)];
    fields.take("statistic").and_then(|field| field.one_of(&allowed)).unwrap_or_default()
}

fn table(mut fields: Fields<'_>, names: &Names<'_>) -> Option<TableSpec> {
    let name = named(&mut fields);
    let title = fields.text("title");
    let rows = names.several(fields.take("rows"));
    let mut columns = names.several(fields.take("columns"));
    let measures = fields.need("measures").map_or(Vec::new(), |field| field.items());
    let measures: Vec<_> = measures.iter().filter_map(column).collect();
    let statistic = statistic(&mut fields);
    let only = names.only(fields.table("where"));
    let improvement = improvement(&mut fields, names, &rows, statistic);
    let published = names.published(fields.take("published"));
    let remarks = fields.texts("remarks");
    if let Some(twice) = rows.iter().find(|factor| columns.contains(factor)) {
        fields.wrong(&format!("{twice} stands in rows and in columns"));
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
        only,
        improvement,
        published,
        remarks,
    })
}

/// A row that says how much better one level is than the other.
fn improvement(
    fields: &mut Fields<'_>,
    names: &Names<'_>,
    rows: &[String],
    statistic: Statistic,
) -> Option<Levels> {
    let levels = names.two_levels(fields.take("improvement"))?;
    if !rows.contains(&levels.factor) {
        fields.wrong(&format!(
            "improvement is of a factor of the rows, which {} is not",
            levels.factor
        ));
    }
    if statistic != Statistic::Mean {
        fields.wrong("improvement is of means: leave statistic out");
    }
    Some(levels)
}

/// A measure, or a table with its unit and label.
pub(in crate::study::spec) fn column(field: &Field<'_>) -> Option<ColumnSpec> {
    if !field.is_table() {
        let measure: Measure = field.parsed(str::parse)?;
        return Some(ColumnSpec { measure, unit: measure.base_unit(), label: measure.to_string() });
    }
    let mut fields = field.fields()?;
    let spec = column_of(&mut fields);
    fields.end();
    spec
}

/// The same of a table that has other keys too.
pub(in crate::study::spec) fn column_of(fields: &mut Fields<'_>) -> Option<ColumnSpec> {
    let measure = fields.need("measure").and_then(|field| field.parsed(str::parse::<Measure>));
    let (unit, label) = (fields.take("unit"), fields.text("label"));
    let measure = measure?;
    let unit = match unit {
        Some(unit) => unit.parsed(|name| measure.unit(name))?,
        None => measure.base_unit(),
    };
    Some(ColumnSpec { measure, unit, label: label.unwrap_or_else(|| measure.to_string()) })
}

fn chart(mut fields: Fields<'_>, names: &Names<'_>) -> Option<ChartSpec> {
    let name = named(&mut fields);
    let title = fields.text("title");
    let x = fields.need("x").and_then(|field| names.factor(&field));
    let y = fields.need("y").and_then(|field| column(&field));
    let mut series = names.several(fields.take("series"));
    let mut flag = |name| fields.take(name).and_then(|field| field.flag()).unwrap_or(false);
    let logarithmic = [flag("log_x"), flag("log_y")];
    let statistic = statistic(&mut fields);
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
    Some(ChartSpec { name, title, x, y, series, logarithmic, statistic, only, x_unit, published })
}

fn comparison(mut fields: Fields<'_>, names: &Names<'_>) -> Option<ComparisonSpec> {
    let name = named(&mut fields);
    let title = fields.text("title");
    let factor = match fields.take("factor") {
        Some(field) => names.factor(&field)?,
        None => FAMILY.to_owned(),
    };
    let measure = fields.need("measure").and_then(|field| field.parsed(str::parse::<Measure>));
    let sides = [fields.take("a"), fields.take("b")];
    let by = names.several(fields.take("by"));
    let only = names.only(fields.table("where"));
    let interaction = interaction(&mut fields, names, &factor, &by, &only);
    let published = fields.take("published").and_then(|field| published_analysis(&field, names));
    let margin_percent = margin(&mut fields);
    if by.contains(&factor) || only.iter().any(|at| at.factor == factor) {
        fields.wrong(&format!("{factor} is compared, so it can't stand in by or where"));
    }
    let [a, b] = two_sides(&sides, names, &factor, &mut fields);
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
        only,
        published,
    })
}

/// The title of one of the study's published analyses.
fn published_analysis(field: &Field<'_>, names: &Names<'_>) -> Option<String> {
    let title = field.text()?;
    let known = names.published.map_or(&[][..], |published| &published.analyses);
    let known: Vec<_> = known.iter().map(|analysis| analysis.title.as_str()).collect();
    if !known.contains(&title.as_str()) {
        field.wrong(&format!("no analysis is titled '{title}': {}", known.join("; ")));
    }
    Some(title)
}

/// The two levels of the factor that are compared: those that are named, or the first two.
fn two_sides(
    sides: &[Option<Field<'_>>; 2],
    names: &Names<'_>,
    factor: &str,
    fields: &mut Fields<'_>,
) -> [Option<String>; 2] {
    let usual = names.levels(factor);
    let [a, b] = [0, 1].map(|side| match &sides[side] {
        Some(field) => names.level(factor, field),
        None => usual.get(side).map(|level| (*level).to_owned()),
    });
    if a.is_some() && a == b || sides.iter().any(Option::is_none) && usual.len() < 2 {
        fields.wrong(&format!("a and b are two levels of {factor}, which has {}", usual.len()));
    }
    [a, b]
}

/// Another factor, between whose levels what is compared may differ.
fn interaction(
    fields: &mut Fields<'_>,
    names: &Names<'_>,
    factor: &str,
    by: &[String],
    only: &Where,
) -> Option<Levels> {
    let levels = names.two_levels(fields.take("interaction"))?;
    let other = &levels.factor;
    if other == factor || by.contains(other) || only.iter().any(|at| at.factor == *other) {
        fields.wrong(&format!(
            "interaction is with another factor: {other} is compared itself, or stands in by or where"
        ));
    }
    Some(levels)
}
