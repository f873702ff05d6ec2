//! What a live view shows of a search for the highest rate.

use std::time::Duration;

use sixmark_sheet::board::{Board, BoardRow, elapsed_text};
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::quantity::write_count;

use super::RunBoard;
use crate::sheet::search_text;
use sixmark_plan::pace::RequestRate;
use sixmark_plan::plan::Plan;
use sixmark_result::condition::Condition;
use sixmark_result::find::Trial;
use sixmark_result::search::Bracket;
use sixmark_tally::tally::Slice;

/// Gathers what a live view shows of a search.
#[derive(Debug)]
pub struct SearchBoard<'a> {
    /// The load of the current trial.
    run: RunBoard<'a>,
    title: String,
    conditions: &'a [Condition],
    /// How long the current trial is measured.
    duration: Option<Duration>,
    /// The current trial, and how long the search may still take after its beginning.
    now: String,
    left: Duration,
    brackets: PerFamily<Option<Bracket>>,
    trials: PerFamily<u64>,
    /// The trials of each family that are over, and in which order: the family of each.
    over: PerFamily<Vec<Trial>>,
    order: Vec<Family>,
}

impl<'a> SearchBoard<'a> {
    /// Creates the board of a search whose first trial has this plan.
    pub fn new(plan: &'a Plan, conditions: &'a [Condition]) -> SearchBoard<'a> {
        let wanted: Vec<String> = conditions.iter().map(ToString::to_string).collect();
        SearchBoard {
            run: RunBoard::new(plan),
            title: format!("{}  highest rate with {}", plan.describe_targets(), wanted.join(", ")),
            conditions,
            duration: plan.load.duration,
            now: String::new(),
            left: Duration::ZERO,
            brackets: PerFamily::default(),
            trials: PerFamily::default(),
            over: PerFamily::default(),
            order: Vec::new(),
        }
    }

    /// Processes the beginning of a trial of a family at a rate, which is measured for `length`. The
    /// search has `left` to go at most.
    pub fn begin(&mut self, family: Family, rate: RequestRate, length: Duration, left: Duration) {
        (self.duration, self.left) = (Some(length), left);
        self.trials[family] += 1;
        let number: u64 = self.trials.iter().map(|(_, trials)| trials).sum();
        self.now = format!("trial {number}: {family} at {rate}");
        self.run.begin_turn(family);
    }

    /// Processes the figures of a worker for one second. Returns the board if every worker has
    /// reported that second.
    pub fn see(&mut self, slice: &Slice) -> Option<Board> {
        self.run.see(slice).map(|board| self.filled(board, slice.second + 1))
    }

    /// Processes the end of a trial, the last of these of the family, and what is known of the family
    /// then.
    pub fn end(&mut self, family: Family, trials: &[Trial], bracket: Bracket) {
        self.brackets[family] = Some(bracket);
        // It may have changed what is known of the rates of earlier ones.
        self.over[family] = trials.to_vec();
        self.order.push(family);
    }

    /// Returns a line for each trial that is over, the latest first.
    fn lines(&self) -> Vec<String> {
        let mut left = PerFamily::from_fn(|family| self.over[family].iter().rev());
        let latest = self.order.iter().rev();
        let line = |&family: &Family| {
            Some(search_text::trial(family, left[family].next()?, self.conditions))
        };
        latest.filter_map(line).collect()
    }

    /// Replaces what the board of one load says by that of the search.
    fn filled(&self, board: Board, seconds: u64) -> Board {
        let mut board = Board { title: self.title.clone(), ..board };
        // What is left after the last whole second is no second of the trial.
        let most = self.duration.map_or(u64::MAX, |duration| duration.as_secs_f64().ceil() as u64);
        let elapsed = elapsed_text(seconds.min(most), self.duration);
        let left = self.left.as_secs().saturating_sub(seconds);
        let left = humantime::format_duration(Duration::from_secs(left));
        board.progress.text =
            format!("{}, {}, at most {left} left", self.now, elapsed.trim_start());
        if let Some(page) = board.pages.first_mut() {
            page.rows = self.rows();
            page.lines = self.lines();
        }
        board
    }

    fn rows(&self) -> Vec<BoardRow> {
        let used = self.run.used();
        let row = |label: &str, figure: &dyn Fn(Family) -> String| BoardRow {
            label: label.to_owned(),
            figures: used.iter().map(|&family| figure(family)).collect(),
            bad: false,
        };
        let rate = |of: Option<f64>| {
            let rate = of.and_then(|per_s| RequestRate::new(per_s).ok());
            rate.map_or_else(|| "-".to_owned(), |rate| rate.to_string())
        };
        let end = |of: fn(Bracket) -> Option<f64>| {
            move |family: Family| rate(self.brackets[family].and_then(of))
        };
        vec![
            row("highest rate that held", &end(|bracket| bracket.holds)),
            row("lowest that did not", &end(|bracket| bracket.fails)),
            row("trials", &|family| write_count(self.trials[family])),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_result::find::Limit;
    use sixmark_result::fixture::run;
    use sixmark_result::rate_decision::RateDecision;
    use sixmark_tally::tally::RequestCounts;
    use sixmark_tally::tally::SliceTally;

    #[test]
    fn shows_the_bracket_and_latest_trial_next_to_the_running_trial() {
        let mut plan = run().plan;
        plan.load.duration = Some(Duration::from_secs(2));
        let conditions = ["response.p99 < 10ms".parse().unwrap()];
        let mut board = SearchBoard::new(&plan, &conditions);
        let slice = |completed| {
            let mut slice = Slice { length_ns: 1_000_000_000, ..Slice::default() };
            slice.families.ipv6 = SliceTally { sent: 100, completed, ..SliceTally::default() };
            slice
        };
        let [two, left] = [2, 600].map(Duration::from_secs);
        board.begin(Family::Ipv6, RequestRate::new(200.0).unwrap(), two, left);
        let first = board.see(&slice(100)).unwrap();
        assert_eq!(first.progress.text, "trial 1: IPv6 at 200/s, 1 of 2 s, at most 9m 59s left");
        assert!(first.title.ends_with("highest rate with response.p99 < 10ms"), "{}", first.title);
        let trial = Trial {
            rate: 200.0,
            in_flight: None,
            length_s: None,
            held: false,
            reason: Some(Limit::Condition),
            decision: None,
            values: vec![Some(12_000.0)],
            elapsed_s: 2.0,
            requests: RequestCounts::default(),
        };
        let bracket = Bracket { holds: None, fails: Some(200.0) };
        board.end(Family::Ipv6, std::slice::from_ref(&trial), bracket);
        board.begin(Family::Ipv4, RequestRate::new(100.0).unwrap(), two, left);
        let shown = board.see(&slice(0)).unwrap();
        let page = &shown.pages[0];
        assert_eq!(page.rows[1].figures, ["200/s", "-"]);
        assert!(page.lines[0].starts_with("IPv6  200/s did not hold"), "{:?}", page.lines);
        // The family whose turn is over has no rate in this second, and is not said to be silent.
        let values = &page.columns[0].traces[0].values;
        assert_eq!(values, &[Some(100.0), None]);
        assert!(shown.doubts.is_empty(), "{:?}", shown.doubts);
        // A trial at the same rate that changes what is known of it changes the line of the first.
        let known = |trial: &Trial| Trial { decision: Some(RateDecision::Varies), ..trial.clone() };
        let held = Trial { held: true, reason: None, ..trial.clone() };
        board.end(Family::Ipv6, &[&trial, &held].map(known), Bracket::default());
        let lines = board.lines();
        assert!(lines[0].starts_with("IPv6  200/s held alone, varied with other"), "{lines:?}");
        assert!(lines[1].starts_with("IPv6  200/s did not hold alone, varied with"), "{lines:?}");
    }
}
