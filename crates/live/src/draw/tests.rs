//! Boards drawn on screens of several sizes.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use sixmark_sheet::board::{Board, BoardColumn, BoardPage, BoardProgress, BoardRow, LastMinute};

use super::*;

fn board() -> Board {
    let column = |name: &str, top: f64| {
        let mut minute = LastMinute::default();
        (0..80).for_each(|second| minute.push(Some(top * f64::from(second) / 80.0)));
        let text = |value: f64| format!("{value:.0}");
        let traces = ["requests/s", "p50", "p99"].map(|label| minute.trace(label, text));
        BoardColumn { name: name.to_owned(), traces: traces.into() }
    };
    let row = |label: &str, figure: &str, bad| BoardRow {
        label: label.to_owned(),
        figures: vec![figure.to_owned(), "0".to_owned()],
        bad,
    };
    let page = BoardPage {
        name: "families",
        columns: vec![column("IPv6", 1_000.0), column("IPv4", 500.0)],
        rows: vec![row("NORMAL", "12,345", false), row("RESET", "7", true)],
        lines: vec!["oldest exchange in flight 3.2 s, over IPv6".to_owned()],
        span: None,
    };
    let other = BoardPage { name: "targets", ..BoardPage::default() };
    Board {
        title: "http://[2001:db8::1]/ closed loop, 50 in flight".to_owned(),
        doubts: vec!["a worker is busy all the time".to_owned(), "x".to_owned()],
        progress: BoardProgress { share: Some(0.25), text: "125 of 500 s".to_owned() },
        pages: vec![page, other],
    }
}

fn drawn(width: u16, height: u16, board: &Board, state: &ViewState) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw_board(frame, board, state)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(|y| line(y).trim_end().to_owned()).collect()
}

#[test]
fn every_screen_size_shows_doubts_first_and_keys_last() {
    for (width, height) in [(60, 20), (80, 24), (120, 40), (300, 80)] {
        let lines = drawn(width, height, &board(), &ViewState::default());
        assert_eq!(lines[0], "DOUBTFUL: a worker is busy all the time (and 1 more)");
        assert!(lines[2].starts_with("125 of 500 s"), "{lines:#?}");
        assert!(lines[usize::from(height) - 1].starts_with("q end  tab page"), "{lines:#?}");
        for part in ["IPv6", "IPv4", "requests/s 988", "p99", "NORMAL", "RESET", "12,345"] {
            assert!(lines.iter().any(|line| line.contains(part)), "{part}: {lines:#?}");
        }
    }
}

#[test]
fn tiny_screens_are_drawn_without_a_panic() {
    for width in 1..30 {
        for height in 1..12 {
            drawn(width, height, &board(), &ViewState { help: true, ..ViewState::default() });
        }
    }
    drawn(80, 24, &Board::default(), &ViewState::default());
}

#[test]
fn columns_are_drawn_to_one_scale() {
    let lines = drawn(80, 24, &board(), &ViewState::default());
    let chart = lines.iter().position(|line| line.starts_with("requests/s")).unwrap() + 1;
    // The latest values are 988 and 494: full height beside half of it.
    let bars: Vec<char> = lines[chart].chars().collect();
    assert_eq!(bars[38], '█', "{lines:#?}");
    assert_ne!(bars.get(79), Some(&'█'), "{lines:#?}");
}

#[test]
fn pages_pause_and_help_are_shown() {
    let state = ViewState { page: 1, can_pause: true, paused: true, ..ViewState::default() };
    let lines = drawn(80, 24, &board(), &state);
    let last = lines.last().unwrap();
    assert!(last.contains("p resume") && last.contains("PAUSED") && last.contains("[targets]"));
    let lines = drawn(80, 24, &board(), &ViewState { help: true, ..ViewState::default() });
    assert!(lines.iter().any(|line| line.contains("end, keep what is measured")), "{lines:#?}");
    let state = ViewState { ending: true, ..ViewState::default() };
    assert!(drawn(80, 24, &board(), &state).last().unwrap().starts_with("ending"));
}

#[test]
fn scales_charts_to_the_length_of_a_short_run() {
    let bars = |span: Option<usize>| {
        let mut minute = LastMinute::default();
        (0..5).for_each(|_| minute.push(Some(1.0)));
        let traces = vec![minute.trace("requests/s", |value| value.to_string())];
        let columns = vec![BoardColumn { name: "IPv6".to_owned(), traces }];
        let page = BoardPage { name: "families", columns, span, ..BoardPage::default() };
        let board = Board { pages: vec![page], ..Board::default() };
        let lines = drawn(60, 20, &board, &ViewState::default());
        lines.iter().map(|line| line.matches('█').count()).max().unwrap()
    };
    // Half of ten seconds are half of the width; of a minute they are five columns.
    assert_eq!((bars(Some(10)), bars(None)), (30, 5));
}
