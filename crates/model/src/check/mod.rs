//! What a response must be, and whether it is.
//!
//! [`Checks`] are compiled before the load begins. An [`Inspection`] sees one response after the
//! other, and does no more than the checks at hand need.

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

/// The longest content, in bytes, that checks look at whole, as it came and decoded: 16 MiB. A
/// response with more fails a check that needs it. A hash or a size of content that has no coding
/// needs none of it kept.
pub const MOST_CONTENT: usize = 16 << 20;

/// Checks that a response must all pass.
///
/// In documents they are the texts that they were read from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Vec<String>", into = "Vec<String>")]
#[cfg_attr(feature = "schema", schemars(extend("items" = { "type": "string", "minLength": 1 })))]
pub struct Checks {
    list: Vec<Expect>,
    needs: Needs,
}

/// What has to be seen of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Its header fields.
    pub fields: bool,
    /// Its content.
    pub content: bool,
    /// Its content in one piece, not only as it passes.
    pub whole: bool,
    /// Its content's hash.
    pub hash: bool,
}

/// A check that a response did not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The check, as it was asked for.
    pub check: Arc<str>,
    /// What there was instead, in at most some 250 characters of ASCII.
    pub found: String,
}

/// Why a response does not count as one that is as it was to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It did not pass a check.
    Mismatch(Mismatch),
    /// Its content was not kept, since there was no room for it: see [`KeptContent`]. Whether it is
    /// right nobody knows.
    Unchecked,
}

impl Checks {
    /// All of `list`.
    pub fn new(list: Vec<Expect>) -> Checks {
        let needs = list.iter().map(Expect::needs).fold(Needs::default(), |all, one| Needs {
            fields: all.fields | one.fields,
            content: all.content | one.content,
            whole: all.whole | one.whole,
            hash: all.hash | one.hash,
        });
        Checks { list, needs }
    }

    /// What they look at. The status is always there.
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// True where content may have to be kept, and decoded or looked through when it is whole.
    pub fn keep_content(&self) -> bool {
        self.needs.whole || self.needs.hash
    }

    /// True where one of them is of the status.
    pub fn look_at_status(&self) -> bool {
        self.list.iter().any(|expect| matches!(expect.what, expect::ExpectedPart::Status(_)))
    }

    /// True where there is nothing to check.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Each of them.
    pub fn list(&self) -> &[Expect] {
        &self.list
    }
}

/// One that can't be read any more checks nothing: documents only show checks.
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

/// The most bytes that are shown of what was found.
const SHOWN: usize = 200;

/// Bytes for a person to read, losslessly: what is not printable ASCII is escaped, as is `\`.
fn shown_bytes(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(SHOWN)];
    match bytes.len() - cut.len() {
        0 => cut.escape_ascii().to_string(),
        more => format!("{}... and {more} bytes more", cut.escape_ascii()),
    }
}

#[cfg(test)]
mod tests;
