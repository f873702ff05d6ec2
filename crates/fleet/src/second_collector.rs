//! Turns what the workers of an agent have counted so far into what the agent counted in each
//! second.

use std::collections::BTreeMap;
use std::ops::Range;

use sixmark_tally::tally::{Slice, Tally};
use sixmark_tally::tally_part::TallyPart as _;

use crate::records::SecondRecord;

/// Gathers the slices of workers, each of which contains all that the worker has counted so far.
#[derive(Debug)]
pub struct SecondCollector {
    first: u32,
    workers: Vec<WorkerSoFar>,
    /// The seconds that have begun and are not written yet, with their length and busy time.
    open: BTreeMap<u64, (u64, u64)>,
    /// What the seconds written so far contain.
    written: Tally,
    /// The last of them.
    last_written: Option<u64>,
}

/// What is known of a worker.
#[derive(Debug, Default)]
struct WorkerSoFar {
    /// The second up to which it has reported everything; the largest number once it has ended.
    second: Option<u64>,
    /// What it had counted at the end of each second that is not written yet, and of the last one
    /// that is.
    counted: BTreeMap<u64, Tally>,
}

impl SecondCollector {
    /// Creates a collector for the workers with these numbers.
    pub fn new(workers: Range<u32>) -> SecondCollector {
        let first = workers.start;
        let workers = workers.map(|_| WorkerSoFar::default()).collect();
        let (open, written) = (BTreeMap::new(), Tally::default());
        SecondCollector { first, workers, open, written, last_written: None }
    }

    /// Adds a slice. Returns the seconds that are complete by that, in order.
    pub fn see(&mut self, slice: &Slice) -> Vec<SecondRecord> {
        let number = slice.worker.wrapping_sub(self.first) as usize;
        if let (Some(worker), Some(whole)) = (self.workers.get_mut(number), &slice.whole) {
            let (length_ns, busy_ns) = self.open.entry(slice.second).or_default();
            *length_ns = (*length_ns).max(slice.length_ns);
            *busy_ns = (*busy_ns).max(slice.busy_ns);
            worker.second = Some(if slice.is_last { u64::MAX } else { slice.second });
            worker.counted.insert(slice.second, (**whole).clone());
        }
        self.close()
    }

    /// Returns the last second, whose counts bring the sum of all seconds to `all`. `None` if they
    /// do so already. If all seconds are written, it is a second part of the last one, without
    /// length.
    pub fn end(mut self, all: &Tally) -> Option<SecondRecord> {
        let last = self.open.keys().next_back().copied();
        let second = last.or(self.last_written);
        let (length_ns, busy_ns) = self.open.values().fold((0, 0), |longest, of| longest.max(*of));
        let tally = all.since(&self.written);
        if last.is_none() && tally == Tally::default() {
            return None;
        }
        self.open.clear();
        Some(SecondRecord { second: second.unwrap_or(0), length_ns, busy_ns, tally })
    }

    /// Writes the seconds that every worker has reported. If all have ended, the last one stays
    /// open: what they count at their end belongs to it.
    fn close(&mut self) -> Vec<SecondRecord> {
        let told = self.workers.iter().map(|worker| worker.second).min();
        let Some(Some(past)) = told else { return Vec::new() };
        // Of workers that have all ended, the last second.
        let kept = (past == u64::MAX).then(|| self.open.keys().next_back().copied()).flatten();
        let mut done = Vec::new();
        while let Some(entry) = self.open.first_entry()
            && *entry.key() <= past
            && Some(*entry.key()) != kept
        {
            let (second, (length_ns, busy_ns)) = entry.remove_entry();
            let so_far = self.counted_by(second);
            let tally = so_far.since(&self.written);
            self.written = so_far;
            self.last_written = Some(second);
            done.push(SecondRecord { second, length_ns, busy_ns, tally });
        }
        done
    }

    /// Returns what all workers had counted by the end of `second`. A worker that reported nothing
    /// in it has counted what it had before.
    fn counted_by(&mut self, second: u64) -> Tally {
        let mut sum = Tally::default();
        for worker in &mut self.workers {
            let last = worker.counted.range(..=second).next_back().map(|(second, _)| *second);
            if let Some(last) = last {
                worker.counted.retain(|second, _| *second >= last);
                if let Some(tally) = worker.counted.get(&last) {
                    sum += tally;
                }
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(worker: u32, second: u64, sent: u64) -> Slice {
        let mut whole = Tally::default();
        whole.ipv6.sent = sent;
        let whole = Some(Box::new(whole));
        Slice { worker, second, length_ns: 1_000_000_000, whole, ..Slice::default() }
    }

    #[test]
    fn sums_all_workers_per_second_and_adds_the_rest_at_the_end() {
        let mut collector = SecondCollector::new(4..6);
        let mut seconds = Vec::new();
        // Worker 5 is late, and reports nothing for second 1.
        for (worker, second, sent) in
            [(4, 0, 1), (4, 1, 3), (4, 2, 7), (5, 0, 10), (5, 2, 30), (4, 3, 8), (5, 3, 31)]
        {
            seconds.extend(collector.see(&slice(worker, second, sent)));
        }
        let mut all = Tally::default();
        all.ipv6.sent = 42;
        seconds.extend(collector.end(&all));
        let found: Vec<_> = seconds.iter().map(|of| (of.second, of.tally.ipv6.sent)).collect();
        // All were written before the end, which adds what came after the last report.
        assert_eq!(found, [(0, 11), (1, 2), (2, 24), (3, 2), (3, 3)]);
        assert_eq!(seconds.last().unwrap().length_ns, 0);
    }

    #[test]
    fn writes_a_second_once_all_running_workers_have_reported_it() {
        let mut collector = SecondCollector::new(0..2);
        let mut written = |slice: &Slice| {
            let seconds = collector.see(slice).into_iter();
            seconds.map(|of| (of.second, of.tally.ipv6.sent)).collect::<Vec<_>>()
        };
        assert_eq!(written(&slice(0, 0, 1)), []);
        assert_eq!(written(&slice(1, 0, 2)), [(0, 3)]);
        // One that has ended keeps no second from being written.
        assert_eq!(written(&Slice { is_last: true, ..slice(0, 1, 5) }), []);
        assert_eq!(written(&slice(1, 1, 4)), [(1, 6)]);
        assert_eq!(written(&slice(1, 2, 8)), [(2, 4)]);
        assert_eq!(written(&Slice { is_last: true, ..slice(1, 3, 9) }), []);
        let mut all = Tally::default();
        all.ipv6.sent = 20;
        let last = collector.end(&all).unwrap();
        assert_eq!((last.second, last.tally.ipv6.sent, last.length_ns), (3, 7, 1_000_000_000));
    }

    #[test]
    fn a_share_shorter_than_a_second_yields_at_most_one_record() {
        let mut all = Tally::default();
        assert!(SecondCollector::new(0..2).end(&all).is_none());
        all.ipv4.sent = 5;
        let last = SecondCollector::new(0..2).end(&all).unwrap();
        assert_eq!((last.second, last.tally.ipv4.sent), (0, 5));
    }
}
