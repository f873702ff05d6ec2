//! Reports: documents of runs, comparisons, studies and watches as text, CSV, Markdown, HTML and
//! JUnit XML. Each report is a function from documents to a string.
//!
//! This crate measures and judges nothing and writes no files, and it computes no figure that a
//! document does not contain.
//!
//! Begin with [`sheet`], the content of a report before it has a format; [`terminal`],
//! [`markdown`] and [`html`] format it, and [`document_text`] is what the commands print.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod comparison;
pub mod csv;
mod document;
pub mod doubts;
pub mod find;
pub mod gates;
pub mod headline;
pub mod html;
pub mod junit;
pub mod long;
pub mod markdown;
pub mod metrics;
mod reasons;
pub mod sheet;
pub mod terminal;
pub mod text;
pub mod traffic;
pub mod vitals;

pub use document::{
    document_text, published_markdown, published_text, study_markdown, study_text, traffic_text,
};

/// A named figure of something.
type Figure<T> = (&'static str, fn(&T) -> Option<f64>);

/// Writes the figure `name` of some durations, which is `us`: `> 2.00 s` where only a lower bound is
/// known, since it falls among exchanges that were unanswered at the end.
fn write_bound(
    of: &sixmark_document::timing::Summary,
    name: &str,
    us: f64,
    write: impl Fn(f64) -> String,
) -> String {
    let is_bound = match name {
        "mean" => of.at_least.is_some(),
        _ => of.is_lower_bound(us),
    };
    if is_bound { format!("> {}", write(us)) } else { write(us) }
}
