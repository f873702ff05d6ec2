//! What a report shows of a document, before it is HTML or Markdown: words, tables and charts.

mod blocks;
mod comparison;
mod effects;
mod figures;
mod floor;
mod gates;
mod lines;
mod measured;
mod metric_text;
mod outcomes;
mod path;
mod phases;
mod planned;
mod repeated;
mod requests;
mod run;
mod search;
mod seconds;
mod side;
mod study;
mod truth;
mod verdict;
mod watch;
mod watched;

use crate::documents::Document;
use sixmark_compare::Comparison;
use sixmark_compare::result::ComparisonResult;
use sixmark_record::result::RunResult;
use sixmark_sheet::{Part, Sheet, SheetHeadline};
use sixmark_study::result::{Published, StudyResult};

pub(crate) use figures::UNUSUAL;

/// A document and the name under which it was given.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// A file's name, say.
    pub name: &'a str,
    /// What is in it.
    pub document: &'a Document,
}

/// What a report shows of a document.
pub fn sheet_of(named: Named<'_>) -> Sheet {
    match named.document {
        Document::Run(result) => run::run_sheet(named.name, result),
        Document::Watch(result) => watch::watch_sheet(named.name, result),
        Document::Comparison(result) => comparison::comparison_sheet(named.name, result),
        Document::Study(result) => study::sheet(named.name, result),
        Document::Vitals(result) => sixmark_vitals::sheet::vitals_sheet(named.name, result),
        Document::Traffic(result) => sixmark_traffic::sheet::traffic_sheet(named.name, result),
    }
}

pub(crate) use run::run_caution;

/// What is to be said of a run before anything else.
pub(crate) fn run_headline(result: &RunResult) -> SheetHeadline {
    run::run_headline(result)
}

/// What tells whether to believe a run's clock: the noise floor, and packets.
pub(crate) fn clock_checks(result: &RunResult) -> Vec<Part> {
    run::clock_checks(result)
}

/// What each request of a run's mix gave, where it has several.
pub(crate) fn requests(result: &RunResult) -> Option<Part> {
    run::requests(result)
}

/// What a search found, where the run was one.
pub(crate) fn search(result: &RunResult) -> Option<Part> {
    result.find_max.as_ref().and_then(search::search_part)
}

/// What a run cost of processor time, where that is known.
pub(crate) fn costs(result: &RunResult) -> Option<Part> {
    sixmark_vitals::costs_sheet::costs_part(result.vitals.as_ref())
}

/// What a report shows of a comparison.
pub(crate) fn of_comparison(name: &str, result: &ComparisonResult) -> Sheet {
    comparison::comparison_sheet(name, result)
}

/// What the pairs of a comparison so far say of its primary metric, in a few words.
pub(crate) fn estimate(comparison: &Comparison) -> String {
    verdict::describe_estimate(comparison)
}

/// What a report shows of a study.
pub(crate) fn of_study(name: &str, study: &StudyResult) -> Sheet {
    study::sheet(name, study)
}

/// What is shown of published figures that nothing was measured beside.
pub(crate) fn of_published(published: &Published) -> Sheet {
    study::published_sheet(published)
}

#[cfg(test)]
pub(crate) mod tests;
