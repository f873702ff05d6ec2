//! The published study that a study repeats, in its document.

use serde::{Deserialize, Serialize};

use super::printed::PrintedFigure;
use super::{ClaimResult, ComparisonEntry, TableColumn};
use sixmark_document::verdict::Estimate;

/// A published study, with recomputed analyses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Published {
    /// The title of the published study.
    pub title: String,
    /// Who published it, and when.
    pub source: String,
    /// The conditions of its measurements: machine, network, programs.
    pub conditions: String,
    /// Remarks about it.
    pub remarks: Vec<String>,
    /// Its tables, as they were printed.
    pub tables: Vec<PublishedTable>,
    /// The analyses that are computed from its tables.
    pub analyses: Vec<Analysis>,
}

/// A published study with its claims tested on its own figures: what `sixmark study reanalyse`
/// writes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReanalysedStudy {
    /// The published study.
    #[serde(flatten)]
    pub published: Published,
    /// Its claims. Their measured answers say that nothing was measured.
    pub claims: Vec<ClaimResult>,
}

/// A published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedTable {
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// The title.
    pub title: String,
    /// The factors whose levels are in the first columns.
    pub factors: Vec<String>,
    /// The other columns, which have figures.
    pub columns: Vec<TableColumn>,
    /// True if its figures are improvements in percent, not figures of the measures. The level of
    /// the factor that is compared is then two levels: `on over off`. Absent if false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub improvements: bool,
    /// Its rows.
    pub rows: Vec<PublishedRow>,
}

/// A row of a published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedRow {
    /// One level for each factor.
    pub levels: Vec<String>,
    /// One entry for each column, in its unit; null if nothing was printed.
    #[serde(deserialize_with = "super::printed::read_figures")]
    pub values: Vec<Option<PrintedFigure>>,
    /// A remark about the row; null if there is none.
    pub remark: Option<String>,
}

/// An analysis that is computed from published figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Analysis {
    /// The title.
    pub title: String,
    /// The method in words.
    pub method: String,
    /// Ratios of A's figures to B's; empty for an analysis of shares.
    pub ratios: Vec<ComparisonEntry>,
    /// Differences of shares; empty for an analysis of ratios.
    pub shares: Vec<PublishedShare>,
    /// The conclusion in words.
    pub conclusion: String,
}

/// A comparison of two shares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedShare {
    /// What is compared with what.
    pub label: String,
    /// The first share, 0 to 1.
    pub a: f64,
    /// The second share, 0 to 1.
    pub b: f64,
    /// The first minus the second, with its interval of 95 % (normal approximation).
    pub difference: Estimate,
    /// True if the interval does not include 0.
    pub differs: bool,
}
