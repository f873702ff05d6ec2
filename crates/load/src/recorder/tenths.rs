//! The tenths of the current second, which short runs report beside their seconds.

use sixmark_tally::tally::{SliceTally, TenthSlice};
use sixmark_tally::tenth::{MOST_TENTHS, TENTH_NS};
use sixmark_units::family::{Family, PerFamily};

/// The tenths of the current slice that are over, and the number of the current one.
#[derive(Debug, Default)]
pub(super) struct Tenths {
    /// The time at which the measurement begins.
    begin: u64,
    /// The current tenth: its number and its start.
    number: u64,
    start: u64,
    /// The counts of the current slice before the current tenth, with all durations.
    earlier: PerFamily<SliceTally>,
    done: Vec<TenthSlice>,
}

impl Tenths {
    /// Creates the tenths of a measurement that begins at `begin`.
    pub(super) fn new(begin: u64) -> Tenths {
        Tenths { begin, start: begin, ..Tenths::default() }
    }

    /// Returns when the current tenth ends.
    pub(super) fn end(&self) -> u64 {
        self.begin + (self.number + 1) * TENTH_NS
    }

    /// Ends the current tenth at `now`. `counted` are its counts.
    pub(super) fn cut(&mut self, now: u64, counted: PerFamily<SliceTally>) {
        let length_ns = now.saturating_sub(self.start);
        self.earlier += &counted;
        if length_ns > 0 || counted != PerFamily::default() {
            self.done.push(TenthSlice::new(self.number, length_ns, counted));
        }
        self.start = now.max(self.start);
        // As with seconds, a late one does not make all later ones late.
        self.number = (self.start - self.begin) / TENTH_NS;
    }

    /// Returns the tenths of the slice that ends, and its counts.
    pub(super) fn take(&mut self) -> (Vec<TenthSlice>, PerFamily<SliceTally>) {
        (std::mem::take(&mut self.done), std::mem::take(&mut self.earlier))
    }

    /// Returns true if no more tenths are wanted.
    pub(super) fn are_enough(&self) -> bool {
        self.number >= MOST_TENTHS
    }

    /// Returns the shortest response time of a family in the earlier tenths of the slice, in
    /// nanoseconds.
    pub(super) fn shortest_response(&self, family: Family) -> Option<u64> {
        self.earlier[family].response.min()
    }

    /// Moves an exchange that began in an earlier tenth of the slice to the other family.
    pub(super) fn moved(&mut self, from: Family) {
        let began = self.done.iter_mut().rev().map(|of| &mut of.families);
        let Some(tenth) = began.into_iter().find(|of| of[from].sent > 0) else { return };
        for of in [tenth, &mut self.earlier] {
            of[from].sent -= 1;
            of[from.other()].sent += 1;
        }
    }
}
