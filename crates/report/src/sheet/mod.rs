//! What a report shows of a document, before it is HTML or Markdown: words, tables and charts.

mod blocks;
pub mod chart;
mod comparison;
mod costs;
mod effects;
mod figures;
mod floor;
mod gates;
mod lines;
mod measured;
mod outcomes;
mod path;
mod phases;
mod repeated;
mod requests;
mod run;
mod search;
mod seconds;
mod setting;
mod side;
mod study;
pub mod table;
mod traffic;
mod truth;
mod verdict;
mod vitals;
mod watch;
mod watched;
mod write;

use sixmark_document::provenance::Warning;
use sixmark_model::comparison::result::ComparisonResult;
use sixmark_model::comparison::{Comparison, Verdict};
use sixmark_model::document::Document;
use sixmark_model::metric::Metric;
use sixmark_model::result::RunResult;
use sixmark_model::study::result::{Published, StudyResult};
use sixmark_model::traffic::result::TrafficResult;

use chart::Chart;
pub(crate) use figures::UNUSUAL;
use table::Table;

/// A document and the name under which it was given.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// A file's name, say.
    pub name: &'a str,
    /// What is in it.
    pub document: &'a Document,
}

/// One document's report.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// The name under which it was given.
    pub name: String,
    /// What kind of document it is, in a word or two.
    pub kind: &'static str,
    /// What was loaded.
    pub title: String,
    /// When it began; a terminal does not show it, as whoever looks knows it.
    pub when: String,
    /// For how long, how: a few short phrases.
    pub about: Vec<String>,
    /// What is to be said of it, before anything else.
    pub headline: SheetHeadline,
    /// The figures that most people look for.
    pub tiles: Vec<Tile>,
    /// What makes the figures doubtful.
    pub warnings: Vec<Warning>,
    /// Everything else.
    pub parts: Vec<Part>,
}

/// What is to be said of a document in plain words.
#[derive(Clone, Debug, Default)]
pub struct SheetHeadline {
    /// The verdict; none where nothing was judged.
    pub verdict: Option<Verdict>,
    /// One sentence.
    pub sentence: String,
    /// What has to be known beside it, a sentence each.
    pub notes: Vec<String>,
}

/// One figure of each side.
#[derive(Clone, Debug)]
pub struct Tile {
    /// What it is.
    pub label: &'static str,
    /// The metric of comparisons that it is.
    pub metric: Option<Metric>,
    /// The side's place (0 or 1), its name, and the figure.
    pub sides: Vec<(usize, String, String)>,
    /// How they differ, where blocks say so.
    pub change: String,
}

/// Some blocks under a heading.
#[derive(Clone, Debug)]
pub struct Part {
    /// The heading.
    pub heading: &'static str,
    /// Whether a terminal shows it too, and not only a page.
    pub terminal: bool,
    /// Whether Markdown, which has no room for everything, folds it.
    pub folded: bool,
    /// What is under it.
    pub blocks: Vec<Block>,
}

/// One thing to look at.
#[derive(Clone, Debug)]
pub enum Block {
    /// A smaller heading.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// A paragraph that explains something, for pages alone.
    Aside(String),
    /// A table.
    Table(Table),
    /// Charts beside one another where there is room.
    Charts(Vec<Chart>),
    /// Blocks that are shown when asked for: what is in them, in a few words.
    Folded(String, Vec<Block>),
}

impl Part {
    /// A part, or nothing where it has nothing in it. A terminal shows it, Markdown folds it.
    fn new(heading: &'static str, blocks: Vec<Block>) -> Option<Part> {
        let part = Part { heading, terminal: true, folded: true, blocks };
        (!part.blocks.is_empty()).then_some(part)
    }

    /// The same, which Markdown does not fold.
    fn open(self) -> Part {
        Part { folded: false, ..self }
    }

    /// The same, which no terminal shows.
    fn off_terminal(self) -> Part {
        Part { terminal: false, ..self }
    }
}

/// What a report shows of a document.
pub fn sheet_of(named: Named<'_>) -> Sheet {
    match named.document {
        Document::Run(result) => run::run_sheet(named.name, result),
        Document::Watch(result) => watch::watch_sheet(named.name, result),
        Document::Comparison(result) => comparison::comparison_sheet(named.name, result),
        Document::Study(result) => study::sheet(named.name, result),
        Document::Vitals(result) => vitals::vitals_sheet(named.name, result),
        Document::Traffic(result) => traffic::traffic_sheet(named.name, result),
    }
}

pub(crate) use run::run_caution;
pub(crate) use vitals::{IP_COUNTERS, group_name};

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
    costs::costs_part(result.vitals.as_ref())
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

/// What a report shows of traffic.
pub(crate) fn of_traffic(name: &str, result: &TrafficResult) -> Sheet {
    traffic::traffic_sheet(name, result)
}

/// What is shown of published figures that nothing was measured beside.
pub(crate) fn of_published(published: &Published) -> Sheet {
    study::published_sheet(published)
}

#[cfg(test)]
pub(crate) mod tests;
