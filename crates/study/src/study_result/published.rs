//! What was published of the same, in a study's document.

use serde::{Deserialize, Serialize};

use super::{ComparisonEntry, TableColumn};
use sixmark_document::verdict::Estimate;

/// What was published of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Published {
    /// What it is called there.
    pub title: String,
    /// By whom and when.
    pub source: String,
    /// Under which conditions: machine, network, programs.
    pub conditions: String,
    /// What its authors concluded.
    pub findings: Vec<String>,
    /// What is to be known of it.
    pub remarks: Vec<String>,
    /// Its tables, as they were printed.
    pub tables: Vec<PublishedTable>,
    /// What the figures say when they are worked out anew.
    pub analyses: Vec<Analysis>,
}

/// A published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedTable {
    /// Its name: letters, digits, `-` and `_`.
    pub name: String,
    /// A line above it.
    pub title: String,
    /// The factors that its first columns name.
    pub factors: Vec<String>,
    /// The columns behind them.
    pub columns: Vec<TableColumn>,
    /// Its rows.
    pub rows: Vec<PublishedRow>,
}

/// A row of a published table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedRow {
    /// A level of each factor.
    pub levels: Vec<String>,
    /// One entry a column, in its unit; null where none was printed. Of a range its middle.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Vec<Option<sixmark_document::schema_type::Signed>>")
    )]
    pub values: Vec<Option<f64>>,
    /// The ends of what was printed as a range, an entry a column; absent where nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Vec<Option<[sixmark_document::schema_type::Signed; 2]>>")
    )]
    pub ranges: Vec<Option<[f64; 2]>>,
    /// What is to be known of it; null: nothing.
    pub remark: Option<String>,
}

/// Published figures worked out anew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Analysis {
    /// A line above it.
    pub title: String,
    /// How it was done, in words.
    pub method: String,
    /// The claim that is looked into; may be empty.
    pub claim: String,
    /// Ratios of A's figures to B's, where it is about such.
    pub ratios: Vec<ComparisonEntry>,
    /// Differences of shares, where it is about such.
    pub shares: Vec<PublishedShare>,
    /// What it comes to, in words.
    pub conclusion: String,
}

/// Two shares compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PublishedShare {
    /// What is compared with what.
    pub label: String,
    /// The first share, 0 to 1.
    pub a: f64,
    /// The second share.
    pub b: f64,
    /// The first minus the second, with its interval of 95 % (normal approximation).
    pub difference: Estimate,
    /// True where the interval does not hold 0.
    pub differs: bool,
}
