//! Responses whose requests were not captured: counted by status, by the lengths that their heads
//! declare, and else by the segments that begin like one.

use std::collections::BTreeMap;

use super::super::budget::Budget;
use super::half::{AfterHead, Half, Reader};
use super::head;
use super::responses::{VERSION, status_of};
use crate::Span;

/// The responses on a connection of which only the server's side is known.
#[derive(Debug, Default)]
pub(in super::super) struct ResponsesAlone {
    half: Half,
    counted: CountedResponses,
}

#[derive(Debug, Default)]
struct CountedResponses {
    statuses: BTreeMap<u16, u64>,
    /// True after a head that declares content, until some of it is seen.
    awaits_content: bool,
}

impl ResponsesAlone {
    /// Processes a segment of the server whose payload begins at `begin`.
    pub(in super::super) fn read(
        &mut self,
        begin: i64,
        payload: Span<'_>,
        at_ns: u64,
        budget: &mut Budget,
    ) {
        let begins = payload.bytes.starts_with(VERSION);
        // To a HEAD, a response declares a length and has no content.
        let was_head = self.counted.awaits_content && begin == self.half.next();
        if begins && (was_head || !self.half.is_certain()) {
            self.half.begin_at(begin, budget);
        }
        self.half.take(begin, payload, at_ns, budget, &mut self.counted);
    }

    /// Returns the number of responses by status, and the memory to the budget.
    pub(in super::super) fn finish(mut self, budget: &mut Budget) -> BTreeMap<u16, u64> {
        self.half.lose(budget);
        self.counted.statuses
    }
}

impl Reader for CountedResponses {
    fn begins(&mut self, bytes: &[u8], _at_ns: u64) -> bool {
        self.awaits_content = false;
        let status = status_of(bytes).filter(|_| bytes.starts_with(VERSION));
        // An interim response announces the one that counts.
        if let Some(status) = status.filter(|status| *status >= 200 || *status == 101) {
            *self.statuses.entry(status).or_default() += 1;
        }
        status.is_some()
    }

    fn head(&mut self, head: &[u8], _now_ns: u64) -> Option<AfterHead> {
        let answered = head::response(head, "GET")?;
        self.awaits_content = answered.body.is_some();
        Some(match (answered.status, answered.body) {
            (101, _) => AfterHead::Other,
            (100..200, _) => AfterHead::Head,
            (_, None) => AfterHead::End,
            (_, Some(body)) => AfterHead::Body(body),
        })
    }

    fn content(&mut self, bytes: u64) {
        self.awaits_content &= bytes == 0;
    }

    fn ends(&mut self, _at_ns: u64) {}
}
