//! Any document as text.

use crate::documents::Document;
use sixmark_study::result::{Published, StudyResult};

use crate::sheet::Named;
use crate::text::Detail;
use crate::{comparison, sheet, text, watch_text};
use sixmark_sheet::Sheet;
use sixmark_sheet::{html, markdown, terminal};
use sixmark_vitals::text as vitals;

/// The page of one or several documents, the first one first.
pub fn html_page(documents: &[Named<'_>]) -> String {
    html::html_page(&sheets_of(documents))
}

/// One or several documents as Markdown, the first one first.
pub fn markdown_page(documents: &[Named<'_>]) -> String {
    markdown::markdown_page(&sheets_of(documents))
}

fn sheets_of(documents: &[Named<'_>]) -> Vec<Sheet> {
    documents.iter().map(|named| sheet::sheet_of(*named)).collect()
}

/// What the terminal showed when the document was made, but for warnings.
pub fn document_text(document: &Document, detail: Detail) -> String {
    match document {
        Document::Run(result) => text::run_text(result, detail),
        Document::Watch(result) => watch_text::watch_text(result),
        Document::Comparison(result) => comparison::comparison_text(result),
        Document::Study(result) => study_text(result),
        Document::Vitals(result) => vitals::vitals_text(result),
        Document::Traffic(result) => sixmark_traffic::sheet::traffic_text(result),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A study needs no figures, so that its page shows how words are treated.
    #[test]
    fn foreign_words_stand_escaped_wherever_they_are() {
        let evil = "</script><img src=x onerror=alert(1)>\"'`&";
        let mut study = crate::sheet::tests::empty_study();
        study.title = evil.into();
        study.factors[0].name = evil.into();
        study.description = evil.into();
        let document = Document::Study(Box::new(study));
        let text = html_page(&[Named { name: evil, document: &document }]);
        assert!(!text.contains("<img"));
        assert!(text.contains("&lt;img src=x onerror=alert(1)&gt;"));
    }
}
