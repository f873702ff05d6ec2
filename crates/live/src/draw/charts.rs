//! The charts of a page: a column for each side, in it one chart above another.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Sparkline, SparklineBar};
use sixmark_sheet::board::{Board, BoardColumn, BoardPage, BoardTrace, TRACE_LENGTH_S};

use super::{bold, column_style};
use crate::ViewColour;

/// The height of a chart with its label, at least and at most.
const HEIGHTS: (u16, u16) = (2, 9);

/// The steps between nothing and the top of a chart.
const STEPS: f64 = 10_000.0;

fn traces(page: &BoardPage) -> u16 {
    page.columns.iter().map(|column| column.traces.len()).max().unwrap_or(0) as u16
}

/// Returns the least height of the charts in which all of them can be seen; 0 if there are none.
pub(super) fn least_height(page: &BoardPage) -> u16 {
    match traces(page) {
        0 => 0,
        count => 1 + HEIGHTS.0 * count,
    }
}

/// Returns the height of the charts if there are `room` rows for them.
pub(super) fn height(page: &BoardPage, room: u16) -> u16 {
    match traces(page) {
        0 => 0,
        count => {
            let each = (room.saturating_sub(1) / count).clamp(HEIGHTS.0, HEIGHTS.1);
            (1 + count * each).min(room)
        }
    }
}

/// Draws the columns.
pub(super) fn draw_charts(frame: &mut Frame<'_>, area: Rect, page: &BoardPage, colour: ViewColour) {
    let widths = vec![Constraint::Fill(1); page.columns.len()];
    let areas = Layout::horizontal(widths).spacing(2).split(area);
    for (number, (column, area)) in page.columns.iter().zip(areas.iter()).enumerate() {
        draw_column(frame, *area, page, (number, column), colour);
    }
}

fn draw_column(
    frame: &mut Frame<'_>,
    area: Rect,
    page: &BoardPage,
    (number, column): (usize, &BoardColumn),
    colour: ViewColour,
) {
    let style = column_style(number, colour);
    let [name, charts] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    frame.render_widget(Line::styled(column.name.as_str(), style.patch(bold())), name);
    let heights = vec![Constraint::Fill(1); column.traces.len()];
    let areas = Layout::vertical(heights).split(charts);
    for (at, (trace, area)) in column.traces.iter().zip(areas.iter()).enumerate() {
        let [label, chart] =
            Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(*area);
        frame.render_widget(label_line(trace, label.width), label);
        let slots = page.span.unwrap_or(TRACE_LENGTH_S);
        let bars = bars(trace, Board::scale(page, at), chart.width, slots);
        let chart_of = Sparkline::default().data(bars).max(STEPS as u64).style(style);
        frame.render_widget(chart_of, chart);
    }
}

/// Returns the name of a figure, its latest value, and the highest one, which is the top of the
/// chart if it is the highest of all columns.
fn label_line(trace: &BoardTrace, width: u16) -> Line<'_> {
    let highest = format!("  max {}", trace.highest);
    let room = usize::from(width).saturating_sub(trace.label.len() + 1 + trace.latest.len());
    let mut spans =
        vec![Span::from(trace.label), Span::from(" "), Span::styled(trace.latest.as_str(), bold())];
    if highest.len() <= room {
        spans.push(Span::from(highest));
    }
    Line::from(spans)
}

/// Returns the bars of a chart, the latest at the right. A value is as many bars wide as `slots`
/// values fit: those of a minute, or of a command that ends before.
fn bars(trace: &BoardTrace, scale: f64, width: u16, slots: usize) -> Vec<SparklineBar> {
    let width = usize::from(width);
    let wide = (width / slots.max(1)).max(1);
    let shown = (width / wide).min(trace.values.len());
    let latest = &trace.values[trace.values.len() - shown..];
    let bar = |value: &Option<f64>| {
        // A value above 0 can be told from none.
        let height = value.map(|value| (value / scale * STEPS).ceil().min(STEPS) as u64);
        std::iter::repeat_n(SparklineBar::from(height), wide)
    };
    let empty = std::iter::repeat_n(SparklineBar::from(Some(0)), width - shown * wide);
    empty.chain(latest.iter().flat_map(bar)).collect()
}
