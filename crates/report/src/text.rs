//! The table on the screen: IPv6 and IPv4 side by side.

mod agreed;
mod answer;
mod path;

use crate::sheet::fleet::fleet_part;
use crate::sheet::run::search_of;
use crate::sheet::search_text::write_amount_of_search;
use sixmark_vitals::costs_sheet::costs_part;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use sixmark_document::provenance::Ended;
use sixmark_document::provenance::{Lookup, LookupFound};
use sixmark_document::timing::Summary;
use sixmark_http::HttpVersion;
use sixmark_plan::pace::Pace;
use sixmark_plan::plan::Plan;
use sixmark_plan::plan::timestamps::Timestamps;
use sixmark_result::gate_result::GateResult;
use sixmark_result::measurement::Measurement;
use sixmark_result::result::{Generator, RunResult};
use sixmark_tally::family_result::FamilyResult;
use sixmark_tally::metric::{MetricKind, Quantity, QuantityGroup};
use sixmark_tally::outcome::Outcome;
use sixmark_tally::phase_clock::PhaseClock;
use sixmark_tally::timed_phase::PhaseClocks;
use sixmark_units::family::Family;

use sixmark_sheet::Figure;
use sixmark_sheet::terminal;
use sixmark_sheet::terminal::{width, wrapped};
use sixmark_sheet::write::write_bound;
use sixmark_tally::timed_phase::TimedPhase;
use sixmark_units::quantity::{bytes, duration_us, write_count};

/// The description of each clock.
const CLOCKS: [(PhaseClock, &str); 3] = [
    (PhaseClock::Kernel, "the kernel's clock"),
    (PhaseClock::User, "sixmark's clock"),
    (PhaseClock::Both, "an end of each"),
];

/// The most targets and lookups that are listed at the top.
const SHOWN_TARGETS: usize = 4;

/// The most addresses with failures that are listed. The document contains all of them.
const MOST_ADDRESSES: usize = 8;

/// The statistics that are shown of each phase.
const QUANTILES: [Figure<Summary>; 5] = [
    ("mean", |s| s.mean),
    ("median", |s| s.p50),
    ("p95", |s| s.p95),
    ("p99", |s| s.p99),
    ("max", |s| s.max),
];

/// How much of a document is shown on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The conclusion, and the few figures that support it.
    Answer,
    /// Every figure.
    Full,
}

/// Formats a run for a terminal, at most 80 columns wide except for long URLs. The text ends with a
/// line feed.
pub fn run_text(run: &RunResult, detail: Detail) -> String {
    match detail {
        Detail::Answer => answer::run_answer(run),
        Detail::Full => full_text(run),
    }
}

fn full_text(run: &RunResult) -> String {
    let mut text = String::new();
    terminal::write_failed(&mut text, &crate::sheet::run::run_headline(run));
    text += &write_headline(run);
    search_of(run).iter().for_each(|part| terminal::write_part(&mut text, part));
    crate::sheet::run::clock_checks(run)
        .iter()
        .for_each(|part| terminal::write_part(&mut text, part));
    text.push('\n');
    let columns = FamilyColumns::of(run);
    columns.write_counts(&mut text);
    columns.write_paths(&mut text);
    let caution =
        Some(run).filter(|run| run.find_max.is_none()).and_then(crate::sheet::run::run_caution);
    caution.iter().for_each(|caution| terminal::paragraph(&mut text, caution));
    columns.clocks(&mut text);
    crate::sheet::run::requests_and_steps(run, usize::MAX)
        .iter()
        .for_each(|part| terminal::write_part(&mut text, part));
    fleet_part(run.fleet.as_ref()).iter().for_each(|part| terminal::write_part(&mut text, part));
    costs_part(run.vitals.as_ref()).iter().for_each(|part| terminal::write_part(&mut text, part));
    write_gates(&mut text, &run.gates);
    text
}

/// Writes an empty line and the results of the gates; nothing if there are no gates.
pub fn write_gates(text: &mut String, gates: &[GateResult]) {
    if !gates.is_empty() {
        text.push('\n');
    }
    text.push_str(&crate::gate_text::gate_lines(gates));
}

/// Returns the settings, the duration, how the run ended, and warnings that the figures may be
/// wrong or not comparable.
fn write_headline(run: &RunResult) -> String {
    let mut text = String::new();
    if run.is_saturated() {
        text.push_str(
            "GENERATOR SATURATED: these figures may be sixmark's limit, not the server's\n",
        );
    }
    targets(&mut text, &run.plan);
    mix(&mut text, &run.plan);
    lookups(&mut text, &run.dns);
    let _ = writeln!(text, "{}{}", amount(run), describe_end(run.ended));
    terminal::paragraph(&mut text, &setting(run));
    write_agreement(&mut text, run);
    text
}

fn requests_of(of: &dyn Measurement) -> String {
    format!("{} requests", write_count(of.total().requests.sent))
}

/// Describes how much a run measured, and how long it took.
fn amount(run: &RunResult) -> String {
    match &run.find_max {
        Some(found) => write_amount_of_search(found),
        None => amount_of(run, &requests_of(run)),
    }
}

fn amount_of(of: &dyn Measurement, what: &str) -> String {
    format!("{what} in {:.2} s", of.elapsed_s())
}

/// Writes how much was measured (`what`), the duration, and how the measurement ended.
pub fn write_amount(text: &mut String, of: &dyn Measurement, what: &str) {
    let _ = writeln!(text, "{}{}", amount_of(of, what), describe_end(of.ended()));
}

/// Writes the TLS parameters that each family negotiated, and why the families are not comparable,
/// if they are not.
pub fn write_agreement(text: &mut String, of: &dyn Measurement) {
    let sides = Family::BOTH.map(|family| of.families().of(family));
    text.push_str(&agreed::agreed_lines(sides, of.version()));
    if let Some(said) = of.not_same() {
        let _ = writeln!(text, "\n{}", wrapped(&format!("NOT COMPARABLE: {said}."), width()));
    }
}

/// Describes the load: loop, concurrency, ratio, version of HTTP, and the generator.
fn setting(result: &RunResult) -> String {
    let pace = pace_text(&result.plan, result.find_max.is_some());
    format!("{pace}, {}{}", spoken(&result.plan), generator(&result.generator))
}

/// Describes the loop, the concurrency, and the ratio unless the plan is that of a search.
pub(crate) fn pace_text(plan: &Plan, searches: bool) -> String {
    let load = &plan.load;
    let in_flight = write_count(plan.in_flight());
    let ratio = plan.ratio;
    match &load.pace {
        Pace::Open(open) if searches => {
            format!("open loop, {}, at most {in_flight} in flight", open.arrivals)
        }
        Pace::Closed => format!("closed loop, {in_flight} in flight, IPv6:IPv4 {ratio}"),
        Pace::Open(open) => {
            format!("open loop, {open}, at most {in_flight} in flight, IPv6:IPv4 {ratio}")
        }
    }
}

/// Describes the version of HTTP, and the connections and streams if there are several streams;
/// empty for HTTP/1.1.
fn spoken(plan: &Plan) -> String {
    let (version, streams) = (plan.http.version, plan.http.streams.get());
    match (version, streams) {
        (HttpVersion::Http1, _) => String::new(),
        (HttpVersion::Http10, _) => "HTTP/1.0, ".to_owned(),
        (_, 1) => format!("{}, ", version.name()),
        _ => format!("{}, {} x {streams}, ", version.name(), plan.load.connections),
    }
}

/// Describes the generator: threads, driver, and clock if it is the kernel's.
fn generator(generator: &Generator) -> String {
    let Generator { threads, driver, .. } = generator;
    let noun = if *threads == 1 { "thread" } else { "threads" };
    let kernel = generator.timestamps.mode == Timestamps::Kernel;
    format!("{threads} {noun}, {driver}{}", if kernel { ", kernel time" } else { "" })
}

/// Writes how long name resolution took, and what it found of each family that was asked for. No
/// other time includes it.
fn lookups(text: &mut String, dns: &[Lookup]) {
    for found in dns.iter().take(SHOWN_TARGETS) {
        let by_family = found.by_family.as_ref();
        let of = |family: Family, count: usize| {
            let Some(by_family) = by_family else { return Some(format!("{count} {family}")) };
            let of = match family {
                Family::Ipv6 => by_family.ipv6.as_ref()?,
                Family::Ipv4 => by_family.ipv4.as_ref()?,
            };
            Some(match (of.found, &of.said) {
                (LookupFound::Failed, Some(said)) => format!("{family} failed ({said})"),
                _ => format!("{count} {family}"),
            })
        };
        let both = [of(Family::Ipv6, found.ipv6), of(Family::Ipv4, found.ipv4)];
        let both: Vec<String> = both.into_iter().flatten().collect();
        let line =
            format!("{} resolved in {}: {}", found.host, duration_us(found.us), both.join(", "));
        terminal::paragraph(text, &line);
    }
}

/// Writes the number of requests, if there are several.
fn mix(text: &mut String, plan: &Plan) {
    if plan.requests.number() > 1 {
        let _ = writeln!(text, "a mix of {} requests", write_count(plan.requests.number() as u64));
    }
}

/// Returns the first target, and the number of others.
/// Returns the URL of the first target, and how many others there are.
pub fn targets_line(plan: &Plan) -> String {
    let first = plan.targets.first().map_or("", |target| target.url.as_str());
    match plan.targets.len() {
        0 | 1 => first.to_owned(),
        n => format!("{first} and {} more", n - 1),
    }
}

/// Writes the first few targets, one per line, and the number of others.
fn targets(text: &mut String, plan: &Plan) {
    for target in plan.targets.iter().take(SHOWN_TARGETS) {
        let _ = writeln!(text, "{}", target.url);
    }
    if let Some(more @ 1..) = plan.targets.len().checked_sub(SHOWN_TARGETS) {
        let _ = writeln!(text, "and {more} more");
    }
}

fn describe_end(ended: Ended) -> &'static str {
    match ended {
        Ended::Complete => "",
        Ended::Interrupted => " (interrupted)",
        Ended::Hopeless => " (given up)",
    }
}

/// The figures of both families in columns. A family that was not used is absent.
#[derive(Debug)]
pub struct FamilyColumns<'a> {
    sides: [Option<&'a FamilyResult>; 2],
    /// For each family, whether its exchanges could not be observed.
    hidden: [bool; 2],
    /// The version of HTTP, which determines the meaning of error codes.
    version: HttpVersion,
    clocks: Option<PhaseClocks>,
}

impl<'a> FamilyColumns<'a> {
    /// Returns the columns of a run or a watch.
    pub fn of(of: &'a dyn Measurement) -> FamilyColumns<'a> {
        FamilyColumns {
            sides: Family::BOTH.map(|family| of.families().of(family)),
            hidden: Family::BOTH.map(|family| of.hides_exchanges(family)),
            version: of.version(),
            clocks: of.run().and_then(|run| run.generator.timestamps.phases),
        }
    }
}

impl FamilyColumns<'_> {
    /// Writes the names of the families, counts of exchanges, and rates.
    pub fn write_counts(&self, text: &mut String) {
        self.head(text);
        self.counts(text);
        self.status(text);
        self.rates(text);
    }

    /// Writes the times of phases and handshakes, statistics of TCP and QUIC, failures, addresses
    /// with failures, and failed checks.
    pub fn write_paths(&self, text: &mut String) {
        self.phases(text);
        self.handshakes(text);
        self.tcp_handshakes(text);
        self.waits(text);
        self.tcp(text);
        self.quic(text);
        self.io(text);
        self.failures(text);
        self.addresses(text);
        self.content(text);
    }

    fn head(&self, text: &mut String) {
        let title =
            |family: Family, used: bool| if used { family.to_string() } else { String::new() };
        let [v6, v4] = self.sides.map(|side| side.is_some());
        write_line(text, "", &title(Family::Ipv6, v6), &title(Family::Ipv4, v4), "");
    }

    fn counts(&self, text: &mut String) {
        self.quantity(text, Quantity::Sent);
        // The outcomes below have those that were cut off.
        Quantity::unusual()
            .filter(|quantity| *quantity != Quantity::Abandoned)
            .for_each(|quantity| self.quantity_if_any(text, quantity));
        for outcome in Outcome::ALL {
            let number = |f: &FamilyResult| f.outcomes.get(outcome.name()).map(|&n| n as f64);
            if self.sides.iter().flatten().any(|f| number(f).is_some()) {
                let label = format!("  {outcome}");
                self.exchanges(text, &label, |f| Some(number(f).unwrap_or(0.0)), write_whole);
            }
        }
    }

    /// Writes the status codes, unless they are all 200.
    fn status(&self, text: &mut String) {
        let codes: BTreeSet<u16> =
            self.sides.iter().flatten().flat_map(|f| f.status.keys().copied()).collect();
        for code in codes.iter().filter(|_| codes.iter().any(|&code| code != 200)) {
            let number = |f: &FamilyResult| Some(f.status.get(code).copied().unwrap_or(0) as f64);
            self.row(text, &format!("  status {code}"), number, write_whole);
        }
    }

    fn rates(&self, text: &mut String) {
        self.quantity(text, Quantity::Opened);
        self.connections_open(text);
        self.quantity_if_any(text, Quantity::Displaced);
        Quantity::in_group(QuantityGroup::Rates).for_each(|quantity| self.quantity(text, quantity));
    }

    /// Writes a row of a quantity.
    fn quantity(&self, text: &mut String, quantity: Quantity) {
        let (title, write) = (quantity.entry().title, written(quantity));
        let value = |f: &FamilyResult| quantity.value(f);
        if quantity.is_of_connections() {
            self.row(text, title, value, write)
        } else {
            self.exchanges(text, title, value, write)
        }
    }

    /// Writes a row of a quantity, if it is above 0 for at least one family.
    fn quantity_if_any(&self, text: &mut String, quantity: Quantity) {
        let is_any = |f: &&FamilyResult| quantity.value(f).is_some_and(|n| n > 0.0);
        if self.sides.iter().flatten().any(is_any) {
            self.quantity(text, quantity);
        }
    }

    /// Writes the mean number of open connections, if both families had any.
    fn connections_open(&self, text: &mut String) {
        let open = |f: &FamilyResult| Some(f.connections.mean_open);
        if self.sides.iter().all(|side| side.and_then(open).is_some_and(|mean| mean > 0.0)) {
            self.row(text, "  open on average", open, |mean| format!("{mean:.1}"));
        }
    }

    /// Returns true if the exchanges of no family in use could be observed.
    pub fn hides_all(&self) -> bool {
        let used = || self.sides.iter().zip(self.hidden).filter(|(side, _)| side.is_some());
        used().count() > 0 && used().all(|(_, hidden)| hidden)
    }

    /// Writes a row of a count of exchanges: `not seen` for a family whose exchanges could not be
    /// observed, and no row if this is so for all.
    fn exchanges(
        &self,
        text: &mut String,
        label: &str,
        figure: impl Fn(&FamilyResult) -> Option<f64>,
        write: impl Fn(f64) -> String,
    ) {
        let cell = |at: usize| match self.sides[at] {
            Some(_) if self.hidden[at] => "not seen".to_owned(),
            side => side.and_then(&figure).map_or(String::new(), &write),
        };
        if !self.hides_all() {
            write_line(text, label, &cell(0), &cell(1), "");
        }
    }

    fn phases(&self, text: &mut String) {
        for phase in TimedPhase::ALL.into_iter().filter(|phase| self.has_times(*phase)) {
            self.quantiles(text, phase, &QUANTILES);
        }
    }

    /// Writes rows of a phase's statistics, except those that neither family has, as in older
    /// documents.
    fn quantiles(&self, text: &mut String, phase: TimedPhase, shown: &[Figure<Summary>]) {
        let mut head = phase.name();
        for &(name, quantile) in shown {
            let value = |of: &FamilyResult| phase.durations(of).and_then(quantile);
            if self.sides.iter().flatten().any(|of| value(of).is_some()) {
                let cell = |side: Option<&FamilyResult>| {
                    let summary = side.and_then(|of| phase.durations(of));
                    let us = summary.and_then(quantile).zip(summary);
                    us.map_or(String::new(), |(us, of)| write_bound(of, name, us, duration_us))
                };
                let [v6, v4] = self.sides.map(cell);
                write_line(text, &format!("{head:<10}{name}"), &v6, &v4, "");
                head = "";
            }
        }
    }

    /// Writes which clock timed which of the phases shown, one line per clock.
    fn clocks(&self, text: &mut String) {
        let Some(clocks) = self.clocks else { return };
        let shown: Vec<TimedPhase> =
            TimedPhase::ALL.into_iter().filter(|phase| self.has_times(*phase)).collect();
        let mut blank = "\n";
        for (clock, whose) in CLOCKS {
            let by = shown.iter().filter(|phase| clocks.of_phase(**phase) == clock);
            let names = by.map(|phase| phase.name()).collect::<Vec<_>>().join(", ");
            if !names.is_empty() {
                let _ = writeln!(text, "{blank}by {whose}: {names}");
                blank = "";
            }
        }
    }

    /// Returns true if a phase is shown here and took any time. `transfer` takes none if each
    /// response arrives in one piece.
    fn has_times(&self, phase: TimedPhase) -> bool {
        let lasted = |f: &&FamilyResult| {
            phase.durations(f).and_then(|s| s.max).is_some_and(|longest| longest > 0.0)
        };
        phase.is_on_terminal() && self.sides.iter().flatten().any(lasted)
    }

    /// Writes one line for each kind of failure, with the phase, and the error code of the kernel
    /// or the peer.
    fn failures(&self, text: &mut String) {
        for (family, side) in Family::BOTH.into_iter().zip(self.sides) {
            let failures = side.iter().flat_map(|f| &f.failures);
            // Exchanges that the end of the run cut off have no cause to report.
            for failed in failures.filter(|f| f.failure.outcome != Outcome::Abandoned) {
                let errno = failed.failure.errno.map_or(String::new(), |n| format!(", errno {n}"));
                let code = failed.failure.spoken_code(self.version);
                let code = code.map_or(String::new(), |code| format!(", {code}"));
                let cause =
                    failed.failure.cause.map_or(String::new(), |c| format!(", {}", c.text()));
                let (outcome, phase) = (failed.failure.outcome, failed.failure.phase);
                let number = write_count(failed.count);
                let _ =
                    writeln!(text, "{family}: {number} {outcome} in {phase}{errno}{code}{cause}");
            }
        }
    }

    /// Writes one line for each address with failures, if there are several addresses, the worst
    /// first.
    fn addresses(&self, text: &mut String) {
        for (family, side) in Family::BOTH.into_iter().zip(self.sides) {
            let all = side.iter().flat_map(|f| &f.by_address);
            let failed: Vec<_> = all.filter(|of| of.failed() > 0).collect();
            for of in failed.iter().take(MOST_ADDRESSES) {
                let (times, ended) = (write_count(of.failed()), write_count(of.ended));
                let how = of.usual_failure().map_or(String::new(), |how| format!(", {how}"));
                let _ = writeln!(text, "{family}: {} failed {times} of {ended}{how}", of.address);
            }
            let others = failed.len().saturating_sub(MOST_ADDRESSES);
            if others > 0 {
                let others = write_count(others as u64);
                let _ = writeln!(text, "{family}: other addresses that failed: {others}");
            }
        }
    }

    /// Writes one line for each check that responses did not pass, with the first such response as
    /// an example.
    fn content(&self, text: &mut String) {
        for (family, side) in Family::BOTH.into_iter().zip(self.sides) {
            for failed in side.iter().flat_map(|f| &f.content) {
                let (number, check) = (write_count(failed.count), failed.check.escape_debug());
                let first = failed.samples.first();
                let found = first.map_or(String::new(), |first| {
                    format!(": {} found {}", first.request, first.found)
                });
                let _ = writeln!(text, "{family}: {number} not {check}{found}");
            }
        }
    }

    /// Writes a row of one figure.
    fn row(
        &self,
        text: &mut String,
        label: &str,
        figure: impl Fn(&FamilyResult) -> Option<f64>,
        write: impl Fn(f64) -> String,
    ) {
        let values = self.sides.map(|side| side.and_then(&figure));
        let [v6, v4] = values.map(|value| value.map_or(String::new(), &write));
        write_line(text, label, &v6, &v4, "");
    }
}

/// Returns the function that formats a quantity in the table.
fn written(quantity: Quantity) -> fn(f64) -> String {
    match quantity.entry().kind {
        MetricKind::BytesPerS => |rate| bytes(rate) + "/s",
        MetricKind::Frequency => |rate| write_count(rate.round() as u64),
        _ => write_whole,
    }
}

fn write_whole(value: f64) -> String {
    write_count(value as u64)
}

/// The width of the labels of a table of both families.
const LABEL: usize = 22;

/// The width of its other columns, where there is room.
const FIGURE: usize = 16;

/// Writes a row of the table: the label, a cell for each family, and the last column `more`, for which
/// a narrow terminal has no room.
pub fn write_line(text: &mut String, label: &str, v6: &str, v4: &str, more: &str) {
    let (column, has_more) = match width().saturating_sub(LABEL) {
        room if room >= 3 * FIGURE => (FIGURE, true),
        // Of a narrow terminal, both families have what there is.
        room => ((room / 2).min(FIGURE), false),
    };
    let more = if has_more { more } else { "" };
    // A longer label takes the room before the first figure.
    let first = column.saturating_sub(label.chars().count().saturating_sub(LABEL));
    let row = format!("{label:<LABEL$}{v6:>first$}{v4:>column$}{more:>column$}");
    let _ = writeln!(text, "{}", row.trim_end());
}

#[cfg(test)]
mod tests;
