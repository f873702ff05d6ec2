//! What a list says of a document: when it was made, of what, and its few most asked-for figures.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::report::documents::Document;
use sixmark_compare::Comparison;
use sixmark_compare::comparison_result::ComparisonResult;
use sixmark_document::provenance::Ended;
use sixmark_document::verdict::Verdict;
use sixmark_record::family_result::FamilyResult;
use sixmark_record::measurement::Measurement;
use sixmark_record::metric::Metric;
use sixmark_record::plan::Plan;
use sixmark_record::result::RunResult;
use sixmark_study::study_result::StudyResult;
use sixmark_units::family::Family;
use sixmark_watch::watch_result::WatchResult;

/// What a list says of one document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListHeadline {
    /// What made it.
    pub kind: DocumentKind,
    /// The name and version of the document's form.
    pub schema: String,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// Seconds that it lasted.
    pub elapsed_s: f64,
    /// Why it ended; none of what is not over, or was killed before it was.
    pub ended: Option<Ended>,
    /// The URLs that were loaded, each once; the interfaces or files that were watched.
    pub targets: Vec<String>,
    /// What is said of the primary metric, where two sides were compared.
    pub verdict: Option<Judged>,
    /// IPv6 and IPv4, or the sides that were compared, in this order.
    pub sides: Vec<SideFigures>,
}

/// What made a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentKind {
    /// `sixmark run`.
    Run,
    /// `sixmark compare`.
    Comparison,
    /// `sixmark study`.
    Study,
    /// `sixmark watch`.
    Watch,
}

/// A verdict on side A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// On which metric.
    pub metric: Metric,
    /// What is said of it.
    pub verdict: Verdict,
}

/// The figures of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideFigures {
    /// `ipv6`, `ipv4`, or what the side was called.
    pub name: String,
    /// Requests sent.
    pub requests: u64,
    /// Those that ended neither NORMAL nor ABANDONED (what the end cut off did not fail), or with a
    /// status that is not accepted.
    pub failed: u64,
    /// Complete requests/s.
    pub requests_per_s: f64,
    /// The median response time in microseconds.
    pub response_p50_us: Option<f64>,
    /// 99 % of the response times are not longer, in microseconds.
    pub response_p99_us: Option<f64>,
}

impl DocumentKind {
    /// All of them.
    pub const ALL: [DocumentKind; 4] =
        [DocumentKind::Run, DocumentKind::Comparison, DocumentKind::Study, DocumentKind::Watch];

    /// Its name in lists and filters.
    pub fn name(self) -> &'static str {
        match self {
            DocumentKind::Run => "run",
            DocumentKind::Comparison => "comparison",
            DocumentKind::Study => "study",
            DocumentKind::Watch => "watch",
        }
    }
}

impl ListHeadline {
    /// Of a document that the store keeps.
    ///
    /// # Errors
    /// A short message: it keeps none of this kind.
    pub fn of(document: &Document) -> Result<ListHeadline, String> {
        match document {
            Document::Run(result) => Ok(ListHeadline::of_run(result)),
            Document::Watch(result) => Ok(ListHeadline::of_watch(result)),
            Document::Comparison(result) => Ok(ListHeadline::of_comparison(result)),
            Document::Study(result) => Ok(ListHeadline::of_study(result)),
            Document::Vitals(_) | Document::Traffic(_) => Err(format!(
                "is a {}, which the store does not keep; `sixmark report FILE` shows it",
                document.schema()
            )),
        }
    }

    /// Of a run.
    pub fn of_run(run: &RunResult) -> ListHeadline {
        ListHeadline::of_measurement(DocumentKind::Run, run, targets([&run.plan]))
    }

    /// Of what was watched.
    pub fn of_watch(watch: &WatchResult) -> ListHeadline {
        ListHeadline::of_measurement(DocumentKind::Watch, watch, watch.watched.names().collect())
    }

    fn of_measurement(
        kind: DocumentKind,
        of: &dyn Measurement,
        targets: Vec<String>,
    ) -> ListHeadline {
        let side = |(family, figures): (Family, _)| {
            SideFigures::new(&family.to_string().to_lowercase(), figures)
        };
        ListHeadline {
            kind,
            schema: of.schema().to_owned(),
            started: of.started().to_owned(),
            elapsed_s: of.elapsed_s(),
            ended: Some(of.ended()),
            targets,
            verdict: None,
            sides: of.families().iter().map(side).collect(),
        }
    }

    /// Of a study: what it is about stands for its targets, its cells' figures are their own.
    pub fn of_study(result: &StudyResult) -> ListHeadline {
        ListHeadline {
            kind: DocumentKind::Study,
            schema: result.schema.clone(),
            started: result.started.clone(),
            elapsed_s: result.cells.iter().map(|cell| cell.took_s).sum(),
            ended: result.ended,
            targets: vec![format!("{}: {}", result.name, result.title)],
            verdict: None,
            sides: Vec::new(),
        }
    }

    /// Of a comparison.
    pub fn of_comparison(result: &ComparisonResult) -> ListHeadline {
        let sides = [&result.sides.a, &result.sides.b];
        ListHeadline {
            kind: DocumentKind::Comparison,
            schema: result.schema.clone(),
            started: result.started.clone(),
            elapsed_s: result.elapsed_s,
            ended: Some(result.ended),
            targets: targets(sides.map(|side| &side.plan)),
            verdict: judged(&result.comparison),
            sides: sides.map(|side| SideFigures::new(&side.name, &side.figures)).into(),
        }
    }
}

fn judged(comparison: &Comparison) -> Option<Judged> {
    let primary = comparison.metrics.first();
    primary.map(|of| Judged { metric: of.metric, verdict: of.verdict })
}

impl SideFigures {
    fn new(name: &str, of: &FamilyResult) -> SideFigures {
        SideFigures {
            name: name.to_owned(),
            requests: of.requests.sent,
            failed: of.failed(),
            requests_per_s: of.requests_per_s,
            response_p50_us: of.response_us.p50,
            response_p99_us: of.response_us.p99,
        }
    }
}

/// The URLs of plans, each once, in their order.
fn targets<'a>(plans: impl IntoIterator<Item = &'a Plan>) -> Vec<String> {
    let mut seen = HashSet::new();
    let urls = plans.into_iter().flat_map(|plan| &plan.targets).map(|target| &target.url);
    urls.filter(|&url| seen.insert(url)).cloned().collect()
}
