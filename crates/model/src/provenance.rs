//! What made a document: the program, the machine, how it ended, and what makes its figures doubtful.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// The program that made a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// `sixmark`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
pub struct Lookup {
    /// The name.
    pub host: String,
    /// How long the resolver took, in microseconds.
    pub us: f64,
    /// How many addresses it gave.
    pub ipv6: usize,
    /// The same for IPv4.
    pub ipv4: usize,
}

/// The machine that the load came from.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Environment {
    /// Name and release of the kernel.
    pub kernel: String,
    /// The processor's model.
    pub cpu: String,
    /// Processors that this process may use.
    pub cores: usize,
    /// Settings of the kernel that bear on the figures.
    pub sysctls: BTreeMap<String, String>,
    /// One for each address of the run: how packets leave for it.
    pub routes: Vec<Route>,
}

/// How packets leave for an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// The address.
    pub to: SocketAddr,
    /// The source address that the kernel chooses.
    pub from: Option<std::net::IpAddr>,
    /// The path's MTU as the kernel knows it before the run, in bytes.
    pub mtu: Option<u32>,
}

/// Something that makes figures doubtful.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// A word for programs.
    pub code: String,
    /// A line for people.
    pub message: String,
}
