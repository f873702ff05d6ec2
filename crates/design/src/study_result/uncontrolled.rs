//! What a lab would have set, where a study is carried out without its lab.

use serde::{Deserialize, Serialize};

use super::At;

/// A setting that the study's lab would have made. On other machines nobody makes it but their user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UncontrolledSetting {
    /// Where it belongs.
    pub place: UncontrolledPlace,
    /// A kernel setting by its dotted name, an offload by the name that `ethtool -k` uses for the
    /// kernel's feature, or a setting of the study: `lab-VARIANT`, `traffic`, `capture`.
    pub name: String,
    /// The value that the lab would have set.
    pub wanted: String,
    /// The levels of the cells that want it; empty if all cells do.
    pub levels: Vec<At>,
    /// The value that was found when the study began; null if it is not known.
    pub found: Option<String>,
}

/// Where a setting belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UncontrolledPlace {
    /// The machine that generates the load, or its interface to the server.
    Client,
    /// The server's machine.
    Server,
    /// The network, or several machines.
    Network,
}

impl UncontrolledPlace {
    /// Returns its name for people.
    pub fn word(self) -> &'static str {
        match self {
            UncontrolledPlace::Client => "client",
            UncontrolledPlace::Server => "server",
            UncontrolledPlace::Network => "network",
        }
    }
}

impl UncontrolledSetting {
    /// Returns true if another value than the wanted one was found.
    pub fn is_otherwise(&self) -> bool {
        self.found.as_ref().is_some_and(|found| *found != self.wanted)
    }
}
