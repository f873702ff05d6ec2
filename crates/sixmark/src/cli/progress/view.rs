//! The full-screen view of a command. It appears with the first board, so that a short command does
//! not switch the screen back and forth.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sixmark_live::ViewColour;
use sixmark_live::engine::{LiveScreen, ViewRequests, can_show};
use sixmark_sheet::board::Board;

use super::super::out::{hold_lines, release_lines};
use super::{ProgressForm, is_terminal, repaint};
use crate::cli::colour::is_plain;

/// Returns true if the terminal can show a view.
pub(super) fn is_possible() -> bool {
    is_terminal() && can_show()
}

/// The view of a command, if there is one. It is removed when this is dropped, after which lines
/// that were printed meanwhile appear.
#[derive(Debug)]
pub(in crate::cli) struct LiveView {
    /// What the view may ask of the command; `None` if no view is to be shown.
    requests: Option<ViewRequests>,
    screen: Option<LiveScreen>,
}

impl LiveView {
    /// Creates the view of a command that ends when `stop` is set, and pauses between blocks while
    /// `pause` is set.
    pub(in crate::cli) fn new(
        form: ProgressForm,
        stop: &Arc<AtomicBool>,
        pause: Option<&Arc<AtomicBool>>,
    ) -> LiveView {
        let requests = ViewRequests { stop: Arc::clone(stop), pause: pause.cloned() };
        let requests = (form == ProgressForm::View).then_some(requests);
        LiveView { requests, screen: None }
    }

    /// Shows a board, if there is a view.
    pub(in crate::cli) fn show(&mut self, board: impl FnOnce() -> Board) {
        if let Some(requests) = self.requests.take() {
            let colour = if is_plain() { ViewColour::Off } else { ViewColour::On };
            // Before the view is there: afterwards it would erase a line of the view.
            repaint("");
            hold_lines();
            // Without a view, the command goes on.
            self.screen = LiveScreen::open(requests, colour).ok();
            if self.screen.is_none() {
                release_lines();
            }
        }
        if let Some(screen) = &self.screen {
            screen.show(board());
        }
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        if self.screen.take().is_some() {
            release_lines();
        }
    }
}
