//! The warnings of a study's cells, in its report.

use std::collections::BTreeMap;

use crate::board::FEW_SAMPLES;
use sixmark_design::levels::LevelLabels;
use sixmark_design::study_result::{At, StudyResult};
use sixmark_document::provenance::Warning;
use sixmark_tally::metric::Metric;
use sixmark_tally::timed_phase::TimePoint;

/// Returns one warning for each code that cells have, with the number of these cells and the first
/// of them. Warnings about the tail only are omitted if the study shows no quantile of the tail.
pub(super) fn of_cells(study: &StudyResult, labels: &LevelLabels) -> Vec<Warning> {
    let mut cells: BTreeMap<&str, (u32, &str, &[At])> = BTreeMap::new();
    let tail = shows_tail(study);
    for cell in &study.cells {
        for warning in cell.warnings.iter().filter(|of| tail || of.code != FEW_SAMPLES) {
            let first = (0, warning.message.as_str(), cell.levels.as_slice());
            cells.entry(&warning.code).or_insert(first).0 += 1;
        }
    }
    let doubt = |(code, (number, message, at)): (&str, (u32, &str, &[At]))| {
        let noun = if number == 1 { "cell" } else { "cells" };
        let message = format!("{number} {noun}, such as {}: {message}", labels.levels(at));
        Warning { code: code.to_owned(), message }
    };
    cells.into_iter().map(doubt).collect()
}

/// Returns true if a table, comparison or claim has a measure of p99 or beyond, or if the label
/// of a chart's y axis contains 99: charts have no measure in the document.
fn shows_tail(study: &StudyResult) -> bool {
    let tables = study.tables.iter().flat_map(|table| table.columns.iter().map(|of| of.measure));
    let comparisons = study.comparisons.iter().map(|of| of.measure);
    let claims = study.claims.iter().map(|of| of.measure);
    let is_of_tail = |measure: Metric| match measure {
        Metric::Time(_, point) | Metric::Delay(point) => {
            matches!(point, TimePoint::P99 | TimePoint::P999)
        }
        Metric::Outcome(_) | Metric::Quantity(_) => false,
    };
    tables.chain(comparisons).chain(claims).any(is_of_tail)
        || study.figures.iter().any(|figure| figure.y.label.contains("99"))
}
