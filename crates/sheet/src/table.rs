//! Tables: their content, independent of the output format.

use sixmark_document::verdict::{Estimate, Verdict};

/// A table. Its first column contains the labels of the rows.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The caption.
    pub caption: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, in groups.
    pub groups: Vec<Group>,
    /// The scale on which each [`SheetCell::Effect`] is drawn, if the table has any.
    pub scale: Option<EffectScale>,
}

/// A column's heading and the kind of its cells.
#[derive(Clone, Debug)]
pub struct Column {
    /// The heading.
    pub name: String,
    /// The kind of the cells, which determines their alignment.
    pub kind: ColumnKind,
    /// Whether a terminal, which is narrow, shows the column.
    pub terminal: bool,
}

/// The kind of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Numbers, aligned right.
    Number,
    /// Words, aligned left.
    Words,
    /// Drawn estimates.
    Drawn,
}

/// Rows that belong together.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The heading of the group, if it has one.
    pub name: Option<String>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row.
#[derive(Clone, Debug)]
pub struct Row {
    /// The cell in the first column.
    pub label: SheetCell,
    /// The cells in the other columns.
    pub cells: Vec<SheetCell>,
    /// Whether a terminal, which is small, shows the row.
    pub terminal: bool,
}

/// The content of a cell.
#[derive(Clone, Debug)]
pub enum SheetCell {
    /// Text.
    Text(String),
    /// A number as shown, and its value for sorting and charts.
    Number(String, f64),
    /// A verdict.
    Verdict(Verdict),
    /// A change with its interval, drawn on the table's scale.
    Effect {
        /// The change, as a share.
        estimate: Estimate,
        /// The margin of equivalence of this row, as a share; `None` if it is that of the scale.
        margin: Option<f64>,
    },
    /// A step of a waterfall, from the total before it to the total after it.
    Step {
        /// Where it begins and ends, as shares of the drawing's width.
        ends: [f64; 2],
        /// What it stands for.
        of: StepOf,
    },
}

/// What a step of a waterfall stands for, which is the colour of its bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOf {
    /// All of a side, by the index of its colour.
    Whole(usize),
    /// A part that was named as a cause.
    Cause,
    /// Another part.
    Part,
}

/// The range of changes that a drawing shows. It is logarithmic: half is as far from the middle as
/// double.
#[derive(Clone, Copy, Debug)]
pub struct EffectScale {
    /// The largest change shown, as a share: 1.0 is double, in which case the smallest is half.
    pub reach: f64,
    /// The margin of equivalence of rows without one of their own, as a share.
    pub margin: f64,
    /// Whether the ends are labelled as ratios, with 1 in the middle, instead of in percent.
    pub ratios: bool,
}

impl EffectScale {
    /// Creates a scale that shows all of `changes`, given as shares, but at most changes of `most`.
    pub fn around(changes: impl Iterator<Item = f64>, most: f64, margin: f64) -> EffectScale {
        let furthest = changes.map(EffectScale::distance).fold(LEAST.ln_1p(), f64::max);
        EffectScale { reach: (1.08 * furthest).exp_m1().min(most), margin, ratios: false }
    }

    /// Returns the scale, labelled as one of ratios.
    #[must_use]
    pub fn of_ratios(self) -> EffectScale {
        EffectScale { ratios: true, ..self }
    }

    /// Returns the distance of a change from no change, on the logarithmic scale: half and double
    /// have the same.
    pub fn distance(change: f64) -> f64 {
        change.ln_1p().abs()
    }

    /// Returns the smallest change shown, as a share: -0.5 if `reach` is 1.0.
    pub fn lowest(&self) -> f64 {
        1.0 / (1.0 + self.reach) - 1.0
    }
}

/// The narrowest scale, as a share.
const LEAST: f64 = 0.02;

impl Table {
    /// Creates a table without groups.
    pub fn new(caption: impl Into<String>, columns: Vec<Column>, rows: Vec<Row>) -> Table {
        let groups = vec![Group { name: None, rows }];
        Table { caption: caption.into(), columns, groups, scale: None }
    }

    /// Creates a table of two columns, settings and values. Empty values are omitted.
    pub fn facts(caption: &str, facts: Vec<(&str, String)>) -> Table {
        let said = facts.into_iter().filter(|(_, value)| !value.is_empty());
        let rows = said.map(|(name, value)| Row::new(name, vec![SheetCell::from(value)])).collect();
        let columns = vec![Column::words("Setting"), Column::words("Value")];
        Table::new(caption, columns, rows)
    }

    /// Returns the table without the columns whose cells are all empty.
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

    /// Iterates over the rows of all groups.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.groups.iter().flat_map(|group| &group.rows)
    }
}

impl Column {
    /// Creates a column of numbers.
    pub fn number(name: impl Into<String>) -> Column {
        Column { name: name.into(), kind: ColumnKind::Number, terminal: true }
    }

    /// Creates a column of words.
    pub fn words(name: impl Into<String>) -> Column {
        Column { name: name.into(), kind: ColumnKind::Words, terminal: true }
    }

    /// Creates a column of drawn estimates.
    pub fn drawn(name: impl Into<String>) -> Column {
        Column { name: name.into(), kind: ColumnKind::Drawn, terminal: true }
    }
}

impl Column {
    /// Returns the column, changed such that a terminal does not show it.
    pub fn off_terminal(self) -> Column {
        Column { terminal: false, ..self }
    }
}

impl Row {
    /// Creates a row.
    pub fn new(label: impl Into<SheetCell>, cells: Vec<SheetCell>) -> Row {
        Row { label: label.into(), cells, terminal: true }
    }

    /// Returns the row, changed such that a terminal does not show it.
    #[must_use]
    pub fn off_terminal(self) -> Row {
        Row { terminal: false, ..self }
    }
}

impl SheetCell {
    /// Returns an empty cell.
    pub fn none() -> SheetCell {
        SheetCell::Text(String::new())
    }

    /// Returns true if the cell is an empty text.
    fn is_empty(&self) -> bool {
        matches!(self, SheetCell::Text(text) if text.is_empty())
    }

    /// Returns the cell as text. A drawing has none: other columns state its numbers.
    pub fn text(&self) -> &str {
        match self {
            SheetCell::Text(text) | SheetCell::Number(text, _) => text,
            SheetCell::Verdict(verdict) => super::write::verdict_word(*verdict),
            SheetCell::Effect { .. } | SheetCell::Step { .. } => "",
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
    fn omits_empty_columns() {
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
