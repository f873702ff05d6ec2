//! Results as text, CSV, Markdown, HTML and JUnit's XML. Each report is a function from documents to a
//! string.
//!
//! Nothing is measured, judged or written to a file here.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod comparison;
pub mod csv;
mod document;
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
mod terminal;
pub mod text;
pub mod traffic;
pub mod vitals;

pub use document::{document_text, published_markdown, published_text, study_markdown, study_text};

/// A named figure of something.
type Figure<T> = (&'static str, fn(&T) -> Option<f64>);
