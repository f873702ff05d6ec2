//! The exchanges of a connection that are on.

use std::collections::VecDeque;

use super::super::Segment;
use super::super::observed::FlowObserver;
use super::exchange::{About, Exchange};
use super::{Came, Hands};

/// More requests than these don't wait for their responses: the first is given up.
const MOST: usize = 64;
/// What is kept of a request that waits behind another one, bytes.
const SIZE: usize = size_of::<Exchange>();

/// Exchanges, in the order of their requests.
#[derive(Debug, Default)]
pub(super) struct Track {
    /// Those whose response has not ended, and the last one whether it has or not: until another request
    /// comes, or the connection's end, ACKs and what is sent again are its own.
    pending: VecDeque<Exchange>,
    /// Of these, those whose size was taken from the budget: all but one, which each connection may have.
    charged: usize,
    /// How many there were.
    pub(super) exchanges: u32,
    /// Something else is spoken from here on: behind CONNECT or an upgrade.
    pub(super) switched: bool,
}

impl Track {
    pub(super) fn is_unanswered(&self) -> bool {
        self.pending.iter().any(Exchange::is_unanswered)
    }

    /// Something has come of the last one's response.
    pub(super) fn is_last_answered(&self) -> bool {
        self.pending.back().is_some_and(|exchange| !exchange.is_unanswered())
    }

    /// The one whose request came last.
    pub(super) fn last(&mut self) -> Option<&mut Exchange> {
        self.pending.back_mut()
    }

    /// The one whose response comes next, or is coming.
    pub(super) fn awaited(&mut self) -> Option<&mut Exchange> {
        self.pending.iter_mut().find(|exchange| exchange.found.whole.is_none())
    }

    /// A segment that belongs to the last one; `certain` where it is known whose responses come.
    pub(super) fn count(&mut self, came: &Came<'_>, mss: Option<u16>, certain: bool) {
        let alone = self.pending.len() == 1;
        let Some(exchange) = self.pending.back_mut() else { return };
        exchange.count(came, mss);
        if !came.by_client && came.brought.is_new && (alone || !certain) {
            exchange.is_answered(came.segment.at_ns);
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

    /// A request begins with this segment, or in it.
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

    /// Tells of those that are over.
    pub(super) fn tidy(&mut self, about: &About<'_>, sink: &mut impl FlowObserver) {
        let over = |first: &Exchange| first.found.whole.is_some();
        while self.pending.len() > MOST
            || (self.pending.len() > 1 && self.pending.front().is_some_and(over))
        {
            let Some(first) = self.pending.pop_front() else { return };
            sink.exchange(&first.finish(about));
        }
    }

    /// Charges waiting requests to the budget, and releases the charge of those that no longer wait.
    /// Without room in the budget the oldest request is given up.
    pub(super) fn charge(&mut self, about: &About<'_>, hands: &mut Hands<'_, impl FlowObserver>) {
        let beyond_one = |track: &Track| track.pending.len().saturating_sub(1);
        while self.charged < beyond_one(self) {
            match hands.budget.take(SIZE) {
                true => self.charged += 1,
                false => {
                    let first = self.pending.pop_front();
                    first.into_iter().for_each(|first| hands.sink.exchange(&first.finish(about)));
                }
            }
        }
        let over = self.charged - beyond_one(self);
        hands.budget.give(over * SIZE);
        self.charged -= over;
    }

    /// Tells of all: what comes now is no longer theirs.
    pub(super) fn release(&mut self, about: &About<'_>, sink: &mut impl FlowObserver) {
        for exchange in self.pending.drain(..) {
            sink.exchange(&exchange.finish(about));
        }
    }

    /// The connection is over: the response that is coming is whole with it, or will never be.
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
