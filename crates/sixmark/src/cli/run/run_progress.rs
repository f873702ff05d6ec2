//! The progress of a run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sixmark_plan::plan::Plan;
use sixmark_report::board::RunBoard;
use sixmark_sheet::board::elapsed_text;
use sixmark_tally::tally::{Slice, SliceTally};
use sixmark_units::family::PerFamily;
use sixmark_units::quantity::{duration_us, write_count};

use crate::cli::out::complain;
use crate::cli::progress::{LiveView, ProgressForm, repaint};

/// Interval between two lines of progress where no line can be repainted, in seconds.
const PLAIN_EVERY_S: u64 = 10;

/// Shows each second once every worker has reported it.
#[derive(Debug)]
pub(super) struct LiveRun<'a> {
    form: ProgressForm,
    view: LiveView,
    board: RunBoard<'a>,
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

impl<'a> LiveRun<'a> {
    /// Creates the display of a run that ends when `stop` is set.
    pub(super) fn new(form: ProgressForm, plan: &'a Plan, stop: &Arc<AtomicBool>) -> LiveRun<'a> {
        let load = &plan.load;
        let (workers, connections) = (load.threads.get(), load.connections.get().into());
        let (second, told, counts, opened) = Default::default();
        let (duration, board) = (load.duration, RunBoard::new(plan));
        let view = LiveView::new(form, stop, None);
        LiveRun { form, view, board, duration, workers, second, told, counts, connections, opened }
    }

    /// Shows how long the load will last, before its first second is over.
    pub(super) fn begin(&self) {
        self.paint(&elapsed_text(0, self.duration));
    }

    /// Processes the figures of a worker for one second.
    pub(super) fn see(&mut self, slice: &Slice) {
        if let Some(opened) = slice.opened {
            return self.opening(slice.worker, opened);
        }
        if self.form == ProgressForm::View {
            if let Some(board) = self.board.see(slice) {
                self.view.show(|| board);
            }
            return;
        }
        if slice.second != self.second {
            self.second = slice.second;
            self.told = 0;
            self.counts = PerFamily::default();
        }
        self.told += 1;
        self.counts += &slice.families;
        if self.told == self.workers {
            self.end_second();
        }
    }

    fn end_second(&self) {
        let seconds = self.second + 1;
        let line = elapsed_text(seconds, self.duration) + &figures_line(&self.counts);
        match self.form {
            ProgressForm::Plain if seconds.is_multiple_of(PLAIN_EVERY_S) => complain(line.trim()),
            _ => self.paint(&line),
        }
    }

    /// Shows how many connections are open before the load.
    fn opening(&mut self, worker: u32, opened: u64) {
        self.opened.insert(worker, opened);
        let all = self.opened.values().sum::<u64>();
        self.paint(&format!(
            "{} of {} connections open",
            write_count(all),
            write_count(self.connections)
        ));
    }

    /// Repaints the line, if there is one.
    fn paint(&self, text: &str) {
        if matches!(self.form, ProgressForm::Line | ProgressForm::View) {
            repaint(text);
        }
    }

    /// Removes the display before other output.
    pub(super) fn clear(self) {
        self.paint("");
    }
}

/// Returns the figures of one second.
fn figures_line(counts: &PerFamily<SliceTally>) -> String {
    let used = counts.iter().filter(|(_, of)| of.sent + of.completed + of.failed > 0);
    let families: String =
        used.map(|(family, of)| figures_of_slice(&family.to_string(), of)).collect();
    let failed: u64 = counts.iter().map(|(_, of)| of.failed).sum();
    format!("{families}   failed {}", write_count(failed))
}

/// Returns the figures of a family or a side in one second.
pub(in crate::cli) fn figures_of_slice(name: &str, of: &SliceTally) -> String {
    let p99 = of.response.quantile(0.99).map_or("-".to_owned(), |ns| duration_us(ns as f64 / 1e3));
    format!("   {name} {}/s p99 {p99}", write_count(of.completed))
}
