//! The progress of a comparison.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sixmark_compare::Comparison;
use sixmark_compare::block_begin::{BlockBegin, left_text};
use sixmark_compare::board::ComparisonBoard;
use sixmark_compare::comparison_result::SideName;
use sixmark_compare::text::estimate_text;
use sixmark_tally::tally::{Slice, SliceTally};

use super::super::out::complain;
use super::super::progress::{LiveView, ProgressForm, repaint};
use super::super::run::figures_of_slice;
use sixmark_compare::engine::ComparisonEvent;

/// How often it is checked whether a pause is over.
const PAUSE: Duration = Duration::from_millis(50);

/// Shows progress: on a terminal a view or one line that is repainted, elsewhere one line per pair.
#[derive(Debug)]
pub(super) struct LiveComparison {
    form: ProgressForm,
    view: LiveView,
    board: ComparisonBoard,
    stop: Arc<AtomicBool>,
    /// Set while the view's user wants a pause.
    pause: Arc<AtomicBool>,
    workers: u32,
    /// The current place: `pair 3 of 12`.
    place: String,
    /// When the comparison is going to end, as far as it is known.
    ends: Option<Instant>,
    may_end: bool,
    side: &'static str,
    /// The result of the pairs so far.
    estimate: String,
    second: u64,
    told: u32,
    counts: SliceTally,
}

impl LiveComparison {
    /// Creates the display of a comparison that ends when `stop` is set.
    pub(super) fn new(
        form: ProgressForm,
        board: ComparisonBoard,
        workers: u32,
        stop: &Arc<AtomicBool>,
    ) -> LiveComparison {
        let pause = Arc::default();
        LiveComparison {
            form,
            view: LiveView::new(form, stop, Some(&pause)),
            board,
            stop: Arc::clone(stop),
            pause,
            workers,
            place: String::new(),
            ends: None,
            may_end: false,
            side: "",
            estimate: String::new(),
            second: 0,
            told: 0,
            counts: SliceTally::default(),
        }
    }

    /// Processes an event.
    pub(super) fn see(&mut self, event: &ComparisonEvent<'_>) {
        match self.form {
            ProgressForm::Nothing => {}
            ProgressForm::View => self.see_on_view(event),
            ProgressForm::Line | ProgressForm::Plain => self.see_in_lines(event),
        }
    }

    fn see_in_lines(&mut self, event: &ComparisonEvent<'_>) {
        match event {
            ComparisonEvent::Begin(begun) => self.begin(*begun),
            ComparisonEvent::Lengthened(_) => {}
            ComparisonEvent::Second(slice) => self.second(slice),
            ComparisonEvent::Noise(comparison) => self.pair(comparison),
            ComparisonEvent::Pair(result) => self.pair(&result.comparison),
        }
    }

    fn see_on_view(&mut self, event: &ComparisonEvent<'_>) {
        let board = match event {
            ComparisonEvent::Begin(begun) => {
                // The blocks of a pair are not separated: what changes in a pause would become a
                // difference between the sides.
                if begun.done % 2 == 0 {
                    self.wait_for_pause();
                }
                Some(self.board.begin(*begun))
            }
            ComparisonEvent::Lengthened(_) => None,
            ComparisonEvent::Second(slice) => self.board.see(slice),
            ComparisonEvent::Noise(comparison) => Some(self.board.pair(comparison)),
            ComparisonEvent::Pair(result) => Some(self.board.pair(&result.comparison)),
        };
        if let Some(board) = board {
            self.view.show(|| board);
        }
    }

    /// Waits until the user ends the pause or the comparison.
    fn wait_for_pause(&self) {
        while self.pause.load(Ordering::Relaxed) && !self.stop.load(Ordering::Relaxed) {
            std::thread::sleep(PAUSE);
        }
    }

    /// Removes the display before other output.
    pub(super) fn clear(self) {
        self.clear_line();
    }

    /// Clears the line before other output.
    pub(super) fn clear_line(&self) {
        if self.form == ProgressForm::Line {
            repaint("");
        }
    }

    fn begin(&mut self, begun: BlockBegin) {
        self.place = begun.place();
        let left = begun.left_s.and_then(|left_s| Duration::try_from_secs_f64(left_s).ok());
        self.ends = left.and_then(|left| Instant::now().checked_add(left));
        self.may_end = begun.may_end;
        self.side = if begun.turn.side == SideName::A || begun.noise { "A" } else { "B" };
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
        if self.form == ProgressForm::Line {
            self.show()
        } else {
            complain(&format!("{}: {}{}", self.place, self.estimate, self.left(", ")))
        }
    }

    /// Returns the time that is left, after `apart`; nothing if that is not known, or none is.
    fn left(&self, apart: &str) -> String {
        let left = self.ends.map(|ends| ends.saturating_duration_since(Instant::now()));
        let left = left.map(|left| left.as_secs_f64()).filter(|left_s| *left_s >= 0.5);
        left.map_or(String::new(), |left_s| format!("{apart}{}", left_text(left_s, self.may_end)))
    }

    fn show(&self) {
        if self.form != ProgressForm::Line {
            return;
        }
        let rate = match self.counts.completed {
            0 => format!("   {}", self.side),
            _ => figures_of_slice(self.side, &self.counts),
        };
        let estimate = if self.estimate.is_empty() { "" } else { "   so far " };
        let left = self.left(", ");
        repaint(&format!("{}{left}{rate}{estimate}{}", self.place, self.estimate));
    }
}
