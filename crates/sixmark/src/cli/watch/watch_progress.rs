//! The progress of a watch.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use sixmark_sheet::board::elapsed_text;
use sixmark_units::family::PerFamily;
use sixmark_units::quantity::write_count;
use sixmark_watch::Progress;
use sixmark_watch::board::WatchBoard;

use super::super::out::complain;
use super::super::progress::{LiveView, ProgressForm, repaint};
use sixmark_watch::engine::{WATCHING, WatchProgress};

/// Minimum interval between two progress lines while a file is read.
const EVERY: Duration = Duration::from_millis(200);

/// Shows what was seen since the last update.
#[derive(Debug)]
pub(super) struct LiveWatch {
    form: ProgressForm,
    view: LiveView,
    board: Option<WatchBoard>,
    /// How long the watch lasts; `None` if until a signal or the end of a file.
    duration: Option<Duration>,
    last: Instant,
    before: PerFamily<Progress>,
}

impl LiveWatch {
    /// Creates the display of a watch that ends when `stop` is set.
    pub(super) fn new(
        form: ProgressForm,
        duration: Option<Duration>,
        stop: &Arc<AtomicBool>,
    ) -> LiveWatch {
        let view = LiveView::new(form, stop, None);
        let (last, before) = (Instant::now(), PerFamily::default());
        LiveWatch { form, view, board: None, duration, last, before }
    }

    /// Shows what is being watched.
    pub(super) fn begun(&mut self, names: &[String]) {
        let time = self.duration.map(|time| format!(" for {} s", time.as_secs_f64()));
        let (names, time) = (names.join(", "), time.unwrap_or_default());
        let title = format!("{WATCHING} {names}{time}");
        let line = format!("{title}; Ctrl-C ends it");
        match self.form {
            ProgressForm::View => {
                repaint(&line);
                self.board = Some(WatchBoard::new(title, self.duration));
            }
            ProgressForm::Line => repaint(&line),
            // A script needs to know when the watch has begun.
            ProgressForm::Plain => complain(&line),
            ProgressForm::Nothing => {}
        }
    }

    /// Shows the figures since the last update.
    pub(super) fn see(&mut self, progress: &WatchProgress) {
        if let Some(board) = &mut self.board {
            let packets = (progress.packets, progress.dropped);
            let board = board.see(progress.families, packets, progress.elapsed_ns);
            return self.view.show(|| board);
        }
        let s = self.last.elapsed().as_secs_f64().max(0.001);
        self.last = Instant::now();
        let before = std::mem::replace(&mut self.before, progress.families);
        if self.form != ProgressForm::Line {
            return;
        }
        let rate =
            |now: u64, before: u64| write_count((now.saturating_sub(before) as f64 / s) as u64);
        let families: String = progress
            .families
            .iter()
            .filter(|(_, now)| now.connections + now.exchanges > 0)
            .map(|(family, now)| {
                let before = before[family];
                let exchanges = rate(now.exchanges, before.exchanges);
                let connections = rate(now.connections, before.connections);
                match now.exchanges {
                    // Exchanges may be invisible, for instance if they are encrypted.
                    0 => format!("   {family} {connections} connections/s"),
                    _ => format!("   {family} {exchanges}/s on {connections} connections/s"),
                }
            })
            .collect();
        let seconds = progress.elapsed_ns / 1_000_000_000;
        let (packets, dropped) = (write_count(progress.packets), write_count(progress.dropped));
        let elapsed = elapsed_text(seconds, self.duration);
        repaint(&format!("{elapsed}{families}   {packets} packets, {dropped} dropped"));
    }

    /// Shows how much of a file has been read.
    pub(super) fn read(&mut self, progress: &WatchProgress) {
        let repaints = matches!(self.form, ProgressForm::Line | ProgressForm::View);
        if !repaints || self.last.elapsed() < EVERY {
            return;
        }
        self.last = Instant::now();
        let all = [&progress.families.ipv6, &progress.families.ipv4];
        let connections: u64 = all.iter().map(|of| of.connections).sum();
        let (packets, connections) = (write_count(progress.packets), write_count(connections));
        repaint(&format!("{packets} packets, {connections} connections"));
    }

    /// Removes the display before other output.
    pub(super) fn clear(self) {
        let LiveWatch { form, view, .. } = self;
        drop(view);
        if matches!(form, ProgressForm::Line | ProgressForm::View) {
            repaint("");
        }
    }
}
