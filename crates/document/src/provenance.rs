//! The origin of a document: the program, the machine, how the run ended, and its warnings.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// The program that made a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// The program's name, always sixmark.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "sixmark")))]
    pub name: String,
    /// The program's version.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[0-9]+\.[0-9]+\.[0-9]+")))]
    pub version: String,
    /// The commit that the program was built from, with -dirty if files were changed since; null if
    /// it is not known, as in a debug build.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-f]{40,64}(-dirty)?$")))]
    #[serde(default)]
    pub commit: Option<String>,
}

/// The commit of this program, once it has been declared.
static COMMIT: OnceLock<&str> = OnceLock::new();

/// Declares the commit that this program was built from: only its outermost crate, which nothing depends on, is built
/// anew for each commit. The first declaration counts.
pub fn declare_commit(commit: &'static str) {
    COMMIT.get_or_init(|| commit);
}

impl Tool {
    /// Returns this program.
    pub fn of_this_program() -> Tool {
        Tool {
            name: "sixmark".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: COMMIT.get().map(|commit| (*commit).to_owned()),
        }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// The number of requests or the duration asked for was reached.
    Complete,
    /// A signal ended the run.
    Interrupted,
    /// It was given up, because no connection could be established at all or, in a comparison,
    /// because a side gave no usable response.
    Hopeless,
}

/// One lookup of a host name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lookup {
    /// The host name.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub host: String,
    /// How long the look-up took, in microseconds. Families are looked up at the same time.
    pub us: f64,
    /// The number of IPv6 addresses returned.
    pub ipv6: usize,
    /// The number of IPv4 addresses returned.
    pub ipv4: usize,
    /// What was found of each family. Null in documents of versions that looked up both at once.
    #[serde(default)]
    pub by_family: Option<LookupByFamily>,
}

/// What the look-up of a host name found, by family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LookupByFamily {
    /// The look-up of IPv6 addresses (AAAA); null if none was asked for.
    pub ipv6: Option<LookupOfFamily>,
    /// The look-up of IPv4 addresses (A); null if none was asked for.
    pub ipv4: Option<LookupOfFamily>,
}

/// The look-up of the addresses of one family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LookupOfFamily {
    /// How long it took, in microseconds.
    pub us: f64,
    /// What was found.
    pub found: LookupFound,
    /// Who answered so, or what each name server did, in words; null if addresses were found.
    pub said: Option<String>,
}

/// What a look-up of one family found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LookupFound {
    /// Addresses.
    Addresses,
    /// The name exists and has no address of the family.
    NoAddress,
    /// The name does not exist.
    NoSuchName,
    /// No answer: whether there are addresses is not known.
    Failed,
}

/// The machine that generated the load.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Environment {
    /// Name and release of the kernel.
    pub kernel: String,
    /// The processor's model; empty if it cannot be read.
    pub cpu: String,
    /// The number of processors that the process may use.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub cores: usize,
    /// Kernel settings that affect the figures, by their sysctl(8) names. The set of settings is
    /// not fixed.
    pub sysctls: BTreeMap<String, String>,
    /// The route to each address of the run.
    pub routes: Vec<RouteTaken>,
}

/// The route that packets to an address take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RouteTaken {
    /// The destination address and port.
    #[cfg_attr(feature = "schema", schemars(with = "crate::schema_type::SocketText"))]
    pub to: SocketAddr,
    /// The source address that the kernel chooses; null if there is no route.
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema_type::AddressText>"))]
    pub from: Option<std::net::IpAddr>,
    /// The path's MTU in bytes, as the kernel knew it before the run; null if it is not known.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub mtu: Option<u32>,
}

/// A reason to doubt the figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// The code of the warning, for programs.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[a-z0-9_]+$")))]
    pub code: String,
    /// The warning as one line of text, for people.
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

/// Returns a warning that a file other than the result could not be written completely.
pub fn file_incomplete(why: &str) -> Warning {
    warning("file_incomplete", format!("{why}; the file is incomplete, the run continued"))
}
