//! `sixmark.result/1`: the only thing that reports, stores and other programs exchange.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::calibration::Calibration;
use crate::clocks::TimestampResult;
use crate::comparison::result::GateResult;
use crate::family::{Family, PerFamily};
use crate::find::{FindMax, Found};
use crate::plan::Plan;
use crate::plan::http::Version;
use crate::sameness::Sameness;
use crate::timing::Summary;
use crate::truth::Truth;
use crate::vitals::section::Vitals;
use crate::watch::{Watched, WatchedFamily};

mod counted;
mod family;

pub(crate) use counted::interval;
pub use counted::{families, family_result, planned_result};
pub use family::{
    AddressResult, BreachCount, ByteCounts, ConnectionCounts, FailureCount, FamilyResult, Requests,
};

/// The name and version of the document's form.
pub const SCHEMA: &str = "sixmark.result/1";

/// One run, whole. docs/result.md describes the fields for people, docs/result.schema.json for
/// programs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunResult {
    /// [`SCHEMA`].
    pub schema: String,
    /// What made it.
    pub tool: Tool,
    /// When the run began, RFC 3339 in UTC.
    pub started: String,
    /// Seconds from the end of the warm-up to the end of the last exchange.
    pub elapsed_s: f64,
    /// Why the run ended.
    pub ended: Ended,
    /// What was to be run, resolved; none where nothing was: others' traffic was watched.
    pub plan: Option<Plan>,
    /// Decides where schedules over several addresses begin.
    pub seed: u64,
    /// What resolving names took, apart from everything else.
    pub dns: Vec<Lookup>,
    /// The machine that the load came from, and its routes.
    pub environment: Environment,
    /// What makes the figures doubtful.
    pub warnings: Vec<Warning>,
    /// IPv6 : IPv4 of requests sent.
    pub ratio: RatioResult,
    /// The figures of each family that was used.
    pub families: Families,
    /// The figures of both together.
    pub total: FamilyResult,
    /// One entry a second.
    pub intervals: Vec<Interval>,
    /// What the load generator itself did, where there was one.
    pub generator: Option<Generator>,
    /// What packets say of traffic that was only watched.
    #[serde(default)]
    pub watched: Option<Watched>,
    /// What it adds to the times, where that was measured before.
    pub calibration: Option<Calibration>,
    /// What the packets said meanwhile, where they were looked at (`--truth`).
    #[serde(default)]
    pub truth: Option<Truth>,
    /// The search for the highest rate, where it was one: the figures are then of one trial of each
    /// family.
    pub find_max: Option<FindMax>,
    /// Whether both families give the same; none where nobody looked, or only one was loaded.
    #[serde(default)]
    pub sameness: Option<Sameness>,
    /// What was demanded (`--fail-if`), and whether it was met.
    #[serde(default)]
    pub gates: Vec<GateResult>,
    /// What it cost of the processors, here and at the server.
    #[serde(default)]
    pub vitals: Option<Vitals>,
}

impl RunResult {
    /// What keeps the families from being compared, in a sentence without a full stop.
    pub fn not_same(&self) -> Option<&str> {
        self.sameness.as_ref().and_then(|found| found.said.as_deref())
    }

    /// The version of HTTP that was to be spoken; 1.1 is what can be read in traffic that was watched.
    pub fn version(&self) -> Version {
        self.plan.as_ref().map_or(Version::Http1, |plan| plan.http.version)
    }

    /// True where the generator, not the server, may have been the bottleneck: a worker was busy.
    pub fn is_saturated(&self) -> bool {
        self.generator.as_ref().is_some_and(|generator| generator.saturated)
    }

    /// True where all that a family exchanged was hidden from whoever watched: its counts of exchanges,
    /// 0 each, say nothing.
    pub fn hides_exchanges(&self, family: Family) -> bool {
        let watched = self.watched.as_ref().and_then(|watched| watched.families.of(family));
        watched.is_some_and(WatchedFamily::hides_all)
    }

    /// The seconds that a family's figures are of.
    pub fn elapsed_s_of(&self, family: Family) -> f64 {
        let found = self.find_max.as_ref().and_then(|found| found.families.of(family));
        found.and_then(Found::shown).map_or(self.elapsed_s, |trial| trial.elapsed_s)
    }
}

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

/// IPv6 : IPv4.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RatioResult {
    /// As in the plan; none where there was none.
    pub asked: Option<[u64; 2]>,
    /// Requests sent.
    pub sent: [u64; 2],
}

/// Something of each of the families that were used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Families<T = FamilyResult> {
    /// IPv6, where it was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<T>,
    /// IPv4, where it was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv4: Option<T>,
}

impl<T> Default for Families<T> {
    fn default() -> Self {
        Families { ipv6: None, ipv4: None }
    }
}

impl<T> Families<T> {
    /// What there is of one family.
    pub fn of(&self, family: Family) -> Option<&T> {
        match family {
            Family::Ipv6 => self.ipv6.as_ref(),
            Family::Ipv4 => self.ipv4.as_ref(),
        }
    }

    /// The families that were used, IPv6 first.
    pub fn iter(&self) -> impl Iterator<Item = (Family, &T)> {
        Family::BOTH.into_iter().filter_map(|family| Some((family, self.of(family)?)))
    }
}

/// One second of the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Interval {
    /// Its start, in whole seconds from the end of the warm-up.
    pub second: u64,
    /// How long it was: 1, but for the last.
    pub length_s: f64,
    /// What each family did.
    pub families: PerFamily<IntervalFamily>,
}

/// What one family did in one second.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IntervalFamily {
    /// Exchanges begun.
    pub sent: u64,
    /// With a complete response.
    pub completed: u64,
    /// That ended otherwise.
    pub failed: u64,
    /// Of those completed, the ones whose status is not accepted.
    #[serde(default)]
    pub unaccepted: u64,
    /// Content bytes of complete responses.
    pub body_bytes: u64,
    /// Response times.
    pub response_us: Summary,
}

/// What the load generator itself did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Generator {
    /// How it spoke to the kernel: `uring` or `epoll`.
    pub driver: String,
    /// Worker threads.
    pub threads: u32,
    /// Processor time of the whole process over the run, user mode.
    pub cpu_user_s: f64,
    /// The same in the kernel.
    pub cpu_sys_s: f64,
    /// The most memory that the process had resident.
    pub peak_rss_bytes: u64,
    /// The largest part of a second (0 to 1) in which a worker was not waiting for the kernel.
    pub busiest: f64,
    /// Exchanges that began more than a millisecond later than due though a place was free.
    pub late: u64,
    /// How often it stood still: stopped, its machine paused, without a processor, or occupied with one
    /// thing. Of the worker that did most.
    #[serde(default)]
    pub stalls: u64,
    /// For how many seconds in all.
    #[serde(default)]
    pub stalled_s: f64,
    /// Seconds that workers spent on decoding and checking contents, all together.
    #[serde(default)]
    pub checking_s: f64,
    /// The longest of it, for one response.
    #[serde(default)]
    pub longest_check_s: f64,
    /// True where the generator, not the server, may have been the bottleneck: a worker was busy.
    pub saturated: bool,
    /// Whose clock the times are from, and what speaks against them.
    pub timestamps: TimestampResult,
}
