//! Shows a view and panics, so that a test sees what becomes of the terminal.

#![allow(clippy::expect_used, clippy::panic, reason = "that is what it is for")]

use sixmark_live::ViewColour;
use sixmark_live::engine::{LiveScreen, ViewRequests};
use sixmark_sheet::board::Board;

fn main() {
    let requests = ViewRequests::default();
    let screen = LiveScreen::open(requests, ViewColour::On).expect("a terminal");
    screen.show(Board { title: "a view".to_owned(), ..Board::default() });
    // The view is drawn by then, or the panic comes before: the terminal must be whole in both cases.
    std::thread::sleep(std::time::Duration::from_millis(600));
    panic!("this is a test of panics");
}
