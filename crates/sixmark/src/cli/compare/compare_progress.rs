//! The progress of a comparison, and its result so far.

use sixmark_compare::Comparison;
use sixmark_compare::comparison_result::SideName;
use sixmark_compare::text::estimate_text;
use sixmark_record::tally::{Slice, SliceTally};

use super::super::out::complain;
use super::super::progress::repaint;
use super::super::run::figures_of_slice;
use sixmark_compare::engine::ComparisonEvent;

/// Shows progress: on a terminal one line that is repainted, elsewhere one line per pair.
#[derive(Debug)]
pub(super) struct LiveComparison {
    quiet: bool,
    terminal: bool,
    workers: u32,
    /// The current block: `block 3 of 26`.
    place: String,
    side: &'static str,
    /// The result of the pairs so far.
    estimate: String,
    second: u64,
    told: u32,
    counts: SliceTally,
}

impl LiveComparison {
    /// Creates the display. It shows nothing if `quiet`.
    pub(super) fn new(quiet: bool, terminal: bool, workers: u32) -> LiveComparison {
        LiveComparison {
            quiet,
            terminal,
            workers,
            place: String::new(),
            side: "",
            estimate: String::new(),
            second: 0,
            told: 0,
            counts: SliceTally::default(),
        }
    }

    /// Processes an event.
    pub(super) fn see(&mut self, event: &ComparisonEvent<'_>) {
        match event {
            _ if self.quiet => {}
            ComparisonEvent::Begin { block, of, side, noise } => {
                self.begin(*block, *of, *side, *noise)
            }
            ComparisonEvent::Lengthened(_) => {}
            ComparisonEvent::Second(slice) => self.second(slice),
            ComparisonEvent::Noise(comparison) => self.pair(comparison),
            ComparisonEvent::Pair(result) => self.pair(&result.comparison),
        }
    }

    /// Clears the line before other output.
    pub(super) fn clear(&self) {
        if self.terminal && !self.quiet {
            repaint("");
        }
    }

    fn begin(&mut self, block: usize, of: usize, side: SideName, noise: bool) {
        let what = if noise { "A against itself, block" } else { "block" };
        self.place = format!("{what} {block} of {of}");
        self.side = if side == SideName::A || noise { "A" } else { "B" };
        (self.second, self.told, self.counts) = (0, 0, SliceTally::default());
        self.show();
    }

    /// Shows a second once every worker has reported it.
    fn second(&mut self, slice: &Slice) {
        if slice.opened.is_some() {
            return;
        }
        if slice.second != self.second {
            (self.second, self.told, self.counts) = (slice.second, 0, SliceTally::default());
        }
        self.told += 1;
        for (_, of) in slice.families.iter() {
            self.counts += of;
        }
        if self.told == self.workers {
            self.show();
        }
    }

    fn pair(&mut self, comparison: &Comparison) {
        self.estimate = estimate_text(comparison);
        match self.terminal {
            true => self.show(),
            false => complain(&format!("{}: {}", self.place, self.estimate)),
        }
    }

    fn show(&self) {
        if !self.terminal {
            return;
        }
        let rate = match self.counts.completed {
            0 => format!("   {}", self.side),
            _ => figures_of_slice(self.side, &self.counts),
        };
        let estimate = if self.estimate.is_empty() { "" } else { "   so far " };
        repaint(&format!("{}{rate}{estimate}{}", self.place, self.estimate));
    }
}
