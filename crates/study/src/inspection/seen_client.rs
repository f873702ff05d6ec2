//! A client of a study: what was seen of it, or why it is not here.

use serde::{Deserialize, Serialize};
use sixmark_eyes::eyes_result::CaseResult;

use super::traits::ClientTraits;

/// What was seen of a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientInspection {
    /// Its name in options.
    pub client: String,
    /// Its name for people.
    pub label: String,
    /// The version that it reports.
    pub version: String,
    /// The command, without the URL.
    pub command: Vec<String>,
    /// The client of the paper's table that it is; null if the table has no such client.
    pub published_as: Option<String>,
    /// What it does.
    pub traits: ClientTraits,
    /// What was seen in each case.
    pub cases: Vec<CaseResult>,
}

/// A client that is not here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOutClient {
    /// Its name in options.
    pub client: String,
    /// Its name for people.
    pub label: String,
    /// The client of the paper's table that it is; null if the table has no such client.
    pub published_as: Option<String>,
    /// Why it is left out, in a clause without a full stop.
    pub reason: String,
}
