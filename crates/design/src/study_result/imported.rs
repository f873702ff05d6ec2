//! Cells that were not measured but imported.

use serde::{Deserialize, Serialize};

/// The origin of a cell that another machine measured: a file that a tool wrote there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportedFrom {
    /// The name of the file, without its folder.
    pub file: String,
    /// The copy of the file in the study's folder.
    pub copy: String,
    /// The SHA-256 of the file, in hexadecimal.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::SHA256)))]
    pub sha256: String,
    /// The tool that wrote it.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = sixmark_clients::import_tool::ImportTool::NAMES)))]
    pub tool: String,
    /// The tool's version as the file has it; null if the file has none.
    #[serde(default)]
    pub version: Option<String>,
    /// When it was imported, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME_OR_SECOND)))]
    pub at: String,
}
