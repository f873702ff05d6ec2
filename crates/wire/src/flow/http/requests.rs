//! The reader of requests.

use sixmark_http::http1::is_token_byte;

use super::super::Segment;
use super::super::connection_report::FlowObserver;
use super::body::BodyState;
use super::exchange::About;
use super::half::{AfterHead, Reader};
use super::track::Track;
use super::{SentSegment, head, is_preface};

/// Receives the parts of requests and updates the exchanges.
pub(super) struct Requests<'a, S> {
    track: &'a mut Track,
    sent: &'a SentSegment<'a>,
    about: &'a About<'a>,
    /// True if the exchange of the first request has already begun.
    begun: bool,
    /// True if responses can be attributed to their requests.
    certain: bool,
    sink: &'a mut S,
}

impl<'a, S: FlowObserver> Requests<'a, S> {
    pub(super) fn new(
        track: &'a mut Track,
        sent: &'a SentSegment<'a>,
        about: &'a About<'a>,
        certain: bool,
        sink: &'a mut S,
    ) -> Requests<'a, S> {
        Requests { track, sent, about, begun: sent.asks, certain, sink }
    }
}

impl<S: FlowObserver> Reader for Requests<'_, S> {
    fn begins(&mut self, bytes: &[u8], at_ns: u64) -> bool {
        if !std::mem::take(&mut self.begun) {
            if !bytes.first().is_some_and(|byte| is_token_byte(*byte)) {
                return false;
            }
            if self.certain {
                self.track.tidy(self.about, self.sink)
            } else {
                self.track.release(self.about, self.sink)
            }
            self.track.begin(&Segment { at_ns, ..*self.sent.segment }, self.about);
        }
        let Some(exchange) = self.track.last() else { return false };
        // The part that is present; the rest may not have been captured.
        let mut parts = bytes.split(|byte| *byte <= b' ').map(String::from_utf8_lossy);
        exchange.found.method = parts.next().unwrap_or_default().into_owned();
        exchange.found.path = parts.next().unwrap_or_default().into_owned();
        true
    }

    fn head(&mut self, head: &[u8], _now_ns: u64) -> Option<AfterHead> {
        self.track.http2 |= is_preface(head);
        let asked = head::request(head)?;
        let found = &mut self.track.last()?.found;
        (found.method, found.path, found.host) = (asked.method, asked.path, asked.host);
        match asked.body {
            // A request cannot end with the connection, because it requires a response.
            Some(BodyState::ToEnd) => None,
            body => Some(body.map_or(AfterHead::End, AfterHead::Body)),
        }
    }

    fn content(&mut self, _bytes: u64) {}

    fn ends(&mut self, at_ns: u64) {
        if let Some(exchange) = self.track.last() {
            exchange.is_asked(at_ns);
        }
    }
}
