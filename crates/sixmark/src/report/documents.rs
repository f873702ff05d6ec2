//! Reading any kind of document that sixmark writes.

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use sixmark_check::check_result as check;
use sixmark_check::check_result::CheckResult;
use sixmark_compare::comparison_result as comparison;
use sixmark_compare::comparison_result::ComparisonResult;
use sixmark_design::study_result as study;
use sixmark_design::study_result::StudyResult;
use sixmark_doctor::doctor_result as doctor;
use sixmark_doctor::doctor_result::DoctorResult;
use sixmark_document::provenance::Warning;
use sixmark_eyes::eyes_result as eyes;
use sixmark_eyes::eyes_result::EyesResult;
use sixmark_only6::only6_result as only6;
use sixmark_only6::only6_result::Only6Result;
use sixmark_plan::plan::secrets::document_holds_secrets;
use sixmark_result::result;
use sixmark_result::result::RunResult;
use sixmark_study::inspection::document as inspection;
use sixmark_study::inspection::document::InspectionResult;
use sixmark_traffic::traffic_result as traffic;
use sixmark_traffic::traffic_result::TrafficResult;
use sixmark_vitals::vitals_result as vitals;
use sixmark_vitals::vitals_result::VitalsResult;
use sixmark_watch::watch_result as watch;
use sixmark_watch::watch_result::WatchResult;

/// A document of any kind.
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
    /// `sixmark.eyes-study/1`, of `sixmark study run lazy-eye`.
    Inspection(Box<InspectionResult>),
    /// `sixmark.vitals/1`, of `sixmark vitals`.
    Vitals(Box<VitalsResult>),
    /// `sixmark.traffic/1`, of `sixmark traffic`.
    Traffic(Box<TrafficResult>),
    /// `sixmark.doctor/1`, of `sixmark doctor`.
    Doctor(Box<DoctorResult>),
    /// `sixmark.check/1`, of `sixmark check`.
    Check(Box<CheckResult>),
    /// `sixmark.eyes/1`, of `sixmark eyes`.
    Eyes(Box<EyesResult>),
    /// `sixmark.only6/1`, of `sixmark only6`.
    Only6(Box<Only6Result>),
}

/// The formats that [`Document::parse`] reads, by name and version.
const SCHEMAS: [&str; 11] = [
    result::SCHEMA,
    watch::SCHEMA,
    comparison::SCHEMA,
    study::SCHEMA,
    inspection::SCHEMA,
    vitals::SCHEMA,
    traffic::SCHEMA,
    doctor::SCHEMA,
    check::SCHEMA,
    eyes::SCHEMA,
    only6::SCHEMA,
];

/// The `schema` field of every document, and `watched`, which only documents of `sixmark watch`
/// have.
#[derive(Deserialize)]
struct SchemaField {
    schema: String,
    watched: Option<IgnoredAny>,
}

impl Document {
    /// Parses a document.
    ///
    /// # Errors
    /// The text is not JSON, is not a document of sixmark, has a version that this program does not
    /// support, or lacks a field. The message is one line.
    pub fn parse(text: &str) -> Result<Document, String> {
        if is_lines_of_vitals(text) {
            return Err(format!(
                "has the lines of a {}, a sample each; a report needs the document \
                 (`sixmark vitals --json FILE` without --jsonl)",
                vitals::SCHEMA
            ));
        }
        let SchemaField { schema, watched } = serde_json::from_str(text)
            .map_err(|error| format!("is not a document of sixmark ({error})"))?;
        match schema.as_str() {
            // Earlier versions wrote watches in this format.
            result::SCHEMA if watched.is_some() => Ok(Document::Watch(read_document(text)?)),
            result::SCHEMA => Ok(Document::Run(read_document(text)?)),
            watch::SCHEMA => Ok(Document::Watch(read_document(text)?)),
            comparison::SCHEMA => Ok(Document::Comparison(read_document(text)?)),
            study::SCHEMA => Ok(Document::Study(read_document(text)?)),
            inspection::SCHEMA => Ok(Document::Inspection(read_document(text)?)),
            vitals::SCHEMA => Ok(Document::Vitals(read_document(text)?)),
            traffic::SCHEMA => Ok(Document::Traffic(read_document(text)?)),
            doctor::SCHEMA => Ok(Document::Doctor(read_document(text)?)),
            check::SCHEMA => Ok(Document::Check(read_document(text)?)),
            eyes::SCHEMA => Ok(Document::Eyes(read_document(text)?)),
            only6::SCHEMA => Ok(Document::Only6(read_document(text)?)),
            other if other.starts_with("sixmark.") => Err(format!(
                "is a {other}, which this version does not read (it reads {}); if a newer sixmark wrote \
                 it, use that",
                SCHEMAS.join(", ")
            )),
            other => Err(format!("is a '{other}', not one of sixmark's documents")),
        }
    }

    /// Returns true if it contains credentials that are not redacted (`--keep-secrets`).
    pub fn holds_secrets(&self) -> bool {
        let value = match self {
            Document::Run(result) => serde_json::to_value(result),
            Document::Comparison(result) => serde_json::to_value(result),
            Document::Study(result) => serde_json::to_value(result),
            // These have no requests.
            Document::Inspection(_)
            | Document::Watch(_)
            | Document::Vitals(_)
            | Document::Traffic(_)
            | Document::Doctor(_)
            | Document::Check(_)
            | Document::Eyes(_)
            | Document::Only6(_) => return false,
        };
        // What can't be examined may hold some.
        value.map_or(true, |value| document_holds_secrets(&value))
    }

    /// Returns the name and version of the document's format.
    pub fn schema(&self) -> &'static str {
        match self {
            Document::Run(_) => result::SCHEMA,
            Document::Watch(_) => watch::SCHEMA,
            Document::Comparison(_) => comparison::SCHEMA,
            Document::Study(_) => study::SCHEMA,
            Document::Inspection(_) => inspection::SCHEMA,
            Document::Vitals(_) => vitals::SCHEMA,
            Document::Traffic(_) => traffic::SCHEMA,
            Document::Doctor(_) => doctor::SCHEMA,
            Document::Check(_) => check::SCHEMA,
            Document::Eyes(_) => eyes::SCHEMA,
            Document::Only6(_) => only6::SCHEMA,
        }
    }

    /// Returns the warnings: reasons to doubt the figures.
    pub fn warnings(&self) -> &[Warning] {
        match self {
            Document::Run(result) => &result.warnings,
            Document::Watch(result) => &result.warnings,
            Document::Comparison(result) => &result.warnings,
            Document::Study(result) => &result.warnings,
            Document::Vitals(result) => &result.warnings,
            Document::Traffic(result) => &result.warnings,
            Document::Eyes(result) => &result.warnings,
            Document::Only6(result) => &result.warnings,
            // Their findings are not about figures, or say themselves that they are undecided.
            Document::Doctor(_) | Document::Check(_) | Document::Inspection(_) => &[],
        }
    }
}

/// Returns true for the output of `sixmark vitals --jsonl`: a header line, then one sample per
/// line.
fn is_lines_of_vitals(text: &str) -> bool {
    let Some((first, rest)) = text.split_once('\n') else { return false };
    let head = serde_json::from_str::<SchemaField>(first);
    !rest.trim().is_empty() && head.is_ok_and(|head| head.schema == vitals::SCHEMA)
}

fn read_document<T: DeserializeOwned>(text: &str) -> Result<Box<T>, String> {
    serde_json::from_str(text).map(Box::new).map_err(|error| format!("can't be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explains_why_a_file_is_not_a_document() {
        for (text, why) in [
            ("", "not a document"),
            ("{}", "not a document"),
            ("{\"schema\":\"har\"}", "'har'"),
            ("{\"schema\":\"sixmark.result/9\"}", "does not read"),
            ("{\"schema\":\"sixmark.result/1\"}", "can't be read: missing field"),
            ("{\"schema\":\"sixmark.traffic/1\"}", "can't be read: missing field"),
            ("{\"schema\":\"sixmark.vitals/1\"}\n{\"at_us\":1}\n", "without --jsonl"),
        ] {
            let said = Document::parse(text).unwrap_err();
            assert!(said.contains(why), "{text}: {said}");
        }
    }
}
