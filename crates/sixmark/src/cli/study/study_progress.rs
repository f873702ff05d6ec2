//! The progress of a study: on a terminal a view or one line that is repainted, elsewhere one line
//! per cell.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sixmark_design::study_result::{CellResult, ComparisonEntry, StudyComparison};
use sixmark_study::board::{StudyBoard, cell_line, clock_text};
use sixmark_units::quantity::write_count;

use super::super::out::complain;
use super::super::progress::{LiveView, ProgressForm, repaint};
use sixmark_study::engine::StudyEvent;

/// Shows the events of a study.
#[derive(Debug)]
pub(super) struct LiveStudy {
    form: ProgressForm,
    view: LiveView,
    name: String,
    board: StudyBoard,
    estimate: String,
}

impl LiveStudy {
    /// Creates the display of the study of this name, which ends when `stop` is set.
    pub(super) fn new(form: ProgressForm, name: &str, stop: &Arc<AtomicBool>) -> LiveStudy {
        LiveStudy {
            form,
            view: LiveView::new(form, stop, None),
            name: name.to_owned(),
            board: StudyBoard::default(),
            estimate: String::new(),
        }
    }

    /// Processes an event.
    pub(super) fn see(&mut self, event: &StudyEvent<'_>) {
        if self.form == ProgressForm::Nothing {
            return;
        }
        match event {
            StudyEvent::Begins { folder, done, all } => {
                self.board = StudyBoard::new(&self.name, *done, *all);
                let begun =
                    if *done > 0 { format!("{done} already measured, ") } else { String::new() };
                let folder = folder.display();
                if done == all {
                    complain(&format!("all {all} cells are in '{folder}' already"));
                    return;
                }
                complain(&format!(
                    "{} cells, {begun}kept in '{folder}'",
                    write_count((*all).into())
                ));
            }
            StudyEvent::Cell { all, levels, left_s, .. } if self.form == ProgressForm::View => {
                let board = self.board.cell(*all, levels, *left_s);
                self.view.show(|| board);
            }
            StudyEvent::Claims { said } if self.form == ProgressForm::View => {
                let board = self.board.claims(said);
                self.view.show(|| board);
            }
            StudyEvent::Claims { said } => {
                if self.form == ProgressForm::Line {
                    repaint("");
                }
                complain(said);
            }
            StudyEvent::Kept { number, cell, .. } if self.form == ProgressForm::View => {
                let board = self.board.kept(*number, cell);
                self.view.show(|| board);
            }
            StudyEvent::Cell { number, all, levels, left_s } if self.form == ProgressForm::Line => {
                let left =
                    left_s.map_or(String::new(), |left| format!(", {} left", clock_text(left)));
                repaint(&format!("cell {number}/{all}{left}  {levels}{}", self.estimate));
            }
            StudyEvent::Cell { .. } => {}
            StudyEvent::Kept { number, all, cell, comparison } => {
                self.estimate = comparison.map_or(String::new(), |all| estimate_of_cell(all, cell));
                if self.form == ProgressForm::Plain {
                    let estimate = &self.estimate;
                    complain(&format!("cell {number}/{all}: {}{estimate}", cell_line(cell)));
                }
            }
        }
    }

    /// Removes the display before other output.
    pub(super) fn clear(self) {
        if self.form == ProgressForm::Line {
            repaint("");
        }
    }
}

/// Returns the main comparison's result so far, for the combination to which the cell belongs.
fn estimate_of_cell(comparison: &StudyComparison, cell: &CellResult) -> String {
    let of_cell = |entry: &&ComparisonEntry| entry.at.iter().all(|at| cell.levels.contains(at));
    let found = comparison.entries.iter().find(of_cell);
    let Some((entry, ratio)) = found.and_then(|entry| Some((entry, entry.ratio?))) else {
        return String::new();
    };
    let interval = match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!(" ({low:.3}-{high:.3})"),
        _ => String::new(),
    };
    let label = if entry.label.is_empty() { "" } else { &format!(", {}", entry.label) };
    let StudyComparison { a, b, measure, .. } = comparison;
    format!("; {measure} {a}/{b}{label}: {:.3}{interval}", ratio.value)
}
