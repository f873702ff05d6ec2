//! The progress line of a watch on a terminal.

use std::time::{Duration, Instant};

use sixmark_units::family::PerFamily;
use sixmark_units::quantity::write_count;
use sixmark_watch::Progress;

use super::super::out::complain;
use super::super::progress::{elapsed_text, repaint};
use sixmark_watch::engine::{WATCHING, WatchProgress};

/// Minimum interval between two progress lines while a file is read.
const EVERY: Duration = Duration::from_millis(200);

/// Shows what was seen since the last update.
#[derive(Clone, Debug)]
pub(super) struct LiveWatch {
    shown: bool,
    /// How long the watch lasts; `None` if until a signal or the end of a file.
    duration: Option<Duration>,
    last: Instant,
    before: PerFamily<Progress>,
}

impl LiveWatch {
    /// Creates the display. It shows nothing unless `shown`.
    pub(super) fn new(shown: bool, duration: Option<Duration>) -> LiveWatch {
        LiveWatch { shown, duration, last: Instant::now(), before: PerFamily::default() }
    }

    /// Shows what is being watched.
    pub(super) fn begun(&self, names: &[String], quiet: bool) {
        let time = self.duration.map(|time| format!(" for {} s", time.as_secs_f64()));
        let (names, time) = (names.join(", "), time.unwrap_or_default());
        let line = format!("{WATCHING} {names}{time}; Ctrl-C ends it");
        match (self.shown, quiet) {
            (true, _) => repaint(&line),
            // A script needs to know when the watch has begun.
            (false, false) => complain(&line),
            (false, true) => {}
        }
    }

    /// Shows the figures since the last update.
    pub(super) fn see(&mut self, progress: &WatchProgress) {
        let s = self.last.elapsed().as_secs_f64().max(0.001);
        self.last = Instant::now();
        let before = std::mem::replace(&mut self.before, progress.families);
        if !self.shown {
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
        if !self.shown || self.last.elapsed() < EVERY {
            return;
        }
        self.last = Instant::now();
        let all = [&progress.families.ipv6, &progress.families.ipv4];
        let connections: u64 = all.iter().map(|of| of.connections).sum();
        let (packets, connections) = (write_count(progress.packets), write_count(connections));
        repaint(&format!("{packets} packets, {connections} connections"));
    }

    /// Clears the line before other output.
    pub(super) fn clear(&self) {
        if self.shown {
            repaint("");
        }
    }
}
