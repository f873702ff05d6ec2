//! `sixmark.eyes-study/1`: the document that `sixmark study run lazy-eye` writes.

use serde::{Deserialize, Serialize};
use sixmark_document::provenance::{Ended, Environment, Tool};

use super::claims::InspectionClaim;
use super::published::PublishedClient;
use super::seen_client::{ClientInspection, LeftOutClient};

/// The name and version of the document format.
pub const SCHEMA: &str = "sixmark.eyes-study/1";

/// The document of the study `lazy-eye`: what clients do when a family is slow or dead, beside what was
/// published of them. docs/study.md describes it for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InspectionResult {
    /// The name and version of the document format.
    pub schema: String,
    /// The program that made the document.
    pub tool: Tool,
    /// The name of the study.
    pub name: String,
    /// Its title.
    pub title: String,
    /// When it began, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME)))]
    pub started: String,
    /// How long it took, in seconds.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub elapsed_s: f64,
    /// Why it ended.
    pub ended: Ended,
    /// True for the short form (`--quick`).
    pub quick: bool,
    /// Determines the order of cases and clients.
    pub seed: u64,
    /// How often each client was to be started in each case.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub repetitions: u32,
    /// The machine on which the clients ran.
    pub environment: Environment,
    /// The published study.
    pub published: PublishedInspection,
    /// The clients that were started, in the order of the study.
    pub clients: Vec<ClientInspection>,
    /// The clients that are not here.
    pub left_out: Vec<LeftOutClient>,
    /// The claims of the paper and of documentations, with their answers.
    pub claims: Vec<InspectionClaim>,
}

/// The published study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedInspection {
    /// Its title.
    pub title: String,
    /// Who published it, and where.
    pub source: String,
    /// Where its table stands.
    pub table: String,
    /// Remarks.
    pub remarks: Vec<String>,
    /// The rows of its table, as printed.
    pub clients: Vec<PublishedClient>,
}
