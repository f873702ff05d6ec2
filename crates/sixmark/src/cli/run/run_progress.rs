//! The progress line of a run on a terminal.

use std::collections::BTreeMap;
use std::time::Duration;

use sixmark_record::plan::LoadPlan;
use sixmark_record::tally::{Slice, SliceTally};
use sixmark_units::family::PerFamily;
use sixmark_units::quantity::{duration_us, write_count};

use crate::cli::progress::{elapsed_text, repaint};

/// Shows each second once every worker has reported it.
#[derive(Debug)]
pub(super) struct LiveRun {
    shown: bool,
    /// How long the load lasts; `None` if that is not known.
    duration: Option<Duration>,
    workers: u32,
    second: u64,
    told: u32,
    counts: PerFamily<SliceTally>,
    /// The number of connections to open before the load.
    connections: u64,
    opened: BTreeMap<u32, u64>,
}

impl LiveRun {
    /// Creates the display. It shows nothing unless `shown`.
    pub(super) fn new(shown: bool, load: &LoadPlan) -> LiveRun {
        let (workers, connections) = (load.threads.get(), load.connections.get().into());
        let (second, told, counts, opened) = Default::default();
        let duration = load.duration;
        LiveRun { shown, duration, workers, second, told, counts, connections, opened }
    }

    /// Shows how long the load will last, before its first second is over.
    pub(super) fn begin(&self) {
        if self.shown {
            repaint(&elapsed_text(0, self.duration));
        }
    }

    /// Processes the figures of a worker for one second.
    pub(super) fn see(&mut self, slice: &Slice) {
        if !self.shown {
            return;
        }
        if let Some(opened) = slice.opened {
            return self.opening(slice.worker, opened);
        }
        if slice.second != self.second {
            self.second = slice.second;
            self.told = 0;
            self.counts = PerFamily::default();
        }
        self.told += 1;
        self.counts += &slice.families;
        if self.told == self.workers {
            let elapsed = elapsed_text(self.second + 1, self.duration);
            repaint(&(elapsed + &figures_line(&self.counts)));
        }
    }

    /// Shows how many connections are open before the load.
    fn opening(&mut self, worker: u32, opened: u64) {
        self.opened.insert(worker, opened);
        let all = self.opened.values().sum::<u64>();
        repaint(&format!(
            "{} of {} connections open",
            write_count(all),
            write_count(self.connections)
        ));
    }

    /// Prints a line that stays on the terminal.
    pub(super) fn say(&self, text: &str) {
        if self.shown {
            repaint(&format!("{text}\n"));
        }
    }

    /// Clears the line before other output.
    pub(super) fn clear(&self) {
        if self.shown {
            repaint("");
        }
    }
}

/// Returns the figures of one second.
fn figures_line(counts: &PerFamily<SliceTally>) -> String {
    let used = counts.iter().filter(|(_, of)| of.sent + of.completed + of.failed > 0);
    let families: String =
        used.map(|(family, of)| figures_of_slice(&family.to_string(), of)).collect();
    let failed: u64 = counts.iter().map(|(_, of)| of.failed + of.unaccepted).sum();
    format!("{families}   failed {}", write_count(failed))
}

/// Returns the figures of a family or a side in one second.
pub(in crate::cli) fn figures_of_slice(name: &str, of: &SliceTally) -> String {
    let p99 = of.response.quantile(0.99).map_or("-".to_owned(), |ns| duration_us(ns as f64 / 1e3));
    format!("   {name} {}/s p99 {p99}", write_count(of.completed))
}
