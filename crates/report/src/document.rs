//! Any document as text.

use sixmark_model::document::Document;

use crate::{comparison, study, text};

/// What the terminal showed when the document was made, but for warnings.
pub fn document_text(document: &Document) -> String {
    match document {
        Document::Run(result) => text::table(result),
        Document::Comparison(result) => comparison::table(result),
        Document::Study(result) => study::report(result, study::Style::Text),
    }
}
