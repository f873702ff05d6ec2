//! Combines the seconds that the workers report into the seconds of a run, while the run is going
//! on.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::interval::{Interval, interval};
use crate::tally::{Slice, SliceTally, TenthSlice};
use crate::tenth::{MOST_TENTHS, Tenth, tenths};
use sixmark_units::family::PerFamily;

/// Combines slices. Only seconds to which a worker may still add are kept as tallies, so that
/// memory use does not grow with the number of workers, and with time only by what a document
/// states about each second.
#[derive(Debug)]
pub struct SliceCollector {
    /// The last second that each worker has reported.
    told: Vec<Option<u64>>,
    /// The number of the first worker.
    first: u32,
    open: BTreeMap<u64, (u64, PerFamily<SliceTally>)>,
    done: Vec<Interval>,
    /// The tenths of a second, by their numbers.
    tenths: BTreeMap<u64, TenthSlice>,
    /// The last second that a worker has reported.
    last: u64,
}

impl SliceCollector {
    /// Creates a collector for a run with `workers` workers.
    pub fn new(workers: u32) -> SliceCollector {
        SliceCollector::of(0..workers)
    }

    /// Creates a collector for the workers with these numbers.
    pub fn of(workers: Range<u32>) -> SliceCollector {
        SliceCollector {
            told: vec![None; workers.len()],
            first: workers.start,
            open: BTreeMap::new(),
            done: Vec::new(),
            tenths: BTreeMap::new(),
            last: 0,
        }
    }

    /// Adds a slice of a worker. Each worker's slices must arrive in order.
    pub fn add(&mut self, slice: &Slice) {
        let (length, families) = self.open.entry(slice.second).or_default();
        *length = (*length).max(slice.length_ns);
        *families += &slice.families;
        let number = slice.worker.wrapping_sub(self.first);
        if let Some(told) = self.told.get_mut(number as usize) {
            *told = Some(slice.second);
        }
        self.last = self.last.max(slice.second);
        for part in &slice.tenths {
            let new = || TenthSlice { tenth: part.tenth, ..TenthSlice::default() };
            self.tenths.entry(part.tenth).or_insert_with(new).add(part);
        }
        self.close();
    }

    /// Returns the tenths of a second, for which the slices must be complete. Empty if the workers
    /// reported none, or if the run was so long that they cover only a part of it.
    pub fn take_tenths(&mut self) -> Vec<Tenth> {
        let all = std::mem::take(&mut self.tenths);
        if self.last < MOST_TENTHS / 10 { tenths(all.into_values().collect()) } else { Vec::new() }
    }

    /// Returns all seconds, including those that not every worker has reported.
    pub fn end(mut self) -> Vec<Interval> {
        for (second, (length, families)) in std::mem::take(&mut self.open) {
            self.write_down(second, length, families);
        }
        self.done
    }

    /// Finishes the seconds that every worker has passed.
    fn close(&mut self) {
        let Some(Some(past)) = self.told.iter().copied().min() else { return };
        while let Some(entry) = self.open.first_entry()
            && *entry.key() < past
        {
            let (second, (length, families)) = entry.remove_entry();
            self.write_down(second, length, families);
        }
    }

    fn write_down(&mut self, second: u64, length_ns: u64, families: PerFamily<SliceTally>) {
        self.done.push(interval(second, length_ns, families));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(worker: u32, second: u64, sent: u64) -> Slice {
        let mut slice = Slice { worker, second, length_ns: 1_000_000_000, ..Slice::default() };
        slice.families.ipv6.sent = sent;
        slice
    }

    #[test]
    fn sums_the_slices_of_all_workers_per_second() {
        let mut seconds = SliceCollector::new(2);
        // The second worker is late, and reports nothing for one second.
        for (worker, second, sent) in [(0, 0, 1), (0, 1, 2), (0, 2, 4), (1, 0, 8), (1, 2, 16)] {
            seconds.add(&slice(worker, second, sent));
        }
        assert_eq!(seconds.open.len(), 1, "only the last one may grow");
        let sent = seconds.end().into_iter().map(|i| (i.second, i.families.ipv6.sent));
        assert_eq!(sent.collect::<Vec<_>>(), [(0, 9), (1, 2), (2, 20)]);
    }

    #[test]
    fn sums_tenths_over_all_workers_and_drops_them_for_long_runs() {
        let whole = |worker, second| {
            let mut slice = slice(worker, second, 10);
            let part = |tenth| {
                let mut part = TenthSlice { tenth, length_ns: 100_000_000, ..Default::default() };
                part.families.ipv6.sent = 1;
                part
            };
            slice.tenths = (second * 10..second * 10 + 10).map(part).collect();
            slice
        };
        let mut seconds = SliceCollector::new(2);
        [(0, 0), (1, 0), (0, 1), (1, 1)].iter().for_each(|&(w, s)| seconds.add(&whole(w, s)));
        let tenths = seconds.take_tenths();
        assert!(tenths.iter().map(|of| of.tenth).eq(0..20), "{tenths:?}");
        assert!(tenths.iter().all(|of| of.families.ipv6.sent == 2), "{tenths:?}");
        let mut long = SliceCollector::new(1);
        (0..10).for_each(|second| long.add(&whole(0, second)));
        long.add(&slice(0, 10, 1));
        assert_eq!(long.take_tenths().len(), 0);
    }

    #[test]
    fn includes_every_second_although_a_worker_reports_nothing() {
        let mut seconds = SliceCollector::new(2);
        (0..3).for_each(|second| seconds.add(&slice(0, second, 1)));
        assert_eq!(seconds.end().len(), 3);
    }
}
