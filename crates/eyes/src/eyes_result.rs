//! `sixmark.eyes/1`: the document that `sixmark eyes` writes.

use serde::{Deserialize, Serialize};
use sixmark_document::provenance::{Ended, Environment, Tool, Warning};

use crate::clause::ClauseFinding;
use crate::client_profile::ClientProfile;
use crate::client_trace::{CaseTraces, ClientTrace};
use crate::eyes_case::SiteScheme;
use crate::figures::CaseFigures;

/// The name and version of the document format.
pub const SCHEMA: &str = "sixmark.eyes/1";

/// The document that sixmark eyes writes: what a client does when a family is slow or dead.
/// docs/eyes.md describes it for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EyesResult {
    /// The name and version of the document format.
    pub schema: String,
    /// The program that made the document.
    pub tool: Tool,
    /// When it began, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME)))]
    pub started: String,
    /// How long it took, in seconds.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub elapsed_s: f64,
    /// Why it ended.
    pub ended: Ended,
    /// The machine on which the client ran.
    pub environment: Environment,
    /// How the site was served.
    pub scheme: SiteScheme,
    /// The command of the client and its arguments; of a browser the program alone.
    pub command: Vec<String>,
    /// The interface of the machine beyond which the client was; null if it was started here.
    pub served_on: Option<String>,
    /// What the client does, in a few figures over all cases.
    pub profile: ClientProfile,
    /// What the client did in each case, in the order of the list of cases.
    pub cases: Vec<CaseResult>,
    /// Whether it does what Happy Eyeballs asks for, clause by clause.
    pub clauses: Vec<ClauseFinding>,
    /// Reasons to doubt what was found.
    pub warnings: Vec<Warning>,
    /// The gates and their results.
    pub gates: Vec<EyesGateResult>,
}

/// A gate and its result: a condition that must hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EyesGateResult {
    /// The condition, as written.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub gate: String,
    /// True if the condition does not hold or can't be determined: also if the client was not started as often
    /// as asked for.
    pub failed: bool,
    /// The figures that decided, or what was missing, as human-readable text.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub because: String,
}

/// What a client did in a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CaseResult {
    /// The name of the case.
    pub case: String,
    /// The figures over all starts.
    pub figures: CaseFigures,
    /// What was seen of each start, in the order of time.
    pub starts: Vec<ClientTrace>,
}

impl CaseResult {
    /// Creates the result of a case.
    pub fn of(case: &str, starts: Vec<ClientTrace>) -> CaseResult {
        CaseResult { case: case.to_owned(), figures: CaseFigures::of(&starts), starts }
    }
}

/// Returns the traces of all cases.
pub fn case_traces(cases: &[CaseResult]) -> CaseTraces {
    cases.iter().map(|of| (of.case.clone(), of.starts.clone())).collect()
}
