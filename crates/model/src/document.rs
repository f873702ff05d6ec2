//! A document that sixmark wrote, of whatever kind, read back.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::comparison::result::{self as comparison, ComparisonResult};
use crate::result::{self, RunResult};
use crate::study::result::{self as study, StudyResult};
use crate::watch::document::{self as watch, WatchResult};

/// One document.
#[derive(Clone, Debug)]
pub enum Document {
    /// `sixmark.result/1`, of `sixmark run`.
    Run(Box<RunResult>),
    /// `sixmark.watch/1`, of `sixmark watch`.
    Watch(Box<WatchResult>),
    /// `sixmark.comparison/1`, of `sixmark compare`.
    Comparison(Box<ComparisonResult>),
    /// `sixmark.study/1`, of `sixmark study run`.
    Study(Box<StudyResult>),
}

/// The one field that every document has, and one that only those of watches have.
#[derive(Deserialize)]
struct SchemaField {
    schema: String,
    watched: Option<IgnoredAny>,
}

impl Document {
    /// Reads a document.
    ///
    /// # Errors
    /// In one line: it is no JSON, not one of sixmark's documents, of a version that this program
    /// doesn't know, or lacks something.
    pub fn parse(text: &str) -> Result<Document, String> {
        let SchemaField { schema, watched } = serde_json::from_str(text)
            .map_err(|error| format!("is no document of sixmark's ({error})"))?;
        match schema.as_str() {
            // A watch of before it had a form of its own.
            result::SCHEMA if watched.is_some() => Ok(Document::Watch(read_document(text)?)),
            result::SCHEMA => Ok(Document::Run(read_document(text)?)),
            watch::SCHEMA => Ok(Document::Watch(read_document(text)?)),
            comparison::SCHEMA => Ok(Document::Comparison(read_document(text)?)),
            study::SCHEMA => Ok(Document::Study(read_document(text)?)),
            other if other.starts_with("sixmark.") => Err(format!(
                "is a {other}, which this version does not read ({}, {}, {} and {})",
                result::SCHEMA,
                watch::SCHEMA,
                comparison::SCHEMA,
                study::SCHEMA
            )),
            other => Err(format!("is a '{other}', not one of sixmark's documents")),
        }
    }

    /// The name and version of its form.
    pub fn schema(&self) -> &'static str {
        match self {
            Document::Run(_) => result::SCHEMA,
            Document::Watch(_) => watch::SCHEMA,
            Document::Comparison(_) => comparison::SCHEMA,
            Document::Study(_) => study::SCHEMA,
        }
    }
}

fn read_document<T: DeserializeOwned>(text: &str) -> Result<Box<T>, String> {
    serde_json::from_str(text).map(Box::new).map_err(|error| format!("can't be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_document_is_told_why() {
        for (text, why) in [
            ("", "no document"),
            ("{}", "no document"),
            ("{\"schema\":\"har\"}", "'har'"),
            ("{\"schema\":\"sixmark.result/9\"}", "does not read"),
            ("{\"schema\":\"sixmark.result/1\"}", "can't be read: missing field"),
        ] {
            let said = Document::parse(text).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
    }
}
