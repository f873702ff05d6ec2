//! The trials of `--find-max`, as they are shown.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sixmark_report::board::SearchBoard;
use sixmark_report::sheet::search_text::trial;
use sixmark_result::result::RunResult;
use sixmark_run::Runnable;
use sixmark_run::find::{self, SearchEvent};
use sixmark_sys::command_error::CommandError;

use crate::cli::out::complain;
use crate::cli::progress::{LiveView, ProgressForm};

/// Executes the search, and shows its trials.
pub(super) fn run_search(
    runnable: Runnable,
    form: ProgressForm,
    stop: &Arc<AtomicBool>,
) -> Result<RunResult, CommandError> {
    let (plan, conditions) = (runnable.plan().clone(), runnable.conditions().to_vec());
    let mut view = LiveView::new(form, stop, None);
    let mut board = SearchBoard::new(&plan, &conditions);
    let result = find::run_search(runnable, stop, |event| match event {
        SearchEvent::Begins(of) => board.begin(of.family, of.rate, of.length, of.left),
        SearchEvent::Second(slice) => {
            if let Some(board) = board.see(slice) {
                view.show(|| board);
            }
        }
        SearchEvent::Over(family, tried, bracket) => {
            board.end(family, tried, bracket);
            if let Some(last) = tried.last().filter(|_| form != ProgressForm::Nothing) {
                complain(&trial(family, last, &conditions));
            }
        }
    });
    drop(view);
    result
}
