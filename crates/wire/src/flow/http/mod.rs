//! HTTP/1 on a connection (RFC 9112): requests and responses are followed from head to head, by the
//! lengths that these tell, so that little of a stream has to be kept. Where that is not possible, as in
//! captures that kept too little, a request is still what begins a segment and looks like one.

mod body;
mod exchange;
mod half;
mod head;
mod requests;
mod responses;
mod track;

use super::Segment;
use super::budget::Budget;
use super::observed::FlowObserver;
use super::stream::Brought;
pub(super) use exchange::About;
use half::Half;
use requests::Requests;
use responses::Responses;
use track::Track;

/// The methods of RFC 9110 and RFC 5789, each with the space behind it.
const METHODS: [&[u8]; 9] = [
    b"GET ",
    b"POST ",
    b"HEAD ",
    b"PUT ",
    b"DELETE ",
    b"OPTIONS ",
    b"PATCH ",
    b"CONNECT ",
    b"TRACE ",
];

/// Whether a request begins with these bytes.
pub(super) fn is_request(bytes: &[u8]) -> bool {
    METHODS.iter().any(|method| bytes.starts_with(method))
}

/// The same of a connection's first bytes, of which there may be as few as two.
pub(super) fn may_be_request(bytes: &[u8]) -> bool {
    let begins = |method: &&[u8]| bytes.len() > 1 && method.starts_with(bytes);
    is_request(bytes) || METHODS.iter().any(begins)
}

/// What is known of HTTP on a connection.
#[derive(Debug, Default)]
pub(super) struct Http {
    requests: Half,
    responses: Half,
    track: Track,
    /// It could not be followed for a while.
    unparsed: bool,
}

/// Who is told, and what may be kept.
#[derive(Debug)]
pub(super) struct Hands<'a, S> {
    pub(super) sink: &'a mut S,
    pub(super) budget: &'a mut Budget,
}

/// A segment and who sent it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Came<'a> {
    pub(super) by_client: bool,
    pub(super) segment: &'a Segment<'a>,
    pub(super) brought: Brought,
    /// Its first bytes begin a request.
    pub(super) asks: bool,
}

impl Http {
    /// What will be HTTP if a request begins there.
    pub(super) fn waiting(begin: i64, budget: &mut Budget) -> Http {
        let mut http = Http::default();
        http.requests.begin_at(begin, budget);
        http
    }

    /// How many exchanges there were.
    pub(super) fn exchanges(&self) -> u64 {
        self.track.exchanges.into()
    }

    /// It could not be followed for a while.
    pub(super) fn is_unparsed(&self) -> bool {
        self.unparsed
    }

    /// A request waits for its response.
    pub(super) fn is_unanswered(&self) -> bool {
        self.track.is_unanswered()
    }

    /// Whether a segment of the client's begins a request: where one is awaited, or where nobody knows and
    /// it looks like one. The server has `acknowledged` the client's stream up to there.
    pub(super) fn asks(&self, segment: &Segment<'_>, brought: &Brought, acknowledged: i64) -> bool {
        let bytes = segment.tcp.payload.bytes;
        if self.track.switched || !brought.is_new {
            return false;
        }
        if self.requests.is_between() && self.requests.next() == brought.begin {
            return bytes.first().is_some_and(u8::is_ascii_alphabetic);
        }
        // Who answers has read all of the head, even if it was none for us.
        let ended = self.requests.is_in_head() && self.track.is_last_answered();
        // What is missing before this will never come: the capture lost it.
        let behind_hole = self.requests.is_between()
            && (self.requests.next() + 1..=acknowledged).contains(&brought.begin);
        (ended || behind_hole || !self.requests.is_certain()) && is_request(bytes)
    }

    /// A segment that begins no request belongs to the exchange that is on.
    pub(super) fn count(&mut self, came: &Came<'_>, mss: Option<u16>) {
        self.track.count(came, mss, self.responses.is_certain());
    }

    /// The client acknowledged content of the server's, which ends at `end`, up to here; `finished` where
    /// its FIN came before or with that.
    pub(super) fn acknowledge(&mut self, to: i64, end: i64, finished: bool, at_ns: u64) {
        self.track.acknowledge(to, end, finished, at_ns);
    }

    /// A reset.
    pub(super) fn cut_off(&mut self, by_client: bool, segment: &Segment<'_>) {
        self.track.cut_off(by_client, segment);
    }

    /// Reads on in what a segment brought.
    pub(super) fn read<S: FlowObserver>(
        &mut self,
        came: &Came<'_>,
        about: &About<'_>,
        hands: &mut Hands<'_, S>,
    ) {
        if came.asks {
            self.ask(came, about, hands);
        }
        let (payload, at_ns) = (came.segment.tcp.payload, came.segment.at_ns);
        if self.track.switched || payload.length == 0 {
            return;
        }
        let certain = self.responses.is_certain();
        let lost = match came.by_client {
            true => {
                let reader = &mut Requests::new(&mut self.track, came, about, certain, hands.sink);
                self.requests.take(came.brought.begin, payload, at_ns, hands.budget, reader)
            }
            false => {
                let reader = &mut Responses(&mut self.track);
                self.responses.take(came.brought.begin, payload, at_ns, hands.budget, reader)
            }
        };
        self.settle(lost, about, hands);
    }

    /// One side acknowledged the other's stream up to here: what is missing there will never come.
    pub(super) fn acknowledged<S: FlowObserver>(
        &mut self,
        came: &Came<'_>,
        to: i64,
        about: &About<'_>,
        hands: &mut Hands<'_, S>,
    ) {
        let (certain, at_ns) = (self.responses.is_certain(), came.segment.at_ns);
        let half = if came.by_client { &self.responses } else { &self.requests };
        if !half.lacks(to) {
            return;
        }
        let lost = match came.by_client {
            true => {
                let reader = &mut Responses(&mut self.track);
                self.responses.acknowledged(to, at_ns, hands.budget, reader)
            }
            false => {
                let reader = &mut Requests::new(&mut self.track, came, about, certain, hands.sink);
                self.requests.acknowledged(to, at_ns, hands.budget, reader)
            }
        };
        self.settle(lost, about, hands);
    }

    /// The connection is over, or is followed no longer.
    pub(super) fn end<S: FlowObserver>(&mut self, about: &About<'_>, hands: &mut Hands<'_, S>) {
        if about.over && self.responses.is_certain() {
            let finished = about.server.has_finished();
            let whole = finished && self.responses.ends_with(about.server.payload_end());
            self.track.end(whole);
        }
        self.requests.lose(hands.budget);
        self.responses.lose(hands.budget);
        self.track.release(about, hands.sink);
        self.track.charge(about, hands);
    }

    /// A segment begins a request. Where it is not known where a side stands, it is now: if all that the
    /// server sent is acknowledged, what comes next of it answers this.
    fn ask<S: FlowObserver>(
        &mut self,
        came: &Came<'_>,
        about: &About<'_>,
        hands: &mut Hands<'_, S>,
    ) {
        let tcp = &came.segment.tcp;
        let server = about.server.stream.as_ref();
        let quiet = server.is_none_or(|server| {
            tcp.flags.ack() && server.position(tcp.acknowledgement) >= server.payload_end()
        });
        if !self.requests.is_between() || self.requests.next() != came.brought.begin {
            self.unparsed |= self.requests.is_certain();
            self.requests.begin_at(came.brought.begin, hands.budget);
        }
        let follow = quiet && !self.responses.is_certain();
        if follow {
            self.responses.begin_at(server.map_or(0, |server| server.end()), hands.budget);
        }
        if follow || !self.responses.is_certain() {
            self.track.release(about, hands.sink);
        }
        self.track.begin(came.segment, about);
    }

    fn settle<S: FlowObserver>(&mut self, lost: bool, about: &About<'_>, hands: &mut Hands<'_, S>) {
        self.unparsed |= lost && !self.track.switched;
        match self.track.switched {
            true => self.track.release(about, hands.sink),
            false => self.track.tidy(about, hands.sink),
        }
        self.track.charge(about, hands);
    }
}
