//! The summary of a document for lists: when it was made, its targets, and its most important
//! figures.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::report::documents::Document;
use sixmark_check::check_result::CheckResult;
use sixmark_check::judge::times_of_site;
use sixmark_check::site_fetch::SiteFetch;
use sixmark_check::site_verdict::SiteVerdict;
use sixmark_compare::Comparison;
use sixmark_compare::comparison_result::ComparisonResult;
use sixmark_design::study_result::StudyResult;
use sixmark_document::provenance::Ended;
use sixmark_document::verdict::Verdict;
use sixmark_plan::plan::Plan;
use sixmark_result::find::FindMax;
use sixmark_result::measurement::Measurement;
use sixmark_result::result::RunResult;
use sixmark_study::inspection::document::InspectionResult;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::metric::Metric;
use sixmark_units::family::Family;
use sixmark_watch::watch_result::WatchResult;

/// The summary of one document in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListHeadline {
    /// The command that made the document.
    pub kind: DocumentKind,
    /// The name and version of the document's format.
    pub schema: String,
    /// The start time, RFC 3339 in UTC.
    pub started: String,
    /// The duration in seconds. For a study, the sum over its cells.
    pub elapsed_s: f64,
    /// Why the measurement ended. `None` if it is still running or was killed.
    pub ended: Option<Ended>,
    /// The URLs that were loaded, each once, or the interfaces or files that were watched. For a
    /// study, its name and title.
    pub targets: Vec<String>,
    /// The verdict on the primary metric. `None` unless two sides were compared.
    pub verdict: Option<Judged>,
    /// The verdict of a check, of several sites the worst. `None` for other documents.
    pub site_verdict: Option<SiteVerdict>,
    /// The figures of IPv6 and IPv4, or of sides A and B, in this order. Empty for a study.
    pub sides: Vec<SideFigures>,
}

/// The kind of a document, by the command that made it.
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
    /// `sixmark check`.
    Check,
}

/// A verdict on one metric of side A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The metric.
    pub metric: Metric,
    /// The verdict on it.
    pub verdict: Verdict,
}

/// The figures of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideFigures {
    /// `ipv6`, `ipv4`, or the name of the side.
    pub name: String,
    /// Number of requests sent.
    pub requests: u64,
    /// Number of requests that failed: those whose outcome is neither NORMAL nor ABANDONED (cut off
    /// by the end of the run), and those whose status is not accepted.
    pub failed: u64,
    /// Completed requests per second.
    pub requests_per_s: f64,
    /// The median response time in microseconds. `None` if no response was timed.
    pub response_p50_us: Option<f64>,
    /// The 0.99 quantile of the response time in microseconds. `None` if no response was timed.
    pub response_p99_us: Option<f64>,
    /// The highest rate that held in a search (`--find-max`), in requests per second. `None` if none
    /// held, and if the document is not of a search. The other figures are of one trial.
    pub holds_per_s: Option<f64>,
    /// The lowest rate above it that did not hold, likewise.
    pub fails_per_s: Option<f64>,
}

impl DocumentKind {
    /// All kinds.
    pub const ALL: [DocumentKind; 5] = [
        DocumentKind::Run,
        DocumentKind::Comparison,
        DocumentKind::Study,
        DocumentKind::Watch,
        DocumentKind::Check,
    ];

    /// Returns the name in lists and filters.
    pub fn name(self) -> &'static str {
        match self {
            DocumentKind::Run => "run",
            DocumentKind::Comparison => "comparison",
            DocumentKind::Study => "study",
            DocumentKind::Watch => "watch",
            DocumentKind::Check => "check",
        }
    }
}

impl ListHeadline {
    /// Creates the headline of a document.
    ///
    /// # Errors
    /// The store keeps no documents of this kind. The message is one line.
    pub fn of(document: &Document) -> Result<ListHeadline, String> {
        match document {
            Document::Run(result) => Ok(ListHeadline::of_run(result)),
            Document::Watch(result) => Ok(ListHeadline::of_watch(result)),
            Document::Comparison(result) => Ok(ListHeadline::of_comparison(result)),
            Document::Study(result) => Ok(ListHeadline::of_study(result)),
            Document::Inspection(result) => Ok(ListHeadline::of_inspection(result)),
            Document::Check(result) => Ok(ListHeadline::of_check(result)),
            Document::Vitals(_)
            | Document::Traffic(_)
            | Document::Doctor(_)
            | Document::Eyes(_)
            | Document::Only6(_) => Err(format!(
                "is a {}, which the store does not keep; `sixmark report FILE` shows it",
                document.schema()
            )),
        }
    }

    /// Creates the headline of a run.
    pub fn of_run(run: &RunResult) -> ListHeadline {
        let headline = ListHeadline::of_measurement(DocumentKind::Run, run, targets([&run.plan]));
        match &run.find_max {
            Some(found) => headline.with_search(found),
            None => headline,
        }
    }

    fn with_search(mut self, found: &FindMax) -> ListHeadline {
        self.elapsed_s = found.took_s.unwrap_or(self.elapsed_s);
        for (family, of) in found.families.iter() {
            let side = self.sides.iter_mut().find(|side| side.name == family.word());
            side.into_iter().for_each(|side| {
                (side.holds_per_s, side.fails_per_s) = (of.holds, of.fails);
            });
        }
        self
    }

    /// Returns true if it is of a search for the highest rate that has a result.
    pub fn is_search(&self) -> bool {
        self.sides.iter().any(|side| side.holds_per_s.or(side.fails_per_s).is_some())
    }

    /// Creates the headline of a watch.
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
            site_verdict: None,
            sides: of.families().iter().map(side).collect(),
        }
    }

    /// Creates the headline of a study. Its name and title stand in the place of targets. It has no
    /// sides, because each cell has figures of its own.
    pub fn of_study(result: &StudyResult) -> ListHeadline {
        ListHeadline {
            kind: DocumentKind::Study,
            schema: result.schema.clone(),
            started: result.started.clone(),
            elapsed_s: result.measured().map(|cell| cell.took_s).sum(),
            ended: result.ended,
            targets: vec![format!("{}: {}", result.name, result.title)],
            verdict: None,
            site_verdict: None,
            sides: Vec::new(),
        }
    }

    /// Creates the headline of a study of clients.
    pub fn of_inspection(result: &InspectionResult) -> ListHeadline {
        ListHeadline {
            kind: DocumentKind::Study,
            schema: result.schema.clone(),
            started: result.started.clone(),
            elapsed_s: result.elapsed_s,
            ended: Some(result.ended),
            targets: vec![format!("{}: {}", result.name, result.title)],
            verdict: None,
            site_verdict: None,
            sides: Vec::new(),
        }
    }

    /// Creates the headline of a comparison.
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
            site_verdict: None,
            sides: sides.map(|side| SideFigures::new(&side.name, &side.figures)).into(),
        }
    }

    /// Creates the headline of a check. Its requests are the fetches of the URLs, and times are those of
    /// a single site: there is no median over several.
    pub fn of_check(result: &CheckResult) -> ListHeadline {
        let single = match &result.sites[..] {
            [site] => Some(times_of_site(&site.observed).response_us),
            _ => None,
        };
        let side = |family: Family| {
            let addresses = result.sites.iter().flat_map(|site| &site.observed.addresses);
            let of_family = addresses.filter(|of| of.family == family);
            let (complete, failed): (Vec<&SiteFetch>, Vec<&SiteFetch>) =
                of_family.flat_map(|of| &of.fetches).partition(|fetch| fetch.is_complete());
            SideFigures {
                name: family.word().to_owned(),
                requests: (complete.len() + failed.len()) as u64,
                failed: failed.len() as u64,
                requests_per_s: rate_of(complete.len(), result.elapsed_s),
                response_p50_us: single.as_ref().and_then(|of| of[family]),
                response_p99_us: None,
                holds_per_s: None,
                fails_per_s: None,
            }
        };
        let urls = result.sites.iter().map(|site| &site.url);
        ListHeadline {
            kind: DocumentKind::Check,
            schema: result.schema.clone(),
            started: result.started.clone(),
            elapsed_s: result.elapsed_s,
            ended: Some(Ended::Complete),
            targets: each_once(urls),
            verdict: None,
            site_verdict: SiteVerdict::worst(result.sites.iter().map(|site| site.verdict)),
            sides: Family::BOTH.map(side).into(),
        }
    }
}

fn judged(comparison: &Comparison) -> Option<Judged> {
    let primary = comparison.metrics.first()?;
    // Sides that are not comparable may both have failures, which are compared all the same.
    let verdict = match comparison.not_same() {
        Some(_) => Verdict::NotComparable,
        None => primary.verdict,
    };
    Some(Judged { metric: primary.metric, verdict })
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
            holds_per_s: None,
            fails_per_s: None,
        }
    }
}

/// Returns the URLs of the plans in their order, each once.
fn targets<'a>(plans: impl IntoIterator<Item = &'a Plan>) -> Vec<String> {
    each_once(plans.into_iter().flat_map(|plan| &plan.targets).map(|target| &target.url))
}

/// Returns events per second; 0 if no time passed.
fn rate_of(count: usize, elapsed_s: f64) -> f64 {
    if elapsed_s > 0.0 { count as f64 / elapsed_s } else { 0.0 }
}

fn each_once<'a>(urls: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen = HashSet::new();
    urls.filter(|&url| seen.insert(url)).cloned().collect()
}
