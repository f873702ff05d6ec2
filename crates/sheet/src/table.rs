//! Tables: what they hold, not what they look like.

use sixmark_document::verdict::{Estimate, Verdict};

/// Rows under a head. The first column names the row.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows.
    pub groups: Vec<Group>,
    /// Where [`SheetCell::Effect`] is drawn on, where there is any.
    pub scale: Option<EffectScale>,
}

/// A column's name, and what is in it.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its head.
    pub name: String,
    /// How it is aligned.
    pub kind: ColumnKind,
    /// Whether a terminal, which is narrow, shows it too.
    pub terminal: bool,
}

/// What is in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Numbers, which stand right.
    Number,
    /// Words, which stand left.
    Words,
    /// Drawn estimates, which need room.
    Drawn,
}

/// Rows that belong together.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// What they are of, where that is not the table's caption.
    pub name: Option<String>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it is of: the first column.
    pub label: SheetCell,
    /// The other columns.
    pub cells: Vec<SheetCell>,
}

/// One figure or word.
#[derive(Clone, Debug)]
pub enum SheetCell {
    /// As it is.
    Text(String),
    /// A number for people, and the same as charts have it.
    Number(String, f64),
    /// What is said of a metric.
    Verdict(Verdict),
    /// A ratio with its interval, drawn on the table's scale.
    Effect(Estimate),
}

/// The range of ratios that estimates are drawn on, by their logarithm: half is as far from the middle as
/// double.
#[derive(Clone, Copy, Debug)]
pub struct EffectScale {
    /// The highest change, as a share: 1.0 is double, and the lowest is then half.
    pub reach: f64,
    /// What counts as equivalent, as a share.
    pub margin: f64,
}

impl EffectScale {
    /// Wide enough for changes as shares, and no wider than `most`.
    pub fn around(changes: impl Iterator<Item = f64>, most: f64, margin: f64) -> EffectScale {
        let furthest = changes.map(EffectScale::distance).fold(LEAST.ln_1p(), f64::max);
        EffectScale { reach: (1.08 * furthest).exp_m1().min(most), margin }
    }

    /// How far a change is from none: that of a half is that of a double.
    pub fn distance(change: f64) -> f64 {
        change.ln_1p().abs()
    }

    /// The lowest change, as a share: of double it is half.
    pub fn lowest(&self) -> f64 {
        1.0 / (1.0 + self.reach) - 1.0
    }
}

/// The narrowest scale, as a share.
const LEAST: f64 = 0.02;

impl Table {
    /// A table without groups.
    pub fn new(caption: impl Into<String>, columns: Vec<Column>, rows: Vec<Row>) -> Table {
        let groups = vec![Group { name: None, rows }];
        Table { caption: caption.into(), columns, groups, scale: None }
    }

    /// Two columns of words.
    pub fn facts(caption: &str, facts: Vec<(&str, String)>) -> Table {
        let said = facts.into_iter().filter(|(_, value)| !value.is_empty());
        let rows = said.map(|(name, value)| Row::new(name, vec![SheetCell::from(value)])).collect();
        let columns = vec![Column::words("Setting"), Column::words("Value")];
        Table::new(caption, columns, rows)
    }

    /// The same without the columns in which no row has anything.
    #[must_use]
    pub fn without_empty_columns(mut self) -> Table {
        let has_any = |at: usize| {
            let is_said = |row: &Row| row.cells.get(at).is_some_and(|cell| !cell.is_empty());
            self.rows().any(is_said)
        };
        let kept: Vec<bool> = (1..self.columns.len()).map(|at| has_any(at - 1)).collect();
        let mut heads = std::iter::once(true).chain(kept.iter().copied());
        self.columns.retain(|_| heads.next().unwrap_or(true));
        for row in self.groups.iter_mut().flat_map(|group| &mut group.rows) {
            let mut cells = kept.iter().copied();
            row.cells.retain(|_| cells.next().unwrap_or(true));
        }
        self
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.groups.iter().flat_map(|group| &group.rows)
    }
}

impl Column {
    /// Of numbers.
    pub fn number(name: impl Into<String>) -> Column {
        Column { name: name.into(), kind: ColumnKind::Number, terminal: true }
    }

    /// Of words.
    pub fn words(name: impl Into<String>) -> Column {
        Column { name: name.into(), kind: ColumnKind::Words, terminal: true }
    }

    /// Of drawn estimates.
    pub fn drawn(name: impl Into<String>) -> Column {
        Column { name: name.into(), kind: ColumnKind::Drawn, terminal: true }
    }
}

impl Column {
    /// The same, which no terminal shows.
    pub fn off_terminal(self) -> Column {
        Column { terminal: false, ..self }
    }
}

impl Row {
    /// A row.
    pub fn new(label: impl Into<SheetCell>, cells: Vec<SheetCell>) -> Row {
        Row { label: label.into(), cells }
    }
}

impl SheetCell {
    /// A cell with nothing in it.
    pub fn none() -> SheetCell {
        SheetCell::Text(String::new())
    }

    /// Whether there is nothing in it.
    fn is_empty(&self) -> bool {
        matches!(self, SheetCell::Text(text) if text.is_empty())
    }

    /// What is in it, in words; an estimate is told by other columns.
    pub fn text(&self) -> &str {
        match self {
            SheetCell::Text(text) | SheetCell::Number(text, _) => text,
            SheetCell::Verdict(verdict) => super::write::verdict_word(*verdict),
            SheetCell::Effect(_) => "",
        }
    }
}

impl From<String> for SheetCell {
    fn from(text: String) -> SheetCell {
        SheetCell::Text(text)
    }
}

impl From<&str> for SheetCell {
    fn from(text: &str) -> SheetCell {
        SheetCell::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_in_which_nothing_stands_are_left_out() {
        let columns = vec![Column::words("Name"), Column::number("a"), Column::number("b")];
        let rows = vec![
            Row::new("x", vec![SheetCell::none(), SheetCell::Number("1".into(), 1.0)]),
            Row::new("y", vec![SheetCell::none(), SheetCell::none()]),
        ];
        let table = Table::new("", columns, rows).without_empty_columns();
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["Name", "b"]);
        let cells: Vec<_> = table.rows().map(|row| row.cells.len()).collect();
        assert_eq!((cells, table.groups[0].rows[0].cells[0].text()), (vec![1, 1], "1"));
    }
}
