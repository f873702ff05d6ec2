//! Counts, rates, shares and costs: the table of figures that are neither a phase's durations nor an
//! outcome's count.

use super::unit::MetricKind;
use crate::family_result::FamilyResult;
use crate::outcome::FailurePhase;

/// A figure that is neither a phase's durations nor an outcome's count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quantity {
    /// Exchanges begun.
    Sent,
    /// With a complete response.
    Completed,
    /// Of these, those whose status is not accepted.
    Unaccepted,
    /// Without a complete response, or with a status that is not accepted.
    Failed,
    /// The same as a share of those sent.
    Failures,
    /// Complete responses a second.
    RequestsPerS,
    /// Blocks read or written a second; of sixmark's own cells complete responses, each a block.
    Iops,
    /// Content of complete responses, bytes a second.
    Goodput,
    /// Content of whole exchanges, of requests and of responses, bytes a second.
    ContentRate,
    /// All bytes received above TCP, a second.
    TransferRate,
    /// Responses that redirect.
    Redirects,
    /// Exchanges that such a response led to.
    Followed,
    /// Exchanges not begun, because all connections were busy when they fell due.
    Dropped,
    /// Exchanges not begun, because the run ended before.
    Unsent,
    /// Exchanges begun late, because all connections were busy.
    Waited,
    /// Exchanges sent once more after GOAWAY.
    Resent,
    /// Exchanges that failed while the request was handed to the kernel.
    WriteErrors,
    /// Connections established.
    Opened,
    /// Connections closed.
    Closed,
    /// Connections that this side reset.
    ResetSent,
    /// Idle connections closed to make room for others.
    Displaced,
    /// Connections that could not be opened before the load.
    Unopened,
    /// Seconds that the load lasted.
    Elapsed,
    /// Seconds from the start of another client to its end.
    Wall,
    /// Processor time of the client.
    Cpu,
    /// The same over the time it lasted.
    CpuShare,
    /// Processor time of the service.
    ServerCpu,
    /// The same over the time it lasted.
    ServerCpuShare,
    /// The same over complete responses, in a study.
    ServerCpuPerRequest,
    /// The same over complete responses, in a comparison.
    CpuPerRequest,
    /// Frames from the GET to the last ACK, a second; by a capture.
    Throughput,
    /// Segments of the server that were retransmitted; by a capture.
    Retransmitted,
}

/// What is known of a quantity before anything is measured.
#[derive(Clone, Copy, Debug)]
pub struct QuantityEntry {
    /// Which.
    pub quantity: Quantity,
    /// The name in documents, gates and studies.
    pub name: &'static str,
    /// What it is called in tables and sentences.
    pub title: &'static str,
    /// What it is counted in.
    pub kind: MetricKind,
    /// True where a higher figure is the better one, false where a lower one is; none of what is neither.
    pub higher_is_better: Option<bool>,
    /// What it is, in a sentence without a full stop.
    pub definition: &'static str,
    /// Reads it from a result; none of what a family's result does not contain. The function gives none
    /// where nothing was sent of which it could be a share.
    pub read: Option<fn(&FamilyResult) -> Option<f64>>,
}

/// How many there are.
const COUNT: usize = Quantity::Retransmitted as usize + 1;

type ReadQuantity = fn(&FamilyResult) -> Option<f64>;

const fn entry(
    quantity: Quantity,
    [name, title]: [&'static str; 2],
    (kind, higher_is_better): (MetricKind, Option<bool>),
    read: Option<ReadQuantity>,
    definition: &'static str,
) -> QuantityEntry {
    QuantityEntry { quantity, name, title, kind, higher_is_better, definition, read }
}

const HIGHER: Option<bool> = Some(true);
const LOWER: Option<bool> = Some(false);
const NEITHER: Option<bool> = None;

/// One entry each, in the order of the variants.
#[rustfmt::skip]
const ENTRIES: [QuantityEntry; COUNT] = {
    use MetricKind::{BytesPerS, Count, Frequency, Seconds, Share, Time};
    use Quantity as Q;
    [
        entry(Q::Sent, ["sent", "requests sent"], (Count, NEITHER),
            Some(|of| Some(of.requests.sent as f64)),
            "exchanges begun, those included whose connection failed"),
        entry(Q::Completed, ["completed", "complete responses"], (Count, HIGHER),
            Some(|of| Some(of.requests.completed as f64)),
            "exchanges with a complete response"),
        entry(Q::Unaccepted, ["unaccepted", "status not accepted"], (Count, LOWER),
            Some(|of| Some(of.requests.unaccepted as f64)),
            "complete responses whose status counts as a failure"),
        entry(Q::Failed, ["failed", "failed"], (Count, LOWER),
            Some(|of| Some(not_accepted(of) as f64)),
            "exchanges without a complete response, or with a status that is not accepted"),
        entry(Q::Failures, ["failures", "share of failures"], (Share, LOWER),
            Some(|of| (of.requests.sent > 0).then(|| not_accepted(of) as f64 / of.requests.sent as f64)),
            "failed exchanges as a share of those sent; in a comparison without those that a block’s end cut off"),
        entry(Q::RequestsPerS, ["requests_per_s", "requests/s"], (Frequency, HIGHER),
            Some(|of| Some(of.requests_per_s)),
            "complete responses a second"),
        entry(Q::Iops, ["iops", "I/O operations/s"], (Frequency, HIGHER), None,
            "blocks read or written a second by `fio`; of sixmark’s own cells complete responses, each a block"),
        entry(Q::Goodput, ["goodput", "goodput"], (BytesPerS, HIGHER),
            Some(|of| Some(of.goodput_bytes_per_s)),
            "content of complete responses, bytes a second; of `fio` blocks read or written"),
        entry(Q::ContentRate, ["content_rate", "content both ways"], (BytesPerS, HIGHER), None,
            "content of whole exchanges, of requests and of responses, bytes a second"),
        entry(Q::TransferRate, ["transfer_rate", "transfer rate"], (BytesPerS, HIGHER), None,
            "all bytes received above TCP, heads included, a second"),
        entry(Q::Redirects, ["redirects", "redirects"], (Count, NEITHER),
            Some(|of| Some(of.requests.redirects as f64)),
            "complete responses with status 301, 302, 303, 307 or 308"),
        entry(Q::Followed, ["followed", "redirects followed"], (Count, NEITHER),
            Some(|of| Some(of.requests.followed as f64)),
            "exchanges that a redirect led to"),
        entry(Q::Dropped, ["dropped", "requests dropped"], (Count, LOWER),
            Some(|of| Some(of.requests.dropped as f64)),
            "exchanges not begun, because no more might be in flight when they fell due"),
        entry(Q::Unsent, ["unsent", "requests unsent"], (Count, LOWER),
            Some(|of| Some(of.requests.unsent as f64)),
            "exchanges not begun, because the run ended before they could"),
        entry(Q::Waited, ["waited", "requests that waited"], (Count, LOWER),
            Some(|of| Some(of.requests.waited as f64)),
            "exchanges begun later than due, because no more might be in flight before"),
        entry(Q::Resent, ["resent", "requests resent"], (Count, LOWER),
            Some(|of| Some(of.requests.resent as f64)),
            "requests sent once more, the peer having said that it did nothing with them (GOAWAY)"),
        entry(Q::WriteErrors, ["write_errors", "write errors"], (Count, LOWER),
            Some(|of| Some(failed_in_send(of) as f64)),
            "exchanges that failed while the request was handed to the kernel"),
        entry(Q::Opened, ["opened", "connections opened"], (Count, NEITHER),
            Some(|of| Some(of.connections.opened as f64)),
            "connections established"),
        entry(Q::Closed, ["closed", "connections closed"], (Count, NEITHER),
            Some(|of| Some(of.connections.closed as f64)),
            "connections closed, those included that were closed when the run ended"),
        entry(Q::ResetSent, ["reset_sent", "connections reset by sixmark"], (Count, NEITHER),
            Some(|of| Some(of.connections.reset_sent as f64)),
            "connections closed with a reset by this side"),
        entry(Q::Displaced, ["displaced", "connections displaced"], (Count, NEITHER),
            Some(|of| Some(of.connections.displaced as f64)),
            "idle connections closed, since another was to be opened and no more might be open"),
        entry(Q::Unopened, ["unopened", "connections not opened"], (Count, LOWER),
            Some(|of| Some(of.connections.unopened as f64)),
            "connections that could not be opened before the load began"),
        entry(Q::Elapsed, ["elapsed", "elapsed time"], (Seconds, LOWER), None,
            "seconds that the load lasted"),
        entry(Q::Wall, ["wall", "wall-clock time"], (Seconds, LOWER), None,
            "seconds from the start of another client to its end"),
        entry(Q::Cpu, ["cpu", "client’s processor time"], (Seconds, LOWER), None,
            "processor time of the client, seconds; of a cell of one family"),
        entry(Q::CpuShare, ["cpu_share", "client’s processor share"], (Share, LOWER), None,
            "processor time of the client over the time that it took: 1 is one processor all the time"),
        entry(Q::ServerCpu, ["server_cpu", "server’s processor time"], (Seconds, LOWER), None,
            "processor time of the service meanwhile, seconds; in a lab"),
        entry(Q::ServerCpuShare, ["server_cpu_share", "server’s processor share"], (Share, LOWER), None,
            "processor time of the service over the time that it took: 1 is one processor all the time"),
        entry(Q::ServerCpuPerRequest, ["server_cpu_per_request", "server’s processor time a response"],
            (Time, LOWER), None,
            "processor time of the service over complete responses, in a study"),
        entry(Q::CpuPerRequest, ["cpu_per_request", "server’s processor time a response"],
            (Time, LOWER), None,
            "processor time of the server over complete responses, in a comparison with `--vitals-from`"),
        entry(Q::Throughput, ["throughput", "throughput"], (BytesPerS, HIGHER), None,
            "frames of both directions from the GET to the last ACK, each segment once, over that time; by a capture"),
        entry(Q::Retransmitted, ["retransmitted", "retransmissions"], (Count, LOWER), None,
            "segments of the server that were retransmitted; by a capture"),
    ]
};

static TABLE: [QuantityEntry; COUNT] = ENTRIES;

/// Every variant has the entry of its number: an entry that is missing or misplaced does not compile.
const _: () = {
    let mut at = 0;
    while at < COUNT {
        assert!(ENTRIES[at].quantity as usize == at, "entries stand in the order of the variants");
        at += 1;
    }
};

impl Quantity {
    /// All of them, in the order in which they are shown.
    pub fn all() -> impl Iterator<Item = Quantity> {
        TABLE.iter().map(|entry| entry.quantity)
    }

    /// What is known of it.
    pub fn entry(self) -> &'static QuantityEntry {
        &TABLE[self as usize]
    }

    /// The quantity of that name.
    pub fn named(name: &str) -> Option<Quantity> {
        Quantity::all().find(|quantity| quantity.entry().name == name)
    }

    /// True where it says how fast something is, or what that costs; not where it counts what came of it.
    pub fn is_of_speed(self) -> bool {
        self != Quantity::Failures && self.entry().kind != MetricKind::Count
    }

    /// True where it counts connections, which are seen even where their exchanges are not.
    pub fn is_of_connections(self) -> bool {
        use Quantity as Q;
        matches!(self, Q::Opened | Q::Closed | Q::ResetSent | Q::Displaced | Q::Unopened)
    }

    /// Its value in a family's result; none where the result does not contain it.
    pub fn value(self, of: &FamilyResult) -> Option<f64> {
        self.entry().read.and_then(|read| read(of))
    }
}

/// Exchanges without a complete response whose status is accepted.
fn not_accepted(of: &FamilyResult) -> u64 {
    of.requests.sent.saturating_sub(of.accepted())
}

fn failed_in_send(of: &FamilyResult) -> u64 {
    of.failures
        .iter()
        .filter(|f| f.failure.phase == FailurePhase::Send)
        .map(|failed| failed.count)
        .sum()
}
