//! Counts, rates, shares and costs: the table of figures that are neither a phase's durations nor
//! an outcome's count.
//!
//! A count is a field of the tally, a row of the counts in documents beside it, and a row of the
//! table of quantities. Gates, files, pages, terminals, Prometheus, studies and docs/metrics.md follow.

use super::unit::MetricKind;
use crate::family_result::FamilyResult;
use crate::outcome::FailurePhase;
use crate::wait_sample::WaitSampleResult;

/// A figure that is neither a phase's durations nor an outcome's count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quantity {
    /// Exchanges started.
    Sent,
    /// Exchanges with a complete response.
    Completed,
    /// Complete responses whose status is not accepted.
    Unaccepted,
    /// Exchanges without a complete response, or with a status that is not accepted.
    Failed,
    /// Failed exchanges as a share of those that ended.
    Failures,
    /// Exchanges that the end of the load cut off.
    Abandoned,
    /// Complete responses per second.
    RequestsPerS,
    /// Blocks read or written per second. In sixmark's own cells each complete response is a block.
    Iops,
    /// Content of complete responses, in bytes per second.
    Goodput,
    /// Content of complete exchanges, of requests and of responses, in bytes per second.
    ContentRate,
    /// All bytes received above TCP, per second.
    TransferRate,
    /// Responses that redirect.
    Redirects,
    /// Exchanges that followed a redirect.
    Followed,
    /// Exchanges not started, because the limit of exchanges in flight was reached when they were
    /// due.
    Dropped,
    /// Exchanges not started, because the run ended before.
    Unsent,
    /// Exchanges started late, because the limit of exchanges in flight was reached.
    Waited,
    /// Requests sent again, because the peer did not process them.
    Resent,
    /// Interim responses.
    InterimResponses,
    /// Exchanges that failed while the request was handed to the kernel.
    WriteErrors,
    /// Times that data was handed to the kernel, per exchange.
    Sends,
    /// Times that the kernel returned data, per exchange.
    Receives,
    /// QUIC's datagrams sent, per exchange.
    DatagramsSent,
    /// QUIC's datagrams received, per exchange.
    DatagramsReceived,
    /// Connections established.
    Opened,
    /// Connections closed.
    Closed,
    /// Connections that this side reset.
    ResetSent,
    /// Idle connections closed to make room for others.
    Displaced,
    /// Connections that could not be opened before the load began.
    Unopened,
    /// This machine's own delay in the median wait.
    WaitDelay,
    /// Seconds that the load lasted.
    Elapsed,
    /// Seconds from the start to the end of another client.
    Wall,
    /// Processor time of the client.
    Cpu,
    /// Processor time of the client divided by its elapsed time.
    CpuShare,
    /// Processor time of the client per complete response, in a study.
    ClientCpuPerRequest,
    /// Processor time of the service.
    ServerCpu,
    /// Processor time of the service divided by its elapsed time.
    ServerCpuShare,
    /// Processor time of the service per complete response, in a study.
    ServerCpuPerRequest,
    /// Processor time of the translators of a lab.
    TranslatorCpu,
    /// Processor time of the translators of a lab per complete response.
    TranslatorCpuPerRequest,
    /// Processor time of the server per complete response, in a comparison.
    CpuPerRequest,
    /// Processor time of client and service divided by that of all processors of the machine.
    ProgramsCpuShare,
    /// Busy time of all processors of the machine, divided by their elapsed time.
    MachineCpuShare,
    /// Busy time of all processors of the machine per complete response.
    MachineCpuPerRequest,
    /// TCP segments that the kernel of the client's hosts received per MiB of content.
    SegmentsInPerMib,
    /// Bytes of frames from the GET to the last ACK, per second; only from a capture.
    Throughput,
    /// Retransmitted segments of the server; only from a capture.
    Retransmitted,
}

/// The group of a family's figures in which pages, terminals and files show a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityGroup {
    /// Counts of exchanges that are shown even if they are 0.
    Always,
    /// Failures; shown if above 0.
    Failures,
    /// Other counts of exchanges; shown if above 0.
    Unusual,
    /// Counts of exchanges that make the conclusion weaker, so that the short form of a run has
    /// them too; shown if above 0.
    Weakening,
    /// Counts of connections; shown if above 0.
    Connections,
    /// Rates.
    Rates,
    /// Operations per exchange.
    PerExchange,
    /// Not shown with the others.
    Apart,
}

/// Where a file of comma-separated values has a quantity. The columns that a version has stay in
/// their places in later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsvPlace {
    /// Among the exchanges, before the outcomes.
    Exchanges,
    /// Among the connections, after the outcomes.
    Connections,
    /// Among the rates, with this name, which is that in the document.
    Rates(&'static str),
    /// After all other columns.
    Last,
    /// Nowhere.
    Absent,
}

/// The description of a quantity.
#[derive(Clone, Copy, Debug)]
pub struct QuantityEntry {
    /// The quantity.
    pub quantity: Quantity,
    /// The name in documents, gates and studies.
    pub name: &'static str,
    /// The title in tables and sentences.
    pub title: &'static str,
    /// What the figure is measured in.
    pub kind: MetricKind,
    /// True if higher figures are better, false if lower ones are, `None` if neither applies.
    pub higher_is_better: Option<bool>,
    /// The definition, as a sentence without a full stop.
    pub definition: &'static str,
    /// Reads the figure from a result; absent for a figure that a family's result does not contain.
    /// The function returns `None` if it is a share of exchanges sent and there are none.
    pub read: Option<fn(&FamilyResult) -> Option<f64>>,
    /// Where it is shown.
    pub group: QuantityGroup,
    /// Where files of comma-separated values have it.
    pub csv: CsvPlace,
}

/// The number of quantities.
const COUNT: usize = Quantity::Retransmitted as usize + 1;

type ReadQuantity = fn(&FamilyResult) -> Option<f64>;

const fn entry(
    quantity: Quantity,
    [name, title]: [&'static str; 2],
    (kind, higher_is_better): (MetricKind, Option<bool>),
    read: Option<ReadQuantity>,
    definition: &'static str,
) -> QuantityEntry {
    let (group, csv) = (QuantityGroup::Apart, CsvPlace::Absent);
    QuantityEntry { quantity, name, title, kind, higher_is_better, definition, read, group, csv }
}

impl QuantityEntry {
    const fn shown(self, group: QuantityGroup) -> QuantityEntry {
        QuantityEntry { group, ..self }
    }

    const fn in_csv(self, csv: CsvPlace) -> QuantityEntry {
        QuantityEntry { csv, ..self }
    }
}

const HIGHER: Option<bool> = Some(true);
const LOWER: Option<bool> = Some(false);
const NEITHER: Option<bool> = None;

/// One entry for each variant, in the order of the variants.
#[rustfmt::skip]
const ENTRIES: [QuantityEntry; COUNT] = {
    use MetricKind::{BytesPerS, Count, Frequency, Mean, Seconds, Share, Time};
    use CsvPlace as C;
    use Quantity as Q;
    use QuantityGroup as G;
    [
        entry(Q::Sent, ["sent", "requests sent"], (Count, NEITHER),
            Some(|of| Some(of.requests.sent as f64)),
            "exchanges started, including those whose connection failed")
            .shown(G::Always).in_csv(C::Exchanges),
        entry(Q::Completed, ["completed", "complete responses"], (Count, HIGHER),
            Some(|of| Some(of.requests.completed as f64)),
            "exchanges with a complete response")
            .shown(G::Always).in_csv(C::Exchanges),
        entry(Q::Unaccepted, ["unaccepted", "unaccepted"], (Count, LOWER),
            Some(|of| Some(of.requests.unaccepted as f64)),
            "complete responses whose status counts as a failure")
            .shown(G::Unusual).in_csv(C::Last),
        entry(Q::Failed, ["failed", "failed"], (Count, LOWER),
            Some(|of| Some(of.failed() as f64)),
            "exchanges that ended neither NORMAL nor ABANDONED, or with a status that is not accepted")
            .shown(G::Failures).in_csv(C::Last),
        entry(Q::Failures, ["failures", "failures"], (Share, LOWER),
            Some(FamilyResult::failed_share),
            "failed exchanges as a share of those that ended: of those sent without `abandoned`")
            .in_csv(C::Last),
        entry(Q::Abandoned, ["abandoned", "cut off at the end"], (Count, NEITHER),
            Some(|of| Some(of.abandoned() as f64)),
            "exchanges in flight when the load ended, and no older than completed ones explain \
             (ABANDONED): not failures, and in no share of failures")
            .shown(G::Weakening),
        entry(Q::RequestsPerS, ["requests_per_s", "requests/s"], (Frequency, HIGHER),
            Some(|of| Some(of.requests_per_s)),
            "complete responses per second")
            .shown(G::Rates).in_csv(C::Rates("requests_per_s")),
        entry(Q::Iops, ["iops", "I/O operations/s"], (Frequency, HIGHER), None,
            "blocks read or written per second by `fio`; in cells of sixmark itself, complete \
             responses, each a block"),
        entry(Q::Goodput, ["goodput", "goodput"], (BytesPerS, HIGHER),
            Some(|of| Some(of.goodput_bytes_per_s)),
            "content of complete responses, bytes per second; with `fio`, blocks read or written")
            .shown(G::Rates).in_csv(C::Rates("goodput_bytes_per_s")),
        entry(Q::ContentRate, ["content_rate", "content both ways"], (BytesPerS, HIGHER), None,
            "content of requests and responses of complete exchanges, bytes per second"),
        entry(Q::TransferRate, ["transfer_rate", "transfer rate"], (BytesPerS, HIGHER), None,
            "all bytes received above TCP per second, including heads"),
        entry(Q::Redirects, ["redirects", "redirects"], (Count, NEITHER),
            Some(|of| Some(of.requests.redirects as f64)),
            "complete responses with status 301, 302, 303, 307 or 308")
            .shown(G::Unusual),
        entry(Q::Followed, ["followed", "redirects followed"], (Count, NEITHER),
            Some(|of| Some(of.requests.followed as f64)),
            "exchanges that a redirect led to")
            .shown(G::Unusual),
        entry(Q::Dropped, ["dropped", "requests dropped"], (Count, LOWER),
            Some(|of| Some(of.requests.dropped as f64)),
            "exchanges not started, because the maximum was in flight when they were due")
            .shown(G::Weakening).in_csv(C::Exchanges),
        entry(Q::Unsent, ["unsent", "requests unsent"], (Count, LOWER),
            Some(|of| Some(of.requests.unsent as f64)),
            "exchanges not started, because the run ended first")
            .shown(G::Weakening).in_csv(C::Exchanges),
        entry(Q::Waited, ["waited", "requests that waited"], (Count, LOWER),
            Some(|of| Some(of.requests.waited as f64)),
            "exchanges started later than due, because the maximum was in flight")
            .shown(G::Unusual).in_csv(C::Exchanges),
        entry(Q::Resent, ["resent", "requests resent"], (Count, LOWER),
            Some(|of| Some(of.requests.resent as f64)),
            "requests sent again, because the peer reported that it did not process them (GOAWAY) \
             or had closed the kept connection before a byte of the response arrived")
            .shown(G::Weakening).in_csv(C::Exchanges),
        entry(Q::InterimResponses, ["interim_responses", "interim responses"], (Count, NEITHER),
            Some(|of| Some(of.requests.interim_responses as f64)),
            "interim (1xx) responses that preceded complete responses")
            .shown(G::Unusual),
        entry(Q::WriteErrors, ["write_errors", "write errors"], (Count, LOWER),
            Some(|of| Some(failed_in_send(of) as f64)),
            "exchanges that failed while the request was handed to the kernel"),
        entry(Q::Sends, ["sends_per_exchange", "sends per exchange"], (Mean, LOWER),
            Some(|of| of.io.as_ref()?.sends.per_exchange),
            "times that data was handed to the kernel, over exchanges started")
            .shown(G::PerExchange),
        entry(Q::Receives, ["receives_per_exchange", "receives per exchange"], (Mean, LOWER),
            Some(|of| of.io.as_ref()?.receives.per_exchange),
            "times that the kernel returned data, over exchanges started")
            .shown(G::PerExchange),
        entry(Q::DatagramsSent, ["datagrams_sent_per_exchange", "datagrams out/exchange"],
            (Mean, LOWER), Some(|of| of.io.as_ref()?.datagrams_sent.as_ref()?.per_exchange),
            "datagrams sent, over exchanges started; with HTTP/3")
            .shown(G::PerExchange),
        entry(Q::DatagramsReceived, ["datagrams_received_per_exchange", "datagrams in/exchange"],
            (Mean, LOWER), Some(|of| of.io.as_ref()?.datagrams_received.as_ref()?.per_exchange),
            "datagrams received, over exchanges started; with HTTP/3")
            .shown(G::PerExchange),
        entry(Q::Opened, ["opened", "connections opened"], (Count, NEITHER),
            Some(|of| Some(of.connections.opened as f64)),
            "connections established")
            .shown(G::Connections).in_csv(C::Connections),
        entry(Q::Closed, ["closed", "connections closed"], (Count, NEITHER),
            Some(|of| Some(of.connections.closed as f64)),
            "connections closed, including those closed when the run ended")
            .in_csv(C::Connections),
        entry(Q::ResetSent, ["reset_sent", "connections reset by sixmark"], (Count, NEITHER),
            Some(|of| Some(of.connections.reset_sent as f64)),
            "connections closed with a reset by this side")
            .shown(G::Connections),
        entry(Q::Displaced, ["displaced", "connections displaced"], (Count, NEITHER),
            Some(|of| Some(of.connections.displaced as f64)),
            "idle connections closed to open another one, because the maximum was open")
            .shown(G::Connections),
        entry(Q::Unopened, ["unopened", "connections not opened"], (Count, LOWER),
            Some(|of| Some(of.connections.unopened as f64)),
            "connections that could not be opened before the load began")
            .shown(G::Connections),
        entry(Q::WaitDelay, ["wait_delay", "this machine’s delay in wait"], (Time, LOWER),
            Some(|of| of.wait_sample.as_ref().and_then(WaitSampleResult::delay_us)),
            "how much of the median wait is this machine’s own delay between the arrival of a \
             response and its reading; of a sample of exchanges"),
        entry(Q::Elapsed, ["elapsed", "elapsed time"], (Seconds, LOWER), None,
            "seconds that the load lasted"),
        entry(Q::Wall, ["wall", "wall-clock time"], (Seconds, LOWER), None,
            "seconds from the start of another client to its end"),
        entry(Q::Cpu, ["cpu", "client’s CPU time"], (Seconds, LOWER), None,
            "CPU time of the client, seconds; in a cell of one family"),
        entry(Q::CpuShare, ["cpu_share", "client’s CPU share"], (Share, LOWER), None,
            "CPU time of the client over elapsed time: 1 is one fully used CPU"),
        entry(Q::ClientCpuPerRequest, ["client_cpu_per_request", "client’s CPU time per response"],
            (Time, LOWER), None,
            "CPU time of the client over complete responses, in a study; in a cell of one family"),
        entry(Q::ServerCpu, ["server_cpu", "server’s CPU time"], (Seconds, LOWER), None,
            "CPU time of the service meanwhile, seconds; in a lab"),
        entry(Q::ServerCpuShare, ["server_cpu_share", "server’s CPU share"], (Share, LOWER), None,
            "CPU time of the service over elapsed time: 1 is one fully used CPU"),
        entry(Q::ServerCpuPerRequest, ["server_cpu_per_request", "server’s CPU time per response"],
            (Time, LOWER), None,
            "CPU time of the service over complete responses, in a study"),
        entry(Q::TranslatorCpu, ["translator_cpu", "translators’ CPU time"], (Seconds, LOWER), None,
            "CPU time of all NAT64s and CLATs of the lab together, seconds; in a lab that has any"),
        entry(Q::TranslatorCpuPerRequest,
            ["translator_cpu_per_request", "translators’ CPU time per response"], (Time, LOWER),
            None,
            "CPU time of all NAT64s and CLATs of the lab together over complete responses"),
        entry(Q::CpuPerRequest, ["cpu_per_request", "server’s CPU time per response"],
            (Time, LOWER), None,
            "CPU time of the server over complete responses, in a comparison with `--vitals-from`"),
        entry(Q::ProgramsCpuShare, ["programs_cpu_share", "programs’ share of all CPUs"],
            (Share, LOWER), None,
            "CPU time of client and service together over the time of all processors of the machine \
             that the study runs on; in a lab"),
        entry(Q::MachineCpuShare, ["machine_cpu_share", "machine’s CPU share"], (Share, LOWER), None,
            "busy time of all processors of the machine that the study runs on, over their time: \
             all programs and the kernel. In a lab all hosts are this machine"),
        entry(Q::MachineCpuPerRequest,
            ["machine_cpu_per_request", "machine’s CPU time per response"], (Time, LOWER), None,
            "busy time of all processors of the machine that the study runs on, over complete \
             responses or blocks"),
        entry(Q::SegmentsInPerMib, ["segments_in_per_mib", "segments received per MiB"],
            (Count, LOWER), None,
            "segments that the kernel of the client’s host handed to TCP, for each MiB of content \
             (`content_rate`); those that GRO joined count once; in a lab"),
        entry(Q::Throughput, ["throughput", "throughput"], (BytesPerS, HIGHER), None,
            "bytes of all frames in both directions from the GET to the last ACK, each segment \
             once, over that time; of several requests, their median; from a capture"),
        entry(Q::Retransmitted, ["retransmitted", "retransmissions"], (Count, LOWER), None,
            "segments that the server retransmitted; from a capture"),
    ]
};

static TABLE: [QuantityEntry; COUNT] = ENTRIES;

/// Each variant has the entry of its index: a missing or misplaced entry does not compile.
const _: () = {
    let mut at = 0;
    while at < COUNT {
        assert!(ENTRIES[at].quantity as usize == at, "entries stand in the order of the variants");
        at += 1;
    }
};

impl Quantity {
    /// Returns all quantities, in the order in which they are shown.
    pub fn all() -> impl Iterator<Item = Quantity> {
        TABLE.iter().map(|entry| entry.quantity)
    }

    /// Returns the description of the quantity.
    pub fn entry(self) -> &'static QuantityEntry {
        &TABLE[self as usize]
    }

    /// Returns the quantities of a group, in the order in which they are shown.
    pub fn in_group(group: QuantityGroup) -> impl Iterator<Item = Quantity> {
        Quantity::all().filter(move |quantity| quantity.entry().group == group)
    }

    /// Returns the counts of exchanges that are shown if they are above 0, failures first.
    pub fn unusual() -> impl Iterator<Item = Quantity> {
        let counts = |quantity: &Quantity| {
            matches!(quantity.entry().group, QuantityGroup::Unusual | QuantityGroup::Weakening)
        };
        Quantity::in_group(QuantityGroup::Failures).chain(Quantity::all().filter(counts))
    }

    /// Returns the quantities with a place in files of comma-separated values.
    pub fn in_csv(place: CsvPlace) -> impl Iterator<Item = Quantity> {
        Quantity::all().filter(move |quantity| quantity.entry().csv == place)
    }

    /// Returns the rates in files of comma-separated values, with the names of their columns.
    pub fn rates_in_csv() -> impl Iterator<Item = (&'static str, Quantity)> {
        Quantity::all().filter_map(|quantity| match quantity.entry().csv {
            CsvPlace::Rates(name) => Some((name, quantity)),
            _ => None,
        })
    }

    /// Returns the quantity with that name.
    pub fn named(name: &str) -> Option<Quantity> {
        Quantity::all().find(|quantity| quantity.entry().name == name)
    }

    /// Returns true if the figure measures speed or cost, rather than counting results.
    pub fn is_of_speed(self) -> bool {
        self != Quantity::Failures && self.entry().kind != MetricKind::Count
    }

    /// Returns true if the figure counts connections, which are observed even if their exchanges
    /// are not.
    pub fn is_of_connections(self) -> bool {
        use Quantity as Q;
        matches!(self, Q::Opened | Q::Closed | Q::ResetSent | Q::Displaced | Q::Unopened)
    }

    /// Returns the value in a family's result, or `None` if the result does not contain it.
    pub fn value(self, of: &FamilyResult) -> Option<f64> {
        self.entry().read.and_then(|read| read(of))
    }
}

fn failed_in_send(of: &FamilyResult) -> u64 {
    of.failures
        .iter()
        .filter(|f| f.failure.phase == FailurePhase::Send)
        .map(|failed| failed.count)
        .sum()
}
