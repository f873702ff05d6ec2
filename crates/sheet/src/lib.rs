//! The content of a report before it has a format: words, tables and charts ([`Sheet`]); and its
//! formats: [`terminal`] text, [`markdown`], [`html`], and quoted lines of CSV ([`csv_lines`]).
//!
//! This crate knows no subject: it measures and judges nothing, reads no document, writes no file,
//! and shows what each subject puts into a sheet.
//!
//! Begin with [`Sheet`] and [`Block`].

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod chart;
pub mod csv_lines;
pub mod html;
pub mod markdown;
pub mod setting;
pub mod table;
pub mod terminal;
pub mod warnings;
pub mod write;

use sixmark_document::provenance::Warning;
use sixmark_document::verdict::Verdict;

use chart::Chart;
use table::Table;

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
    /// The name of the metric that it is, where comparisons judge it.
    pub metric: Option<String>,
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
    pub fn new(heading: &'static str, blocks: Vec<Block>) -> Option<Part> {
        let part = Part { heading, terminal: true, folded: true, blocks };
        (!part.blocks.is_empty()).then_some(part)
    }

    /// The same, which Markdown does not fold.
    pub fn open(self) -> Part {
        Part { folded: false, ..self }
    }

    /// The same, which no terminal shows.
    pub fn off_terminal(self) -> Part {
        Part { terminal: false, ..self }
    }
}

/// The place of both families together, or of what is of none, which is its colour.
pub const BOTH_PLACE: usize = 4;

/// A named figure of something.
pub type Figure<T> = (&'static str, fn(&T) -> Option<f64>);
