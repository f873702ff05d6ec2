//! What a report shows of a document, before it is HTML or Markdown: words, tables and charts.

mod blocks;
pub mod chart;
mod comparison;
mod effects;
mod figures;
mod floor;
mod gates;
mod lines;
mod outcomes;
mod path;
mod phases;
mod run;
mod seconds;
mod setting;
mod side;
mod study;
pub mod table;
mod verdict;
mod watched;
mod write;

use sixmark_model::comparison::Verdict;
use sixmark_model::document::Document;
use sixmark_model::metric::Metric;
use sixmark_model::provenance::Warning;

use chart::Chart;
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
    /// When, for how long, how: a few short phrases.
    pub about: Vec<String>,
    /// What is to be said of it, before anything else.
    pub headline: Headline,
    /// The figures that most people look for.
    pub tiles: Vec<Tile>,
    /// What makes the figures doubtful.
    pub warnings: Vec<Warning>,
    /// Everything else.
    pub parts: Vec<Part>,
}

/// What is to be said of a document in plain words.
#[derive(Clone, Debug, Default)]
pub struct Headline {
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
    /// A table.
    Table(Table),
    /// Charts beside one another where there is room.
    Charts(Vec<Chart>),
    /// Blocks that are shown when asked for: what is in them, in a few words.
    Folded(String, Vec<Block>),
}

impl Part {
    /// A part, or nothing where it has nothing in it.
    fn new(heading: &'static str, blocks: Vec<Block>) -> Option<Part> {
        (!blocks.is_empty()).then_some(Part { heading, blocks })
    }
}

/// What a report shows of a document.
pub fn of(named: Named<'_>) -> Sheet {
    match named.document {
        Document::Run(result) => run::sheet(named.name, result),
        Document::Comparison(result) => comparison::sheet(named.name, result),
        Document::Study(result) => study::sheet(named.name, result),
    }
}

#[cfg(test)]
pub(crate) mod tests;
