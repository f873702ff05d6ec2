//! Timelines: what happened in parallel, a row for each, from a common begin on.

use crate::table::{Column, Row, SheetCell, Table};
use crate::write::write_time;

/// What happened in parallel over some time. All times are in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The title.
    pub title: String,
    /// A sentence that says what there is to be seen.
    pub about: String,
    /// When the picture ends.
    pub to_ms: f64,
    /// The rows, from the top.
    pub rows: Vec<TimelineRow>,
}

/// A row of a timeline.
#[derive(Clone, Debug, Default)]
pub struct TimelineRow {
    /// What it is about.
    pub label: String,
    /// The index of its colour: 0 for IPv6, 1 for IPv4, or [`crate::BOTH_PLACE`].
    pub side: usize,
    /// The bar; `None` if there is none this time.
    pub bar: Option<TimelineBar>,
    /// When the same began at other times: faint ticks.
    pub others_ms: Vec<f64>,
}

/// A bar of a timeline.
#[derive(Clone, Debug)]
pub struct TimelineBar {
    /// When it begins.
    pub from_ms: f64,
    /// When it ends.
    pub to_ms: f64,
    /// How it ends.
    pub end: BarEnd,
    /// The moments after its end that are marked.
    pub marks: Vec<TimelineMark>,
}

/// How a bar ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarEnd {
    /// What it waited for came.
    Reached,
    /// It failed.
    Failed,
    /// It was given up.
    GivenUp,
    /// It did not end while it was watched.
    Open,
}

/// A moment that is marked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelineMark {
    /// When it was.
    pub at_ms: f64,
    /// What it was.
    pub kind: MarkKind,
}

/// What a mark stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// A question was sent.
    Asked,
    /// All that was asked for is there.
    Complete,
}

impl BarEnd {
    /// Returns its words in tables and keys.
    pub fn word(self) -> &'static str {
        match self {
            BarEnd::Reached => "reached",
            BarEnd::Failed => "failed",
            BarEnd::GivenUp => "given up",
            BarEnd::Open => "no end",
        }
    }
}

impl MarkKind {
    /// Returns its word in tables and keys.
    pub fn word(self) -> &'static str {
        match self {
            MarkKind::Asked => "request",
            MarkKind::Complete => "content",
        }
    }
}

impl Timeline {
    /// Returns the data as a table.
    pub fn table(&self) -> Table {
        let columns = vec![
            Column::words("What"),
            Column::number("From"),
            Column::number("To"),
            Column::words("End"),
            Column::number("Request"),
            Column::number("Content"),
        ];
        let rows = self.rows.iter().filter_map(|of| Some(data_row(of, of.bar.as_ref()?)));
        Table::new(self.title.as_str(), columns, rows.collect())
    }
}

fn data_row(of: &TimelineRow, bar: &TimelineBar) -> Row {
    let time = |ms: Option<f64>| match ms {
        Some(ms) => SheetCell::Number(write_time(ms * 1e3), ms),
        None => SheetCell::none(),
    };
    let mark = |kind| bar.marks.iter().find(|of| of.kind == kind).map(|of| of.at_ms);
    Row::new(
        of.label.as_str(),
        vec![
            time(Some(bar.from_ms)),
            time((bar.end != BarEnd::Open).then_some(bar.to_ms)),
            bar.end.word().into(),
            time(mark(MarkKind::Asked)),
            time(mark(MarkKind::Complete)),
        ],
    )
}

/// Returns round moments for the axis of a picture that ends at some time, in milliseconds: three to six of
/// them, from 0 on.
pub fn axis_moments(to_ms: f64) -> Vec<f64> {
    if !(to_ms.is_finite() && to_ms > 0.0) {
        return vec![0.0];
    }
    let power = 10_f64.powf((to_ms / 6.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|of| of * power).find(|of| to_ms / of <= 6.0);
    let step = step.unwrap_or(to_ms);
    (0..=6_u32).map(|at| f64::from(at) * step).filter(|at| *at <= to_ms).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_a_few_round_moments() {
        assert_eq!(axis_moments(13.0), [0.0, 5.0, 10.0]);
        assert_eq!(axis_moments(216.0), [0.0, 50.0, 100.0, 150.0, 200.0]);
        assert_eq!(axis_moments(15_003.0), [0.0, 5_000.0, 10_000.0, 15_000.0]);
        assert_eq!(axis_moments(0.0), [0.0]);
        assert_eq!(axis_moments(f64::NAN), [0.0]);
    }

    #[test]
    fn the_table_leaves_out_an_end_that_was_not_seen() {
        let bar = TimelineBar { from_ms: 1.0, to_ms: 9.0, end: BarEnd::Open, marks: Vec::new() };
        let row = TimelineRow { label: "x".into(), bar: Some(bar), ..TimelineRow::default() };
        let rows = vec![row, TimelineRow::default()];
        let table = Timeline { rows, to_ms: 9.0, ..Timeline::default() }.table();
        let cells: Vec<&str> = table.rows().flat_map(|of| &of.cells).map(SheetCell::text).collect();
        assert_eq!(cells, ["1.00\u{a0}ms", "", "no end", "", ""]);
    }
}
