//! HTTP/1 on a TCP connection (RFC 9112). Requests and responses are followed from head to head, by
//! the lengths that the heads declare, so that little of a stream has to be buffered. If that is
//! not possible, for example because too little of each packet was captured, a segment that begins
//! like a request is taken for one.

mod alone;
mod body;
mod exchange;
mod half;
mod head;
mod line;
mod requests;
mod responses;
mod track;

use super::Segment;
use super::budget::Budget;
use super::connection_report::{FlowObserver, PayloadProtocol};
use super::reassembly::Reassembly;
use super::stream::SegmentEffect;
use crate::Span;
pub(super) use alone::ResponsesAlone;
pub(super) use exchange::About;
use half::Half;
use line::{RequestLine, read_request_line};
pub(super) use line::{is_request, may_be_request};
use requests::Requests;
use responses::Responses;
use sixmark_http::http1::is_token_byte;
use track::Track;

/// The first bytes of an HTTP/2 connection in plain text (RFC 9113, 3.4). In other versions of HTTP
/// they would be a request.
const HTTP2: &[u8] = b"PRI * HTTP/2.0";
/// The length of the part of them that no request of HTTP/1 begins with.
const DISTINCT: usize = HTTP2.len() - 2;

/// Returns whether bytes begin an HTTP/2 connection, as far as they are there.
pub(super) fn is_preface(bytes: &[u8]) -> bool {
    let known = bytes.len().min(HTTP2.len());
    known >= DISTINCT && bytes[..known] == HTTP2[..known]
}

fn whole(bytes: &[u8]) -> Span<'_> {
    Span::new(bytes, bytes.len())
}

/// The state of HTTP on a connection.
#[derive(Debug, Default)]
pub(super) struct Http {
    requests: Half,
    responses: Half,
    track: Track,
    /// True if HTTP could not be followed for some part of the connection.
    unparsed: bool,
    /// True until the first bytes, which may begin a request, are known to do so.
    doubtful: bool,
    /// What the connection speaks instead, if they do not.
    refuted: Option<PayloadProtocol>,
}

/// The sink for results, and the budget for buffered data.
#[derive(Debug)]
pub(super) struct FollowerOutput<'a, S> {
    pub(super) sink: &'a mut S,
    pub(super) budget: &'a mut Budget,
}

/// A segment and the side that sent it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentSegment<'a> {
    pub(super) by_client: bool,
    pub(super) segment: &'a Segment<'a>,
    pub(super) effect: SegmentEffect,
    /// True if its first bytes begin a request.
    pub(super) asks: bool,
}

impl Http {
    /// Returns the state of a connection that is HTTP if a request begins at position `begin`.
    pub(super) fn waiting(begin: i64, budget: &mut Budget) -> Http {
        let mut http = Http::default();
        http.requests.begin_at(begin, budget);
        http
    }

    /// Returns what was kept of a connection that is not HTTP after all.
    pub(super) fn into_waiting(mut self) -> Reassembly {
        self.requests.take_waiting()
    }

    /// Records that the next bytes only may begin a request.
    pub(super) fn doubt(&mut self) {
        self.doubtful = true;
    }

    /// Returns what the connection speaks if what seemed to begin a request does not.
    pub(super) fn refuted(&self) -> Option<PayloadProtocol> {
        self.refuted.clone()
    }

    /// Forgets what was kept, with an exchange that is none.
    pub(super) fn discard(&mut self, budget: &mut Budget) {
        self.requests.lose(budget);
        self.responses.lose(budget);
    }

    /// Returns the number of exchanges.
    pub(super) fn exchanges(&self) -> u64 {
        self.track.exchanges.into()
    }

    /// Returns whether HTTP could not be followed for some part of the connection.
    pub(super) fn is_unparsed(&self) -> bool {
        self.unparsed
    }

    /// Returns whether a request is waiting for its response.
    pub(super) fn is_unanswered(&self) -> bool {
        self.track.is_unanswered()
    }

    /// Returns whether a segment from the client begins a request: because a request is due there,
    /// or because the position in the stream is unknown and the segment looks like one. The server
    /// has acknowledged the client's stream up to `acknowledged`.
    pub(super) fn asks(
        &self,
        segment: &Segment<'_>,
        effect: &SegmentEffect,
        acknowledged: i64,
    ) -> bool {
        let bytes = segment.tcp.payload.bytes;
        if self.track.switched || !effect.is_new {
            return false;
        }
        if self.requests.is_between() && self.requests.next() == effect.begin {
            return bytes.first().is_some_and(|byte| is_token_byte(*byte));
        }
        // A server that responds has read the whole head, even if it could not be parsed here.
        let ended = self.requests.is_in_head() && self.track.is_last_answered();
        // The data missing before this segment was lost by the capture and will never arrive.
        let behind_hole = self.requests.is_between()
            && (self.requests.next() + 1..=acknowledged).contains(&effect.begin);
        (ended || behind_hole || !self.requests.is_certain()) && is_request(segment.tcp.payload)
    }

    /// Attributes a segment that begins no request to the current exchange.
    pub(super) fn count(&mut self, sent: &SentSegment<'_>, mss: Option<u16>) {
        self.track.count(sent, mss, self.responses.is_certain());
    }

    /// Records the client's ACK up to `to` of the server's payload, which ends at `end`. `finished`
    /// is true if the client's FIN was sent earlier or in the same segment.
    pub(super) fn acknowledge(&mut self, to: i64, end: i64, finished: bool, at_ns: u64) {
        self.track.acknowledge(to, end, finished, at_ns);
    }

    /// Records a reset.
    pub(super) fn cut_off(&mut self, by_client: bool, segment: &Segment<'_>) {
        self.track.cut_off(by_client, segment);
    }

    /// Processes the payload of a segment.
    pub(super) fn read<S: FlowObserver>(
        &mut self,
        sent: &SentSegment<'_>,
        about: &About<'_>,
        output: &mut FollowerOutput<'_, S>,
    ) {
        if sent.asks {
            self.ask(sent, about, output);
        }
        let (payload, at_ns) = (sent.segment.tcp.payload, sent.segment.at_ns);
        if self.track.switched || payload.length == 0 {
            return;
        }
        let certain = self.responses.is_certain();
        let lost = if sent.by_client {
            let reader = &mut Requests::new(&mut self.track, sent, about, certain, output.sink);
            self.requests.take(sent.effect.begin, payload, at_ns, output.budget, reader)
        } else {
            let reader = &mut Responses(&mut self.track);
            self.responses.take(sent.effect.begin, payload, at_ns, output.budget, reader)
        };
        if self.doubtful && sent.by_client {
            self.judge();
        }
        if self.refuted.is_none() {
            self.settle(lost, about, output);
        }
    }

    /// Decides whether the first bytes begin a request, if that is known by now.
    fn judge(&mut self) {
        let line = match self.requests.head_bytes() {
            [] if self.requests.is_certain() => RequestLine::Request,
            [] => RequestLine::Other,
            begun => read_request_line(begun),
        };
        self.doubtful = line == RequestLine::Open;
        if line == RequestLine::Other {
            let is_http2 = self.track.http2 || is_preface(self.requests.head_bytes());
            self.refuted =
                Some(if is_http2 { PayloadProtocol::Http2 } else { PayloadProtocol::Unknown });
        }
    }

    /// Records that one side acknowledged the other's stream up to `to`. Data missing before it
    /// will never arrive.
    pub(super) fn acknowledged<S: FlowObserver>(
        &mut self,
        sent: &SentSegment<'_>,
        to: i64,
        about: &About<'_>,
        output: &mut FollowerOutput<'_, S>,
    ) {
        let (certain, at_ns) = (self.responses.is_certain(), sent.segment.at_ns);
        let half = if sent.by_client { &self.responses } else { &self.requests };
        if !half.lacks(to) {
            return;
        }
        let lost = if sent.by_client {
            let reader = &mut Responses(&mut self.track);
            self.responses.acknowledged(to, at_ns, output.budget, reader)
        } else {
            let reader = &mut Requests::new(&mut self.track, sent, about, certain, output.sink);
            self.requests.acknowledged(to, at_ns, output.budget, reader)
        };
        self.settle(lost, about, output);
    }

    /// Returns whether the connection ended before its first bytes were known to begin a request.
    pub(super) fn is_doubtful(&self) -> bool {
        self.doubtful && !is_request(whole(self.requests.head_bytes()))
    }

    /// Ends HTTP when the connection is over or no longer followed.
    pub(super) fn end<S: FlowObserver>(
        &mut self,
        about: &About<'_>,
        output: &mut FollowerOutput<'_, S>,
    ) {
        if about.over && !about.unheard && self.responses.is_certain() {
            let finished = about.server.has_finished();
            let whole = finished && self.responses.ends_with(about.server.payload_end());
            self.track.end(whole);
        }
        self.requests.lose(output.budget);
        self.responses.lose(output.budget);
        self.track.release(about, output.sink);
        self.track.charge(about, output);
    }

    /// Begins a request at this segment. If the position in a stream was unknown, it is known
    /// again: once the client has acknowledged everything from the server, what the server sends
    /// next is the response.
    fn ask<S: FlowObserver>(
        &mut self,
        sent: &SentSegment<'_>,
        about: &About<'_>,
        output: &mut FollowerOutput<'_, S>,
    ) {
        let tcp = &sent.segment.tcp;
        let server = about.server.stream.as_ref();
        let quiet = server.is_none_or(|server| {
            tcp.flags.ack() && server.position(tcp.acknowledgement) >= server.payload_end()
        });
        if !self.requests.is_between() || self.requests.next() != sent.effect.begin {
            self.unparsed |= self.requests.is_certain();
            self.requests.begin_at(sent.effect.begin, output.budget);
        }
        let follow = quiet && !self.responses.is_certain();
        if follow {
            self.responses.begin_at(about.server_end(sent.segment), output.budget);
        }
        if follow || !self.responses.is_certain() {
            self.track.release(about, output.sink);
        }
        self.track.begin(sent.segment, about);
    }

    fn settle<S: FlowObserver>(
        &mut self,
        lost: bool,
        about: &About<'_>,
        output: &mut FollowerOutput<'_, S>,
    ) {
        self.unparsed |= lost && !self.track.switched;
        if self.track.switched {
            self.track.release(about, output.sink)
        } else {
            self.track.tidy(about, output.sink)
        }
        self.track.charge(about, output);
    }
}
