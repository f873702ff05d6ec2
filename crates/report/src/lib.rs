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
pub mod document_schema;
pub mod documents;
pub mod find;
pub mod gates;
pub mod headline;
pub mod junit;
pub mod long;
pub mod metrics;
mod reasons;
pub mod sheet;
pub mod text;
pub mod watch_text;

pub use document::{
    document_text, html_page, markdown_page, published_markdown, published_text, study_markdown,
    study_text,
};
