//! The checks that responses must pass, and their evaluation.
//!
//! [`Checks`] are compiled before the load begins. An [`Inspection`] sees one response after the
//! other, and does no more work than the checks need.

mod decode;
mod expect;
mod inspection;
mod kept;
mod pointer;

pub use expect::Expect;
pub use inspection::Inspection;
pub use kept::{KeptContent, MOST_KEPT};

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The longest content, in bytes, that is checked as a whole, both as received and decoded: 16 MiB.
/// A longer response fails a check that needs its whole content. A size, or a hash of content
/// without a coding, needs none of it kept.
pub const MOST_CONTENT: usize = 16 << 20;

/// Checks that a response must all pass.
///
/// Documents contain the texts that the checks were parsed from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Vec<String>", into = "Vec<String>")]
#[cfg_attr(feature = "schema", schemars(extend("items" = { "type": "string", "minLength": 1 })))]
pub struct Checks {
    list: Vec<Expect>,
    needs: Needs,
}

/// The parts of a response that checks need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The header fields.
    pub fields: bool,
    /// The content.
    pub content: bool,
    /// The content in one piece, not only as it arrives.
    pub whole: bool,
    /// The hash of the content.
    pub hash: bool,
}

/// A check that a response did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The text of the check as requested.
    pub check: Arc<str>,
    /// What was found instead, in about 250 characters of ASCII at most.
    pub found: String,
}

/// Why a response does not count as a correct one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It did not pass a check.
    Mismatch(Mismatch),
    /// Its content was not kept for lack of memory (see [`KeptContent`]), so it is not known
    /// whether it is correct.
    Unchecked,
}

impl Checks {
    /// Creates the checks of `list`, all of which must pass.
    pub fn new(list: Vec<Expect>) -> Checks {
        let needs = list.iter().map(Expect::needs).fold(Needs::default(), |all, one| Needs {
            fields: all.fields | one.fields,
            content: all.content | one.content,
            whole: all.whole | one.whole,
            hash: all.hash | one.hash,
        });
        Checks { list, needs }
    }

    /// Returns what the checks need. The status is always available.
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// Returns true if content may have to be kept and, once complete, decoded or searched.
    pub fn keep_content(&self) -> bool {
        self.needs.whole || self.needs.hash
    }

    /// Returns true if one of the checks is of the status.
    pub fn look_at_status(&self) -> bool {
        self.list.iter().any(|expect| matches!(expect.what, expect::ExpectedPart::Status(_)))
    }

    /// Returns true if there is nothing to check.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the checks.
    pub fn list(&self) -> &[Expect] {
        &self.list
    }
}

/// A text that can't be parsed becomes a check that always passes: documents only display checks.
impl From<Vec<String>> for Checks {
    fn from(texts: Vec<String>) -> Checks {
        Checks::new(texts.iter().map(|text| Expect::of_document(text)).collect())
    }
}

impl From<Checks> for Vec<String> {
    fn from(checks: Checks) -> Vec<String> {
        checks.list.iter().map(|expect| expect.text().to_string()).collect()
    }
}

/// The most bytes of a finding that are shown.
const SHOWN: usize = 200;

/// Formats bytes for display without loss: escapes `\` and everything that is not printable ASCII.
fn shown_bytes(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(SHOWN)];
    match bytes.len() - cut.len() {
        0 => cut.escape_ascii().to_string(),
        more => format!("{}... and {more} bytes more", cut.escape_ascii()),
    }
}

#[cfg(test)]
mod tests;
