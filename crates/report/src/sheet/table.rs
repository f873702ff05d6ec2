//! Tables: what they hold, not what they look like.

use sixmark_model::comparison::{Estimate, Verdict};

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

/// The range of ratios that estimates are drawn on.
#[derive(Clone, Copy, Debug)]
pub struct EffectScale {
    /// The lowest and the highest change, as a share: -0.1 to 0.1.
    pub reach: f64,
    /// What counts as equivalent, as a share.
    pub margin: f64,
}

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
