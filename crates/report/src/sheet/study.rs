//! A study's report.

mod doubts;
mod improvement;
mod published;
mod turned;

use super::write::figure;
use sixmark_model::comparison::{Estimate, Verdict};
use sixmark_model::study::result::{
    CellOrder, CellResult, ComparisonEntry, FindingResult, MeanRatio, RatioFinding,
    StudyComparison, StudyResult, Table as Asked, TableValue,
};
use sixmark_units::family::Family;

use super::side::shown;
use super::table::{Column, EffectScale, Group, Row, SheetCell, Table};
use super::verdict::change_of;
use super::{Block, Part, Sheet, SheetHeadline, lines, setting, write};

/// Ratios that are further from 1 are drawn at the edge.
const FURTHEST: f64 = 1.0;

pub(super) use published::published_sheet;

/// What is shown of a study.
pub(super) fn sheet(name: &str, result: &StudyResult) -> Sheet {
    let parts = [
        Part::new("Findings, tested", findings(result)).map(Part::open),
        Part::new("Comparisons", result.comparisons.iter().flat_map(comparison_blocks).collect())
            .map(Part::open),
        Part::new("Tables", result.tables.iter().flat_map(asked_table).collect()).map(Part::open),
        lines::charts_part(&result.figures),
        result.published.as_ref().and_then(published::published_part),
        Part::new("Cells", cells(result)).map(Part::off_terminal),
        setting::setting_part(setting_of_study(result)),
    ];
    Sheet {
        name: name.to_owned(),
        kind: if result.quick { "Study, quick form" } else { "Study" },
        title: result.title.clone(),
        when: setting::when(&result.started),
        about: describe_study(result),
        headline: study_headline(result),
        tiles: Vec::new(),
        warnings: result.warnings.iter().cloned().chain(doubts::of_cells(result)).collect(),
        parts: parts.into_iter().flatten().collect(),
    }
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
        format!("{} of {} cells", result.cells.len(), result.cells_planned),
        repetitions,
        order.to_owned(),
    ];
    said.extend(result.factors.iter().map(|f| format!("{}: {}", f.name, f.levels.join(", "))));
    said.extend(result.ended.map(|ended| setting::describe_end(ended).to_owned()));
    said.retain(|phrase| !phrase.is_empty());
    said
}

/// The comparison that matters most, in its own words.
fn study_headline(result: &StudyResult) -> SheetHeadline {
    let mut notes = Vec::new();
    let missing =
        result.cells_planned as usize - result.cells.len().min(result.cells_planned as usize);
    if missing > 0 {
        notes.push(format!("{missing} of {} cells are missing.", result.cells_planned));
    }
    if !result.description.is_empty() {
        notes.push(result.description.clone());
    }
    let sentence = match result.comparisons.first().filter(|first| !first.entries.is_empty()) {
        None => format!("{} cells were measured.", result.cells.len()),
        Some(first) => format!("{}: {}.", first.title, describe_entries(&first.entries)),
    };
    // No other finding is a verdict: whether what is higher is better depends on the measure.
    let entries = result.comparisons.first().map_or(&[][..], |first| &first.entries);
    let unlike = |entry: &ComparisonEntry| entry.finding == RatioFinding::NotComparable;
    let none = !entries.is_empty() && entries.iter().all(unlike);
    SheetHeadline { verdict: none.then_some(Verdict::NotComparable), sentence, notes }
}

/// What is said of each, once where it is said of several.
fn describe_entries(entries: &[ComparisonEntry]) -> String {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for ComparisonEntry { label, sentence, .. } in entries {
        let sentence = sentence.trim_end_matches('.');
        match all.iter_mut().find(|(known, _)| *known == sentence) {
            Some((_, labels)) => labels.push(label),
            None => all.push((sentence, vec![label])),
        }
    }
    if let [(sentence, _)] = all.as_slice() {
        return (*sentence).to_owned();
    }
    let one =
        |(sentence, labels): &(&str, Vec<&str>)| format!("{sentence} ({})", labels.join("; "));
    all.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// What was claimed, and what came of it.
fn findings(result: &StudyResult) -> Vec<Block> {
    let number = |value: Option<f64>| {
        value.map_or_else(SheetCell::none, |value| SheetCell::Number(figure(value), value))
    };
    let row = |found: &FindingResult| {
        let interval = found.ratio.and_then(|ratio| Some((ratio.low?, ratio.high?)));
        let interval = interval
            .map_or(String::new(), |(low, high)| format!("{} to {}", figure(low), figure(high)));
        Row {
            label: found.text.clone().into(),
            cells: vec![
                tested(found).into(),
                number(found.ratio.map(|ratio| ratio.value)),
                interval.into(),
                number(found.p),
                number(Some(f64::from(found.blocks))),
            ],
        }
    };
    let rows: Vec<Row> = result.findings.iter().map(row).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let caption = "Confirmed where the whole 95 % interval of the ratio agrees with the claim";
    let columns = vec![
        Column::words("Claim"),
        Column::words("Tested"),
        Column::number("Ratio"),
        Column::number("Interval"),
        Column::number("p"),
        Column::number("Repetitions"),
    ];
    let groups = vec![Group { name: None, rows }];
    vec![Block::Table(Table { caption: caption.to_owned(), columns, groups, scale: None })]
}

/// The verdict, with the reason where nothing can be compared.
fn tested(found: &FindingResult) -> String {
    match &found.unlike {
        Some(_) => format!("≠ {}", found.sentence()),
        None => found.verdict.words().to_owned(),
    }
}

/// What was measured, and what was published of the same.
fn comparison_blocks(of: &StudyComparison) -> Vec<Block> {
    let paired = match of.paired_by.is_empty() {
        true => String::new(),
        false => format!(", paired by {}", of.paired_by.join(" and ")),
    };
    let with = of.interaction.as_ref().map_or(String::new(), |with| {
        format!(" with {} {} to the same with {}", with.factor, shown(&with.of), shown(&with.over))
    });
    let (a, b) = (shown(&of.a), shown(&of.b));
    let caption = format!("{}: {} of {a} to {b}{with}{paired}", of.title, of.measure);
    let mut groups = vec![Group { name: None, rows: entries(&of.entries) }];
    if !of.published.is_empty() {
        groups[0].name = Some("Measured".into());
        let name = Some("Published figures, recomputed".into());
        groups.push(Group { name, rows: entries(&of.published) });
    }
    let all: Vec<&ComparisonEntry> = of.entries.iter().chain(&of.published).collect();
    let scale = Some(scale(&all));
    let table = Block::Table(Table { caption, columns: entry_columns(), groups, scale });
    std::iter::once(table).chain(turned::notes(of).map(Block::Text)).collect()
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

fn entries(all: &[ComparisonEntry]) -> Vec<Row> {
    let row = |entry: &ComparisonEntry| {
        let finding = match entry.finding {
            RatioFinding::Higher => "▲ higher",
            RatioFinding::Lower => "▼ lower",
            RatioFinding::Equivalent => "≈ equivalent",
            RatioFinding::Unshown => "? no difference shown",
            RatioFinding::NotComparable => &format!("≠ {}", entry.sentence),
        };
        // Where the two can't be compared, neither is marked as the higher one.
        let higher = Some(entry.higher).filter(|_| entry.finding != RatioFinding::NotComparable);
        let of_pairs = |n: u32| SheetCell::Number(format!("{n} of {}", entry.pairs), n.into());
        let ratio =
            |ratio: MeanRatio| SheetCell::Number(format!("{:.3}", ratio.value), ratio.value);
        let interval = |ratio: MeanRatio| Some(format!("{:.3} to {:.3}", ratio.low?, ratio.high?));
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

fn scale(entries: &[&ComparisonEntry]) -> EffectScale {
    let ratios = entries.iter().filter_map(|entry| entry.ratio);
    let ends = ratios.flat_map(|r| [r.value, r.low.unwrap_or(1.0), r.high.unwrap_or(1.0)]);
    let furthest = ends.map(|end| (end - 1.0).abs()).fold(0.02, f64::max);
    EffectScale { reach: (1.08 * furthest).min(FURTHEST), margin: 0.0 }
}

/// A table with what was published beside what was measured, and its remarks.
fn asked_table(of: &Asked) -> Vec<Block> {
    let mut columns = factor_columns(&of.factors);
    let beside: Vec<bool> = (0..of.columns.len())
        .map(|at| {
            of.rows.iter().any(|row| row.values.get(at).is_some_and(|v| v.published.is_some()))
        })
        .collect();
    for (column, &beside) in of.columns.iter().zip(&beside) {
        columns.push(Column::number(with_unit(&column.label, &column.unit)));
        if beside {
            columns.push(Column::number("published"));
        }
    }
    let row = |row: &sixmark_model::study::result::Row| {
        let values = row.values.iter().zip(&beside);
        labelled(&row.levels, values.flat_map(|(value, &beside)| pair(value, beside)))
    };
    let at: Vec<String> = of.at.iter().map(|at| format!("{} {}", at.factor, at.level)).collect();
    let at = if at.is_empty() { String::new() } else { format!(" ({})", at.join(", ")) };
    let better = |row: &sixmark_model::study::result::Row| {
        let better = of.improvement_below(row)?;
        Some(improvement::improvement_row(of, better, &beside))
    };
    let rows =
        of.rows.iter().flat_map(|one| std::iter::once(row(one)).chain(better(one))).collect();
    let mut blocks = vec![Block::Table(Table::new(format!("{}{at}", of.title), columns, rows))];
    blocks.extend(of.published.iter().map(|from| Block::Text(format!("Published: {from}."))));
    blocks
        .extend(improvement::note(of).into_iter().chain(improvement::unlike(of)).map(Block::Text));
    blocks.extend(of.remarks.iter().cloned().map(Block::Text));
    blocks
}

fn factor_columns(factors: &[String]) -> Vec<Column> {
    match factors.is_empty() {
        true => vec![Column::words("")],
        false => factors.iter().map(Column::words).collect(),
    }
}

/// A row whose first columns name levels.
fn labelled(levels: &[String], cells: impl Iterator<Item = SheetCell>) -> Row {
    let label = levels.first().map_or("", String::as_str);
    let others = levels.iter().skip(1).map(|level| SheetCell::from(level.as_str()));
    Row::new(label, others.chain(cells).collect())
}

/// What was measured with its interval, and what was published.
fn pair(value: &TableValue, beside: bool) -> Vec<SheetCell> {
    let interval = match (value.low, value.high) {
        (Some(low), Some(high)) if low < high => {
            format!(" ({} to {})", figure(low), figure(high))
        }
        _ => String::new(),
    };
    let measured = |v: f64| SheetCell::Number(figure(v) + &interval, v);
    let published = |v: f64| SheetCell::Number(figure(v), v);
    let first = value.measured.map_or_else(SheetCell::none, measured);
    let second = beside.then(|| value.published.map_or_else(SheetCell::none, published));
    std::iter::once(first).chain(second).collect()
}

fn with_unit(label: &str, unit: &str) -> String {
    if unit.is_empty() { label.to_owned() } else { format!("{label}, {unit}") }
}

/// Every cell, in the order in which they were measured.
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
        ("Its file’s SHA-256", result.file.sha256.clone()),
        ("Seed", result.seed.to_string()),
        ("Last change", setting::when(&result.updated)),
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

fn resumed(result: &StudyResult) -> Option<Block> {
    let row = |of: &sixmark_model::study::result::Resumed| {
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
        Column::words("Went on"),
        Column::number("After cells"),
        Column::words("Changed since"),
    ];
    (!rows.is_empty()).then(|| Block::Table(Table::new("Interruptions", columns, rows)))
}
