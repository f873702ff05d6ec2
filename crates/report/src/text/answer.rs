//! The short form of a run: a sentence, and the few figures that support it.

use crate::sheet::run::search_of;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use sixmark_document::timing::Summary;
use sixmark_result::result::RunResult;
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::metric::{Quantity, QuantityGroup};
use sixmark_tally::outcome::Outcome;
use sixmark_tally::timed_phase::TimedPhase;
use sixmark_units::family::Family;
use sixmark_units::quantity::{bytes, write_count};

use super::{FamilyColumns, amount, setting, targets_line, write_whole};
use crate::gate_text as gates;
use sixmark_sheet::SheetHeadline;
use sixmark_sheet::{Figure, terminal};

/// The most lines about failures, so that at most 14 lines follow the sentence.
const MOST_FAILED: usize = 5;

/// The most requests of a mix, and the most steps of a rate, that have rows of their own.
const MOST_APART: usize = 8;

/// The quantiles that are shown of the response time.
const QUANTILES: [Figure<Summary>; 3] =
    [("median", |s| s.p50), ("p95", |s| s.p95), ("p99", |s| s.p99)];

/// The hint how to see the other figures.
const FULL: &str = "All phases, connections, TLS, TCP and CPU time: --full";

/// Formats what was run, the conclusion, and the figures that support it.
pub(super) fn run_answer(run: &RunResult) -> String {
    let headline = crate::sheet::run::run_headline(run);
    let mut text = String::new();
    terminal::write_failed(&mut text, &headline);
    let ended = super::describe_end(run.ended);
    let first = format!("{}{ended}: {}", amount(run), targets_line(&run.plan));
    terminal::paragraph(&mut text, &first);
    terminal::paragraph(&mut text, &setting(run));
    text.push('\n');
    terminal::write_sentence(&mut text, &headline);
    match search_of(run) {
        Some(found) => terminal::write_part(&mut text, &found),
        None => write_evidence(&mut text, run, &headline),
    }
    crate::sheet::run::requests_and_steps(run, MOST_APART)
        .iter()
        .for_each(|part| terminal::write_part(&mut text, part));
    crate::sheet::run::clock_checks(run)
        .iter()
        .for_each(|part| terminal::write_part(&mut text, part));
    if !run.gates.is_empty() {
        text.push('\n');
    }
    text.push_str(&gates::gate_lines(&run.gates));
    text
}

fn write_evidence(text: &mut String, run: &RunResult, headline: &SheetHeadline) {
    let sides = Family::BOTH.map(|family| run.families.of(family));
    let version = run.plan.http.version;
    let columns = FamilyColumns { sides, hidden: [false; 2], version, clocks: None };
    text.push('\n');
    columns.head(text);
    columns.quantity(text, Quantity::Sent);
    let addresses = failed_addresses(&columns);
    for row in failed_rows(&columns).into_iter().take(MOST_FAILED - addresses.len()) {
        columns.row(text, &row.label, |of| Some((row.count)(of) as f64), write_whole);
    }
    columns.quantiles(text, TimedPhase::Response, &QUANTILES);
    addresses.iter().for_each(|line| terminal::paragraph(text, line));
    let _ = writeln!(text, "{}", describe_throughput(run));
    headline.notes.iter().for_each(|note| terminal::paragraph(text, note));
    let _ = writeln!(text, "{FULL}");
}

/// Returns a line for each family with failures at one of several addresses: the worst address, and
/// the number of others with failures.
fn failed_addresses(columns: &FamilyColumns<'_>) -> Vec<String> {
    let families = Family::BOTH.into_iter().zip(columns.sides);
    let line = |(family, side): (Family, Option<&FamilyResult>)| {
        let all = side.into_iter().flat_map(|of| &of.by_address);
        let failed: Vec<_> = all.filter(|of| of.failed() > 0).collect();
        let worst = failed.first()?;
        let (times, ended) = (write_count(worst.failed()), write_count(worst.ended));
        let more = match failed.len() - 1 {
            0 => String::new(),
            1 => ", and 1 other address failed".to_owned(),
            others => format!(", and {} other addresses failed", write_count(others as u64)),
        };
        Some(format!("{family}: {} failed {times} of {ended}{more}", worst.address))
    };
    families.filter_map(line).collect()
}

/// Describes the rates of the whole run. They are not given for each family because the ratio fixes
/// each family's share.
fn describe_throughput(run: &RunResult) -> String {
    let both = if Family::BOTH.iter().all(|&family| run.families.of(family).is_some()) {
        "both families: "
    } else {
        ""
    };
    let rate = write_count(run.total.requests_per_s.round() as u64);
    let goodput = Quantity::Goodput.value(&run.total).unwrap_or(0.0);
    format!("{both}{rate} requests/s, goodput {}/s", bytes(goodput))
}

/// A row of counts.
struct CountRow<'a> {
    label: String,
    count: Box<dyn Fn(&FamilyResult) -> u64 + 'a>,
}

impl<'a> CountRow<'a> {
    fn new(label: impl Into<String>, count: impl Fn(&FamilyResult) -> u64 + 'a) -> CountRow<'a> {
        CountRow { label: label.into(), count: Box::new(count) }
    }
}

/// Returns rows of failures, of exchanges not started or resent, of kinds of failures, and of status
/// codes.
/// Kinds and codes are in descending order of frequency. Rows without any count are omitted.
fn failed_rows<'a>(columns: &FamilyColumns<'a>) -> Vec<CountRow<'a>> {
    let used: Vec<&FamilyResult> = columns.sides.into_iter().flatten().collect();
    let quantity = |quantity: Quantity| {
        CountRow::new(quantity.entry().title, move |of: &FamilyResult| {
            quantity.value(of).unwrap_or(0.0) as u64
        })
    };
    let first = [CountRow::new("requests failed", FamilyResult::failed)];
    let always =
        first.into_iter().chain(Quantity::in_group(QuantityGroup::Weakening).map(quantity));
    let kinds = most_first(used.iter().flat_map(|of| failure_kinds(of)));
    let kinds = kinds.into_iter().map(|name| {
        let label = format!("  {name}");
        CountRow::new(label, move |of: &FamilyResult| {
            failure_kinds(of).get(&name).copied().unwrap_or(0)
        })
    });
    let usual = used.iter().all(|of| of.status.keys().all(|&code| code == 200));
    let codes = most_first(used.iter().flat_map(|of| of.status.clone()));
    let codes = codes.into_iter().filter(move |_| !usual).map(|code| {
        CountRow::new(format!("  status {code}"), move |of: &FamilyResult| {
            of.status.get(&code).copied().unwrap_or(0)
        })
    });
    let all = always.chain(kinds).chain(codes);
    all.filter(|row| used.iter().any(|of| (row.count)(of) > 0)).collect()
}

/// Counts failures by outcome and phase, except exchanges that the end of the run cut off.
fn failure_kinds(of: &FamilyResult) -> BTreeMap<String, u64> {
    let mut kinds = BTreeMap::new();
    for failed in of.failures.iter().filter(|of| of.failure.outcome != Outcome::Abandoned) {
        let name = format!("{} in {}", failed.failure.outcome, failed.failure.phase);
        *kinds.entry(name).or_insert(0) += failed.count;
    }
    kinds
}

/// Adds up the counts of each name, and returns the names in descending order of their sums.
fn most_first<N: Ord>(counts: impl Iterator<Item = (N, u64)>) -> Vec<N> {
    let mut sums = BTreeMap::new();
    counts.for_each(|(name, count)| *sums.entry(name).or_insert(0) += count);
    let mut all: Vec<(N, u64)> = sums.into_iter().collect();
    all.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    all.into_iter().map(|(name, _)| name).collect()
}
