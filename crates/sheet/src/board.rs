//! What a live view shows while a command runs, independent of how it is drawn.
//!
//! A command makes a new [`Board`] whenever something changes. It contains figures as text and short
//! series of numbers, so that a view neither computes nor judges anything.

use std::time::Duration;

/// The number of values that a trace shows at most: the seconds of a minute.
pub const TRACE_LENGTH_S: usize = 60;

/// What a live view shows at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    /// What is running, in one line.
    pub title: String,
    /// What makes the figures doubtful, the most serious first.
    pub doubts: Vec<String>,
    /// How far the command has come.
    pub progress: BoardProgress,
    /// The pages, of which one is shown at a time.
    pub pages: Vec<BoardPage>,
}

/// How far a command has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoardProgress {
    /// The share that is done, 0 to 1. `None` if the end is not known.
    pub share: Option<f64>,
    /// The same in words, and what is left.
    pub text: String,
}

/// One page of a board.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoardPage {
    /// The name of the page: what its columns are.
    pub name: &'static str,
    /// The columns, side by side.
    pub columns: Vec<BoardColumn>,
    /// Rows below the charts, with one figure for each column.
    pub rows: Vec<BoardRow>,
    /// Lines below the rows, the most important first: those that don't fit are cut off.
    pub lines: Vec<String>,
    /// How many values a chart will have when the command ends, if that is known and fewer than
    /// [`TRACE_LENGTH_S`]: its time axis is as long.
    pub span: Option<usize>,
}

/// One column of a page: a family, a side, a target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoardColumn {
    /// The name of the column.
    pub name: String,
    /// The charts. All columns of a page have the same ones in the same order.
    pub traces: Vec<BoardTrace>,
}

/// A series of values over time, of which the last one is the latest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoardTrace {
    /// The name of the figure.
    pub label: &'static str,
    /// The latest value as text.
    pub latest: String,
    /// The highest value as text.
    pub highest: String,
    /// At most [`TRACE_LENGTH_S`] values of at least 0; `None` where there is none.
    pub values: Vec<Option<f64>>,
}

/// A row of figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoardRow {
    /// The name of the figure.
    pub label: String,
    /// The figure of each column.
    pub figures: Vec<String>,
    /// Whether the figure counts failures, and is not zero.
    pub bad: bool,
}

/// The latest values of a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LastMinute(std::collections::VecDeque<Option<f64>>);

impl LastMinute {
    /// Adds the latest value. Values that are not finite or below 0 are none.
    pub fn push(&mut self, value: Option<f64>) {
        if self.0.len() == TRACE_LENGTH_S {
            self.0.pop_front();
        }
        self.0.push_back(value.filter(|value| value.is_finite() && *value >= 0.0));
    }

    /// Returns the trace; `text` formats its latest value.
    pub fn trace(&self, label: &'static str, text: fn(f64) -> String) -> BoardTrace {
        let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), text);
        let latest = shown(self.0.back().copied().flatten());
        let highest = shown(self.0.iter().flatten().copied().reduce(f64::max));
        BoardTrace { label, latest, highest, values: self.0.iter().copied().collect() }
    }
}

/// Returns how many values there are of a duration, one a second, if they are fewer than
/// [`TRACE_LENGTH_S`].
pub fn span_of(duration: Option<Duration>) -> Option<usize> {
    let seconds = duration?.as_secs_f64().ceil();
    (seconds < TRACE_LENGTH_S as f64).then(|| (seconds as usize).max(1))
}

/// Returns the time since the start, and the time after which the command ends if that is known:
/// `   3 s`, `   3 of 500 s`.
pub fn elapsed_text(seconds: u64, duration: Option<Duration>) -> String {
    match duration {
        Some(duration) => format!("{seconds:>4} of {} s", duration.as_secs_f64()),
        None => format!("{seconds:>4} s"),
    }
}

impl Board {
    /// Returns the largest value of trace number `trace` in all columns of a page: the common scale
    /// of their charts. At least 1e-9, so that it can divide.
    pub fn scale(page: &BoardPage, trace: usize) -> f64 {
        let of = page.columns.iter().filter_map(|column| column.traces.get(trace));
        of.flat_map(|trace| trace.values.iter().flatten().copied()).fold(1e-9, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_only_the_values_of_the_last_minute() {
        let mut minute = LastMinute::default();
        assert_eq!(minute.trace("x", |value| value.to_string()).latest, "-");
        for second in 0..70 {
            minute.push(Some(f64::from(second)));
        }
        let trace = minute.trace("x", |value| value.to_string());
        assert_eq!((trace.values.len(), trace.values[0]), (TRACE_LENGTH_S, Some(10.0)));
        assert_eq!(trace.latest, "69");
        for none in [Some(f64::NAN), Some(-1.0), None] {
            minute.push(none);
            assert_eq!(minute.trace("x", |value| value.to_string()).latest, "-");
        }
    }

    #[test]
    fn columns_have_a_common_scale() {
        let column = |top| BoardColumn {
            traces: vec![BoardTrace { values: vec![None, Some(top)], ..BoardTrace::default() }],
            ..BoardColumn::default()
        };
        let page = BoardPage { columns: vec![column(3.0), column(7.0)], ..BoardPage::default() };
        assert_eq!(Board::scale(&page, 0), 7.0);
        assert!(Board::scale(&page, 1) > 0.0);
    }

    #[test]
    fn the_time_axis_of_a_short_command_spans_its_duration() {
        let spans = [0.2, 9.5, 59.5, 60.0].map(|s| span_of(Some(Duration::from_secs_f64(s))));
        assert_eq!(spans, [Some(1), Some(10), None, None]);
        assert_eq!(span_of(None), None);
    }

    #[test]
    fn shows_elapsed_and_requested_time_in_seconds() {
        assert_eq!(elapsed_text(3, None), "   3 s");
        assert_eq!(elapsed_text(0, Some(Duration::from_secs(500))), "   0 of 500 s");
        assert_eq!(elapsed_text(12, Some(Duration::from_millis(90_500))), "  12 of 90.5 s");
    }
}
