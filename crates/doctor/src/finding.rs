//! What one check found out.

use serde::{Deserialize, Serialize};

use crate::purpose::Purpose;

/// The state of what was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    /// It is missing.
    Missing,
    /// It works with limits, or makes figures less trustworthy.
    Limited,
    /// It could not be read or tried.
    Unknown,
    /// It is as sixmark needs it.
    Ok,
}

impl CheckState {
    /// Returns its name in documents.
    pub fn word(self) -> &'static str {
        match self {
            CheckState::Missing => "missing",
            CheckState::Limited => "limited",
            CheckState::Unknown => "unknown",
            CheckState::Ok => "ok",
        }
    }
}

/// Where a command mends something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MendPlace {
    /// Here, by this user.
    Here,
    /// Here, by root.
    Root,
    /// On the machine that runs this container, by root.
    Host,
    /// Where this container is started.
    Start,
}

/// What mends something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mend {
    /// Where, and by whom.
    #[serde(rename = "where")]
    pub place: MendPlace,
    /// The command as a shell takes it; null if no command can mend it.
    pub command: Option<String>,
    /// What to do instead of a command, or what the command does not show; null if there is
    /// nothing to add.
    pub advice: Option<String>,
}

/// What one check found out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The name of the check.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[a-z][a-z0-9-]*$")))]
    pub name: String,
    /// The state.
    pub state: CheckState,
    /// What was found, with figures, or why it is unknown.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub found: String,
    /// What this means for sixmark.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub means: String,
    /// What mends it, in this order; empty if nothing needs to be mended.
    pub mend: Vec<Mend>,
    /// The purposes that use it.
    pub used_by: Vec<Purpose>,
    /// Those of them that do not work because of what was found.
    pub prevents: Vec<Purpose>,
}

impl Finding {
    /// Creates a finding.
    pub fn new(
        name: &str,
        state: CheckState,
        found: impl Into<String>,
        means: impl Into<String>,
    ) -> Finding {
        Finding {
            name: name.to_owned(),
            state,
            found: found.into(),
            means: means.into(),
            mend: Vec::new(),
            used_by: Vec::new(),
            prevents: Vec::new(),
        }
    }

    /// Creates a finding about what could not be read, with the reason.
    pub fn unknown(name: &str, why: &str, means: impl Into<String>) -> Finding {
        Finding::new(name, CheckState::Unknown, why, means)
    }

    /// Adds what mends it.
    #[must_use]
    pub fn mended(mut self, by: impl IntoIterator<Item = Mend>) -> Finding {
        self.mend.extend(by);
        self
    }

    /// Names the purposes that use it. Where it is missing, none of them works.
    #[must_use]
    pub fn used_by(mut self, purposes: &[Purpose]) -> Finding {
        self.used_by = purposes.to_vec();
        if self.state == CheckState::Missing {
            self.prevents = purposes.to_vec();
        }
        self
    }

    /// Names the purposes that do not work although it is not missing.
    #[must_use]
    pub fn preventing(mut self, purposes: &[Purpose]) -> Finding {
        self.prevents = purposes.to_vec();
        self
    }
}

impl Mend {
    /// Creates a command.
    pub fn command(place: MendPlace, command: impl Into<String>) -> Mend {
        Mend { place, command: Some(command.into()), advice: None }
    }

    /// Creates what no command can do.
    pub fn advice(place: MendPlace, advice: impl Into<String>) -> Mend {
        Mend { place, command: None, advice: Some(advice.into()) }
    }

    /// Adds an explanation of the command.
    #[must_use]
    pub fn saying(self, advice: impl Into<String>) -> Mend {
        Mend { advice: Some(advice.into()), ..self }
    }
}
