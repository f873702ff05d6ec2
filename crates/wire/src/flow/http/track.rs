//! The exchanges in progress on a connection.

use std::collections::VecDeque;

use super::super::Segment;
use super::super::connection_report::FlowObserver;
use super::exchange::{About, Exchange};
use super::{FollowerOutput, SentSegment};

/// The maximum number of requests waiting for their responses. If there are more, the first
/// exchange is ended.
const MOST: usize = 64;
/// The memory, in bytes, of a request that waits behind another one.
const SIZE: usize = size_of::<Exchange>();

/// The exchanges in progress, in the order of their requests.
#[derive(Debug, Default)]
pub(super) struct Track {
    /// The exchanges whose response has not ended, and the last exchange in any case: ACKs and
    /// retransmissions belong to it until another request is sent or the connection ends.
    pending: VecDeque<Exchange>,
    /// The number of exchanges charged to the budget. Each connection may have one that is not
    /// charged.
    charged: usize,
    /// The number of exchanges so far.
    pub(super) exchanges: u32,
    /// True if the connection has changed to another protocol, after CONNECT or an upgrade.
    pub(super) switched: bool,
    /// True if a head was that of HTTP/2.
    pub(super) http2: bool,
}

impl Track {
    pub(super) fn is_unanswered(&self) -> bool {
        self.pending.iter().any(Exchange::is_unanswered)
    }

    /// Returns whether the response to the last request has begun.
    pub(super) fn is_last_answered(&self) -> bool {
        self.pending.back().is_some_and(|exchange| !exchange.is_unanswered())
    }

    /// Returns the exchange of the last request.
    pub(super) fn last(&mut self) -> Option<&mut Exchange> {
        self.pending.back_mut()
    }

    /// Returns the exchange whose response is in progress or comes next.
    pub(super) fn awaited(&mut self) -> Option<&mut Exchange> {
        self.pending.iter_mut().find(|exchange| exchange.found.whole.is_none())
    }

    /// Adds a segment to the last exchange. `certain` is true if responses can be attributed to
    /// their requests.
    pub(super) fn count(&mut self, sent: &SentSegment<'_>, mss: Option<u16>, certain: bool) {
        let alone = self.pending.len() == 1;
        let Some(exchange) = self.pending.back_mut() else { return };
        exchange.count(sent, mss);
        if !sent.by_client && sent.effect.is_new && (alone || !certain) {
            exchange.is_answered(sent.segment.at_ns);
        }
    }

    pub(super) fn acknowledge(&mut self, to: i64, end: i64, finished: bool, at_ns: u64) {
        if let Some(exchange) = self.pending.back_mut() {
            exchange.acknowledge(to, end, finished, at_ns);
        }
    }

    pub(super) fn cut_off(&mut self, by_client: bool, segment: &Segment<'_>) {
        if let Some(exchange) = self.pending.back_mut() {
            exchange.cut_off(by_client, segment);
        }
    }

    /// Begins an exchange whose request begins in this segment.
    pub(super) fn begin(&mut self, segment: &Segment<'_>, about: &About<'_>) {
        self.exchanges = self.exchanges.saturating_add(1);
        let mut next = Exchange::new(self.exchanges, segment, about);
        if let Some(last) = self.pending.back_mut() {
            if last.found.whole.is_none() {
                last.is_pipelined();
                next.is_pipelined();
            }
            last.close(about);
        }
        self.pending.push_back(next);
    }

    /// Reports the exchanges that are over.
    pub(super) fn tidy(&mut self, about: &About<'_>, sink: &mut impl FlowObserver) {
        let over = |first: &Exchange| first.found.whole.is_some();
        while self.pending.len() > MOST
            || (self.pending.len() > 1 && self.pending.front().is_some_and(over))
        {
            let Some(first) = self.pending.pop_front() else { return };
            sink.exchange(&first.finish(about));
        }
    }

    /// Charges waiting requests to the budget, and releases the charge of those that no longer
    /// wait. If the budget is exhausted, the oldest exchange is ended.
    pub(super) fn charge(
        &mut self,
        about: &About<'_>,
        output: &mut FollowerOutput<'_, impl FlowObserver>,
    ) {
        let beyond_one = |track: &Track| track.pending.len().saturating_sub(1);
        while self.charged < beyond_one(self) {
            if output.budget.take(SIZE) {
                self.charged += 1
            } else {
                let first = self.pending.pop_front();
                first.into_iter().for_each(|first| output.sink.exchange(&first.finish(about)));
            }
        }
        let over = self.charged - beyond_one(self);
        output.budget.give(over * SIZE);
        self.charged -= over;
    }

    /// Reports all exchanges. Later segments are not attributed to them.
    pub(super) fn release(&mut self, about: &About<'_>, sink: &mut impl FlowObserver) {
        for exchange in self.pending.drain(..) {
            sink.exchange(&exchange.finish(about));
        }
    }

    /// Records the end of the connection. The current response is complete if `whole` is true; all
    /// other responses are incomplete.
    pub(super) fn end(&mut self, whole: bool) {
        if let Some(exchange) = self.awaited()
            && whole
        {
            exchange.ends();
        }
        for exchange in &mut self.pending {
            exchange.found.whole.get_or_insert(false);
        }
    }
}
