//! A study's report.

mod cell_doubts;
mod claims;
mod headline;
mod imported;
mod improvement;
mod instruments;
mod interval;
pub mod lines;
mod omitted;
mod papers;
mod published;
mod turned;
mod uncontrolled;

use std::collections::BTreeSet;

use crate::levels::label_level;
use crate::study_result::{
    At, CellOrder, CellResult, ComparisonEntry, MeanRatio, PrintedFigure, RatioFinding,
    ReanalysedStudy, StudyComparison, StudyResult, Table as Asked, TableValue,
};
use sixmark_document::verdict::Estimate;
use sixmark_record::metric::Metric;
use sixmark_sheet::write::figure;
use sixmark_sheet::{markdown, terminal};
use sixmark_units::family::Family;

use sixmark_record::sheet::families::change_of;
use sixmark_record::sheet::side::shown;
use sixmark_sheet::table::{Column, EffectScale, Group, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, Sheet, setting, write};

/// The highest change on the drawn scale, a ratio of 10; the lowest is a ratio of 1/10. Ratios
/// beyond them are drawn at the edge.
const FURTHEST: f64 = 9.0;

pub use omitted::describe_omitted;
pub(super) use published::published_sheet;

/// Returns the report of a study.
pub fn sheet(name: &str, result: &StudyResult) -> Sheet {
    let parts = [
        Part::new("Claims", claims::claims_table(&result.claims)).map(Part::open),
        lines::charts_part(&result.figures),
        Part::new("What it measures", description(result)).map(Part::open),
        Part::new("How this differs from the paper", published::list(&result.differences)),
        Part::new("What is omitted", omitted::list(&result.omitted)),
        Part::new("What is not controlled", uncontrolled::blocks(result)),
        Part::new("Comparisons", result.comparisons.iter().flat_map(comparison_blocks).collect())
            .map(Part::open),
        Part::new("Tables", result.tables.iter().flat_map(asked_table).collect()).map(Part::open),
        instruments::instruments_part(result),
        result.published.as_ref().and_then(published::published_part),
        Part::new("Imported cells", imported::imported_blocks(result)),
        Part::new("Cells", cells(result)).map(Part::off_terminal),
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
        about: describe_study(result),
        headline: headline::study_headline(result),
        tiles: Vec::new(),
        warnings: result.warnings.iter().cloned().chain(cell_doubts::of_cells(result)).collect(),
        parts: parts.into_iter().flatten().collect(),
    }
}

/// Returns the description as a block; no block if it is empty.
fn description(result: &StudyResult) -> Vec<Block> {
    let words = result.description.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() { Vec::new() } else { vec![Block::Text(words)] }
}

fn describe_study(result: &StudyResult) -> Vec<String> {
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
    said.push(describe_fleet(result));
    said.extend(result.factors.iter().map(|f| format!("{}: {}", f.name, f.levels.join(", "))));
    said.extend(result.ended.map(|ended| setting::describe_end(ended).to_owned()));
    said.retain(|phrase| !phrase.is_empty());
    said
}

/// Returns the table of a comparison, with published entries about the same, and the notes below
/// it.
fn comparison_blocks(of: &StudyComparison) -> Vec<Block> {
    let paired = match of.paired_by.is_empty() {
        true => String::new(),
        false => format!(", paired by {}", of.paired_by.join(" and ")),
    };
    let with = of.interaction.as_ref().map_or(String::new(), |with| {
        format!(", with {} {} vs {}", with.factor, shown(&with.of), shown(&with.over))
    });
    let [a, b] = [&of.a, &of.b].map(|level| side_name(&of.factor, level));
    let title = of.title.to_lowercase();
    let named = [of.measure.noun(), format!("{a} vs {b}")].into_iter();
    // Only what the title does not say already is added to it.
    let more = named.filter(|words| !title.contains(&words.to_lowercase()));
    let more: Vec<String> = std::iter::once(of.title.clone()).chain(more).collect();
    let caption = format!("{}{with}{paired}", more.join(", "));
    let few = match of.paired_by.iter().any(|by| by == "repetition") {
        true => "too few repetitions",
        false => "too few pairs",
    };
    let mut groups = vec![Group { name: None, rows: entries(&of.entries, few) }];
    if !of.published.is_empty() {
        groups[0].name = Some("Measured".into());
        let name = Some("Published figures, recomputed".into());
        groups.push(Group { name, rows: entries(&of.published, "too few pairs") });
    }
    let all: Vec<&ComparisonEntry> = of.entries.iter().chain(&of.published).collect();
    let scale = Some(scale(&all));
    let table = Block::Table(Table { caption, columns: entry_columns(), groups, scale });
    let notes = unlike_notes(&of.entries).into_iter().chain(turned::notes(of));
    std::iter::once(table).chain(notes.map(Block::Text)).collect()
}

fn side_name(factor: &str, level: &str) -> String {
    label_level(&At { factor: factor.to_owned(), level: level.to_owned() })
}

/// Returns a note for each entry that is not comparable, because a column has no room for the
/// reason.
fn unlike_notes(all: &[ComparisonEntry]) -> Vec<String> {
    let unlike = all.iter().filter(|entry| entry.finding == RatioFinding::NotComparable);
    let note = |entry: &ComparisonEntry| match entry.label.as_str() {
        "" => write::write_sentence(&entry.sentence),
        label => format!("{label}: {}.", entry.sentence),
    };
    unlike.map(note).collect()
}

fn entry_columns() -> Vec<Column> {
    vec![
        Column::words(""),
        Column::words("Finding"),
        Column::number("Higher in"),
        Column::number("Ratio"),
        Column::number("Interval"),
        Column::drawn("Change"),
    ]
}

/// Returns a row for each entry. `few` replaces an interval that is too wide to be shown.
fn entries(all: &[ComparisonEntry], few: &str) -> Vec<Row> {
    let row = |entry: &ComparisonEntry| {
        let finding = match entry.finding {
            RatioFinding::Higher => "▲ higher",
            RatioFinding::Lower => "▼ lower",
            RatioFinding::Equivalent => "≈ equivalent",
            RatioFinding::Unshown => "? inconclusive",
            RatioFinding::NotComparable => "≠ not comparable",
        };
        // Where the two can't be compared, neither is marked as the higher one.
        let higher = Some(entry.higher).filter(|_| entry.finding != RatioFinding::NotComparable);
        let of_pairs = |n: u32| SheetCell::Number(format!("{n} of {}", entry.pairs), n.into());
        let ratio =
            |ratio: MeanRatio| SheetCell::Number(interval::write_ratio(ratio.value), ratio.value);
        let interval = |ratio: MeanRatio| interval::of_ratio(ratio, few);
        let drawn = |ratio: MeanRatio| {
            let (low, high) = (ratio.low.unwrap_or(ratio.value), ratio.high.unwrap_or(ratio.value));
            SheetCell::Effect(change_of(Estimate { value: ratio.value, low, high }))
        };
        let cells = vec![
            finding.into(),
            higher.map_or_else(SheetCell::none, of_pairs),
            entry.ratio.map_or_else(SheetCell::none, ratio),
            entry.ratio.and_then(interval).unwrap_or_default().into(),
            entry.ratio.map_or_else(SheetCell::none, drawn),
        ];
        Row::new(if entry.label.is_empty() { "all" } else { entry.label.as_str() }, cells)
    };
    all.iter().map(row).collect()
}

/// Returns a scale that is wide enough for all ratios and their intervals, except intervals that
/// are too wide to be shown.
fn scale(entries: &[&ComparisonEntry]) -> EffectScale {
    let ratios = entries.iter().filter_map(|entry| entry.ratio);
    let ends = ratios.flat_map(|r| match interval::is_too_wide(r) {
        true => [r.value; 3],
        false => [r.value, r.low.unwrap_or(1.0), r.high.unwrap_or(1.0)],
    });
    EffectScale::around(ends.map(|ratio| ratio - 1.0), FURTHEST, 0.0)
}

/// Returns a table with the published figures beside the measured ones, and the notes and remarks
/// below it.
fn asked_table(of: &Asked) -> Vec<Block> {
    let mut columns = factor_columns(&of.factors);
    let beside: Vec<Vec<usize>> = (0..of.columns.len()).map(|at| published_at(of, at)).collect();
    for (column, beside) in of.columns.iter().zip(&beside) {
        columns.push(Column::number(with_unit(&column.label, &column.unit)));
        let heading = |&at: &usize| match of.beside.get(at).map_or("", String::as_str) {
            "" => Column::number("published"),
            levels => Column::number(format!("published, {levels}")),
        };
        columns.extend(beside.iter().map(heading));
    }
    let row = |row: &crate::study_result::Row| {
        let values = row.values.iter().zip(&of.columns).zip(&beside);
        let cells =
            values.flat_map(|((value, of), beside)| with_published(value, of.measure, beside));
        labelled(&row.levels, cells)
    };
    let at: Vec<String> =
        of.at.iter().map(|at| format!("{} {}", at.factor, shown(&at.level))).collect();
    let at = if at.is_empty() { String::new() } else { format!(" ({})", at.join(", ")) };
    let better = |row: &crate::study_result::Row| {
        let better = of.improvement_below(row)?;
        Some(improvement::improvement_row(of, better, &beside))
    };
    let rows =
        of.rows.iter().flat_map(|one| std::iter::once(row(one)).chain(better(one))).collect();
    let mut blocks = vec![Block::Table(Table::new(format!("{}{at}", of.title), columns, rows))];
    blocks.extend(interval::note(of).map(Block::Text));
    let from = of.published.iter().filter(|_| beside.iter().any(|there| !there.is_empty()));
    blocks.extend(from.map(|from| Block::Text(format!("Published: {from}."))));
    blocks
        .extend(improvement::note(of).into_iter().chain(improvement::unlike(of)).map(Block::Text));
    blocks.extend(of.remarks.iter().cloned().map(Block::Text));
    blocks
}

/// Returns the numbers of the published columns beside the measured column of this number.
fn published_at(of: &Asked, column: usize) -> Vec<usize> {
    let values = || of.rows.iter().filter_map(|row| row.values.get(column));
    let is_there =
        |at: &usize| values().any(|value| value.published.get(*at).is_some_and(Option::is_some));
    (0..of.beside.len()).filter(is_there).collect()
}

fn factor_columns(factors: &[String]) -> Vec<Column> {
    match factors.is_empty() {
        true => vec![Column::words("")],
        false => factors.iter().map(Column::words).collect(),
    }
}

/// Creates a row whose first columns name levels.
fn labelled(levels: &[String], cells: impl Iterator<Item = SheetCell>) -> Row {
    let label = levels.first().map_or("", String::as_str);
    let others = levels.iter().skip(1).map(|level| SheetCell::from(level.as_str()));
    Row::new(label, others.chain(cells).collect())
}

/// Returns the measured value with its interval, and the published values of these numbers.
fn with_published(value: &TableValue, measure: Metric, beside: &[usize]) -> Vec<SheetCell> {
    let measured = |v: f64| SheetCell::Number(figure(v) + &interval::of_value(value, measure), v);
    let missing = || value.missing.map_or_else(SheetCell::none, |why| why.word().into());
    let first = value.measured.map_or_else(missing, measured);
    std::iter::once(first).chain(published_cells(value, beside, published::printed)).collect()
}

/// Returns the cells of the published values of these numbers.
fn published_cells<'a>(
    value: &'a TableValue,
    beside: &'a [usize],
    cell: impl Fn(&PrintedFigure) -> SheetCell + 'a,
) -> impl Iterator<Item = SheetCell> + 'a {
    let there = move |at: &usize| value.published.get(*at).and_then(Option::as_ref);
    beside.iter().map(move |at| there(at).map_or_else(SheetCell::none, &cell))
}

fn with_unit(label: &str, unit: &str) -> String {
    if unit.is_empty() { label.to_owned() } else { format!("{label}, {unit}") }
}

/// Returns the table of all cells, in the order in which they were measured.
fn cells(result: &StudyResult) -> Vec<Block> {
    if result.cells.is_empty() {
        return Vec::new();
    }
    let factors = result.factors.iter().map(|factor| Column::words(&factor.name));
    let columns = std::iter::once(Column::words("Cell"))
        .chain(factors)
        .chain([Column::words("Client"), Column::number("Took")])
        .chain(Family::BOTH.map(|family| Column::number(format!("{family}, sent"))))
        .chain([Column::words("Warnings"), Column::words("Ended")])
        .collect();
    let rows = result.cells.iter().map(|cell| cell_row(cell, result)).collect();
    let table = Table::new("Cells, in the order of measurement", columns, rows);
    vec![Block::Folded(format!("All {} cells", result.cells.len()), vec![Block::Table(table)])]
}

fn cell_row(cell: &CellResult, result: &StudyResult) -> Row {
    let levels =
        result.factors.iter().map(|f| SheetCell::from(cell.level(&f.name).unwrap_or_default()));
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
    let row = |of: &crate::study_result::Resumed| {
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
