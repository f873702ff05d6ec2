//! The tables in a study's report.

use super::constant::{constant_columns, describe_columns, describe_rows};
use super::rows::{
    factor_columns, labelled, level_names, measured_text, published_cells, with_unit,
};
use super::{improvement, interval, published};
use sixmark_design::levels::LevelLabels;
use sixmark_design::study_result::{Row as AskedRow, Table as Asked, TableValue};
use sixmark_sheet::Block;
use sixmark_sheet::table::{Column, SheetCell, Table};

/// Returns the tables with the notes and remarks below them. Tables of the same name that have the
/// same figures are one, and what applies to all tables of a name is below the last of them.
pub(super) fn table_blocks(all: &[Asked], labels: &LevelLabels) -> Vec<Block> {
    let mut blocks = Vec::new();
    for of_name in all.chunk_by(|one, next| one.name == next.name) {
        let mut notes: Vec<String> = Vec::new();
        for alike in alike_tables(of_name) {
            let Some(first) = alike.first() else { continue };
            blocks.extend(one_table(first, &caption(&alike, labels), labels));
            notes.extend(common_notes(first, labels));
        }
        let mut said: Vec<String> = Vec::new();
        notes.into_iter().for_each(|note| {
            if !said.contains(&note) {
                said.push(note);
            }
        });
        blocks.extend(said.into_iter().map(Block::Text));
    }
    blocks
}

/// Groups tables that have the same figures, in the order of the first of each.
fn alike_tables(all: &[Asked]) -> Vec<Vec<&Asked>> {
    let is_alike = |a: &Asked, b: &Asked| {
        a.rows == b.rows
            && a.columns == b.columns
            && a.improvement == b.improvement
            && (&a.published, &a.beside) == (&b.published, &b.beside)
    };
    let mut found: Vec<Vec<&Asked>> = Vec::new();
    for table in all {
        let same = |known: &&mut Vec<&Asked>| known.first().is_some_and(|one| is_alike(one, table));
        match found.iter_mut().find(same) {
            Some(known) => known.push(table),
            None => found.push(vec![table]),
        }
    }
    found
}

/// Returns the title of tables that have the same figures, with their levels and the statistic:
/// `How connections ended (server nginx; server apache; mean of 5 repetitions)`.
fn caption(alike: &[&Asked], labels: &LevelLabels) -> String {
    let Some(first) = alike.first() else { return String::new() };
    let place = |of: &&Asked| {
        let levels: Vec<String> = of.at.iter().map(|at| labels.with_factor(at)).collect();
        levels.join(", ")
    };
    let values = first.rows.iter().flat_map(|row| &row.values);
    let most = values.map(|value| value.n).max().unwrap_or(0);
    let places = alike.iter().map(place).filter(|place| !place.is_empty());
    let inner: Vec<String> = places.chain(first.statistic.over(most)).collect();
    if inner.is_empty() {
        first.title.clone()
    } else {
        format!("{} ({})", first.title, inner.join("; "))
    }
}

/// Returns a table with the published figures beside the measured ones. Columns that have the same
/// figure in every row are a sentence; if these are all columns, it replaces the table.
fn one_table(of: &Asked, caption: &str, labels: &LevelLabels) -> Vec<Block> {
    let beside: Vec<Vec<usize>> = (0..of.columns.len()).map(|at| published_at(of, at)).collect();
    let constant = constant_columns(of, &beside);
    let said = describe_columns(of, &constant);
    let all_rows = describe_rows(of, labels);
    if !constant.is_empty() && constant.len() == of.columns.len() {
        return vec![Block::Text(format!("{caption}: the same at {all_rows}: {said}."))];
    }
    let shown: Vec<usize> = (0..of.columns.len()).filter(|at| !constant.contains(at)).collect();
    let row = |row: &AskedRow| {
        let cell = |at: &usize| Some(with_published(row.values.get(*at)?, beside.get(*at)?));
        let cells = shown.iter().filter_map(cell).flatten();
        labelled(&level_names(&of.factors, &row.levels, labels), cells)
    };
    let better = |row: &AskedRow| {
        let better = of.improvement_below(row)?;
        Some(improvement::improvement_row(of, better, (&shown, &beside), labels))
    };
    let rows =
        of.rows.iter().flat_map(|one| std::iter::once(row(one)).chain(better(one))).collect();
    let columns = columns(of, &shown, &beside, labels);
    let mut blocks = vec![Block::Table(Table::new(caption, columns, rows))];
    let same = (!constant.is_empty()).then(|| format!("The same at {all_rows}: {said}."));
    blocks.extend(same.into_iter().chain(improvement::unlike(of)).map(Block::Text));
    blocks
}

/// Returns the columns of the factors and, of those to be shown, of the figures.
fn columns(
    of: &Asked,
    shown: &[usize],
    beside: &[Vec<usize>],
    labels: &LevelLabels,
) -> Vec<Column> {
    let mut columns = factor_columns(&of.factors, labels);
    for at in shown {
        let Some((column, beside)) = of.columns.get(*at).zip(beside.get(*at)) else { continue };
        columns.push(Column::number(with_unit(&column.label, &column.unit)));
        let heading = |&at: &usize| match of.beside.get(at).map_or("", String::as_str) {
            "" => Column::number("published"),
            levels => Column::number(format!("published, {levels}")),
        };
        columns.extend(beside.iter().map(heading));
    }
    columns
}

/// Returns what is said below a table and applies to others of its name too.
fn common_notes(of: &Asked, labels: &LevelLabels) -> Vec<String> {
    let beside = || (0..of.columns.len()).any(|at| !published_at(of, at).is_empty());
    let from = of.published.iter().filter(|_| beside());
    let from = from.map(|from| format!("Published: {from}."));
    let notes = interval::note(of).into_iter().chain(from).chain(improvement::note(of, labels));
    notes.chain(of.remarks.iter().cloned()).collect()
}

/// Returns the numbers of the published columns beside the measured column of this number.
fn published_at(of: &Asked, column: usize) -> Vec<usize> {
    let values = || of.rows.iter().filter_map(|row| row.values.get(column));
    let is_there =
        |at: &usize| values().any(|value| value.published.get(*at).is_some_and(Option::is_some));
    (0..of.beside.len()).filter(is_there).collect()
}

/// Returns the measured value with its interval, and the published values of these numbers.
fn with_published(value: &TableValue, beside: &[usize]) -> Vec<SheetCell> {
    let text = measured_text(value).unwrap_or_default();
    let first = match value.measured {
        Some(measured) => SheetCell::Number(text, measured),
        None => text.into(),
    };
    std::iter::once(first).chain(published_cells(value, beside, published::printed)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_design::study_result::{At, Statistic, TableColumn};

    fn column(label: &str) -> TableColumn {
        let (label, unit) = (label.to_owned(), String::new());
        TableColumn {
            label,
            measure: "failed".parse().unwrap(),
            of: None,
            unit,
            family: None,
            at: Vec::new(),
        }
    }

    /// Returns a table of two columns at a level of `server`.
    fn table(server: &str, rows: &[(&str, f64, f64)]) -> Asked {
        let value =
            |figure: f64| TableValue { measured: Some(figure), n: 3, ..TableValue::default() };
        let row = |(level, sent, failed): &(&str, f64, f64)| AskedRow {
            levels: vec![(*level).to_owned()],
            values: vec![value(*sent), value(*failed)],
        };
        Asked {
            name: "ends".into(),
            title: "Ends".into(),
            at: vec![At { factor: "server".into(), level: server.into() }],
            factors: vec!["ratio".into()],
            columns: vec![column("sent"), column("failed")],
            rows: rows.iter().map(row).collect(),
            improvement: None,
            statistic: Statistic::Median,
            published: None,
            beside: Vec::new(),
            remarks: vec!["A remark.".into()],
        }
    }

    /// Returns captions with their columns, and texts.
    fn said(tables: &[Asked]) -> Vec<String> {
        let block = |block: &Block| match block {
            Block::Table(of) => {
                let columns = of.columns.iter().map(|column| column.name.as_str());
                format!("{}: {}", of.caption, columns.collect::<Vec<_>>().join(" "))
            }
            Block::Text(text) => text.clone(),
            other => panic!("{other:?}"),
        };
        table_blocks(tables, &LevelLabels::default()).iter().map(block).collect()
    }

    #[test]
    fn merges_tables_with_the_same_figures_and_prints_a_remark_once() {
        let rows = [("1:1", 5.0, 1.0), ("4:1", 8.0, 2.0)];
        let other = [("1:1", 5.0, 1.0), ("4:1", 8.0, 3.0)];
        let tables = [table("a", &rows), table("b", &other), table("c", &rows)];
        let first = "Ends (server a; server c; median of 3 repetitions): ratio sent failed";
        let second = "Ends (server b; median of 3 repetitions): ratio sent failed";
        assert_eq!(said(&tables), [first, second, "A remark."]);
    }

    #[test]
    fn shows_an_interval_that_begins_at_0_with_a_note() {
        let mut some = table("a", &[("1:1", 5.0, 0.0), ("4:1", 8.0, 0.0)]);
        some.columns[0].measure = "response.p50".parse().unwrap();
        let value = &mut some.rows[0].values[0];
        (value.low, value.high, value.n) = (Some(0.0), Some(12.0), 10);
        let value = some.rows[0].values[0].clone();
        assert_eq!(measured_text(&value).as_deref(), Some("5 (0 to 12)"));
        let said = said(&[some]);
        let note =
            "An interval that begins at 0 has no lower end: the repetitions are too far apart.";
        assert!(said.iter().any(|said| said == note), "{said:?}");
        assert!(!said.iter().any(|said| said.contains("too few")), "{said:?}");
    }

    #[test]
    fn states_a_figure_that_all_rows_share_in_a_sentence() {
        let same = "The same at both levels of ratio: failed 0.";
        let some = table("a", &[("1:1", 5.0, 0.0), ("4:1", 8.0, 0.0)]);
        let caption = "Ends (server a; median of 3 repetitions)";
        assert_eq!(said(&[some]), [&format!("{caption}: ratio sent"), same, "A remark."]);
        let all = table("a", &[("1:1", 5.0, 0.0), ("4:1", 5.0, 0.0)]);
        let sentence = format!("{caption}: the same at both levels of ratio: sent 5, failed 0.");
        assert_eq!(said(&[all]), [sentence.as_str(), "A remark."]);
        let one = table("a", &[("1:1", 5.0, 0.0)]);
        assert_eq!(said(&[one])[0], format!("{caption}: ratio sent failed"));
    }
}
