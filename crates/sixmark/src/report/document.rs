//! Rendering of any document as HTML, Markdown or plain text.

use crate::report::documents::Document;

use crate::report::sheet;
use crate::report::sheet::Named;
use sixmark_compare::comparison_result::ComparisonResult;
use sixmark_compare::sheet::brief::{brief_sheet, false_alarms_sentence};
use sixmark_compare::text as comparison;
use sixmark_doctor::sheet::{DoctorDetail, doctor_text};
use sixmark_report::text;
use sixmark_report::text::Detail;
use sixmark_sheet::Sheet;
use sixmark_sheet::{html, markdown};
use sixmark_study::inspection::sheet::inspection_text;
use sixmark_vitals::sheet::vitals_text;
use sixmark_watch::sheet::watch_text;

/// Returns one HTML page with all documents, in the given order.
pub fn html_page(documents: &[Named<'_>]) -> String {
    html::html_page(&sheets_of(documents))
}

/// Returns one Markdown text with all documents, in the given order.
pub fn markdown_page(documents: &[Named<'_>]) -> String {
    markdown::markdown_page(&sheets_of(documents))
}

/// Returns one Markdown text with the verdicts of all comparisons, in the given order, and how often
/// such a text is wrong.
pub fn verdicts_page(comparisons: &[&ComparisonResult]) -> String {
    let sheets: Vec<Sheet> = comparisons.iter().map(|result| brief_sheet(result)).collect();
    let wrong = markdown::paragraph(&false_alarms_sentence(comparisons));
    format!("{}\n---\n\n{wrong}", markdown::markdown_page(&sheets))
}

fn sheets_of(documents: &[Named<'_>]) -> Vec<Sheet> {
    documents.iter().map(|named| sheet::sheet_of(*named)).collect()
}

/// Returns the text that the terminal showed when the document was made, without the warnings.
pub fn document_text(document: &Document, detail: Detail) -> String {
    match document {
        Document::Run(result) => text::run_text(result, detail),
        Document::Watch(result) => watch_text(result),
        Document::Comparison(result) => comparison::comparison_text(result),
        Document::Study(result) => sixmark_study::sheet::study_text(result),
        Document::Inspection(result) => inspection_text(result),
        Document::Vitals(result) => vitals_text(result),
        Document::Traffic(result) => sixmark_traffic::sheet::traffic_text(result),
        Document::Check(result) => sixmark_check::sheet::check_text(result),
        Document::Eyes(result) => sixmark_eyes::sheet::eyes_text(result),
        Document::Only6(result) => sixmark_only6::sheet::only6_text(result),
        Document::Doctor(result) => doctor_text(result, doctor_detail(detail)),
    }
}

fn doctor_detail(detail: Detail) -> DoctorDetail {
    match detail {
        Detail::Full => DoctorDetail::Full,
        Detail::Answer => DoctorDetail::Short,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses a study, which needs no measured figures, to show how foreign text is escaped.
    #[test]
    fn escapes_untrusted_text_in_html_pages() {
        let evil = "</script><img src=x onerror=alert(1)>\"'`&";
        let mut study = crate::report::sheet::tests::empty_study();
        study.title = evil.into();
        study.factors[0].name = evil.into();
        study.description = evil.into();
        let document = Document::Study(Box::new(study));
        let text = html_page(&[Named { name: evil, document: &document }]);
        assert!(!text.contains("<img"));
        assert!(text.contains("&lt;img src=x onerror=alert(1)&gt;"));
    }
}
