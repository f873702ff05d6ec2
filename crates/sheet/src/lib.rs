//! Reports: their content independent of the format, that is words, tables and charts ([`Sheet`]),
//! and their formats: [`terminal`] text, [`markdown`], [`html`], quoted lines of CSV
//! ([`csv_lines`]), and Prometheus's text format ([`exposition`]).
//!
//! This crate does not depend on the subject of a report: it measures and judges nothing, reads no
//! document and writes no file. Other crates put their results into a sheet.
//!
//! Begin with [`Sheet`] and [`Block`].

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod board;
pub mod chart;
pub mod csv_lines;
pub mod exposition;
pub mod html;
pub mod markdown;
pub mod setting;
pub mod table;
pub mod terminal;
pub mod timeline;
pub mod warnings;
pub mod write;

use sixmark_document::provenance::Warning;
use sixmark_document::verdict::Verdict;

use chart::Chart;
use table::Table;
use timeline::Timeline;

/// The report of one document.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// The name under which the document was given, such as its file name.
    pub name: String,
    /// The kind of document, in a word or two.
    pub kind: &'static str,
    /// What was measured, such as the URL.
    pub title: String,
    /// The time at which the run began. Not shown on a terminal.
    pub when: String,
    /// Short phrases about the run, such as its duration.
    pub about: Vec<String>,
    /// The summary, which comes first.
    pub headline: SheetHeadline,
    /// The most important figures.
    pub tiles: Vec<Tile>,
    /// The warnings about the figures.
    pub warnings: Vec<Warning>,
    /// The other parts of the report.
    pub parts: Vec<Part>,
}

/// The summary of a document in plain words.
#[derive(Clone, Debug, Default)]
pub struct SheetHeadline {
    /// What failed altogether, such as a gate, in a few words without a full stop. It comes before
    /// everything else, in red.
    pub failed: Vec<String>,
    /// The verdict, or `None` if nothing was judged.
    pub verdict: Option<Verdict>,
    /// The summary as one sentence.
    pub sentence: String,
    /// Sentences that qualify the summary.
    pub notes: Vec<String>,
}

/// One figure for each side.
#[derive(Clone, Debug)]
pub struct Tile {
    /// The name of the figure.
    pub label: &'static str,
    /// The name of the metric, if comparisons judge it.
    pub metric: Option<String>,
    /// For each side: its colour (0 for IPv6, 1 for IPv4, or [`BOTH_PLACE`]), its name, and the
    /// figure.
    pub sides: Vec<(usize, String, String)>,
    /// The difference between the sides, or empty if it was not computed from blocks.
    pub change: String,
}

/// A heading and the blocks below it.
#[derive(Clone, Debug)]
pub struct Part {
    /// The heading.
    pub heading: &'static str,
    /// Whether a terminal shows the part.
    pub terminal: bool,
    /// Whether the part is collapsed in Markdown.
    pub folded: bool,
    /// The blocks below the heading.
    pub blocks: Vec<Block>,
}

/// An element of a report.
#[derive(Clone, Debug)]
pub enum Block {
    /// A subheading.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// An explanatory paragraph, shown only on HTML pages.
    Aside(String),
    /// A command for a shell, on a line of its own, so that it can be copied.
    Command(String),
    /// A table.
    Table(Table),
    /// Charts, placed beside one another if there is room.
    Charts(Vec<Chart>),
    /// Timelines with one key, placed beside one another if there is room. Shown only on HTML pages.
    Timelines(Vec<Timeline>),
    /// A summary of a few words, and blocks that are hidden until the reader opens them.
    Folded(String, Vec<Block>),
}

impl Part {
    /// Creates a part that a terminal shows and Markdown collapses. Returns `None` if there are no
    /// blocks.
    pub fn new(heading: &'static str, blocks: Vec<Block>) -> Option<Part> {
        let part = Part { heading, terminal: true, folded: true, blocks };
        (!part.blocks.is_empty()).then_some(part)
    }

    /// Returns the part, changed such that Markdown does not collapse it.
    pub fn open(self) -> Part {
        Part { folded: false, ..self }
    }

    /// Returns the part, changed such that a terminal shows it.
    pub fn on_terminal(self) -> Part {
        Part { terminal: true, ..self }
    }

    /// Returns the part, changed such that a terminal does not show it.
    pub fn off_terminal(self) -> Part {
        Part { terminal: false, ..self }
    }
}

/// The colour of what concerns both families together, or neither.
pub const BOTH_PLACE: usize = 4;

/// A figure of a `T`: its name, and a function that returns its value.
pub type Figure<T> = (&'static str, fn(&T) -> Option<f64>);
