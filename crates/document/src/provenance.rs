//! What made a document: the program, the machine, how it ended, and what makes its figures doubtful.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// The program that made a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// `sixmark`.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "sixmark")))]
    pub name: String,
    /// Its version.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[0-9]+\.[0-9]+\.[0-9]+")))]
    pub version: String,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// The number of requests or the duration asked for was reached.
    Complete,
    /// By a signal.
    Interrupted,
    /// No connection could be established at all, so that going on was pointless.
    Hopeless,
}

/// One name looked up.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lookup {
    /// The name.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub host: String,
    /// How long the resolver took, in microseconds.
    pub us: f64,
    /// IPv6 addresses given.
    pub ipv6: usize,
    /// IPv4 addresses given.
    pub ipv4: usize,
}

/// The machine that the load came from.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Environment {
    /// Name and release of the kernel.
    pub kernel: String,
    /// The processor's model; empty where it can't be read.
    pub cpu: String,
    /// Processors that this process may use.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub cores: usize,
    /// Settings of the kernel that bear on the figures, by their names for sysctl(8). Which ones
    /// is not fixed.
    pub sysctls: BTreeMap<String, String>,
    /// One for each address of the run: how packets leave for it.
    pub routes: Vec<RouteTaken>,
}

/// How packets leave for an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RouteTaken {
    /// The address.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema_type::SocketText"))]
    pub to: SocketAddr,
    /// The source address that the kernel chooses; null where there is no route.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema_type::AddressText>"))]
    pub from: Option<std::net::IpAddr>,
    /// The path's MTU in bytes, as the kernel knew it before the run; null where that is not known.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub mtu: Option<u32>,
}

/// Something that makes figures doubtful.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// A word for programs.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[a-z0-9_]+$")))]
    pub code: String,
    /// A line for people.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[^\n]+$")))]
    pub message: String,
}

/// Returns a warning. Callers pass the code as a literal: a test collects all codes from the
/// sources.
pub fn warning(code: &str, message: String) -> Warning {
    Warning { code: code.to_owned(), message }
}

/// The code of [`file_incomplete`].
pub const FILE_INCOMPLETE: &str = "file_incomplete";

/// Warns that a file besides the result could not be written to its end.
pub fn file_incomplete(why: &str) -> Warning {
    warning("file_incomplete", format!("{why}; the file is incomplete, the run continued"))
}
