//! Published figures and their recomputed analyses, in reports.

use sixmark_design::study_result::{
    Analysis, ClaimAnswer, ComparisonEntry, PrintedFigure, Published, PublishedShare,
    PublishedTable, ReanalysedStudy,
};
use sixmark_document::verdict::Estimate;

use super::claims;
use super::comparisons::{entries, entry_columns, scale};
use super::rows::{factor_columns, labelled, level_names, with_unit};
use sixmark_design::levels::LevelLabels;
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::write;
use sixmark_sheet::{Block, Part, Sheet, SheetHeadline};

/// The text beside published figures.
const ELSEWHERE: &str = "The published machines and networks differ: compare directions and \
                         shapes, not absolute figures.";

/// Returns the report of the published figures alone, with their recomputed analyses.
pub(crate) fn published_sheet(all: &ReanalysedStudy) -> Sheet {
    let of = &all.published;
    let tables = of.tables.iter().map(|table| published_table(table, &LevelLabels::default()));
    let parts = [
        Part::new("Claims", claims::published_claims_table(&all.claims)).map(Part::open),
        Part::new("Published tables", tables.collect()).map(Part::open),
        Part::new("Recomputed", of.analyses.iter().flat_map(analysis).collect()).map(Part::open),
        Part::new("Remarks", list(&of.remarks)).map(Part::open),
    ];
    Sheet {
        kind: "Published study",
        title: of.title.clone(),
        about: [&of.source, &of.conditions]
            .into_iter()
            .filter(|said| !said.is_empty())
            .cloned()
            .collect(),
        headline: SheetHeadline { sentence: headline_of(all), ..SheetHeadline::default() },
        parts: parts.into_iter().flatten().collect(),
        ..Sheet::default()
    }
}

/// Says how many claims the published figures bear out by a test, and how many they contradict.
fn headline_of(all: &ReanalysedStudy) -> String {
    let of = |answer: ClaimAnswer| {
        let answers = all.claims.iter().filter_map(|claim| Some(claim.published.as_ref()?.answer));
        answers.filter(|found| *found == answer).count()
    };
    let claims = all.claims.len();
    let parted = claims::partings(&all.claims).len();
    if claims == 0 {
        let conclusions = all.published.analyses.iter().map(|of| of.conclusion.as_str());
        return conclusions.collect::<Vec<_>>().join(" ");
    }
    let shown = of(ClaimAnswer::Holds);
    format!(
        "The published figures show {shown} of {claims} claims by a test, and disagree with \
         {parted}."
    )
}

/// Returns the part about the published study, in the report of a study that repeats it.
pub(super) fn published_part(of: &Published, labels: &LevelLabels) -> Option<Part> {
    let mut blocks = vec![Block::Table(Table::facts(
        "Published source",
        vec![
            ("Title", of.title.clone()),
            ("Source", of.source.clone()),
            ("Conditions", of.conditions.clone()),
        ],
    ))];
    blocks.push(Block::Text(ELSEWHERE.to_owned()));
    blocks.extend(headed("Remarks", list(&of.remarks)));
    blocks.extend(of.analyses.iter().flat_map(analysis));
    let tables: Vec<Block> = of.tables.iter().map(|table| published_table(table, labels)).collect();
    if !tables.is_empty() {
        blocks.push(Block::Folded("The published tables".into(), tables));
    }
    Part::new("The published study", blocks)
}

fn headed(heading: &str, blocks: Vec<Block>) -> Vec<Block> {
    let heading = (!blocks.is_empty()).then(|| Block::Heading(heading.into()));
    heading.into_iter().chain(blocks).collect()
}

pub(super) fn list(all: &[String]) -> Vec<Block> {
    all.iter().cloned().map(Block::Text).collect()
}

fn analysis(of: &Analysis) -> Vec<Block> {
    let mut blocks = vec![Block::Heading(of.title.clone())];
    blocks.push(Block::Text(of.method.clone()));
    if !of.ratios.is_empty() {
        let all: Vec<&ComparisonEntry> = of.ratios.iter().collect();
        let mut table = Table::new("Ratios", entry_columns(), entries(&of.ratios, "too few pairs"));
        table.scale = Some(scale(&all));
        blocks.push(Block::Table(table));
    }
    blocks.extend((!of.shares.is_empty()).then(|| shares_table("Shares", &of.shares)));
    blocks.push(Block::Text(of.conclusion.clone()));
    blocks
}

fn shares_table(caption: &str, all: &[PublishedShare]) -> Block {
    let share = |v: f64| SheetCell::Number(write::write_percent(v), v);
    let row = |of: &PublishedShare| {
        let Estimate { value, low, high } = of.difference;
        let cells = vec![
            share(of.a),
            share(of.b),
            SheetCell::Number(write::share_difference(value), value),
            format!("{} to {}", write::share_difference(low), write::share_difference(high)).into(),
            if of.differs { "different" } else { "? inconclusive" }.into(),
        ];
        Row::new(of.label.as_str(), cells)
    };
    let columns = vec![
        Column::words(""),
        Column::number("First"),
        Column::number("Second"),
        Column::number("Difference"),
        Column::number("Interval"),
        Column::words("Finding"),
    ];
    Block::Table(Table::new(caption, columns, all.iter().map(row).collect()))
}

/// Returns the cell of a figure, as its source prints it.
pub(super) fn printed(figure: &PrintedFigure) -> SheetCell {
    match figure.value {
        Some(value) => SheetCell::Number(figure.shown(), value),
        None => figure.shown().into(),
    }
}

fn published_table(of: &PublishedTable, labels: &LevelLabels) -> Block {
    let mut columns = factor_columns(&of.factors, labels);
    columns.extend(of.columns.iter().map(|c| Column::number(with_unit(&c.label, &c.unit))));
    let remarks = of.rows.iter().any(|row| row.remark.is_some());
    columns.extend(remarks.then(|| Column::words("Remark")));
    let rows = of.rows.iter().map(|row| {
        let value = |v: &Option<PrintedFigure>| v.as_ref().map_or_else(SheetCell::none, printed);
        let remark = remarks.then(|| SheetCell::from(row.remark.clone().unwrap_or_default()));
        let levels = level_names(&of.factors, &row.levels, labels);
        labelled(&levels, row.values.iter().map(value).chain(remark))
    });
    Block::Table(Table::new(of.title.clone(), columns, rows.collect()))
}
