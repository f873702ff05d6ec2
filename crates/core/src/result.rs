//! `sixmark.result/1`: the only thing that reports, stores and other programs exchange.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::calibration::Calibration;
use crate::clocks::TimestampResult;
use crate::comparison::result::GateResult;
use crate::content::ContentResult;
use crate::family::{Family, PerFamily};
use crate::find::{FindMax, Found};
use crate::outcome::{Failure, Outcome};
use crate::plan::http::Version;
use crate::plan::{Endpoint, Plan};
use crate::quic::QuicResult;
use crate::sameness::Sameness;
use crate::sizes::{Sizes, SizesResult};
use crate::tally::{Counts, EndpointTally, FamilyTally, SliceTally, Tally};
use crate::tcp::TcpResult;
use crate::timing::Summary;
use crate::tls::TlsResult;
use crate::truth::Truth;
use crate::vitals::section::Vitals;
use crate::watch::{Watched, WatchedFamily};

/// The name and version of the document's form.
pub const SCHEMA: &str = "sixmark.result/1";

/// No more addresses are told of one by one: a list of targets may have thousands.
const MOST_ADDRESSES: usize = 100;

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

/// The figures of one family.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FamilyResult {
    /// Where the requests went.
    pub addresses: Vec<SocketAddr>,
    /// What came of them at each address, where they went to several: those with failures first.
    #[serde(default)]
    pub by_address: Vec<AddressResult>,
    /// How many.
    pub requests: Requests,
    /// How they ended, by name: every one that occurred. They add up to `requests.sent`.
    pub outcomes: BTreeMap<String, u64>,
    /// Those that did not end NORMAL, in detail.
    pub failures: Vec<FailureCount>,
    /// Checks that whole responses did not pass.
    pub content: Vec<ContentResult>,
    /// Connections.
    pub connections: ConnectionCounts,
    /// Status codes of whole responses.
    pub status: BTreeMap<u16, u64>,
    /// Bytes above TCP.
    pub bytes: ByteCounts,
    /// Whole responses a second.
    pub requests_per_s: f64,
    /// Their content, bytes a second.
    pub goodput_bytes_per_s: f64,
    /// From the connect call to established; by the kernel's clock from the SYN to the SYN-ACK.
    pub connect_us: Summary,
    /// From the request's last byte handed to the kernel to the response's first.
    pub wait_us: Summary,
    /// From the response's first byte to its last.
    pub transfer_us: Summary,
    /// From when the exchange was due, in a closed loop its start, to the response's last byte.
    pub response_us: Summary,
    /// From the exchange's start to the response's last byte, where it may not be when it was due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_us: Option<Summary>,
    /// From when the exchange was due to its start, in an open loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slip_us: Option<Summary>,
    /// From connected to closed.
    pub lifetime_us: Summary,
    /// What TCP knew of connections closed.
    pub tcp: TcpResult,
    /// Sizes of contents of responses whose status is accepted; none where nobody kept them.
    #[serde(default)]
    pub sizes: Option<SizesResult>,
    /// TLS handshakes; none where the plan has no `https://`.
    pub tls: Option<TlsResult>,
    /// What QUIC knew of connections closed, where HTTP/3 was spoken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quic: Option<QuicResult>,
}

impl FamilyResult {
    /// Exchanges that failed: that ended neither NORMAL nor ABANDONED, or with a status that is not
    /// accepted.
    pub fn failed(&self) -> u64 {
        let ended = |outcome: Outcome| self.outcomes.get(outcome.name()).copied().unwrap_or(0);
        let fine = ended(Outcome::Normal) + ended(Outcome::Abandoned);
        self.requests.sent.saturating_sub(fine) + self.requests.unaccepted
    }

    /// Whole responses whose status is accepted.
    pub fn accepted(&self) -> u64 {
        self.requests.completed.saturating_sub(self.requests.unaccepted)
    }
}

/// What one address of one target gave.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AddressResult {
    /// Where it is.
    pub address: SocketAddr,
    /// The target's URL.
    pub url: String,
    /// Exchanges that ended, in whatever way.
    pub ended: u64,
    /// With a whole response.
    pub completed: u64,
    /// Of those, the ones whose status is not accepted.
    pub unaccepted: u64,
    /// The other exchanges.
    pub failures: Vec<FailureCount>,
}

impl AddressResult {
    /// True where not one response came that is as it was to be.
    pub fn is_dead(&self) -> bool {
        self.ended > 0 && self.completed == self.unaccepted
    }
}

/// How many requests.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Requests {
    /// Exchanges begun, those included whose connection failed.
    pub sent: u64,
    /// With a whole response.
    pub completed: u64,
    /// Of those completed, the ones that count as failures, their status not being accepted
    /// (`--accept-status`; without it those of 400 and above).
    #[serde(default)]
    pub unaccepted: u64,
    /// Not begun, because no more might be in flight when they fell due (`--overload drop`).
    pub dropped: u64,
    /// Not begun, because the run ended before they could.
    pub unsent: u64,
    /// Begun later than due, because no more might be in flight before.
    pub waited: u64,
    /// How often one was sent once more, the peer having said that it did nothing with it (GOAWAY).
    pub resent: u64,
    /// Of those completed, the ones whose status sends the client elsewhere: 301, 302, 303, 307 or
    /// 308.
    pub redirects: u64,
    /// Of those sent, how many such a response led to.
    pub followed: u64,
}

/// How often one thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailureCount {
    /// What went wrong, where, and the kernel's error number.
    #[serde(flatten)]
    pub failure: Failure,
    /// How often.
    pub count: u64,
}

/// Connections of one family.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ConnectionCounts {
    /// Established.
    pub opened: u64,
    /// Closed, those included that were closed when the run ended.
    pub closed: u64,
    /// Of those, cut off by this side with a reset.
    pub reset_sent: u64,
    /// Closed because of bytes that no request had asked for.
    pub unsolicited: u64,
    /// That were to be opened before the load began and could not be.
    pub unopened: u64,
    /// On which the peer let no more requests begin (GOAWAY).
    pub drained: u64,
    /// Closed while idle, since another was to be opened and no more might be open.
    #[serde(default)]
    pub displaced: u64,
    /// How many were open or being opened, on average over the run.
    #[serde(default)]
    pub mean_open: f64,
    /// Seconds that places stood empty, all together, since no connection of the family was free for
    /// the exchange whose turn it was and no more might be open.
    #[serde(default)]
    pub awaited_s: f64,
}

/// Bytes above TCP.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ByteCounts {
    /// Received, heads and framing included.
    pub received: u64,
    /// Content of whole responses.
    pub body: u64,
    /// Handed to the kernel.
    pub sent: u64,
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
    /// With a whole response.
    pub completed: u64,
    /// That ended otherwise.
    pub failed: u64,
    /// Of those completed, the ones whose status is not accepted.
    #[serde(default)]
    pub unaccepted: u64,
    /// Content bytes of whole responses.
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
    /// True where the generator, not the server, may have been the bottleneck: a worker was busy.
    pub saturated: bool,
    /// Whose clock the times are from, and what speaks against them.
    pub timestamps: TimestampResult,
}

/// The figures of one family, but for TLS and QUIC, from what was counted in `elapsed_s` seconds of an open or closed loop.
pub fn family_result(
    tally: &FamilyTally,
    addresses: Vec<SocketAddr>,
    elapsed_s: f64,
    open: bool,
) -> FamilyResult {
    let per_s = |count: u64| if elapsed_s > 0.0 { count as f64 / elapsed_s } else { 0.0 };
    FamilyResult {
        addresses,
        by_address: Vec::new(),
        requests: requests(tally),
        outcomes: outcomes(tally),
        failures: failure_counts(&tally.failures),
        content: tally.content.result(),
        connections: connection_counts(tally, elapsed_s),
        status: tally.status.sorted(),
        bytes: byte_counts(tally),
        requests_per_s: per_s(tally.completed()),
        goodput_bytes_per_s: per_s(tally.bytes.body),
        connect_us: tally.phases.connect.summary(),
        wait_us: tally.phases.wait.summary(),
        transfer_us: tally.phases.transfer.summary(),
        response_us: tally.phases.response.summary(),
        service_us: open.then(|| tally.phases.service.summary()),
        slip_us: open.then(|| tally.phases.slip.summary()),
        lifetime_us: tally.phases.lifetime.summary(),
        tcp: tally.tcp.result(),
        sizes: sizes(tally),
        tls: None,
        quic: None,
    }
}

fn sizes(tally: &FamilyTally) -> Option<SizesResult> {
    let mut all = Sizes::default();
    tally.endpoints.iter().for_each(|of| all += &of.sizes);
    all.result()
}

fn requests(tally: &FamilyTally) -> Requests {
    Requests {
        sent: tally.sent,
        completed: tally.completed(),
        unaccepted: tally.unaccepted,
        dropped: tally.dropped,
        unsent: tally.unsent,
        waited: tally.waited,
        resent: tally.resent,
        redirects: tally.redirects(),
        followed: tally.followed,
    }
}

/// NORMAL always, the others where they occurred.
fn outcomes(tally: &FamilyTally) -> BTreeMap<String, u64> {
    let counted = Outcome::ALL.map(|outcome| (outcome, tally.outcome(outcome)));
    let shown = counted.into_iter().filter(|&(outcome, n)| n > 0 || outcome == Outcome::Normal);
    shown.map(|(outcome, n)| (outcome.name().to_owned(), n)).collect()
}

fn failure_counts(failures: &Counts<Failure>) -> Vec<FailureCount> {
    let sorted = failures.sorted().into_iter();
    sorted.map(|(failure, count)| FailureCount { failure, count }).collect()
}

fn connection_counts(tally: &FamilyTally, elapsed_s: f64) -> ConnectionCounts {
    let counted = &tally.connections;
    ConnectionCounts {
        opened: counted.opened,
        closed: counted.closed,
        reset_sent: counted.reset_sent,
        unsolicited: counted.unsolicited,
        unopened: counted.unopened,
        drained: counted.drained,
        displaced: counted.displaced,
        mean_open: if elapsed_s > 0.0 { seconds(counted.held_ns) / elapsed_s } else { 0.0 },
        awaited_s: seconds(counted.awaited_ns),
    }
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

fn byte_counts(tally: &FamilyTally) -> ByteCounts {
    ByteCounts { received: tally.bytes.received, body: tally.bytes.body, sent: tally.bytes.sent }
}

/// The figures of one family, those that the plan calls for included: TLS, QUIC.
pub fn planned_result(
    plan: &Plan,
    tally: &FamilyTally,
    addresses: Vec<SocketAddr>,
    elapsed_s: f64,
    open: bool,
) -> FamilyResult {
    FamilyResult {
        tls: plan.tls.as_ref().map(|tls| tally.tls.result(tls)),
        quic: (plan.http.version == Version::Http3).then(|| tally.quic.result()),
        by_address: by_address(plan, tally),
        ..family_result(tally, addresses, elapsed_s, open)
    }
}

/// What each address gave, where there are several.
fn by_address(plan: &Plan, tally: &FamilyTally) -> Vec<AddressResult> {
    let endpoints = plan.all_endpoints();
    let result = |(endpoint, counted): (&Endpoint, &EndpointTally)| {
        let failures: Vec<FailureCount> = failure_counts(&counted.failures);
        let abandoned = failures.iter().filter(|of| of.failure.outcome == Outcome::Abandoned);
        let abandoned: u64 = abandoned.map(|of| of.count).sum();
        let failed: u64 = failures.iter().map(|of| of.count).sum();
        let completed = counted.status.iter().map(|(_, count)| count).sum();
        AddressResult {
            address: endpoint.address,
            url: plan.targets.get(endpoint.target).map_or(String::new(), |of| of.url.clone()),
            ended: completed + failed - abandoned,
            completed,
            unaccepted: counted.unaccepted,
            failures,
        }
    };
    let mut all: Vec<AddressResult> = endpoints.iter().zip(&tally.endpoints).map(result).collect();
    all.retain(|address| address.ended > 0);
    if all.len() < 2 {
        return Vec::new();
    }
    all.sort_by_key(|of| Reverse(of.ended - of.completed + of.unaccepted));
    all.truncate(MOST_ADDRESSES);
    all
}

/// The figures of the families in use and of both together.
pub fn families(plan: &Plan, tally: &Tally, elapsed_s: f64) -> (Families, FamilyResult) {
    let open = plan.load.pace.open().is_some();
    let addresses =
        |family| plan.endpoints(family).into_iter().map(|e| e.address).collect::<Vec<_>>();
    let figures =
        |tally: &FamilyTally, addresses| planned_result(plan, tally, addresses, elapsed_s, open);
    let of = |family: Family| {
        let used = plan.ratio.uses(family) || tally[family].sent > 0;
        used.then(|| figures(&tally[family], addresses(family)))
    };
    let mut both = tally.ipv6.clone();
    both += &tally.ipv4;
    let everywhere = plan.families().flat_map(addresses).collect();
    (Families { ipv6: of(Family::Ipv6), ipv4: of(Family::Ipv4) }, figures(&both, everywhere))
}

/// What all workers did in a second of so many nanoseconds.
pub(crate) fn interval(second: u64, length_ns: u64, of: PerFamily<SliceTally>) -> Interval {
    Interval { second, length_s: length_ns as f64 / 1e9, families: of.map(interval_family) }
}

fn interval_family(counted: SliceTally) -> IntervalFamily {
    IntervalFamily {
        sent: counted.sent,
        completed: counted.completed,
        failed: counted.failed,
        unaccepted: counted.unaccepted,
        body_bytes: counted.body,
        response_us: counted.response.summary(),
    }
}
