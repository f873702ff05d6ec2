//! What makes a study's figures doubtful.

use sixmark_core::plan::study::Study;
use sixmark_core::result::{RunResult, Warning};
use sixmark_core::study::client::{Answer, Client};
use sixmark_core::study::measure::{Measure, Plain};
use sixmark_core::study::result::{Order, Resumed};

/// Fewer repetitions give no interval worth the name.
const FEWEST: u32 = 3;

pub(super) fn doubt(code: &str, message: String) -> Warning {
    Warning { code: code.to_owned(), message }
}

/// Of the study as a whole.
pub(super) fn of_study(study: &Study, resumed: &[Resumed]) -> Vec<Warning> {
    let mut doubts = Vec::new();
    let repetitions = study.repetitions.get();
    if repetitions < FEWEST {
        doubts.push(doubt(
            "few_repetitions",
            format!(
                "every cell is measured {} only: its figures have no interval to be judged by",
                if repetitions == 1 { "once" } else { "twice" }
            ),
        ));
    }
    if study.order == Order::Written && !study.factors.is_empty() {
        doubts.push(doubt(
            "written_order",
            "cells follow the file's order: whatever drifts looks like an effect".to_owned(),
        ));
    }
    if resumed.iter().any(|resumed| !resumed.changes.is_empty()) {
        doubts.push(doubt(
            "environment_changed",
            "the study went on though something had changed (resumed.changes)".to_owned(),
        ));
    }
    doubts
}

/// Of a run of sixmark, and of families that gave no response.
pub(super) fn of_run(result: &RunResult) -> Vec<Warning> {
    let none = result.families.iter().filter(|(_, figures)| figures.requests.completed == 0);
    let none = none.map(|(family, _)| {
        doubt("no_response", format!("not one whole response came over {family}"))
    });
    none.chain(result.warnings.iter().cloned()).collect()
}

/// Of another client's figures.
pub(super) fn of_answer(client: Client, answer: &Answer) -> Vec<Warning> {
    let mut doubts = Vec::new();
    let completed = answer.figures.get(&Measure::Plain(Plain::Completed).to_string());
    if completed.is_none_or(|&completed| completed == 0.0) {
        doubts.push(doubt(
            "no_response",
            format!("not one whole response came to {}", client.name()),
        ));
    }
    if answer.refused > 0 {
        let line = format!("{} responses to {} were no success", answer.refused, client.name());
        doubts.push(doubt("client_statuses", line));
    }
    doubts
}
