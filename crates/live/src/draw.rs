//! Drawing a board.

mod charts;
mod table;
#[cfg(test)]
mod tests;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, LineGauge, Paragraph};
use sixmark_sheet::board::{Board, BoardPage, BoardProgress};

use crate::{SMALLEST, ViewColour, ViewState};

/// The keys and what they do. The second one is shown only if the command can pause.
const KEYS: [(&str, &str); 4] =
    [("q", "end, keep what is measured"), ("p", "pause"), ("tab", "next page"), ("?", "keys")];

/// Draws a board: what makes it doubtful first, then what runs, how far it is, the charts, the rows,
/// and the keys. A screen that is too small for that shows the first lines alone.
pub fn draw_board(frame: &mut Frame<'_>, board: &Board, state: &ViewState) {
    let area = frame.area();
    let doubted = u16::from(!board.doubts.is_empty());
    let heights = [doubted, 1, 1].map(Constraint::Length);
    let [doubt, title, progress, body, keys] = Layout::vertical([
        heights[0],
        heights[1],
        heights[2],
        Constraint::Min(0),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(doubt_line(&board.doubts, state.colour), doubt);
    frame.render_widget(Line::from(board.title.as_str()), title);
    draw_progress(frame, progress, &board.progress);
    if (area.width, area.height) < SMALLEST && area.height < SMALLEST.1 / 2 {
        return;
    }
    let page = page_of(board, state);
    if let Some(page) = page {
        draw_page(frame, body, page, state.colour);
    }
    frame.render_widget(key_line(board, page, state), keys);
    if state.help {
        draw_help(frame, body, state);
    }
}

/// Returns the page that is shown.
fn page_of<'a>(board: &'a Board, state: &ViewState) -> Option<&'a BoardPage> {
    board.pages.get(state.page.checked_rem(board.pages.len())?)
}

fn doubt_line(doubts: &[String], colour: ViewColour) -> Line<'_> {
    let Some(first) = doubts.first() else { return Line::default() };
    let more = match doubts.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    Line::styled(format!("DOUBTFUL: {first}{more}"), alarm(colour))
}

fn draw_progress(frame: &mut Frame<'_>, area: Rect, progress: &BoardProgress) {
    let Some(share) = progress.share else {
        return frame.render_widget(Line::from(progress.text.as_str()), area);
    };
    let gauge = LineGauge::default()
        .ratio(share.clamp(0.0, 1.0))
        .label(progress.text.as_str())
        .filled_style(bold())
        .unfilled_style(Style::new().add_modifier(Modifier::DIM));
    frame.render_widget(gauge, area);
}

/// Draws the charts above, the rows below them, and as many lines as there is room for.
fn draw_page(frame: &mut Frame<'_>, area: Rect, page: &BoardPage, colour: ViewColour) {
    let least = charts::least_height(page).min(area.height);
    let rows = (page.rows.len() as u16).saturating_add(1).min(area.height - least);
    let lines = (page.lines.len() as u16).min(area.height - least - rows);
    let charts = charts::height(page, area.height - rows - lines);
    let [top, middle, bottom] = Layout::vertical([
        Constraint::Length(charts),
        Constraint::Length(rows),
        Constraint::Min(0),
    ])
    .areas(area);
    charts::draw_charts(frame, top, page, colour);
    table::draw_rows(frame, middle, page, colour);
    let text: Vec<Line<'_>> = page.lines.iter().map(|line| Line::from(line.as_str())).collect();
    frame.render_widget(Paragraph::new(text), bottom);
}

/// Returns the line of keys, or what was asked for if it is not done yet.
fn key_line<'a>(board: &Board, page: Option<&BoardPage>, state: &ViewState) -> Line<'a> {
    if state.ending {
        return Line::styled("ending; what was measured is kept", bold());
    }
    let mut spans = Vec::new();
    for (key, action) in keys_shown(board, state) {
        spans.push(Span::styled(format!("{key} "), bold()));
        spans.push(Span::from(format!("{action}  ")));
    }
    if state.paused {
        spans.push(Span::styled("PAUSED after this block  ", bold()));
    }
    if let Some(page) = page.filter(|_| board.pages.len() > 1) {
        spans.push(Span::from(format!("[{}]", page.name)));
    }
    Line::from(spans)
}

/// Returns the keys that do something, with short names of what they do.
fn keys_shown(board: &Board, state: &ViewState) -> Vec<(&'static str, &'static str)> {
    let pause = if state.paused { "resume" } else { "pause" };
    let all = [
        (true, "q", "end"),
        (state.can_pause, "p", pause),
        (board.pages.len() > 1, "tab", "page"),
        (true, "?", "keys"),
    ];
    all.into_iter().filter(|(does, ..)| *does).map(|(_, key, action)| (key, action)).collect()
}

fn draw_help(frame: &mut Frame<'_>, area: Rect, state: &ViewState) {
    let shown = KEYS.iter().filter(|(key, _)| state.can_pause || *key != "p");
    let mut lines: Vec<Line<'_>> = shown
        .map(|(key, action)| {
            Line::from(vec![Span::styled(format!(" {key:<4}"), bold()), Span::from(*action)])
        })
        .collect();
    lines.push(Line::from(" Ctrl-C ends too, Ctrl-Z suspends"));
    let height = (lines.len() as u16).min(area.height);
    let area = Rect { y: area.y + area.height - height, height, ..area };
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines), area);
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

/// The style of what must not be overlooked.
fn alarm(colour: ViewColour) -> Style {
    match colour {
        ViewColour::On => bold().fg(Color::Red),
        ViewColour::Off => bold().add_modifier(Modifier::REVERSED),
    }
}

/// The style of column number `column`. Cyan and magenta are legible on light and dark backgrounds.
fn column_style(column: usize, colour: ViewColour) -> Style {
    match (colour, column) {
        (ViewColour::On, 0) => Style::new().fg(Color::Cyan),
        (ViewColour::On, 1) => Style::new().fg(Color::Magenta),
        _ => Style::new(),
    }
}
