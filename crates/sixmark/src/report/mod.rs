//! The kinds of documents, and their representations: text, HTML pages, CSV, JUnit XML, a page
//! for Prometheus, and the headline for lists of the store.
//!
//! Each other crate renders its own document; this module knows which kinds of documents exist
//! ([`documents`]). It measures and judges nothing, writes no files, and computes no figure that a
//! document does not contain.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod document;
pub mod documents;
pub mod headline;
pub mod junit;
pub mod long;
pub mod metrics;
pub mod prometheus;
pub mod sheet;

pub use document::{document_text, html_page, markdown_page, verdicts_page};
