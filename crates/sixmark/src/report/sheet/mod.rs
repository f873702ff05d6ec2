//! The contents of a report before they become HTML or Markdown: texts, tables and charts.

use crate::report::documents::Document;
use sixmark_sheet::Sheet;

/// A document and the name under which it was given.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// The name, such as that of a file.
    pub name: &'a str,
    /// The document.
    pub document: &'a Document,
}

/// Returns the contents of the report on a document.
pub fn sheet_of(named: Named<'_>) -> Sheet {
    match named.document {
        Document::Run(result) => sixmark_report::sheet::run::run_sheet(named.name, result),
        Document::Watch(result) => sixmark_watch::sheet::watch_sheet(named.name, result),
        Document::Comparison(result) => {
            sixmark_compare::sheet::comparison_sheet(named.name, result)
        }
        Document::Study(result) => sixmark_study::sheet::sheet(named.name, result),
        Document::Inspection(result) => {
            sixmark_study::inspection::sheet::inspection_sheet(named.name, result)
        }
        Document::Vitals(result) => sixmark_vitals::sheet::vitals_sheet(named.name, result),
        Document::Traffic(result) => sixmark_traffic::sheet::traffic_sheet(named.name, result),
        Document::Check(result) => sixmark_check::sheet::check_sheet(named.name, result),
        Document::Eyes(result) => sixmark_eyes::sheet::eyes_sheet(named.name, result),
        Document::Only6(result) => sixmark_only6::sheet::only6_sheet(named.name, result),
        Document::Doctor(result) => sixmark_doctor::sheet::doctor_sheet(named.name, result),
    }
}

#[cfg(test)]
pub(crate) mod tests;
