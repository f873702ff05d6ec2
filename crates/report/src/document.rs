//! Any document as text.

use sixmark_model::document::Document;
use sixmark_model::study::result::{Published, StudyResult};
use sixmark_model::traffic::result::TrafficResult;

use crate::text::Detail;
use crate::{comparison, markdown, sheet, terminal, text, vitals};

/// What the terminal showed when the document was made, but for warnings.
pub fn document_text(document: &Document, detail: Detail) -> String {
    match document {
        Document::Run(result) => text::measurement_text(&**result, detail),
        Document::Watch(result) => text::measurement_text(&**result, detail),
        Document::Comparison(result) => comparison::comparison_text(result),
        Document::Study(result) => study_text(result),
        Document::Vitals(result) => vitals::vitals_text(result),
        Document::Traffic(result) => traffic_text(result),
    }
}

/// What became of traffic, for a terminal, but for warnings.
pub fn traffic_text(result: &TrafficResult) -> String {
    let named = sheet::of_traffic("", result);
    terminal::sheet_text(&sheet::Sheet { warnings: Vec::new(), ..named })
}

/// A study for a terminal: what was found, the figures, what was published, doubts.
pub fn study_text(study: &StudyResult) -> String {
    terminal::sheet_text(&sheet::of_study("", study))
}

/// The same as Markdown, with all that a page shows but charts.
pub fn study_markdown(study: &StudyResult) -> String {
    markdown::section(&sheet::of_study("", study))
}

/// For a terminal, what published figures say when they are worked out anew.
pub fn published_text(published: &Published) -> String {
    terminal::sheet_text(&sheet::of_published(published))
}

/// The same as Markdown.
pub fn published_markdown(published: &Published) -> String {
    markdown::section(&sheet::of_published(published))
}
