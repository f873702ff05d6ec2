//! The counts of connections and exchanges that a run does not have.

use std::collections::BTreeMap;

use crate::end_names::{closure, payload_protocol};
use crate::secure_result::SecureTally;
use crate::watched_result::{Rates, ResponsesSeen, RoundTripResult, SentResult, WatchedFamily};
use sixmark_document::timing::Timing;
use sixmark_wire::flow::{
    ConnectionReport, Hello, HttpExchange, MissingSide, PayloadProtocol, Sent,
};

/// The most distinct names. Further names are counted under [`OTHERS`].
const MOST_NAMES: usize = 256;
/// The longest name, bytes. Longer names are counted under [`OTHERS`].
const LONGEST_NAME: usize = 255;
/// The name for all others. No valid name has brackets.
const OTHERS: &str = "(others)";

/// The counts of one family or one server.
#[derive(Clone, Debug, Default)]
pub(super) struct SeenTraffic {
    pub(super) connections: u64,
    begun_before: u64,
    closures: BTreeMap<&'static str, u64>,
    payload_protocol: BTreeMap<&'static str, u64>,
    hidden: u64,
    pub(super) exchanges: u64,
    unjudged: u64,
    responses: u64,
    without_client: u64,
    without_server: u64,
    statuses: BTreeMap<u16, u64>,
    syns_repeated: u64,
    answered: Timing,
    established: Timing,
    handshake: Timing,
    tls: Option<Box<SecureTally>>,
    quic: Option<Box<SecureTally>>,
    to_client: Timing,
    to_server: Timing,
    delay: Timing,
    throughput: Timing,
    from_client: SentResult,
    from_server: SentResult,
    gaps: u64,
    fragmented: u64,
    coalesced: u64,
    unparsed: u64,
    via: ForeignNames,
    server_names: ForeignNames,
    alpn: ForeignNames,
    versions: ForeignNames,
}

impl SeenTraffic {
    pub(super) fn connection(&mut self, of: &ConnectionReport) {
        self.connections += 1;
        self.begun_before += u64::from(of.doubts.begun_before);
        *self.closures.entry(closure(of.closure)).or_default() += 1;
        *self.payload_protocol.entry(payload_protocol(&of.payload_protocol)).or_default() += 1;
        self.hidden += u64::from(!matches!(
            of.payload_protocol,
            PayloadProtocol::Nothing | PayloadProtocol::Http1
        ));
        self.without_client += u64::from(of.missing == Some(MissingSide::Client));
        self.without_server += u64::from(of.missing == Some(MissingSide::Server));
        for (status, count) in &of.statuses {
            self.responses += count;
            *self.statuses.entry(*status).or_default() += count;
        }
        self.syns_repeated += u64::from(of.opening.syns.saturating_sub(1));
        of.opening.answered_ns.into_iter().for_each(|ns| self.answered.record(ns));
        of.opening.established_ns.into_iter().for_each(|ns| self.established.record(ns));
        self.from_client.add(&of.sent.from_client);
        self.from_server.add(&of.sent.from_server);
        self.gaps += u64::from(of.doubts.gap);
        self.fragmented += u64::from(of.doubts.fragmented);
        self.coalesced += of.doubts.coalesced;
        self.unparsed += u64::from(of.doubts.unparsed);
        if !of.via.is_empty() {
            self.via.add(&of.via.to_string());
        }
        match &of.payload_protocol {
            PayloadProtocol::Tls(hello) => {
                self.tls.get_or_insert_default().connection(of, hello);
                self.hello(hello, "TLS");
            }
            PayloadProtocol::Quic(hello) => {
                self.quic.get_or_insert_default().connection(of, hello);
                self.hello(hello, "QUIC");
            }
            _ => {}
        }
    }

    pub(super) fn exchange(&mut self, of: &HttpExchange) {
        self.exchanges += 1;
        self.unjudged += u64::from(of.whole.is_none());
        // The status may be beyond what was captured.
        self.responses += u64::from(of.status.is_some() || of.first_byte_ns.is_some());
        if let Some(status) = of.status {
            *self.statuses.entry(status).or_default() += 1;
        }
        of.delay_ns.into_iter().for_each(|ns| self.delay.record(ns));
        let bits = of.throughput_bits_per_s();
        bits.into_iter().for_each(|bits| self.throughput.record(bits.round() as u64));
    }

    pub(super) fn round_trip(&mut self, by_client: bool, ns: u64) {
        if by_client { self.to_client.record(ns) } else { self.to_server.record(ns) }
    }

    pub(super) fn result(&self, packet_too_big: u64) -> WatchedFamily {
        let named = |of: &BTreeMap<&'static str, u64>| -> BTreeMap<String, u64> {
            of.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
        };
        WatchedFamily {
            connections: self.connections,
            begun_before: self.begun_before,
            closures: named(&self.closures),
            spoken: named(&self.payload_protocol),
            hidden: self.hidden,
            exchanges: self.exchanges,
            unjudged: self.unjudged,
            without_client: self.without_client,
            without_server: self.without_server,
            requests: (self.without_client < self.connections).then_some(self.exchanges),
            responses: (self.without_server < self.connections)
                .then(|| ResponsesSeen { number: self.responses, status: self.statuses.clone() }),
            syns_repeated: self.syns_repeated,
            answered_us: self.answered.summary(),
            established_us: self.established.summary(),
            handshake_us: self.handshake.summary(),
            tls: self.tls.as_ref().map(|of| of.result()),
            quic: self.quic.as_ref().map(|of| of.result()),
            round_trips: RoundTripResult {
                client_us: self.to_client.summary(),
                server_us: self.to_server.summary(),
            },
            delay_us: self.delay.summary(),
            throughput: Rates::of(&self.throughput),
            from_client: self.from_client,
            from_server: self.from_server,
            gaps: self.gaps,
            fragmented: self.fragmented,
            coalesced: self.coalesced,
            unparsed: self.unparsed,
            packet_too_big,
            via: self.via.0.clone(),
            server_names: self.server_names.0.clone(),
            alpn: self.alpn.0.clone(),
            versions: self.versions.0.clone(),
        }
    }

    fn hello(&mut self, hello: &Hello, protocol: &str) {
        hello.handshake_ns.into_iter().for_each(|ns| self.handshake.record(ns));
        hello.server_name.iter().for_each(|name| self.server_names.add(name));
        hello.offered.iter().for_each(|name| self.alpn.add(name));
        let version = hello.version.as_ref().map(|version| format!("{protocol} {version}"));
        version.iter().for_each(|version| self.versions.add(version));
    }
}

/// Counts of names that other hosts chose. Their number and their length are limited.
#[derive(Clone, Debug, Default)]
struct ForeignNames(BTreeMap<String, u64>);

impl ForeignNames {
    fn add(&mut self, name: &str) {
        if let Some(count) = self.0.get_mut(name) {
            *count += 1;
            return;
        }
        let fits = self.0.len() < MOST_NAMES && (1..=LONGEST_NAME).contains(&name.len());
        *self.0.entry(if fits { name } else { OTHERS }.to_owned()).or_default() += 1;
    }
}

impl SentResult {
    fn add(&mut self, of: &Sent) {
        self.packets += of.packets;
        self.frame_bytes += of.frame_bytes;
        self.payload_bytes += of.payload_bytes;
        self.stream_bytes += of.stream_bytes;
        self.retransmitted += of.retransmitted;
        self.out_of_order += of.out_of_order;
        self.duplicate_acks += of.duplicate_acks;
        self.selective_acks += of.selective_acks;
        self.zero_windows += of.zero_windows;
        self.probes += of.probes;
        self.resets += of.resets;
        self.fragments += of.fragments;
        self.mss = range(self.mss, of.mss);
        self.window_scale = range(self.window_scale, of.window_scale);
        self.largest_window = self.largest_window.max(of.largest_window);
    }
}

fn range<T: Copy + Ord>(so_far: Option<[T; 2]>, next: Option<T>) -> Option<[T; 2]> {
    match (so_far, next) {
        (Some([least, most]), Some(next)) => Some([least.min(next), most.max(next)]),
        (so_far, next) => so_far.or(next.map(|next| [next, next])),
    }
}
