//! The progress of a study: on a terminal one line that is repainted, elsewhere one line per cell.

use std::time::Duration;

use sixmark_study::levels::label_level;
use sixmark_study::study_result::{CellResult, ComparisonEntry, StudyComparison};
use sixmark_units::quantity::write_count;

use super::super::out::complain;
use super::super::progress::repaint;
use sixmark_study::engine::StudyEvent;

/// Shows the events of a study.
#[derive(Debug)]
pub(super) struct LiveStudy {
    shown: bool,
    terminal: bool,
    estimate: String,
}

impl LiveStudy {
    /// Creates the display. It shows nothing unless `shown`.
    pub(super) fn new(shown: bool, terminal: bool) -> LiveStudy {
        LiveStudy { shown, terminal, estimate: String::new() }
    }

    /// Processes an event.
    pub(super) fn see(&mut self, event: &StudyEvent<'_>) {
        if !self.shown {
            return;
        }
        match event {
            StudyEvent::Begins { folder, done, all } => {
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
            StudyEvent::Cell { number, all, levels, left_s } if self.terminal => {
                let left = left_s.map_or(String::new(), |left| format!(", {} left", clock(left)));
                repaint(&format!("cell {number}/{all}{left}  {levels}{}", self.estimate));
            }
            StudyEvent::Cell { .. } => {}
            StudyEvent::Kept { number, all, cell, comparison } => {
                self.estimate = comparison.map_or(String::new(), |all| estimate_of_cell(all, cell));
                if !self.terminal {
                    let estimate = &self.estimate;
                    complain(&format!("cell {number}/{all}: {}{estimate}", cell_line(cell)));
                }
            }
        }
    }

    /// Clears the line before other output.
    pub(super) fn clear(&self) {
        if self.shown && self.terminal {
            repaint("");
        }
    }
}

fn cell_line(cell: &CellResult) -> String {
    let levels: Vec<_> =
        cell.levels.iter().map(|at| format!("{}={}", at.factor, at.level)).collect();
    let doubts = if cell.warnings.is_empty() { "" } else { ", with warnings" };
    format!("{} {} in {:.2} s{doubts}", cell.id, levels.join(" "), cell.took_s)
}

/// Returns the main comparison's result so far, for the combination to which the cell belongs.
fn estimate_of_cell(comparison: &StudyComparison, cell: &CellResult) -> String {
    let of_cell = |entry: &&ComparisonEntry| {
        let mut levels = entry.label.split(", ").filter(|level| !level.is_empty());
        levels.all(|level| cell.levels.iter().any(|at| label_level(at) == level))
    };
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

/// Formats seconds as `M:SS`, or as `H:MM:SS` from one hour on.
fn clock(seconds: f64) -> String {
    let whole = Duration::from_secs_f64(seconds.clamp(0.0, 1e9)).as_secs();
    match whole {
        0..3_600 => format!("{}:{:02}", whole / 60, whole % 60),
        _ => format!("{}:{:02}:{:02}", whole / 3_600, whole / 60 % 60, whole % 60),
    }
}
