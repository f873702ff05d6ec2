//! Counts what is found in the flows of a capture, in the same way as a run counts its own traffic.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;

use super::seconds::WatchedSeconds;
use super::seen::SeenTraffic;
use crate::watched_result::{WatchedFamily, WatchedServer};
use sixmark_document::timing::Timing;
use sixmark_plan::plan::accept::AcceptStatus;
use sixmark_tally::family_result::Families;
use sixmark_tally::in_flight::InFlight;
use sixmark_tally::interval::Interval;
use sixmark_tally::outcome::{Failure, FailurePhase, Outcome};
use sixmark_tally::response_part::PerPart;
use sixmark_tally::tally::{FamilyTally, Tally};
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::tcp_info::TcpInfo;
use sixmark_wire::flow::{
    Closure, ConnectionReport, Counts, Ends, FlowObserver, HttpExchange, MissingSide,
};

/// The most servers with figures of their own. Each needs some memory for its histograms.
const MOST_SERVERS: usize = 32;
/// The most further servers that are distinguished in order to count them.
const MOST_KNOWN: usize = 1 << 16;

/// The counts of a capture so far.
#[derive(Debug)]
pub struct WatchCollector {
    tally: Tally,
    seen: PerFamily<SeenTraffic>,
    servers: Vec<Server>,
    places: HashMap<SocketAddr, usize>,
    left_out: HashSet<SocketAddr>,
    /// The address and the index of the server that was looked up last: most look-ups are for the
    /// same one again.
    latest: Option<(SocketAddr, usize)>,
    seconds: WatchedSeconds,
    /// Failed exchanges of a connection whose end has not been reported yet. The end determines the
    /// outcome.
    /// Response times since the last progress was asked for.
    recent: PerFamily<Timing>,
    undecided: Vec<Undecided>,
    /// Failed exchanges on connections that were still open at the end of the capture.
    left_open: Vec<(Family, LeftOpen)>,
}

/// An exchange without a complete response, on a connection that is still open.
#[derive(Clone, Copy, Debug)]
struct LeftOpen {
    phase: FailurePhase,
    began_ns: u64,
}

/// The counts of a family so far, and its latest response times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Connections that have ended.
    pub connections: u64,
    /// Exchanges that have ended.
    pub exchanges: u64,
    /// The median and the 99th percentile of the response times since the progress before, in
    /// microseconds; `None` if no exchange was complete.
    pub response_us: [Option<f64>; 2],
}

/// The counts of a whole capture.
#[derive(Debug)]
pub struct CollectedTraffic {
    /// The figures that a run has too.
    pub tally: Tally,
    /// One entry for each second, in order.
    pub intervals: Vec<Interval>,
    /// The figures of each observed family that a run does not have.
    pub families: Families<WatchedFamily>,
    /// The same figures of the servers that were seen first.
    pub servers: Vec<WatchedServer>,
    /// The number of servers that are not in this list.
    pub servers_left_out: u64,
}

#[derive(Debug)]
struct Server {
    address: SocketAddr,
    tally: FamilyTally,
    seen: SeenTraffic,
}

#[derive(Debug)]
struct Undecided {
    ends: Ends,
    phase: FailurePhase,
    reset: bool,
    began_ns: u64,
    ended_ns: u64,
}

impl WatchCollector {
    /// Creates a collector for a capture whose first second begins at `begin_ns`, in nanoseconds of
    /// the capture's clock.
    pub fn new(begin_ns: u64) -> WatchCollector {
        WatchCollector {
            tally: Tally::default(),
            seen: PerFamily::default(),
            servers: Vec::new(),
            places: HashMap::new(),
            left_out: HashSet::new(),
            latest: None,
            seconds: WatchedSeconds::new(begin_ns),
            recent: PerFamily::default(),
            undecided: Vec::new(),
            left_open: Vec::new(),
        }
    }

    /// Sets the begin of the first second. Must be called before anything is counted.
    pub fn begin(&mut self, begin_ns: u64) {
        self.seconds = WatchedSeconds::new(begin_ns);
    }

    /// Advances the time to `now_ns`.
    pub fn pass(&mut self, now_ns: u64) {
        self.seconds.pass(now_ns);
    }

    /// Returns the counts of each family so far, with the response times since the last call.
    pub fn progress(&mut self) -> PerFamily<Progress> {
        let recent = std::mem::take(&mut self.recent);
        PerFamily::from_fn(|family| {
            let quantile = |q| recent[family].quantile(q).map(|ns| ns as f64 / 1e3);
            Progress {
                connections: self.seen[family].connections,
                exchanges: self.seen[family].exchanges,
                response_us: [0.5, 0.99].map(quantile),
            }
        })
    }

    /// Ends the capture at `end_ns`. Returns all counts.
    pub fn finish(mut self, end_ns: u64, counts: &Counts) -> CollectedTraffic {
        self.decide(None);
        let unanswered = self.classify_left_open(end_ns);
        let mut intervals = self.seconds.end(end_ns);
        if let Some(last) = intervals.last_mut() {
            for family in Family::BOTH {
                last.families[family].ended += unanswered[family];
                last.families[family].failed += unanswered[family];
            }
        }
        let used = |family: Family| self.seen[family].connections > 0;
        // If no connection of any family was seen, the result has empty figures of both.
        let none = !Family::BOTH.into_iter().any(used);
        let seen = &self.seen;
        let of = |family: Family| {
            let too_big = counts.families[family].too_big;
            (used(family) || none).then(|| seen[family].result(too_big))
        };
        let families = Families { ipv6: of(Family::Ipv6), ipv4: of(Family::Ipv4) };
        let servers = self.servers.iter().map(Server::result).collect();
        let servers_left_out = self.left_out.len() as u64;
        CollectedTraffic { tally: self.tally, intervals, families, servers, servers_left_out }
    }

    /// Classifies the exchanges in flight at the end, as a run does. Returns how many were
    /// unanswered.
    fn classify_left_open(&mut self, end_ns: u64) -> PerFamily<u64> {
        for (family, LeftOpen { phase, began_ns }) in std::mem::take(&mut self.left_open) {
            let age_ns = end_ns.saturating_sub(began_ns);
            let (silent_ns, endpoint, counted) = (age_ns, 0, true);
            let (name, step) = (None, None);
            let in_flight = InFlight { age_ns, silent_ns, phase, endpoint, name, step, counted };
            self.tally[family].in_flight.push(in_flight);
        }
        PerFamily::from_fn(|family| self.tally[family].classify_in_flight())
    }

    fn server(&mut self, address: SocketAddr) -> Option<&mut Server> {
        if let Some((known, at)) = self.latest
            && known == address
        {
            return self.servers.get_mut(at);
        }
        let at = match self.places.get(&address) {
            Some(&at) => at,
            None if self.servers.len() < MOST_SERVERS => {
                let (tally, seen) = (FamilyTally::default(), SeenTraffic::default());
                self.servers.push(Server { address, tally, seen });
                self.places.insert(address, self.servers.len() - 1);
                self.servers.len() - 1
            }
            None => {
                if self.left_out.len() < MOST_KNOWN {
                    self.left_out.insert(address);
                }
                return None;
            }
        };
        self.latest = Some((address, at));
        self.servers.get_mut(at)
    }

    /// Decides the outcomes of the undecided exchanges, by the end of `connection` if it is theirs.
    fn decide(&mut self, connection: Option<&ConnectionReport>) {
        for one in std::mem::take(&mut self.undecided) {
            let closure = connection.filter(|of| of.ends == one.ends).map(|of| of.closure);
            let outcome = outcome_of(closure, one.reset);
            let family = Family::of(one.ends.server.ip());
            self.tally[family].failures.add(Failure::new(outcome, one.phase), 1);
            if closure == Some(Closure::Open) {
                let (phase, began_ns) = (one.phase, one.began_ns);
                self.left_open.push((family, LeftOpen { phase, began_ns }));
            }
            let failed = u64::from(outcome != Outcome::Abandoned);
            self.seconds.at(one.ended_ns, family).failed += failed;
        }
    }

    fn whole(&mut self, exchange: &HttpExchange, status: u16) {
        let family = exchange.family();
        let times = ExchangeTimes::of(exchange);
        times.add(&mut self.tally[family], status, exchange.content_bytes);
        if let Some(response_ns) = times.response_ns {
            self.recent[family].record(response_ns);
        }
        if let Some(server) = self.server(exchange.ends.server) {
            times.add(&mut server.tally, status, exchange.content_bytes);
        }
        let second = self.seconds.at(times.ended_ns, family);
        second.completed += 1;
        let unaccepted = u64::from(!AcceptStatus::default().accepts(status));
        second.failed += unaccepted;
        second.unaccepted += unaccepted;
        self.tally[family].unaccepted += unaccepted;
        second.body += exchange.content_bytes;
        times.wait_ns.into_iter().for_each(|ns| second.wait.record(ns));
        times.response_ns.into_iter().for_each(|ns| second.response.record(ns));
    }

    fn not_whole(&mut self, exchange: &HttpExchange) {
        let reset = exchange.resets.from_client + exchange.resets.from_server > 0;
        let phase = if exchange.first_byte_ns.is_some() {
            FailurePhase::Transfer
        } else {
            FailurePhase::Wait
        };
        let ended_ns = exchange.began_ns + exchange.first_byte_ns.unwrap_or(0);
        let (ends, began_ns) = (exchange.ends, exchange.began_ns);
        self.undecided.push(Undecided { ends, phase, reset, began_ns, ended_ns });
    }
}

impl FlowObserver for WatchCollector {
    fn connection(&mut self, connection: &ConnectionReport) {
        self.decide(Some(connection));
        let family = Family::of(connection.ends.server.ip());
        self.seen[family].connection(connection);
        count_connection(connection, &mut self.tally[family]);
        if let Some(server) = self.server(connection.ends.server) {
            server.seen.connection(connection);
        }
        if let Some(ns) = connection.opening.established_ns {
            let at_ns = connection.began_ns + ns;
            self.seconds.at(at_ns, family).connect.record(ns);
        }
    }

    fn exchange(&mut self, exchange: &HttpExchange) {
        // The undecided exchanges belong to another connection, whose end will not be reported.
        if self.undecided.first().is_some_and(|first| first.ends != exchange.ends) {
            self.decide(None);
        }
        if exchange.number == 0 {
            return;
        }
        let family = exchange.family();
        self.seen[family].exchange(exchange);
        if let Some(server) = self.server(exchange.ends.server) {
            server.seen.exchange(exchange);
        }
        let known = exchange.whole.is_some();
        if known {
            self.tally[family].sent += 1;
            self.seconds.at(exchange.began_ns, family).sent += 1;
        }
        match (exchange.whole, exchange.status) {
            (Some(true), Some(status)) => self.whole(exchange, status),
            (Some(_), _) => self.not_whole(exchange),
            (None, _) => {}
        }
    }

    fn round_trip(&mut self, ends: &Ends, by_client: bool, ns: u64) {
        self.seen[Family::of(ends.server.ip())].round_trip(by_client, ns);
        if let Some(server) = self.server(ends.server) {
            server.seen.round_trip(by_client, ns);
        }
    }
}

impl Server {
    fn result(&self) -> WatchedServer {
        WatchedServer {
            address: self.address,
            figures: self.seen.result(0),
            status: self.tally.status.sorted(),
            wait_us: self.tally.phases.wait.summary(),
            response_us: self.tally.phases.response.summary(),
        }
    }
}

/// The times of a complete exchange.
struct ExchangeTimes {
    interims: u32,
    interim_ns: Option<u64>,
    wait_ns: Option<u64>,
    transfer_ns: Option<u64>,
    response_ns: Option<u64>,
    parts: Option<PerPart<u64>>,
    ended_ns: u64,
}

impl ExchangeTimes {
    fn of(exchange: &HttpExchange) -> ExchangeTimes {
        let (first, rest) = (exchange.first_byte_ns, exchange.transfer_ns);
        let response_ns = first.zip(rest).map(|(first, rest)| first.saturating_add(rest));
        ExchangeTimes {
            interims: exchange.interims,
            interim_ns: exchange.interim_ns,
            wait_ns: exchange.wait_ns,
            transfer_ns: rest,
            response_ns,
            parts: response_ns.map(|ns| parts_of(exchange, ns)),
            ended_ns: exchange.began_ns.saturating_add(response_ns.unwrap_or(0)),
        }
    }

    fn add(&self, tally: &mut FamilyTally, status: u16, content_bytes: u64) {
        tally.status.add(status, 1);
        tally.bytes.body += content_bytes;
        tally.interim_responses += u64::from(self.interims);
        self.interim_ns.into_iter().for_each(|ns| tally.phases.interim.record(ns));
        self.wait_ns.into_iter().for_each(|ns| tally.phases.wait.record(ns));
        self.transfer_ns.into_iter().for_each(|ns| tally.phases.transfer.record(ns));
        self.response_ns.into_iter().for_each(|ns| tally.phases.response.record(ns));
        self.parts.iter().for_each(|parts| tally.account.record(parts, 0));
    }
}

/// Returns the parts of a response time of `response_ns`, which begins with the request: packets do not
/// say for which request a connection was opened.
fn parts_of(exchange: &HttpExchange, response_ns: u64) -> PerPart<u64> {
    let transfer = exchange.transfer_ns.unwrap_or(0).min(response_ns);
    let wait = exchange.wait_ns.unwrap_or(0).min(response_ns - transfer);
    PerPart { send: response_ns - transfer - wait, wait, transfer, ..PerPart::default() }
}

/// Returns the outcome of a failed exchange. `reset` says whether a reset was sent during it.
fn outcome_of(closure: Option<Closure>, reset: bool) -> Outcome {
    match closure {
        Some(Closure::Reset { by_client: true } | Closure::Open | Closure::Evicted) => {
            Outcome::Abandoned
        }
        Some(Closure::Reset { by_client: false }) => Outcome::Reset,
        Some(Closure::Refused) => Outcome::Refused,
        Some(Closure::Timeout) => Outcome::Timeout,
        None if reset => Outcome::Reset,
        Some(Closure::Normal) | None => Outcome::Truncated,
    }
}

/// Counts those figures of a connection that a run counts too.
fn count_connection(of: &ConnectionReport, tally: &mut FamilyTally) {
    let established = of.opening.established_ns;
    let unheard = of.missing == Some(MissingSide::Server);
    let opened = established.is_some() || of.doubts.begun_before || unheard;
    tally.bytes.received += of.sent.from_server.stream_bytes;
    tally.bytes.sent += of.sent.from_client.stream_bytes;
    if !opened {
        return;
    }
    let over = !matches!(of.closure, Closure::Open | Closure::Evicted);
    tally.connections.opened += 1;
    tally.connections.closed += u64::from(over);
    let cut_off = matches!(of.closure, Closure::Reset { by_client: true });
    tally.connections.reset_sent += u64::from(cut_off);
    established.into_iter().for_each(|ns| tally.phases.connect.record(ns));
    if let (Some(ns), true) = (established, over) {
        tally.phases.lifetime.record(of.lasted_ns.saturating_sub(ns));
    }
    tally.tcp.record(&path(of));
}

/// Returns the figures of a connection's path, as TCP itself would report them. A round-trip time
/// is the sum of those from the capture point to either side, and `None` unless both are known.
fn path(of: &ConnectionReport) -> TcpInfo {
    let (client, server) = (&of.round_trips.from_client, &of.round_trips.from_server);
    let both = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.saturating_add(b));
    let again = of.sent.from_client.retransmitted + of.sent.from_server.retransmitted;
    let mss = [of.sent.from_client.mss, of.sent.from_server.mss].into_iter().flatten().min();
    TcpInfo {
        rtt: both(client.p50_ns, server.p50_ns),
        min_rtt: both(client.min_ns, server.min_ns),
        retransmitted: u32::try_from(again).unwrap_or(u32::MAX),
        duplicates: None,
        delivered: None,
        mss: mss.map_or(0, u32::from),
        options: None,
        out_of_order: None,
    }
}
