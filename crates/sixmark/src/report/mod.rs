//! Every kind of document, and what is made of any of them: text, pages, lines of CSV, JUnit XML, and
//! the headline that the store lists.
//!
//! Each subject shows its own document; this module knows which documents there are ([`documents`]).
//! It measures and judges nothing, writes no files, and computes no figure that a document does not
//! contain.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod document;
pub mod documents;
pub mod headline;
pub mod junit;
pub mod long;
pub mod metrics;
pub mod sheet;

pub use document::{document_text, html_page, markdown_page};
