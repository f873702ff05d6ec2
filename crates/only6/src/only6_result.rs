//! `sixmark.only6/1`: the document that `sixmark only6` writes.

use serde::{Deserialize, Serialize};
use sixmark_document::provenance::{Ended, Environment, Tool, Warning};

use crate::app_finding::AppFinding;
use crate::app_start::AppStart;
use crate::way_cost::WayCost;

/// The name and version of the document format.
pub const SCHEMA: &str = "sixmark.only6/1";

/// The document that sixmark only6 writes: whether a program works in networks of one family, of both and with
/// translation. docs/only6.md describes it for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Only6Result {
    /// The name and version of the document format.
    pub schema: String,
    /// The program that made the document.
    pub tool: Tool,
    /// When it began, RFC 3339 in UTC.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = sixmark_document::schema_type::TIME)))]
    pub started: String,
    /// How long it took, in seconds.
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub elapsed_s: f64,
    /// Why it ended.
    pub ended: Ended,
    /// The machine on which the program ran.
    pub environment: Environment,
    /// The programs, as they were started.
    pub programs: TestedPrograms,
    /// What was seen in each scenario, in the order of the list of scenarios.
    pub scenarios: Vec<ScenarioResult>,
    /// What is wrong with the program, faults first.
    pub findings: Vec<AppFinding>,
    /// What each way to the server costs; empty if it was not measured.
    pub costs: Vec<WayCost>,
    /// Reasons to doubt what was found.
    pub warnings: Vec<Warning>,
}

/// The programs that were run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TestedPrograms {
    /// The command of the client; null if the server alone was run.
    pub client: Option<String>,
    /// The command of the server; null for sixmark's own.
    pub server: Option<String>,
    /// The server's port.
    pub port: u16,
    /// The path that is asked for.
    pub path: String,
    /// What the tested product is, as given with --product; null if that was not given.
    pub product: Option<String>,
    /// The files of the commands: programs, and scripts among their arguments.
    pub files: Vec<ProgramFile>,
}

/// A file of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgramFile {
    /// Its path.
    pub file: String,
    /// Its SHA-256 in hexadecimal; null if it can't be read, or is larger than 1 GiB.
    pub sha256: Option<String>,
}

/// Whether a program works in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ScenarioVerdict {
    /// It works in every start, by every way.
    Works,
    /// It works in some starts, or by some ways.
    Partly,
    /// It does not work.
    Fails,
}

impl ScenarioVerdict {
    /// Returns the verdict in words.
    pub fn words(self) -> &'static str {
        match self {
            ScenarioVerdict::Works => "works",
            ScenarioVerdict::Partly => "works partly",
            ScenarioVerdict::Fails => "fails",
        }
    }
}

/// What was seen in a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScenarioResult {
    /// The name of the scenario.
    pub scenario: String,
    /// The backend of a proxy; null of other programs.
    pub backend: Option<BackendKind>,
    /// Whether the program works.
    pub verdict: ScenarioVerdict,
    /// Each start, in the order of time.
    pub starts: Vec<AppStart>,
}

/// The backend of a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BackendKind {
    /// Its name has addresses of both families.
    Dual,
    /// Its name has an IPv6 address alone.
    Ipv6,
    /// Its name has an IPv4 address alone.
    Ipv4,
    /// The URL has its IPv6 address in brackets.
    Ipv6Literal,
}

impl ScenarioResult {
    /// Returns its name, with the kind of backend if that is not the usual one.
    pub fn name(&self) -> String {
        name_scenario(&self.scenario, self.backend)
    }
}

/// Returns the name of a scenario with the kind of backend, if that is not the usual one.
pub fn name_scenario(scenario: &str, backend: Option<BackendKind>) -> String {
    match backend {
        None | Some(BackendKind::Dual) => scenario.to_owned(),
        Some(kind) => format!("{scenario}+{}", kind.word()),
    }
}

impl BackendKind {
    /// Returns its name in names of scenarios.
    pub fn word(self) -> &'static str {
        match self {
            BackendKind::Dual => "backend-dual",
            BackendKind::Ipv6 => "backend-ipv6",
            BackendKind::Ipv4 => "backend-ipv4",
            BackendKind::Ipv6Literal => "backend-literal",
        }
    }
}
