//! The short form of a run: a sentence, and the few figures that support it.

use std::collections::BTreeMap;

use sixmark_document::timing::Summary;
use sixmark_http::HttpVersion;
use sixmark_plan::plan::Plan;
use sixmark_plan::plan::timestamps::Timestamps;
use sixmark_result::result::{Generator, RunResult};
use sixmark_sheet::table::{Row, Table};
use sixmark_sheet::{Block, Figure, SheetHeadline, setting, terminal, write};
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::metric::{Quantity, QuantityGroup};
use sixmark_tally::outcome::Outcome;
use sixmark_tally::timed_phase::TimedPhase;

use super::pace_text;
use crate::sheet::account::describe_accounts;
use crate::sheet::figures::{quantity_row, times_row};
use crate::sheet::run::{clock_checks, requests_and_steps, run_headline, search_of};
use crate::sheet::search_text::write_amount_of_search;
use crate::sheet::side::{Side, Sides};

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
    let headline = run_headline(run);
    let mut text = String::new();
    terminal::write_failed(&mut text, &headline);
    let what = format!("{}{}: {}", amount(run), describe_end(run), run.plan.describe_targets());
    terminal::paragraph(&mut text, &what);
    terminal::paragraph(&mut text, &describe_load(run));
    text.push('\n');
    terminal::write_sentence(&mut text, &headline);
    match search_of(run) {
        Some(found) => terminal::write_part(&mut text, &found),
        None => terminal::write_blocks(&mut text, &evidence(run, &headline)),
    }
    let parts = requests_and_steps(run, MOST_APART).into_iter().chain(clock_checks(run));
    parts.for_each(|part| terminal::write_part(&mut text, &part));
    text
}

/// Describes how much a run measured, and how long it took.
fn amount(run: &RunResult) -> String {
    match &run.find_max {
        Some(found) => write_amount_of_search(found),
        None => {
            let sent = write::write_count(run.total.requests.sent);
            format!("{sent} requests in {:.2} s", run.elapsed_s)
        }
    }
}

fn describe_end(run: &RunResult) -> String {
    match setting::describe_end(run.ended) {
        "" => String::new(),
        ended => format!(" ({ended})"),
    }
}

/// Describes the load: loop, concurrency, ratio, version of HTTP, and the generator.
fn describe_load(run: &RunResult) -> String {
    let pace = pace_text(&run.plan, run.find_max.is_some());
    format!("{pace}, {}{}", describe_version(&run.plan), describe_generator(&run.generator))
}

/// Describes the version of HTTP, and the connections and streams if there are several streams;
/// empty for HTTP/1.1.
fn describe_version(plan: &Plan) -> String {
    let (version, streams) = (plan.http.version, plan.http.streams.get());
    match (version, streams) {
        (HttpVersion::Http1, _) => String::new(),
        (HttpVersion::Http10, _) => "HTTP/1.0, ".to_owned(),
        (_, 1) => format!("{}, ", version.name()),
        _ => format!("{}, {} x {streams}, ", version.name(), plan.load.connections),
    }
}

/// Describes the generator: threads, driver, and clock if it is the kernel's.
fn describe_generator(generator: &Generator) -> String {
    let Generator { threads, driver, .. } = generator;
    let noun = if *threads == 1 { "thread" } else { "threads" };
    let kernel = generator.timestamps.mode == Timestamps::Kernel;
    format!("{threads} {noun}, {driver}{}", if kernel { ", kernel time" } else { "" })
}

/// Returns the table that supports the sentence, and the notes on it.
fn evidence(run: &RunResult, headline: &SheetHeadline) -> Vec<Block> {
    let sides = Sides::of_families(run);
    let addresses = failed_addresses(&sides);
    let failed = failed_rows(&sides).into_iter().take(MOST_FAILED - addresses.len());
    let rows = std::iter::once(quantity_row(&sides, Quantity::Sent)).chain(failed);
    let table = Table::new("", sides.columns(""), rows.chain(response_rows(&sides)).collect());
    let lines = addresses.into_iter().chain([describe_throughput(run)]);
    let lines = lines.chain(describe_accounts(&sides));
    let lines = lines.chain(headline.notes.iter().cloned()).chain([FULL.to_owned()]);
    [Block::Table(table)].into_iter().chain(lines.map(Block::Text)).collect()
}

/// Returns the rows of the response time, except those that no family has, as in older documents.
fn response_rows(sides: &Sides<'_>) -> Vec<Row> {
    let row = |(name, quantile): Figure<Summary>| {
        let any = sides.all.iter().any(|side| quantile(&side.figures.response_us).is_some());
        let label = format!("response {name}").into();
        any.then(|| Row { label, ..times_row(sides, TimedPhase::Response, (name, quantile)) })
    };
    QUANTILES.into_iter().filter_map(row).collect()
}

/// Returns a line for each family with failures at one of several addresses: the worst address, and
/// the number of others with failures.
fn failed_addresses(sides: &Sides<'_>) -> Vec<String> {
    let line = |side: &Side<'_>| {
        let failed: Vec<_> = side.figures.by_address.iter().filter(|of| of.failed() > 0).collect();
        let worst = failed.first()?;
        let [times, ended] = [worst.failed(), worst.ended].map(write::write_count);
        let more = match failed.len() - 1 {
            0 => String::new(),
            1 => ", and 1 other address failed".to_owned(),
            others => format!(", and {} other addresses failed", write::write_count(others as u64)),
        };
        Some(format!("{}: {} failed {times} of {ended}{more}", side.name, worst.address))
    };
    sides.all.iter().filter_map(line).collect()
}

/// Describes the rates of the whole run. They are not given for each family because the ratio fixes
/// each family's share.
fn describe_throughput(run: &RunResult) -> String {
    let both = if run.families.iter().count() == 2 { "both families: " } else { "" };
    let rate = write::write_count(run.total.requests_per_s.round() as u64);
    let goodput = Quantity::Goodput.value(&run.total).unwrap_or(0.0);
    format!("{both}{rate} requests/s, goodput {}", write::write_rate(goodput))
}

/// Returns rows of failures, of exchanges not started or resent, of kinds of failures, and of status
/// codes. Kinds and codes are in descending order of frequency. Rows without any count are omitted.
fn failed_rows(sides: &Sides<'_>) -> Vec<Row> {
    let figures = || sides.all.iter().map(|side| side.figures);
    let row = |label: &str, count: &dyn Fn(&FamilyResult) -> u64| {
        let count = |of: &FamilyResult| Some(count(of) as f64);
        sides.any(count).then(|| sides.row(label, count, |n| write::write_count(n as u64)))
    };
    let mut rows = vec![row("requests failed", &FamilyResult::failed)];
    rows.extend(Quantity::in_group(QuantityGroup::Weakening).map(|quantity| {
        row(quantity.entry().title, &|of| quantity.value(of).unwrap_or(0.0) as u64)
    }));
    let kinds = most_first(figures().flat_map(failure_kinds));
    rows.extend(kinds.iter().map(|name| {
        row(&format!("  {name}"), &|of| failure_kinds(of).get(name).copied().unwrap_or(0))
    }));
    if figures().any(|of| of.status.keys().any(|&code| code != 200)) {
        let codes = most_first(figures().flat_map(|of| of.status.clone()));
        rows.extend(codes.iter().map(|code| {
            row(&format!("  status {code}"), &|of| of.status.get(code).copied().unwrap_or(0))
        }));
    }
    rows.into_iter().flatten().collect()
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
