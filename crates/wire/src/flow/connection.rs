//! A single TCP connection.

use super::Segment;
use super::budget::Budget;
use super::closing::Closing;
use super::connection_report::{
    Closure, ConnectionReport, Doubts, FlowObserver, Hello, MissingSide, Opening, PayloadProtocol,
};
use super::http::{
    About, FollowerOutput, Http, ResponsesAlone, SentSegment, is_preface, is_request,
    may_be_request,
};
use super::http_exchange::{Ends, PerDirection};
use super::reassembly::Reassembly;
use super::side::Side;
use super::stream::{SegmentEffect, Stream};
use super::tls::{Tls, is_client_hello, is_record, may_be_handshake};
use crate::Via;

/// The stream position of the first byte after the SYN.
const FIRST: i64 = 1;

/// The state of a connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) ends: Ends,
    before: u32,
    via: Via,
    began_ns: u64,
    last_ns: u64,
    /// True once a segment has been seen.
    begun: bool,
    opening: Opening,
    /// The sequence number of the client's first byte, if the capture began with the SYN-ACK.
    asked_at: Option<u32>,
    closing: Closing,
    sides: PerDirection<Side>,
    /// The positions up to which each stream has been acknowledged.
    acknowledged: PerDirection<i64>,
    /// True if the client acknowledged data that was not captured.
    gap: bool,
    doubts: Doubts,
    /// The number of fragments of segments that are not reassembled yet.
    pub(super) in_pieces: u32,
    payload_protocol: PayloadProtocol,
    http: Option<Box<Http>>,
    tls: Option<Box<Tls>>,
    /// The server's responses as long as the client has not been heard.
    alone: Option<Box<ResponsesAlone>>,
}

impl Connection {
    /// Returns a connection between these endpoints. `before` is the number of earlier ones between
    /// them, `via` are the layers before its first packet.
    pub(super) fn new(ends: Ends, before: u32, via: Via) -> Connection {
        Connection {
            ends,
            before,
            via,
            began_ns: 0,
            last_ns: 0,
            begun: false,
            opening: Opening::default(),
            asked_at: None,
            closing: Closing::default(),
            sides: PerDirection::default(),
            acknowledged: PerDirection::default(),
            gap: false,
            doubts: Doubts::default(),
            in_pieces: 0,
            payload_protocol: PayloadProtocol::default(),
            http: None,
            tls: None,
            alone: None,
        }
    }

    /// Processes the next segment.
    pub(super) fn take<S: FlowObserver>(
        &mut self,
        by_client: bool,
        segment: &Segment<'_>,
        output: &mut FollowerOutput<'_, S>,
    ) {
        self.begin(by_client, segment);
        if segment.tcp.flags.rst() {
            self.cut_off(by_client, segment);
            return;
        }
        let handshake_ns = self.opening.established_ns;
        let (own, other) = self.sides.pair(by_client);
        let finished = own.has_finished() || segment.tcp.flags.fin();
        let effect = own.take(segment, other, handshake_ns);
        let mss = other.sent.mss;
        let length = segment.tcp.payload.length;
        self.doubts.coalesced += u64::from(mss.is_some_and(|mss| length > usize::from(mss)));
        let asks = by_client && length > 0 && self.asks(segment, &effect);
        let sent = SentSegment { by_client, segment, effect, asks };
        if let Some(http) = self.http.as_mut().filter(|_| !asks) {
            http.count(&sent, mss);
        }
        if segment.tcp.flags.ack() {
            self.acknowledge(&sent, finished, output);
        }
        if length > 0 {
            self.read(&sent, output);
        }
    }

    /// Returns whether a segment from the client begins a request.
    fn asks(&self, segment: &Segment<'_>, effect: &SegmentEffect) -> bool {
        match (&self.payload_protocol, &self.http) {
            // The client's first bytes are still to come, unless the capture lost them.
            (PayloadProtocol::Nothing, _)
                if self.first().is_some_and(|first| {
                    effect.begin > self.acknowledged.from_client.max(first)
                }) =>
            {
                false
            }
            (PayloadProtocol::Nothing, _) => effect.is_new && may_be_request(segment.tcp.payload),
            (PayloadProtocol::Unknown, _) => effect.is_new && is_request(segment.tcp.payload),
            (_, Some(http)) => http.asks(segment, effect, self.acknowledged.from_client),
            _ => false,
        }
    }

    /// Returns the position of the client's first byte of payload, if it is known.
    fn first(&self) -> Option<i64> {
        let client = self.sides.from_client.stream.as_ref();
        let position = || Some(client?.position(self.asked_at?));
        self.opening.seen.then_some(FIRST).or_else(position)
    }

    /// Processes the payload of a segment.
    fn read<S: FlowObserver>(
        &mut self,
        sent: &SentSegment<'_>,
        output: &mut FollowerOutput<'_, S>,
    ) {
        if sent.asks && !matches!(self.payload_protocol, PayloadProtocol::Http1) {
            let http = self.http.get_or_insert_default();
            if !is_request(sent.segment.tcp.payload) {
                http.doubt();
            }
            self.payload_protocol = PayloadProtocol::Http1;
        }
        if self.payload_protocol == PayloadProtocol::Nothing {
            self.tell(sent, output);
        }
        if let Some(mut http) = self.http.take() {
            http.read(sent, &self.about(), output);
            match http.refuted() {
                Some(payload_protocol) => {
                    http.discard(output.budget);
                    self.payload_protocol = payload_protocol;
                }
                None => self.http = Some(http),
            }
        }
        self.read_tls(sent, output.budget);
        self.read_alone(sent, output.budget);
    }

    /// Processes what the server sends if nothing of the client was captured so far.
    fn read_alone(&mut self, sent: &SentSegment<'_>, budget: &mut Budget) {
        if self.sides.from_client.stream.is_some() {
            if let Some(alone) = self.alone.take() {
                alone.finish(budget);
            }
            return;
        }
        let (payload, at_ns) = (sent.segment.tcp.payload, sent.segment.at_ns);
        let alone = self.alone.get_or_insert_default();
        alone.read(sent.effect.begin, payload, at_ns, budget);
    }

    /// Returns the side that sent packets of which none was captured, as the other side's show.
    fn missing(&self) -> Option<MissingSide> {
        let PerDirection { from_client, from_server } = &self.sides;
        let answered = self.opening.seen && from_client.has_acked();
        match () {
            () if from_server.sent.packets == 0 => {
                (answered || from_client.acks_more()).then_some(MissingSide::Server)
            }
            () if from_client.sent.packets == 0 => {
                (self.asked_at.is_some() || from_server.acks_more()).then_some(MissingSide::Client)
            }
            () => None,
        }
    }

    /// Detects the protocol, unless the segment arrived before the client's first bytes. In that
    /// case it is buffered until they arrive.
    fn tell<S: FlowObserver>(
        &mut self,
        sent: &SentSegment<'_>,
        output: &mut FollowerOutput<'_, S>,
    ) {
        let begin = sent.effect.begin;
        if let Some(first) = self.first().filter(|first| sent.by_client && begin > *first) {
            self.http.get_or_insert_with(|| Box::new(Http::waiting(first, output.budget)));
            return;
        }
        let mut waiting = self.http.take().map(|http| http.into_waiting()).unwrap_or_default();
        if sent.by_client && self.begins_tls(sent) {
            if waiting.earliest_ns().is_none() {
                waiting.begin_at(begin, output.budget);
            }
            self.payload_protocol = PayloadProtocol::Tls(Hello::default());
            self.begin_tls(waiting, sent);
            return;
        }
        waiting.clear(output.budget);
        let bytes = sent.segment.tcp.payload.bytes;
        self.payload_protocol = match () {
            () if is_record(bytes, false) => PayloadProtocol::Tls(Hello::default()),
            () if sent.by_client && is_preface(bytes) => PayloadProtocol::Http2,
            () => PayloadProtocol::Unknown,
        };
    }

    /// Returns whether the client's first bytes begin a handshake. If its beginning was not captured,
    /// they are those of a ClientHello.
    fn begins_tls(&self, sent: &SentSegment<'_>) -> bool {
        let payload = sent.segment.tcp.payload;
        is_client_hello(payload.bytes) || (self.first().is_some() && may_be_handshake(payload))
    }

    fn begin_tls(&mut self, stream: Reassembly, sent: &SentSegment<'_>) {
        let mut tls = Tls::over(stream, sent.segment.at_ns);
        let tcp = &sent.segment.tcp;
        if self.sides.from_server.stream.is_none() && tcp.flags.ack() {
            tls.answer_at_number(tcp.acknowledgement)
        } else {
            tls.answer_at(self.about().server_end(sent.segment))
        }
        self.tls = Some(Box::new(tls));
    }

    fn read_tls(&mut self, sent: &SentSegment<'_>, budget: &mut Budget) {
        let (Some(tls), PayloadProtocol::Tls(hello)) = (&mut self.tls, &mut self.payload_protocol)
        else {
            return;
        };
        if let Some(stream) = self.sides.from_server.stream.as_ref().filter(|_| !sent.by_client)
            && let Some(number) = tls.take_answer()
        {
            tls.answer_at(stream.position(number));
        }
        let segment = (sent.effect.begin, sent.segment.tcp.payload, sent.segment.at_ns);
        let ends = tls.take(sent.by_client, segment, budget, hello);
        let is_refuted = tls.is_refuted();
        if ends || is_refuted {
            tls.end(budget);
            self.tls = None;
        }
        if is_refuted {
            self.payload_protocol = PayloadProtocol::Unknown;
        }
    }

    /// Returns whether a SYN from the client belongs to another connection: its sequence number
    /// differs, or this connection had ended.
    pub(super) fn is_other(&self, segment: &Segment<'_>) -> bool {
        let number = segment.tcp.sequence;
        let client = &self.sides.from_client;
        let same = client.stream.as_ref().is_none_or(|stream| stream.began_with(number));
        let ends = client.has_finished() || self.sides.from_server.has_finished();
        !self.opening.seen || !same || ends || self.closing.is_cut_off()
    }

    /// Returns whether a SYN-ACK is the first answer to this connection's SYN.
    pub(super) fn is_answered_by(&self, segment: &Segment<'_>) -> bool {
        let PerDirection { from_client, from_server } = &self.sides;
        let acknowledges = |stream: &Stream| {
            (FIRST..=stream.end()).contains(&stream.position(segment.tcp.acknowledgement))
        };
        self.opening.seen
            && from_server.stream.is_none()
            && from_client.stream.as_ref().is_some_and(acknowledges)
    }

    /// Returns whether the connection is over: both sides have sent a FIN, or one has sent a reset.
    pub(super) fn is_over(&self) -> bool {
        self.closing.is_cut_off() || self.is_through()
    }

    /// Returns whether no more data is expected.
    pub(super) fn is_settled(&self) -> bool {
        let unanswered = || self.http.as_ref().is_some_and(|http| http.is_unanswered());
        let behind = self.sides.from_server.payload_end();
        self.closing.is_cut_off() || (self.acknowledged.from_server >= behind && !unanswered())
    }

    /// Reports the connection and its last exchange. `closure` applies if neither side ended it.
    pub(super) fn finish<S: FlowObserver>(
        mut self,
        closure: Closure,
        output: &mut FollowerOutput<'_, S>,
    ) {
        let mut http = self.http.take();
        if let Some(doubtful) = http.as_mut().filter(|http| http.is_doubtful()) {
            doubtful.discard(output.budget);
            self.payload_protocol = PayloadProtocol::Unknown;
            http = None;
        }
        if let Some(http) = &mut http {
            http.end(&self.about(), output);
        }
        let unparsed = http.as_ref().is_some_and(|http| http.is_unparsed());
        if let Some(tls) = &mut self.tls {
            tls.end(output.budget);
        }
        let missing = self.missing();
        let statuses =
            self.alone.take().map(|alone| alone.finish(output.budget)).unwrap_or_default();
        if !statuses.is_empty() {
            self.payload_protocol = PayloadProtocol::Http1;
        }
        let through = self.is_through();
        let gap = self.doubts.gap || self.lacks(true) || self.lacks(false);
        let exchanges = http.map_or(0, |http| http.exchanges());
        let PerDirection { from_client, from_server } = self.sides;
        for (by_client, side) in [(true, &from_client), (false, &from_server)] {
            let bound = side.answers.only_bound();
            bound.into_iter().for_each(|ns| output.sink.round_trip(&self.ends, by_client, ns));
        }
        output.sink.connection(&ConnectionReport {
            ends: self.ends,
            before: self.before,
            via: self.via,
            began_ns: self.began_ns,
            lasted_ns: self.last_ns.saturating_sub(self.began_ns),
            opening: self.opening,
            closure: self.closing.closure(through, closure),
            sent: PerDirection { from_client: from_client.sent, from_server: from_server.sent },
            round_trips: PerDirection {
                from_client: from_client.answers.finish(),
                from_server: from_server.answers.finish(),
            },
            payload_protocol: self.payload_protocol,
            exchanges,
            missing,
            statuses,
            doubts: Doubts { gap, fragmented: self.in_pieces > 0, unparsed, ..self.doubts },
        });
    }

    fn is_through(&self) -> bool {
        self.sides.from_client.has_finished() && self.sides.from_server.has_finished()
    }

    fn about(&self) -> About<'_> {
        About {
            ends: self.ends,
            opening: &self.opening,
            server: &self.sides.from_server,
            fragmented: self.in_pieces > 0,
            gap: self.gap,
            over: self.closing.is_cut_off() || self.sides.from_server.has_finished(),
            unheard: self.missing() == Some(MissingSide::Server),
        }
    }

    /// Records the timing of the handshake.
    fn begin(&mut self, by_client: bool, segment: &Segment<'_>) {
        let (flags, at_ns) = (segment.tcp.flags, segment.at_ns);
        let asks = by_client && flags.syn() && !flags.ack();
        if !self.begun {
            (self.begun, self.began_ns) = (true, at_ns);
            self.opening.seen = asks;
            self.doubts.begun_before = !asks;
        }
        if !by_client && flags.syn() && flags.ack() && !self.opening.seen {
            self.asked_at.get_or_insert(segment.tcp.acknowledgement);
        }
        self.last_ns = self.last_ns.max(at_ns);
        self.opening.syns = self.opening.syns.saturating_add(asks.into());
        let after_ns = at_ns.saturating_sub(self.began_ns);
        match (by_client, flags.ack() && !flags.rst(), flags.syn()) {
            (false, true, true) if self.opening.seen => {
                self.opening.answered_ns.get_or_insert(after_ns);
            }
            (true, true, false) if self.opening.answered_ns.is_some() => {
                self.opening.established_ns.get_or_insert(after_ns);
            }
            _ => {}
        }
    }

    fn cut_off(&mut self, by_client: bool, segment: &Segment<'_>) {
        let silent = self.sides.from_server.stream.is_none();
        let refuses = !by_client && self.opening.seen && silent;
        self.closing.cut_off(by_client, refuses, self.is_through());
        self.sides.of(by_client).count(segment);
        if let Some(http) = &mut self.http {
            http.cut_off(by_client, segment);
        }
    }

    /// Processes an ACK. `finished` is true if the same side sent a FIN earlier or in this segment.
    fn acknowledge<S: FlowObserver>(
        &mut self,
        sent: &SentSegment<'_>,
        finished: bool,
        output: &mut FollowerOutput<'_, S>,
    ) {
        let (by_client, at_ns) = (sent.by_client, sent.segment.at_ns);
        let (own, other) = self.sides.pair(by_client);
        let Some(stream) = &other.stream else { return };
        let to = stream.position(sent.segment.tcp.acknowledgement);
        let (end, payload_end) = (stream.end(), stream.payload_end());
        let acknowledged = self.acknowledged.of(!by_client);
        if to > end {
            self.doubts.gap = true;
            self.gap |= by_client;
            if !by_client {
                *acknowledged = to.max(*acknowledged);
            }
            return;
        }
        let before = std::mem::replace(acknowledged, to.max(*acknowledged));
        if let Some(ns) = other.acknowledged(to, at_ns) {
            let tcp = &sent.segment.tcp;
            // Of the SYN, perhaps with the data in it, and of the SYN-ACK.
            let is_first = to == FIRST || tcp.flags.syn();
            let opens = self.opening.seen && is_first && tcp.payload.length == 0;
            if opens || own.acks_at_once(tcp, to - before) {
                own.answers.add(ns);
                output.sink.round_trip(&self.ends, by_client, ns);
            } else {
                own.answers.bound(ns);
            }
        }
        if let Some(mut http) = self.http.take() {
            if by_client {
                http.acknowledge(to, payload_end, finished, at_ns);
            }
            http.acknowledged(sent, to, &self.about(), output);
            self.http = Some(http);
        }
    }

    /// Returns whether data that the other side acknowledged was not captured.
    fn lacks(&self, from_client: bool) -> bool {
        let (side, to) = if from_client {
            (&self.sides.from_client, self.acknowledged.from_client)
        } else {
            (&self.sides.from_server, self.acknowledged.from_server)
        };
        let whole = |stream: &Stream| stream.is_whole_to(to);
        !side.stream.as_ref().is_none_or(whole)
    }
}
