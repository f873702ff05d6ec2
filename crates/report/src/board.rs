//! What a live view shows of a run, and of a search for the highest rate.

mod agents;
mod minute;
mod search;

use std::collections::BTreeMap;

use sixmark_sheet::board::{
    Board, BoardColumn, BoardPage, BoardProgress, BoardRow, elapsed_text, span_of,
};
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::quantity::{duration_us, write_count, write_percent};

use crate::text::pace_text;
use sixmark_plan::plan::{Endpoint, Plan};
use sixmark_result::generator::is_saturated;
use sixmark_tally::outcome::Outcome;
use sixmark_tally::tally::{RunningCounts, RunningTally, Slice, SliceTally};

use agents::AgentRows;
pub use minute::LoadMinute;
pub use search::SearchBoard;

/// The number of seconds without a response after which a family is said to have fallen away.
const SILENT_S: u64 = 3;
/// The share of failed exchanges above which they are named first.
const MANY_FAILED: f64 = 0.01;
/// The age of an exchange in flight from which it is worth a doubt, in nanoseconds.
const OLD_NS: u64 = 1_000_000_000;
/// The most statuses that are shown.
const MOST_STATUSES: usize = 4;

/// Returns a doubt if a worker was busy for almost all of a second, given the busy share.
pub fn busy_doubt(busiest: f64) -> Option<String> {
    let share = write_percent(busiest.min(1.0));
    is_saturated(busiest).then(|| {
        format!("a worker was busy for {share} of the last second: the generator may be the limit")
    })
}

/// Returns a doubt if many of the exchanges of a family or a side that ended failed.
pub fn failed_doubt(ended: u64, failed: u64, of: &str) -> Option<String> {
    let share = failed as f64 / ended.max(1) as f64;
    let text = || format!("{} of the exchanges {of} failed", write_percent(share));
    (share > MANY_FAILED).then(text)
}

/// The figures of a family.
#[derive(Debug, Default)]
struct FamilyMinute {
    load: LoadMinute,
    /// The number of seconds at the end in which exchanges were in flight and none was answered.
    silent: u64,
}

/// Gathers what a live view shows of a run.
#[derive(Debug)]
pub struct RunBoard<'a> {
    plan: &'a Plan,
    title: String,
    second: u64,
    /// The number of workers that have reported this second.
    told: u32,
    counts: PerFamily<SliceTally>,
    length_ns: u64,
    busiest: f64,
    minutes: PerFamily<FamilyMinute>,
    /// Exchanges started and ended by the seconds before, for loads without running counts.
    ended: PerFamily<EndedCounts>,
    /// What each worker has counted so far.
    running: BTreeMap<u32, RunningCounts>,
    agents: AgentRows,
    /// The only family that is loaded now, where families take turns.
    turn: Option<Family>,
}

/// Exchanges of a family.
#[derive(Clone, Copy, Debug, Default)]
struct EndedCounts {
    sent: u64,
    completed: u64,
    /// As [`SliceTally::ended`].
    ended: u64,
    failed: u64,
}

impl<'a> RunBoard<'a> {
    /// Creates the board of a run of which nothing is known yet.
    pub fn new(plan: &'a Plan) -> RunBoard<'a> {
        RunBoard {
            plan,
            title: format!("{}  {}", plan.describe_targets(), pace_text(plan, false)),
            second: 0,
            told: 0,
            counts: PerFamily::default(),
            length_ns: 0,
            busiest: 0.0,
            minutes: PerFamily::default(),
            ended: PerFamily::default(),
            running: BTreeMap::new(),
            agents: AgentRows::default(),
            turn: None,
        }
    }

    /// Begins another load, of one family. The last minute goes on; what is counted begins anew.
    fn begin_turn(&mut self, family: Family) {
        let minutes = std::mem::take(&mut self.minutes);
        let title = std::mem::take(&mut self.title);
        *self = RunBoard { minutes, title, turn: Some(family), ..RunBoard::new(self.plan) };
        for family in Family::BOTH {
            self.minutes[family].silent = 0;
        }
    }

    /// Processes the figures of a worker for one second. Returns the board if every worker has
    /// reported that second.
    pub fn see(&mut self, slice: &Slice) -> Option<Board> {
        if slice.opened.is_some() {
            return None;
        }
        if slice.second != self.second {
            (self.second, self.told, self.length_ns) = (slice.second, 0, 0);
            (self.counts, self.busiest) = (PerFamily::default(), 0.0);
        }
        self.told += 1;
        self.counts += &slice.families;
        self.length_ns = self.length_ns.max(slice.length_ns);
        self.busiest = self.busiest.max(slice.busy_ns as f64 / slice.length_ns.max(1) as f64);
        self.agents.see(slice);
        if let Some(running) = &slice.running {
            self.running.insert(slice.worker, (**running).clone());
        }
        (self.told == self.plan.load.threads.get()).then(|| self.end_second())
    }

    /// Adds the second to the last minute, and returns the board.
    fn end_second(&mut self) -> Board {
        for (family, of) in self.counts.iter() {
            let minute = &mut self.minutes[family];
            if self.turn.is_some_and(|turn| turn != family) {
                minute.load.push_none();
                continue;
            }
            minute.load.push(of, self.second, self.length_ns);
            let ended = &mut self.ended[family];
            ended.sent += of.sent;
            ended.completed += of.completed;
            ended.ended += of.ended();
            ended.failed += of.failed;
            let waits = ended.sent > ended.ended || of.failed > 0;
            minute.silent = if waits && of.completed == 0 { minute.silent + 1 } else { 0 };
        }
        self.board()
    }

    fn board(&self) -> Board {
        Board {
            title: self.title.clone(),
            doubts: self.doubts(),
            progress: self.progress(),
            pages: std::iter::once(self.families_page())
                .chain(self.addresses_page())
                .chain(self.agents.page())
                .collect(),
        }
    }

    /// Returns what was counted of each address, if there are several of a family.
    fn addresses_page(&self) -> Option<BoardPage> {
        let endpoints = self.plan.all_endpoints();
        let several = endpoints.len() > self.used().len() && !self.running.is_empty();
        let column = |name: &str| BoardColumn { name: name.to_owned(), traces: Vec::new() };
        let row = |(number, endpoint): (usize, &Endpoint)| {
            let of = |which: usize| -> u64 {
                let counts = self.running.values().filter_map(|of| of.endpoints.get(number));
                counts.map(|counts| counts[which]).sum()
            };
            BoardRow {
                label: endpoint.address.to_string(),
                figures: vec![write_count(of(0)), write_count(of(1))],
                bad: of(1) > 0,
            }
        };
        several.then(|| BoardPage {
            name: "addresses",
            columns: ["NORMAL", "failed"].map(column).into(),
            rows: endpoints.iter().enumerate().map(row).collect(),
            ..BoardPage::default()
        })
    }

    /// Returns the families of the run.
    fn used(&self) -> Vec<Family> {
        Family::BOTH.into_iter().filter(|&family| self.plan.ratio.uses(family)).collect()
    }

    fn progress(&self) -> BoardProgress {
        let load = &self.plan.load;
        let seconds = self.second + 1;
        let mut text = elapsed_text(seconds, load.duration).trim_start().to_owned();
        let of_time = load.duration.map(|all| seconds as f64 / all.as_secs_f64().max(1e-9));
        let ended: u64 = self.ended.iter().map(|(_, of)| of.ended).sum();
        let of_count = load.requests.map(|all| {
            text += &format!(", {} of {} requests", write_count(ended), write_count(all.get()));
            ended as f64 / all.get() as f64
        });
        BoardProgress { share: of_time.into_iter().chain(of_count).reduce(f64::max), text }
    }

    /// Returns what makes the figures doubtful now.
    fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        for family in self.used() {
            let silent = self.minutes[family].silent;
            if silent >= SILENT_S {
                doubts.push(format!("no response over {family} for {silent} s"));
            }
        }
        doubts.extend(busy_doubt(self.busiest));
        doubts.extend(self.used().into_iter().filter_map(|family| self.failing(family)));
        let oldest = self.running.values().map(|of| of.oldest_ns).max().unwrap_or(0);
        if oldest >= OLD_NS {
            let age = duration_us(oldest as f64 / 1e3);
            doubts.push(format!("an exchange in flight has been unanswered for {age}"));
        }
        doubts
    }

    fn failing(&self, family: Family) -> Option<String> {
        let of = self.ended[family];
        failed_doubt(of.ended, of.failed, &format!("over {family}"))
    }

    fn families_page(&self) -> BoardPage {
        let used = self.used();
        let columns = used
            .iter()
            .map(|&family| self.minutes[family].load.column(family.to_string()))
            .collect();
        let counted = used.iter().map(|&family| self.counted(family)).collect::<Vec<_>>();
        let load = &self.plan.load;
        // A search loads each family in turn, for as long as it takes.
        let duration = load.duration.filter(|_| self.turn.is_none());
        let span = span_of(duration.map(|duration| duration + load.warmup));
        let (name, lines) = ("families", Vec::new());
        BoardPage { name, columns, rows: rows(self.plan, &counted), lines, span }
    }

    /// Returns what was counted of a family so far.
    fn counted(&self, family: Family) -> CountedFamily {
        let ended = self.ended[family];
        let mut all: Option<RunningTally> = None;
        for of in self.running.values() {
            *all.get_or_insert_default() += &of.families[family];
        }
        CountedFamily { ended, all }
    }
}

/// What was counted of a family so far.
struct CountedFamily {
    ended: EndedCounts,
    /// The same in detail, if the workers report it.
    all: Option<RunningTally>,
}

impl CountedFamily {
    /// Returns a count of the details; 0 if there are none.
    fn of(&self, count: impl Fn(&RunningTally) -> u64) -> u64 {
        self.all.as_ref().map_or(0, count)
    }
}

/// Returns the rows: responses by status, failures by outcome, exchanges in flight, connections.
fn rows(plan: &Plan, of: &[CountedFamily]) -> Vec<BoardRow> {
    let row = |label: String, bad: bool, count: &dyn Fn(&CountedFamily) -> u64| BoardRow {
        bad: bad && of.iter().any(|of| count(of) > 0),
        figures: of.iter().map(|of| write_count(count(of))).collect(),
        label,
    };
    let mut rows = vec![row("NORMAL".to_owned(), false, &|of| of.ended.completed)];
    for status in statuses(of) {
        let bad = !plan.accept_status.accepts(status);
        let count = move |of: &CountedFamily| of.of(|all| all.status_count(status));
        rows.push(row(format!("  status {status}"), bad, &count));
    }
    if of.iter().any(|of| of.all.is_none()) {
        rows.push(row("failed".to_owned(), true, &|of| of.ended.failed));
    }
    let failed = Outcome::ALL.into_iter().filter(|outcome| {
        *outcome != Outcome::Normal && of.iter().any(|of| of.of(|all| all.outcome(*outcome)) > 0)
    });
    for outcome in failed {
        let count = move |of: &CountedFamily| of.of(|all| all.outcome(outcome));
        rows.push(row(outcome.name().to_owned(), outcome != Outcome::Abandoned, &count));
    }
    rows.push(row("in flight".to_owned(), false, &|of| {
        of.ended.sent.saturating_sub(of.ended.ended)
    }));
    if of.iter().all(|of| of.all.is_some()) {
        let open =
            |all: &RunningTally| all.connections.opened.saturating_sub(all.connections.closed);
        rows.push(row("connections open".to_owned(), false, &move |of| of.of(open)));
        rows.push(row("connections opened".to_owned(), false, &|of| {
            of.of(|all| all.connections.opened)
        }));
    }
    rows
}

/// Returns the most frequent statuses, unless all responses have one that is usual.
fn statuses(of: &[CountedFamily]) -> Vec<u16> {
    let mut counts = BTreeMap::<u16, u64>::new();
    for (status, count) in
        of.iter().filter_map(|of| of.all.as_ref()).flat_map(|all| all.status.iter())
    {
        *counts.entry(status).or_default() += count;
    }
    if counts.len() <= 1 && counts.keys().all(|status| *status == 200) {
        return Vec::new();
    }
    let mut found: Vec<(u16, u64)> = counts.into_iter().collect();
    found.sort_by_key(|(status, count)| (std::cmp::Reverse(*count), *status));
    found.into_iter().take(MOST_STATUSES).map(|(status, _)| status).collect()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;
    use std::time::Duration;

    use super::*;
    use sixmark_result::fixture::run;
    use sixmark_tally::outcome::{Failure, FailurePhase};

    /// Returns a plan of 20 seconds for both families with one worker.
    fn plan() -> Plan {
        let mut plan = run().plan;
        plan.load.duration = Some(Duration::from_secs(20));
        plan.load.requests = None;
        plan
    }

    fn slice(second: u64, completed: u64) -> Slice {
        let mut slice = Slice { second, length_ns: 1_000_000_000, busy_ns: 1, ..Slice::default() };
        slice.families.ipv4 = SliceTally { sent: 10, completed: 10, ..SliceTally::default() };
        slice.families.ipv6 = SliceTally { sent: 10, completed, ..SliceTally::default() };
        slice.families.ipv6.response.record(2_000_000);
        slice
    }

    #[test]
    fn shows_a_second_once_every_worker_has_reported_it() {
        let mut plan = plan();
        plan.load.threads = std::num::NonZeroU32::new(2).unwrap();
        let mut board = RunBoard::new(&plan);
        assert_eq!(board.see(&slice(0, 10)), None);
        let shown = board.see(&slice(0, 10)).unwrap();
        assert_eq!(shown.progress.text, "1 of 20 s");
        assert_eq!(shown.progress.share, Some(0.05));
        let column = &shown.pages[0].columns[0];
        assert_eq!((&*column.name, &*column.traces[0].latest), ("IPv6", "20"));
        assert_eq!(column.traces[2].latest, "2.00 ms");
        assert!(shown.doubts.is_empty(), "{:?}", shown.doubts);
    }

    #[test]
    fn lists_a_silent_family_as_the_first_doubt() {
        let plan = plan();
        let mut board = RunBoard::new(&plan);
        let mut shown = None;
        for second in 0..4 {
            let mut slice = slice(second, 0);
            slice.busy_ns = slice.length_ns;
            let mut running =
                RunningCounts { oldest_ns: 3_200_000_000, ..RunningCounts::default() };
            let reset = Failure::new(Outcome::Reset, FailurePhase::Wait);
            running.families.ipv4.failures.add(reset, 7);
            running.families.ipv4.status.add(503, 2);
            slice.running = Some(Box::new(running));
            shown = board.see(&slice);
        }
        let shown = shown.unwrap();
        assert_eq!(shown.doubts[0], "no response over IPv6 for 4 s");
        assert!(shown.doubts[1].contains("busy") && shown.doubts[2].contains("3.20 s"));
        let rows = &shown.pages[0].rows;
        let of = |label: &str| rows.iter().find(|row| row.label == label).unwrap();
        assert_eq!((of("RESET").figures[1].as_str(), of("RESET").bad), ("7", true));
        assert!(of("  status 503").bad);
        assert_eq!(of("in flight").figures, ["40", "0"]);
    }

    #[test]
    fn does_not_compute_a_rate_from_a_partial_second() {
        let plan = plan();
        let mut board = RunBoard::new(&plan);
        board.see(&slice(0, 10));
        let rest = Slice { length_ns: 1_000_000, ..slice(1, 0) };
        let shown = board.see(&rest).unwrap();
        assert_eq!(shown.pages[0].columns[0].traces[0].latest, "10");
    }

    #[test]
    fn shows_progress_by_requests_for_a_run_without_a_duration() {
        let mut plan = plan();
        (plan.load.duration, plan.load.requests) = (None, NonZeroU64::new(100));
        let shown = RunBoard::new(&plan).see(&slice(0, 15)).unwrap();
        assert_eq!(shown.progress.share, Some(0.25));
        assert_eq!(shown.progress.text, "1 s, 25 of 100 requests");
    }
}
