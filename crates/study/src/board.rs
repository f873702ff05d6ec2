//! What a live view shows of a study: the cells done, the one that is measured, the time left.

use std::collections::{BTreeMap, VecDeque};

use sixmark_sheet::board::{Board, BoardPage, BoardProgress};
use sixmark_sheet::warnings::condensed;
use sixmark_units::quantity::write_count;

use sixmark_design::levels::label_levels;
use sixmark_design::study_result::{At, CellResult};

/// The number of cells that are listed, the latest first.
const LISTED: usize = 100;
/// The code of the warning that quantiles of the tail are based on few responses.
pub(crate) const FEW_SAMPLES: &str = "few_samples";

/// Gathers what a live view shows of a study.
#[derive(Debug, Default)]
pub struct StudyBoard {
    name: String,
    done: u32,
    all: u32,
    /// The levels of the cell that is measured.
    now: String,
    left_s: Option<f64>,
    listed: VecDeque<String>,
    /// The level of each factor in the first cell, or `None` if a cell had another one.
    same: BTreeMap<String, Option<String>>,
    /// The number of cells measured since the start that have warnings, and the first warning of
    /// the latest of them.
    doubtful: u64,
    doubt: Option<String>,
    /// The state of the claims, if the study goes on until they are decided.
    claims: Option<String>,
}

impl StudyBoard {
    /// Creates the board of the study with this name, of which `done` of `all` cells were measured
    /// before.
    pub fn new(name: &str, done: u32, all: u32) -> StudyBoard {
        StudyBoard { name: name.to_owned(), done, all, ..StudyBoard::default() }
    }

    /// Processes the beginning of a cell with these levels, of `all` cells. `left_s` is the estimate of
    /// the remaining time from the cells so far, in seconds.
    pub fn cell(&mut self, all: u32, levels: &str, left_s: Option<f64>) -> Board {
        (self.all, self.now, self.left_s) = (all, levels.to_owned(), left_s);
        self.board()
    }

    /// Processes the state of the claims, in a line.
    pub fn claims(&mut self, said: &str) -> Board {
        self.claims = Some(said.to_owned());
        self.board()
    }

    /// Processes a cell that has been kept, which is cell number `number`, from 1.
    pub fn kept(&mut self, number: u32, cell: &CellResult) -> Board {
        self.done = number;
        let line = self.line(cell);
        self.listed.push_front(line);
        self.listed.truncate(LISTED);
        // The number of responses is that of the study's file.
        let warnings = cell.warnings.iter().filter(|of| of.code != FEW_SAMPLES);
        if let Some(first) = condensed(warnings).first() {
            self.doubtful += 1;
            self.doubt = Some(format!("cell {}: {}", cell.id, first.message));
        }
        self.board()
    }

    /// Describes a cell by those levels that not all cells so far have.
    fn line(&mut self, cell: &CellResult) -> String {
        for At { factor, level } in &cell.levels {
            let same = self.same.entry(factor.clone()).or_insert_with(|| Some(level.clone()));
            if same.as_ref().is_some_and(|same| same != level) {
                *same = None;
            }
        }
        let varies = |at: &&At| self.same.get(&at.factor).is_some_and(Option::is_none);
        let levels: Vec<At> = cell.levels.iter().filter(varies).cloned().collect();
        let levels = label_levels(if levels.is_empty() { &cell.levels } else { &levels });
        let doubts = if cell.warnings.is_empty() { "" } else { ", with warnings" };
        format!("{} {:.2} s{doubts}  {levels}", cell.id, cell.took_s)
    }

    fn board(&self) -> Board {
        let left = self.left_s.map_or(String::new(), |left| format!(", {} left", clock_text(left)));
        let now = format!("now: {}", self.now);
        let claims = self.claims.iter().map(|claims| format!("claims: {claims}"));
        let doubts = self.doubt.iter().map(|doubt| match self.doubtful {
            1 => doubt.clone(),
            cells => format!("{} cells have warnings; {doubt}", write_count(cells)),
        });
        Board {
            title: format!("study {}", self.name),
            doubts: doubts.collect(),
            progress: BoardProgress {
                share: Some(f64::from(self.done) / f64::from(self.all.max(1))),
                text: format!("{} of {} cells{left}", self.done, self.all),
            },
            pages: vec![BoardPage {
                name: "cells",
                lines: claims.chain([now]).chain(self.listed.iter().cloned()).collect(),
                ..BoardPage::default()
            }],
        }
    }
}

/// Describes a cell that was measured in one line: its identifier, levels, duration and whether it
/// has warnings.
pub fn cell_line(cell: &CellResult) -> String {
    let levels: Vec<_> =
        cell.levels.iter().map(|at| format!("{}={}", at.factor, at.level)).collect();
    let doubts = if cell.warnings.is_empty() { "" } else { ", with warnings" };
    format!("{} {} in {:.2} s{doubts}", cell.id, levels.join(" "), cell.took_s)
}

/// Formats seconds as `M:SS`, or as `H:MM:SS` from one hour on.
pub fn clock_text(seconds: f64) -> String {
    let whole = seconds.clamp(0.0, 1e9) as u64;
    match whole {
        0..3_600 => format!("{}:{:02}", whole / 60, whole % 60),
        _ => format!("{}:{:02}:{:02}", whole / 3_600, whole / 60 % 60, whole % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_current_cell_and_the_remaining_time() {
        let mut board = StudyBoard::new("anma", 3, 12);
        let shown = board.cell(12, "backlog=128 family=ipv6", Some(3_725.0));
        assert_eq!(shown.title, "study anma");
        assert_eq!(shown.progress.text, "3 of 12 cells, 1:02:05 left");
        assert_eq!(shown.progress.share, Some(0.25));
        assert_eq!(shown.pages[0].lines, ["now: backlog=128 family=ipv6"]);
        assert!(shown.doubts.is_empty());
        board.claims("after 10 repetitions: 2 claims decided, 1 undecided");
        let shown = board.cell(16, "backlog=4096 family=ipv6", None);
        assert_eq!(shown.progress.text, "3 of 16 cells");
        assert_eq!(
            shown.pages[0].lines,
            [
                "claims: after 10 repetitions: 2 claims decided, 1 undecided",
                "now: backlog=4096 family=ipv6"
            ]
        );
    }

    #[test]
    fn writes_times_as_a_clock() {
        for (seconds, text) in [(0.0, "0:00"), (59.9, "0:59"), (61.0, "1:01"), (3_600.0, "1:00:00")]
        {
            assert_eq!(clock_text(seconds), text);
        }
        assert_eq!(clock_text(f64::NAN), "0:00");
    }
}
