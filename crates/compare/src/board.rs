//! What a live view shows of a comparison: the blocks, the figures of each side, and the effect of
//! each pair. It shows no verdict, which would invite to stop when it pleases, unless the test is
//! valid at every look.

use std::time::Duration;

use sixmark_report::board::{LoadMinute, busy_doubt, failed_doubt};
use sixmark_sheet::board::{Board, BoardPage, BoardProgress, BoardRow, span_of};
use sixmark_tally::metric::Metric;
use sixmark_tally::tally::{Slice, SliceTally};
use sixmark_units::quantity::write_count;

use crate::Comparison;
use crate::block_begin::{BlockBegin, left_text};
use crate::comparison_result::{ComparedSides, SideName};
use crate::sheet::verdict::running_verdicts;

/// The number of effects on a line.
const ON_A_LINE: usize = 6;

/// The figures of a side over its last minute under load.
#[derive(Debug, Default)]
struct SideMinute {
    load: LoadMinute,
    completed: u64,
    ended: u64,
    failed: u64,
}

/// Gathers what a live view shows of a comparison.
#[derive(Debug)]
pub struct ComparisonBoard {
    title: String,
    names: [String; 2],
    workers: u32,
    /// How many seconds each side is loaded for, if that is known and less than a minute.
    span: Option<usize>,
    sides: [SideMinute; 2],
    /// The side under load: 0 for A, 1 for B.
    side: usize,
    /// The block under load.
    begun: Option<BlockBegin>,
    second: u64,
    told: u32,
    counts: SliceTally,
    length_ns: u64,
    busiest: f64,
    /// The metric whose effects are shown, and the effect of each pair: the logarithm of A over B.
    effects: Option<(Metric, Vec<f64>)>,
    /// The verdicts so far, if the test is valid at every look.
    verdicts: Vec<String>,
}

impl ComparisonBoard {
    /// Creates the board of a comparison of which nothing is known yet. `title` describes it, the
    /// sides have these names, and each block is loaded by `workers` workers.
    pub fn new(title: String, sides: &ComparedSides<String>, workers: u32) -> ComparisonBoard {
        ComparisonBoard {
            title,
            names: [sides.a.clone(), sides.b.clone()],
            workers,
            span: None,
            sides: Default::default(),
            side: 0,
            begun: None,
            second: 0,
            told: 0,
            counts: SliceTally::default(),
            length_ns: 0,
            busiest: 0.0,
            effects: None,
            verdicts: Vec::new(),
        }
    }

    /// Sets how long each side is going to be loaded in all.
    #[must_use]
    pub fn lasting(self, of_side: Option<Duration>) -> ComparisonBoard {
        ComparisonBoard { span: span_of(of_side), ..self }
    }

    /// Processes the beginning of a block.
    pub fn begin(&mut self, begun: BlockBegin) -> Board {
        self.begun = Some(begun);
        self.side = usize::from(begun.turn.side == SideName::B && !begun.noise);
        (self.second, self.told) = (u64::MAX, 0);
        self.board()
    }

    /// Processes the figures of a worker for one second. Returns the board if every worker has
    /// reported that second.
    pub fn see(&mut self, slice: &Slice) -> Option<Board> {
        if slice.opened.is_some() {
            return None;
        }
        if slice.second != self.second {
            (self.second, self.told, self.length_ns) = (slice.second, 0, 0);
            (self.counts, self.busiest) = (SliceTally::default(), 0.0);
        }
        self.told += 1;
        slice.families.iter().for_each(|(_, of)| self.counts += of);
        self.length_ns = self.length_ns.max(slice.length_ns);
        self.busiest = self.busiest.max(slice.busy_ns as f64 / slice.length_ns.max(1) as f64);
        (self.told == self.workers).then(|| self.end_second())
    }

    /// Processes the comparison of the pairs so far.
    pub fn pair(&mut self, comparison: &Comparison) -> Board {
        self.effects =
            comparison.metrics.first().map(|first| (first.metric, first.effects.clone()));
        self.verdicts = running_verdicts(comparison);
        self.board()
    }

    fn end_second(&mut self) -> Board {
        let (side, of) = (&mut self.sides[self.side], &self.counts);
        side.load.push(of, self.second, self.length_ns);
        side.completed = side.completed.saturating_add(of.completed);
        side.ended = side.ended.saturating_add(of.ended());
        side.failed = side.failed.saturating_add(of.failed);
        self.board()
    }

    fn board(&self) -> Board {
        Board {
            title: self.title.clone(),
            doubts: self.doubts(),
            progress: self.begun.map_or_else(BoardProgress::default, |begun| self.progress(begun)),
            pages: vec![self.page()],
        }
    }

    fn progress(&self, begun: BlockBegin) -> BoardProgress {
        let now = &self.names[self.side];
        // The seconds of this block that have ended.
        let passed_s = self.second.checked_add(1).map_or(0.0, |seconds| seconds as f64);
        let text = |left_s| format!(", {}", left_text(left_s - passed_s, begun.may_end));
        let left = begun.left_s.map(text);
        BoardProgress {
            share: Some(begun.done as f64 / begun.of.max(1) as f64),
            text: format!("{}: {now}{}", begun.place(), left.unwrap_or_default()),
        }
    }

    fn doubts(&self) -> Vec<String> {
        let sides = self.sides.iter().zip(&self.names);
        let failed = sides.filter_map(|(side, name)| {
            failed_doubt(side.ended, side.failed, &format!("of {name}"))
        });
        busy_doubt(self.busiest).into_iter().chain(failed).collect()
    }

    fn page(&self) -> BoardPage {
        let column = |(side, name): (&SideMinute, &String)| side.load.column(name.clone());
        let row = |label: &str, bad: bool, count: fn(&SideMinute) -> u64| BoardRow {
            label: label.to_owned(),
            figures: self.sides.iter().map(|side| write_count(count(side))).collect(),
            bad: bad && self.sides.iter().any(|side| count(side) > 0),
        };
        BoardPage {
            name: "sides",
            columns: self.sides.iter().zip(&self.names).map(column).collect(),
            rows: vec![
                row("NORMAL", false, |side| side.completed),
                row("failed", true, |side| side.failed),
            ],
            lines: self.effect_lines(),
            span: self.span,
        }
    }

    /// Returns the effect of each pair, the latest first.
    fn effect_lines(&self) -> Vec<String> {
        let Some((metric, effects)) = &self.effects else {
            return vec!["the effect of each pair appears here".to_owned()];
        };
        let [a, b] = &self.names;
        let head = format!("effect of each pair on {}, {a} against {b}:", metric.noun());
        let shown: Vec<String> = effects
            .iter()
            .enumerate()
            .rev()
            .map(|(pair, effect)| format!("{:>4}. {:<10}", pair + 1, effect_text(*effect)))
            .collect();
        let lines = shown.chunks(ON_A_LINE).map(|line| line.concat());
        self.verdicts.iter().cloned().chain(std::iter::once(head)).chain(lines).collect()
    }
}

/// Returns a ratio, given as its logarithm, as a change in per cent.
fn effect_text(log: f64) -> String {
    format!("{:+.1} %", log.exp_m1() * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::comparison;
    use crate::schedule::BlockTurn;
    use crate::until::UntilDecided;

    fn slice(second: u64) -> Slice {
        let mut slice = Slice { second, length_ns: 1_000_000_000, ..Slice::default() };
        slice.families.ipv6.completed = 30;
        slice.families.ipv6.response.record(2_000_000);
        slice
    }

    #[test]
    fn adds_a_slice_to_the_trace_of_its_side_only() {
        let sides = ComparedSides { a: "ipv6".to_owned(), b: "ipv4".to_owned() };
        let mut board = ComparisonBoard::new("t".to_owned(), &sides, 1);
        let turn = BlockTurn { side: SideName::B, pair: Some(0) };
        let left_s = Some(24.0);
        board.begin(BlockBegin {
            turn,
            done: 2,
            of: 26,
            pairs: 12,
            noise: false,
            left_s,
            may_end: false,
        });
        let shown = board.see(&slice(0)).unwrap();
        assert_eq!(shown.progress.text, "pair 1 of 12: ipv4, about 23 s left");
        let latest = |column: usize| shown.pages[0].columns[column].traces[0].latest.clone();
        assert_eq!((latest(0), latest(1)), ("-".to_owned(), "30".to_owned()));
        assert!(shown.doubts.is_empty());
    }

    #[test]
    fn shows_pair_effects_and_a_verdict_only_if_judging_after_each_pair() {
        let sides = ComparedSides { a: "ipv6".to_owned(), b: "ipv4".to_owned() };
        let mut board = ComparisonBoard::new("t".to_owned(), &sides, 1);
        let mut found = comparison();
        found.metrics[0].effects = vec![0.0, 2f64.ln()];
        let lines = board.pair(&found).pages[0].lines.concat();
        assert!(lines.contains("1. +0.0 %") && lines.contains("2. +100.0 %"), "{lines}");
        for word in ["better", "worse", "inconclusive", "equivalent"] {
            assert!(!lines.contains(word), "{lines}");
        }
        let metrics = vec![found.metrics[0].metric];
        found.settings.until = Some(UntilDecided { metrics, at_most_s: 60.0 });
        let lines = board.pair(&found).pages[0].lines.join("\n");
        assert!(lines.contains("valid at every look"), "{lines}");
        assert!(lines.contains("median response: worse (+20.0"), "{lines}");
    }
}
