//! What a report shows of a document, before it is HTML or Markdown: words, tables and charts.

use crate::report::documents::Document;
use sixmark_sheet::Sheet;

/// A document and the name under which it was given.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// A file's name, say.
    pub name: &'a str,
    /// What is in it.
    pub document: &'a Document,
}

/// What a report shows of a document.
pub fn sheet_of(named: Named<'_>) -> Sheet {
    match named.document {
        Document::Run(result) => sixmark_record::sheet::run::run_sheet(named.name, result),
        Document::Watch(result) => sixmark_watch::sheet::watch_sheet(named.name, result),
        Document::Comparison(result) => {
            sixmark_compare::sheet::comparison_sheet(named.name, result)
        }
        Document::Study(result) => sixmark_study::sheet::sheet(named.name, result),
        Document::Vitals(result) => sixmark_vitals::sheet::vitals_sheet(named.name, result),
        Document::Traffic(result) => sixmark_traffic::sheet::traffic_sheet(named.name, result),
    }
}

#[cfg(test)]
pub(crate) mod tests;
