//! What makes the figures of cells doubtful.

use std::collections::BTreeMap;

use sixmark_model::provenance::Warning;
use sixmark_model::study::result::{At, StudyResult};
use sixmark_units::family::spoken;

/// Doubts of cells, one a code, with the first cell that has it.
pub(super) fn of_cells(study: &StudyResult) -> Vec<Warning> {
    let mut cells: BTreeMap<&str, (u32, &str, &[At])> = BTreeMap::new();
    for cell in &study.cells {
        for warning in &cell.warnings {
            let first = (0, warning.message.as_str(), cell.levels.as_slice());
            cells.entry(&warning.code).or_insert(first).0 += 1;
        }
    }
    let doubt = |(code, (number, message, at)): (&str, (u32, &str, &[At]))| {
        let at: Vec<_> = at.iter().map(|at| spoken(&at.level)).collect();
        let noun = if number == 1 { "cell" } else { "cells" };
        let message = format!("{number} {noun}, as {}: {message}", at.join(", "));
        Warning { code: code.to_owned(), message }
    };
    cells.into_iter().map(doubt).collect()
}
