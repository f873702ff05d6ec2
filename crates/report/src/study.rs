//! A study as text and as Markdown: tables with the published figures beside, comparisons, doubts.

mod grid;
mod improvement;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use grid::Grid;
pub use grid::Style;
use sixmark_model::provenance::{Ended, Warning};
use sixmark_model::study::result::{
    Analysis, At, Column, Entry, Finding, Published, PublishedTable, Ratio, StudyComparison,
    StudyResult, Table, Value,
};

use sixmark_units::quantity::count;

/// The whole report; ends with a line feed.
pub fn report(study: &StudyResult, style: Style) -> String {
    let mut text = style.heading(1, &study.title);
    summary(&mut text, study);
    for table in &study.tables {
        text.push_str(&self::table(table, style));
    }
    for comparison in &study.comparisons {
        text.push_str(&self::comparison(comparison, style));
    }
    let tested = study.findings.iter().map(|found| format!("{}: {}", found.text, found.sentence()));
    list(&mut text, "Findings, tested", &tested.collect::<Vec<_>>(), style);
    if let Some(published) = &study.published {
        text.push_str(&source(published, style));
    }
    text.push_str(&doubts(study, style));
    text
}

/// What the published figures say when they are worked out anew.
pub fn reanalysis(published: &Published, style: Style) -> String {
    let mut text = style.heading(1, &published.title);
    let _ = writeln!(text, "{}", published.source);
    if !published.conditions.is_empty() {
        let _ = writeln!(text, "{}", published.conditions);
    }
    for table in &published.tables {
        text.push_str(&published_table(table, style));
    }
    for analysis in &published.analyses {
        text.push_str(&self::analysis(analysis, style));
    }
    list(&mut text, "Published findings", &published.findings, style);
    list(&mut text, "Remarks", &published.remarks, style);
    text
}

/// What was measured, how far it came, and how.
fn summary(text: &mut String, study: &StudyResult) {
    let done = study.cells.len() as u32;
    let all = study.cells_planned;
    let ended = match study.ended {
        Some(Ended::Complete) => "",
        Some(_) => " (interrupted)",
        None => " (not at its end)",
    };
    let quick = if study.quick { ", the short form" } else { "" };
    let times =
        if study.repetitions == 1 { "once".into() } else { format!("{} times", study.repetitions) };
    let _ = writeln!(
        text,
        "{} of {} cells{ended}, each combination {times}{quick}, seed {}",
        count(done.into()),
        count(all.into()),
        study.seed
    );
    let _ = writeln!(text, "{}, {}", study.environment.kernel, study.environment.cpu);
    for (program, version) in &study.programs {
        let _ = writeln!(text, "{program}: {version}");
    }
}

/// One table.
pub fn table(table: &Table, style: Style) -> String {
    let at: Vec<&str> = table.at.iter().map(|at| pretty(&at.level)).collect();
    let title = if at.is_empty() { String::new() } else { format!(" ({})", at.join(", ")) };
    let mut text = style.heading(2, &format!("{}{title}", table.title));
    let mut grid = Grid::new(head(&table.factors, &table.columns), table.factors.len().max(1));
    for row in &table.rows {
        let levels = row.levels.iter().map(|level| pretty(level).to_owned());
        let levels: Vec<String> =
            if row.levels.is_empty() { vec!["measured".into()] } else { levels.collect() };
        let with = |write: fn(&Value, &Column) -> String| {
            let values = row.values.iter().zip(&table.columns);
            values.map(|(value, column)| write(value, column)).collect::<Vec<_>>()
        };
        let width = levels.len();
        grid.row(levels.into_iter().chain(with(measured)).collect());
        if row.values.iter().any(|value| value.published.is_some()) {
            let mut names = vec![String::new(); width];
            names[0] = "  published".to_owned();
            let published = with(|value, column| written(value.published, column));
            grid.row(names.into_iter().chain(published).collect());
        }
        if let Some(better) = table.improvement_below(row) {
            improvement::rows(&mut grid, table, better);
        }
    }
    text.push_str(&grid.render(style));
    for note in improvement::note(table).into_iter().chain(improvement::unlike(table)) {
        let _ = writeln!(text, "{}", style.note(&note));
    }
    if let Some(published) = &table.published {
        let _ = writeln!(text, "{}", style.note(&format!("published: table {published}")));
    }
    for remark in &table.remarks {
        let _ = writeln!(text, "{}", style.note(remark));
    }
    text
}

fn head(factors: &[String], columns: &[Column]) -> Vec<String> {
    let names = if factors.is_empty() { vec![String::new()] } else { factors.to_vec() };
    let labels = columns.iter().map(|column| match column.unit.as_str() {
        "" => column.label.clone(),
        unit => format!("{} [{unit}]", column.label),
    });
    names.into_iter().chain(labels).collect()
}

/// A figure with its interval: `12.34 ±0.56`, where it is even on both sides, else `12.34 [11.9, 13.2]`.
fn measured(value: &Value, column: &Column) -> String {
    let Some(figure) = value.measured else { return "-".to_owned() };
    let text = written(Some(figure), column);
    match (value.low, value.high) {
        (Some(low), Some(high)) if low < high => {
            let (below, above) = (figure - low, high - figure);
            match (below - above).abs() <= 1e-9 * figure.abs().max(above) {
                true => format!("{text} ±{}", four(above)),
                false => format!("{text} [{}, {}]", four(low), four(high)),
            }
        }
        _ => text,
    }
}

fn written(value: Option<f64>, column: &Column) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if column.unit.is_empty() && value.fract() == 0.0 && value.abs() < 1e15 => {
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}{}", count(value.abs() as u64))
        }
        Some(value) => four(value),
    }
}

/// Four digits that matter.
fn four(value: f64) -> String {
    match value.abs() {
        v if (999.95..1e15).contains(&v) => {
            let sign = if value < 0.0 { "-" } else { "" };
            format!("{sign}{}", count(v.round() as u64))
        }
        v if v >= 99.995 => format!("{value:.1}"),
        v if v >= 9.9995 => format!("{value:.2}"),
        v if v >= 0.1 || v == 0.0 => format!("{value:.3}"),
        _ => format!("{value:.5}"),
    }
}

/// Families as people write them.
fn pretty(level: &str) -> &str {
    match level {
        "ipv6" => "IPv6",
        "ipv4" => "IPv4",
        other => other,
    }
}

/// One comparison, the published one below it.
pub fn comparison(comparison: &StudyComparison, style: Style) -> String {
    let mut text = style.heading(2, &comparison.title);
    let (a, b) = (pretty(&comparison.a), pretty(&comparison.b));
    let with = comparison.interaction.as_ref().map(|with| {
        format!(
            " with {} {} over the same with {}",
            with.factor,
            pretty(&with.of),
            pretty(&with.over)
        )
    });
    let _ = writeln!(
        text,
        "{}",
        style.note(&format!(
            "{}, {a} over {b}{}: geometric mean of pairs by {}, 95 % interval",
            comparison.measure,
            with.as_deref().unwrap_or_default(),
            comparison.paired_by.join(" and ")
        ))
    );
    text.push_str(&entries(&comparison.entries, if with.is_some() { "ratio" } else { a }, style));
    if !comparison.published.is_empty() {
        let _ = writeln!(text, "\npublished figures, worked out in the same way:");
        text.push_str(&entries(&comparison.published, a, style));
        for line in [turned(comparison), gone(comparison)].into_iter().flatten() {
            let _ = writeln!(text, "{}", style.note(&line));
        }
    }
    text
}

fn entries(entries: &[Entry], a: &str, style: Style) -> String {
    let head = ["", "ratio", "95 % interval", &format!("{a} higher in"), ""];
    let mut grid = Grid::new(head.map(str::to_owned).to_vec(), 1);
    for entry in entries {
        let ratio = entry.ratio.map_or("-".to_owned(), |ratio| format!("{:.3}", ratio.value));
        let higher = match entry.finding {
            Finding::NotComparable => "-".to_owned(),
            _ => format!("{} of {}", entry.higher, entry.pairs),
        };
        let interval = entry.ratio.as_ref().map_or(String::new(), interval);
        let label = if entry.label.is_empty() { "all".to_owned() } else { entry.label.clone() };
        grid.row(vec![label, ratio, interval, higher, entry.sentence.clone()]);
    }
    grid.render(style)
}

fn interval(ratio: &Ratio) -> String {
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!("{low:.3} to {high:.3}"),
        _ => "none".to_owned(),
    }
}

/// The direction of published figures, where all that have one have the same.
fn direction(published: &[Entry]) -> Option<Finding> {
    let shown = |finding| published.iter().any(|entry| entry.finding == finding);
    match (shown(Finding::Higher), shown(Finding::Lower)) {
        (true, false) => Some(Finding::Higher),
        (false, true) => Some(Finding::Lower),
        _ => None,
    }
}

/// A direction that came out the other way is said, not hidden; but only where the whole interval is
/// beyond the margin, since a difference that does not matter contradicts nobody.
fn turned(comparison: &StudyComparison) -> Option<String> {
    let published = direction(&comparison.published)?;
    let margin = comparison.margin_percent;
    let against = |entry: &Entry| {
        entry.ratio.is_some_and(|ratio| match published {
            Finding::Higher => ratio.is_below(margin),
            _ => ratio.is_above(margin),
        })
    };
    let rows = rows(&comparison.entries, against)?;
    Some(format!("The direction came out the other way than the published figures have it{rows}."))
}

/// A published difference that is none here.
fn gone(comparison: &StudyComparison) -> Option<String> {
    direction(&comparison.published)?;
    let rows = rows(&comparison.entries, |entry| entry.finding == Finding::Equivalent)?;
    let margin = comparison.margin_percent;
    Some(format!("The published difference is not there, within {margin} %{rows}."))
}

/// Which rows something is so in, where it is so in any: all of them need no names.
fn rows(entries: &[Entry], is: impl Fn(&Entry) -> bool) -> Option<String> {
    let labels: Vec<&str> = entries.iter().filter(|e| is(e)).map(|e| e.label.as_str()).collect();
    match labels.len() {
        0 => None,
        all if all == entries.len() => Some(String::new()),
        _ => Some(format!(" in {}", labels.join("; "))),
    }
}

/// Where the published figures are from.
fn source(published: &Published, style: Style) -> String {
    let mut text = style.heading(2, "The published study");
    let _ = writeln!(text, "{}: {}", published.title, published.source);
    if !published.conditions.is_empty() {
        let _ = writeln!(text, "{}", published.conditions);
    }
    let _ = writeln!(
        text,
        "Machines and networks are others here: compare directions and forms, not absolute figures."
    );
    for table in &published.tables {
        for row in &table.rows {
            if let Some(remark) = &row.remark {
                let _ = writeln!(
                    text,
                    "{}",
                    style.note(&format!("{}: {remark}", row.levels.join(", ")))
                );
            }
        }
    }
    list(&mut text, "Published findings", &published.findings, style);
    list(&mut text, "Remarks", &published.remarks, style);
    text
}

fn list(text: &mut String, title: &str, lines: &[String], style: Style) {
    if lines.is_empty() {
        return;
    }
    text.push_str(&style.heading(3, title));
    for line in lines {
        let _ = writeln!(text, "- {line}");
    }
}

fn published_table(table: &PublishedTable, style: Style) -> String {
    let mut text = style.heading(2, &format!("Published: {}", table.title));
    let mut grid = Grid::new(head(&table.factors, &table.columns), table.factors.len());
    for row in &table.rows {
        let values = row.values.iter().zip(&table.columns).enumerate();
        let values = values.map(|(at, (value, column))| match row.ranges.get(at) {
            Some(Some(ends)) => ends.map(|end| written(Some(end), column)).join(" to "),
            _ => written(*value, column),
        });
        grid.row(row.levels.iter().cloned().chain(values).collect());
    }
    text.push_str(&grid.render(style));
    for row in table.rows.iter().filter(|row| row.remark.is_some()) {
        let remark = row.remark.as_deref().unwrap_or_default();
        let _ = writeln!(text, "{}", style.note(&format!("{}: {remark}", row.levels.join(", "))));
    }
    text
}

/// One analysis of published figures.
pub fn analysis(analysis: &Analysis, style: Style) -> String {
    let mut text = style.heading(2, &analysis.title);
    let _ = writeln!(text, "{}", style.note(&analysis.method));
    if !analysis.claim.is_empty() {
        let _ = writeln!(text, "{}", style.note(&format!("claim: {}", analysis.claim)));
    }
    if !analysis.ratios.is_empty() {
        text.push_str(&entries(&analysis.ratios, "IPv6", style));
    }
    if !analysis.shares.is_empty() {
        let head = ["", "first [%]", "second [%]", "difference in points", ""];
        let mut grid = Grid::new(head.map(str::to_owned).to_vec(), 1);
        for share in &analysis.shares {
            let percent = |share: f64| format!("{:.2}", share * 100.0);
            let half = (share.difference.high - share.difference.low) / 2.0;
            let difference = format!("{} ±{}", percent(share.difference.value), percent(half));
            let said = if share.differs { "they differ" } else { "no difference is shown" };
            grid.row(vec![
                share.label.clone(),
                percent(share.a),
                percent(share.b),
                difference,
                said.to_owned(),
            ]);
        }
        text.push_str(&grid.render(style));
    }
    let _ = writeln!(text, "{}", analysis.conclusion);
    text
}

/// Doubts of the study, then those of its cells.
fn doubts(study: &StudyResult, style: Style) -> String {
    let all = study.warnings.iter().cloned().chain(cell_doubts(study));
    let lines = all.map(|warning| format!("{} [{}]", warning.message, warning.code));
    let mut text = String::new();
    list(&mut text, "What makes the figures doubtful", &lines.collect::<Vec<_>>(), style);
    text
}

/// Doubts of cells, one a code, with the first cell that has it.
pub(super) fn cell_doubts(study: &StudyResult) -> Vec<Warning> {
    let mut cells: BTreeMap<&str, (u32, &str, &[At])> = BTreeMap::new();
    for cell in &study.cells {
        for warning in &cell.warnings {
            let first = (0, warning.message.as_str(), cell.levels.as_slice());
            cells.entry(&warning.code).or_insert(first).0 += 1;
        }
    }
    let doubt = |(code, (number, message, at)): (&str, (u32, &str, &[At]))| {
        let at: Vec<_> = at.iter().map(|at| pretty(&at.level)).collect();
        let noun = if number == 1 { "cell" } else { "cells" };
        let message = format!("{number} {noun}, as {}: {message}", at.join(", "));
        Warning { code: code.to_owned(), message }
    };
    cells.into_iter().map(doubt).collect()
}

#[cfg(test)]
mod tests;
