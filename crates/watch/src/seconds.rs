//! The counts of each second of a capture. A second stays open for a while, because some events are
//! known only after it has ended.

use std::collections::BTreeMap;

use sixmark_tally::interval::Interval;
use sixmark_tally::seconds::SliceCollector as CollectedTraffic;
use sixmark_tally::tally::{Slice, SliceTally};
use sixmark_units::family::{Family, PerFamily};

const SECOND_NS: u64 = 1_000_000_000;
/// The number of later seconds that may begin before a second is closed. Events in a closed second
/// are counted in the oldest open one.
const OPEN_S: u64 = 8;
/// The longest gap between two events, in seconds, that is filled with empty seconds. A file may
/// contain packets that are years apart.
const LONGEST_GAP_S: u64 = 60;
/// The most seconds of a document, more than a day.
const MOST: u64 = 100_000;

/// The seconds of a capture that is in progress.
#[derive(Debug)]
pub(super) struct WatchedSeconds {
    begin_ns: u64,
    open: BTreeMap<u64, PerFamily<SliceTally>>,
    /// The number of the first open second.
    from: u64,
    written: u64,
    collected: CollectedTraffic,
}

impl WatchedSeconds {
    pub(super) fn new(begin_ns: u64) -> WatchedSeconds {
        let (open, collected) = (BTreeMap::new(), CollectedTraffic::new(1));
        WatchedSeconds { begin_ns, open, from: 0, written: 0, collected }
    }

    /// Returns the counts of the second that contains `at_ns`, or of the oldest open second if that
    /// is closed.
    pub(super) fn at(&mut self, at_ns: u64, family: Family) -> &mut SliceTally {
        let second = (at_ns.saturating_sub(self.begin_ns) / SECOND_NS).max(self.from);
        &mut self.open.entry(second).or_default()[family]
    }

    /// Advances the time to `now_ns`, and closes the seconds that are long past.
    pub(super) fn pass(&mut self, now_ns: u64) {
        let now = now_ns.saturating_sub(self.begin_ns) / SECOND_NS;
        let until = now.saturating_sub(OPEN_S);
        if until <= self.from {
            return;
        }
        if until - self.from > LONGEST_GAP_S {
            while let Some(first) = self.open.first_entry()
                && *first.key() < until
            {
                self.from = *first.key();
                self.close(SECOND_NS);
            }
            self.from = until;
        }
        while self.from < until {
            self.close(SECOND_NS);
        }
    }

    /// Returns all seconds, the last of which ends at `end_ns`.
    pub(super) fn end(mut self, end_ns: u64) -> Vec<Interval> {
        self.pass(end_ns);
        let length_ns = end_ns.saturating_sub(self.begin_ns);
        let last = length_ns / SECOND_NS;
        while self.from < last {
            self.close(SECOND_NS);
        }
        // Events with a time after the end are counted in the last second.
        let rest = std::mem::take(&mut self.open);
        let mut together = PerFamily::<SliceTally>::default();
        for (_, families) in rest {
            together += &families;
        }
        let some = |(_, of): (Family, &SliceTally)| of.sent + of.completed + of.failed > 0;
        if !length_ns.is_multiple_of(SECOND_NS) || together.iter().any(some) {
            self.open.insert(self.from, together);
            self.close((length_ns % SECOND_NS).max(1));
        }
        self.collected.end()
    }

    fn close(&mut self, length_ns: u64) {
        let families = self.open.remove(&self.from).unwrap_or_default();
        if self.written < MOST {
            let slice = Slice { second: self.from, length_ns, families, ..Slice::default() };
            self.collected.add(&slice);
        }
        self.written += 1;
        self.from += 1;
    }
}
