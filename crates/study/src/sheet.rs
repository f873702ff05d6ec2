//! A study's report.

mod cell_doubts;
mod claims;
mod comparisons;
mod constant;
mod facets;
mod headline;
mod imported;
mod improvement;
mod instruments;
mod interval;
mod line_sides;
pub mod lines;
mod omitted;
mod papers;
mod published;
mod rows;
mod tables;
mod turned;
mod uncontrolled;

use std::collections::BTreeSet;

use sixmark_design::levels::LevelLabels;
use sixmark_design::looks::StudyUntil;
use sixmark_design::study_result::{
    At, CellOrder, CellResult, FactorResult, ReanalysedStudy, StudyResult,
};
use sixmark_sheet::{markdown, terminal};
use sixmark_units::family::Family;
use sixmark_units::quantity::write_about;

use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, Sheet, setting, write};

pub use omitted::describe_omitted;
pub(super) use published::published_sheet;

/// Returns the report of a study.
pub fn sheet(name: &str, result: &StudyResult) -> Sheet {
    let labels = LevelLabels::of_document(&result.factors);
    let comparisons = result.comparisons.iter();
    let comparisons = comparisons.flat_map(|of| comparisons::comparison_blocks(of, &labels));
    let warnings = result.warnings.iter();
    let parts = [
        Part::new("Claims", claims::claims_table(&result.claims)).map(Part::open),
        lines::charts_part(&result.figures, &labels, result.repetitions),
        Part::new("What it measures", description(result)).map(Part::open),
        Part::new("How this differs from the paper", published::list(&result.differences)),
        Part::new("What is omitted", omitted::list(&result.omitted, &labels)),
        Part::new("What is not controlled", uncontrolled::blocks(result, &labels)),
        Part::new("Comparisons", comparisons.collect()).map(Part::open),
        Part::new("Tables", tables::table_blocks(&result.tables, &labels)).map(Part::open),
        instruments::instruments_part(result, &labels),
        result.published.as_ref().and_then(|of| published::published_part(of, &labels)),
        Part::new("Imported cells", imported::imported_blocks(result, &labels)),
        Part::new("Cells", cells(result, &labels)).map(Part::off_terminal),
        setting::setting_part(setting_of_study(result)),
    ];
    Sheet {
        name: name.to_owned(),
        kind: match (result.quick, result.full) {
            (true, _) => "Study, quick form",
            (_, true) => "Study, full form",
            _ => "Study",
        },
        title: result.title.clone(),
        when: setting::when(&result.started),
        about: describe_study(result, &labels),
        headline: headline::study_headline(result),
        tiles: Vec::new(),
        warnings: warnings.cloned().chain(cell_doubts::of_cells(result, &labels)).collect(),
        parts: parts.into_iter().flatten().collect(),
    }
}

/// Returns the description as a block; no block if it is empty.
fn description(result: &StudyResult) -> Vec<Block> {
    let words = result.description.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() { Vec::new() } else { vec![Block::Text(words)] }
}

/// Says how a study went on after its repetitions: `claims tested after 10, 20 and 34 repetitions, until
/// they are decided`.
fn describe_until(until: &StudyUntil) -> String {
    let looks: Vec<String> = until.looks.iter().map(u32::to_string).collect();
    let after = match looks.split_last() {
        None => "not yet tested".to_owned(),
        Some((last, [])) => format!("tested after {last} repetitions"),
        Some((last, others)) => {
            format!("tested after {} and {last} repetitions", others.join(", "))
        }
    };
    let at_most = write_about(until.at_most_s);
    format!("claims {after}, until they are decided (at most {at_most})")
}

fn describe_study(result: &StudyResult, labels: &LevelLabels) -> Vec<String> {
    let order = match result.order {
        CellOrder::Random => "cells in random order within each repetition",
        CellOrder::Written => "cells in the order of the file",
    };
    let repetitions = match result.repetitions {
        1 => "1 repetition".to_owned(),
        n => format!("{n} repetitions"),
    };
    let mut said = vec![
        format!("{} of {} cells", result.measured().count(), result.cells_planned),
        imported::describe_imported(result),
        repetitions,
        order.to_owned(),
    ];
    said.extend(result.until.as_ref().map(describe_until));
    said.push(describe_fleet(result));
    said.extend(result.factors.iter().map(|factor| describe_factor(factor, labels)));
    said.extend(result.ended.map(|ended| setting::describe_end(ended).to_owned()));
    said.retain(|phrase| !phrase.is_empty());
    said
}

/// Describes a factor with its levels: `round trip: 0 ms, 5 ms`.
fn describe_factor(factor: &FactorResult, labels: &LevelLabels) -> String {
    let level = |level: &String| At { factor: factor.name.clone(), level: level.clone() };
    let levels = factor.levels.iter().map(|name| labels.under_factor(&level(name)));
    let levels: Vec<String> = levels.collect();
    let comma = if levels.iter().any(|level| level.contains(',')) { "; " } else { ", " };
    format!("{}: {}", labels.factor(&factor.name), levels.join(comma))
}

/// Returns the table of all cells, in the order in which they were measured.
fn cells(result: &StudyResult, labels: &LevelLabels) -> Vec<Block> {
    if result.cells.is_empty() {
        return Vec::new();
    }
    let factors = result.factors.iter().map(|factor| Column::words(labels.factor(&factor.name)));
    let columns = std::iter::once(Column::words("Cell"))
        .chain(factors)
        .chain([Column::words("Client"), Column::number("Took")])
        .chain(Family::BOTH.map(|family| Column::number(format!("{family}, sent"))))
        .chain([Column::words("Warnings"), Column::words("Ended")])
        .collect();
    let rows = result.cells.iter().map(|cell| cell_row(cell, result, labels)).collect();
    let table = Table::new("Cells, in the order of measurement", columns, rows);
    vec![Block::Folded(format!("All {} cells", result.cells.len()), vec![Block::Table(table)])]
}

fn cell_row(cell: &CellResult, result: &StudyResult, labels: &LevelLabels) -> Row {
    let at = |factor: &FactorResult| cell.levels.iter().find(|at| at.factor == factor.name);
    let level = |at: &At| SheetCell::from(labels.under_factor(at));
    let levels = result.factors.iter().map(|of| at(of).map_or_else(SheetCell::none, level));
    let sent = |family| {
        let sent = cell.families.of(family).and_then(|figures| figures.get("sent").copied());
        sent.map_or_else(SheetCell::none, |n| SheetCell::Number(write::write_count(n as u64), n))
    };
    let codes: Vec<&str> = cell.warnings.iter().map(|warning| warning.code.as_str()).collect();
    let cells = levels
        .chain([
            cell.client.as_str().into(),
            SheetCell::Number(write::write_time(cell.took_s * 1e6), cell.took_s),
        ])
        .chain(Family::BOTH.map(sent))
        .chain([codes.join(", ").into(), setting::describe_end(cell.ended).into()]);
    Row::new(cell.id.as_str(), cells.collect())
}

fn setting_of_study(result: &StudyResult) -> Vec<Block> {
    let facts = vec![
        ("Study", format!("{} ({})", result.name, result.file.name)),
        ("SHA-256 of the file", result.file.sha256.clone()),
        ("Seed", result.seed.to_string()),
        ("Last change", setting::when(&result.updated)),
        ("Load of sixmark", describe_fleet(result)),
    ];
    let mut blocks = vec![Block::Table(Table::facts("Settings", facts))];
    blocks.extend(setting::machine(&result.environment, Vec::new(), &result.tool));
    let programs = result.programs.iter();
    let rows: Vec<Row> =
        programs.map(|(name, said)| Row::new(name.as_str(), vec![said.as_str().into()])).collect();
    if !rows.is_empty() {
        let columns = vec![Column::words("Program"), Column::words("Version")];
        blocks.push(Block::Table(Table::new("Other programs", columns, rows)));
    }
    blocks.extend(resumed(result));
    blocks
}

/// Returns how many agents generated the load, and where they are; empty without a fleet.
fn describe_fleet(result: &StudyResult) -> String {
    let numbers: BTreeSet<u32> = result.cells.iter().filter_map(|cell| cell.agents).collect();
    let places = result.fleet.join(", ");
    match (numbers.first(), numbers.last()) {
        (Some(1), Some(1)) => format!("1 agent ({places})"),
        (Some(few), Some(many)) if few == many => format!("{many} agents ({places})"),
        (Some(few), Some(many)) => format!("{few} to {many} agents ({places})"),
        _ => places,
    }
}

fn resumed(result: &StudyResult) -> Option<Block> {
    let row = |of: &sixmark_design::study_result::Resumed| {
        let changes = of.changes.iter().map(|c| format!("{}: {} → {}", c.what, c.before, c.now));
        let changes: Vec<String> = changes.collect();
        let cells = vec![
            SheetCell::Number(of.cells.to_string(), of.cells.into()),
            changes.join("; ").into(),
        ];
        Row::new(setting::when(&of.at), cells)
    };
    let rows: Vec<Row> = result.resumed.iter().map(row).collect();
    let columns = vec![
        Column::words("Resumed"),
        Column::number("After cells"),
        Column::words("Changed since"),
    ];
    (!rows.is_empty()).then(|| Block::Table(Table::new("Interruptions", columns, rows)))
}

/// Formats the report of a study for a terminal.
pub fn study_text(study: &StudyResult) -> String {
    terminal::sheet_text(&sheet("", study))
}

/// Formats the report of a study as Markdown, with all that a page shows except charts.
pub fn study_markdown(study: &StudyResult) -> String {
    markdown::section(&sheet("", study))
}

/// Formats the claims of several studies for a terminal.
pub fn papers_text(studies: &[StudyResult]) -> String {
    terminal::sheet_text(&papers::papers_sheet(studies))
}

/// Formats the claims of several studies as Markdown.
pub fn papers_markdown(studies: &[StudyResult]) -> String {
    markdown::section(&papers::papers_sheet(studies))
}

/// Formats published figures, their recomputed analyses and the claims tested on them for a
/// terminal.
pub fn published_text(of: &ReanalysedStudy) -> String {
    terminal::sheet_text(&published_sheet(of))
}

/// Formats the same as Markdown.
pub fn published_markdown(of: &ReanalysedStudy) -> String {
    markdown::section(&published_sheet(of))
}
