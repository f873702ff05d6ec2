//! What makes the figures of cells doubtful.

use std::collections::BTreeMap;

use crate::levels::label_levels;
use crate::study_result::{At, StudyResult};
use sixmark_document::provenance::Warning;
use sixmark_record::metric::Metric;
use sixmark_record::timed_phase::TimePoint;

/// Says that quantiles of the tail rest on few responses.
const FEW_SAMPLES: &str = "few_samples";

/// Doubts of cells, one a code, with the first cell that has it. What concerns the tail alone is omitted where the
/// study shows nothing of it.
pub(super) fn of_cells(study: &StudyResult) -> Vec<Warning> {
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
        let message = format!("{number} {noun}, such as {}: {message}", label_levels(at));
        Warning { code: code.to_owned(), message }
    };
    cells.into_iter().map(doubt).collect()
}

/// True of a study with a table, comparison or finding of p99 or beyond, or with a chart, whose document has no
/// measure, that names one.
fn shows_tail(study: &StudyResult) -> bool {
    let tables = study.tables.iter().flat_map(|table| table.columns.iter().map(|of| of.measure));
    let comparisons = study.comparisons.iter().map(|of| of.measure);
    let findings = study.findings.iter().map(|of| of.measure);
    let is_of_tail = |measure: Metric| match measure {
        Metric::Time(_, point) | Metric::Delay(point) => {
            matches!(point, TimePoint::P99 | TimePoint::P999)
        }
        Metric::Outcome(_) | Metric::Quantity(_) => false,
    };
    tables.chain(comparisons).chain(findings).any(is_of_tail)
        || study.figures.iter().any(|figure| figure.y.label.contains("99"))
}
