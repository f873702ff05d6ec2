//! A check as a sheet.

pub mod over_time;
mod race;

use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::write::{capitalised, write_time};
use sixmark_sheet::{Block, Part, Sheet, SheetHeadline, setting, terminal};
use sixmark_units::quantity::{counted, write_count};
use sixmark_why::sheet::{WhySides, next_sentence};

use crate::changed_since::{describe_changes, since_sentence};
use crate::check_result::{CheckResult, SiteResult};
use crate::judge::CONFIDENCE;
use crate::observed::{CheckedAddress, QueryRecords};
use crate::site_fetch::SiteFetch;
use crate::site_finding::{FindingState, SiteFinding};
use crate::site_verdict::SiteVerdict;

/// The names of the sides.
const NAMES: [&str; 2] = ["IPv6", "IPv4"];

/// Returns the check as text for a terminal.
pub fn check_text(result: &CheckResult) -> String {
    terminal::sheet_text(&check_sheet("", result))
}

/// Returns the document as a sheet.
pub fn check_sheet(name: &str, result: &CheckResult) -> Sheet {
    let single = result.sites.len() == 1;
    let mut parts = Vec::new();
    for site in &result.sites {
        parts.extend(site_parts(site, single));
    }
    parts.extend(setting::setting_part(setting::machine(
        &result.environment,
        Vec::new(),
        &result.tool,
    )));
    let requests: u32 = result.sites.iter().map(|site| site.observed.requests).sum();
    let about = vec![
        counted(u64::from(requests), "request", "requests"),
        format!("{:.1} s", result.elapsed_s),
    ];
    let (sentence, notes) = headline(result);
    Sheet {
        name: name.to_owned(),
        kind: "Check",
        title: result.sites.iter().map(|site| site.url.clone()).collect::<Vec<_>>().join(", "),
        when: setting::when(&result.started),
        about,
        headline: SheetHeadline { sentence, notes, ..SheetHeadline::default() },
        parts,
        ..Sheet::default()
    }
}

fn headline(result: &CheckResult) -> (String, Vec<String>) {
    let line = |site: &SiteResult| format!("{}: {}", site.verdict.shown(), site.sentence);
    match &result.sites[..] {
        [site] => {
            let sides = WhySides { names: NAMES, confidence: CONFIDENCE };
            let why = site.why.as_ref();
            let causes = why.map(|why| sides.cause_sentences(why));
            let next = why.and_then(next_sentence);
            (line(site), since_sentence(site).into_iter().chain(causes).chain(next).collect())
        }
        sites => {
            let said = summary(sites);
            let lines = |site: &SiteResult| [Some(line(site)), since_sentence(site)];
            (said, sites.iter().flat_map(lines).flatten().collect())
        }
    }
}

/// Returns how many sites have each verdict.
fn summary(sites: &[SiteResult]) -> String {
    let count = |verdict: SiteVerdict| {
        let number = sites.iter().filter(|site| site.verdict == verdict).count();
        (number > 0).then(|| format!("{number} {}", verdict.shown()))
    };
    let counts: Vec<String> = SiteVerdict::ALL.into_iter().filter_map(count).collect();
    format!("{} checked: {}.", counted(sites.len() as u64, "site", "sites"), counts.join(", "))
}

/// Returns the verdict on a site as a line.
pub fn site_line(site: &SiteResult) -> String {
    let SiteResult { verdict, sentence, .. } = site;
    terminal::plain(&format!("{}: {sentence}\n", verdict.shown()))
}

/// Returns a line for each site that changed since it was checked before, and how many sites have each
/// verdict.
pub fn summary_lines(result: &CheckResult) -> String {
    let changed = result.sites.iter().filter_map(|site| {
        let is_changed =
            site.since.as_ref().is_some_and(|of| !describe_changes(of, site.verdict).is_empty());
        Some(format!("{}: {}", site.url, since_sentence(site).filter(|_| is_changed)?))
    });
    let lines = changed.chain([summary(&result.sites)]);
    lines.map(|line| terminal::plain(&line) + "\n").collect()
}

fn site_parts(site: &SiteResult, single: bool) -> Vec<Part> {
    let title = |blocks: Vec<Block>| {
        let heading = (!single).then(|| Block::Heading(site.url.clone()));
        heading.into_iter().chain(blocks).collect::<Vec<_>>()
    };
    let differs: Vec<Block> =
        site.of_state(FindingState::Differs).flat_map(finding_blocks).collect();
    let unknown: Vec<Block> =
        site.of_state(FindingState::CantTell).flat_map(finding_blocks).collect();
    let mut parts = Vec::new();
    let of = |heading, blocks: Vec<Block>| {
        if blocks.is_empty() { None } else { Part::new(heading, title(blocks)) }
    };
    parts.extend(of("What differs", differs).map(Part::open));
    parts.extend(of("What can't be told", unknown).map(Part::open));
    if let Some(why) = &site.why {
        let sides = WhySides { names: NAMES, confidence: CONFIDENCE };
        parts.extend(of("Why", sides.part_blocks(why)));
    }
    parts.extend(of("What clients would do", race::race_blocks(site)));
    parts.extend(of("What is the same", short_table(site, "What is the same", FindingState::Same)));
    parts.extend(
        of("What was not tried", short_table(site, "What was not tried", FindingState::NotTried))
            .map(Part::off_terminal),
    );
    parts.extend(of("Addresses", vec![Block::Table(address_table(site))]));
    parts.extend(of("Names", name_tables(site)).map(Part::off_terminal));
    parts
}

fn finding_blocks(of: &SiteFinding) -> Vec<Block> {
    let mended = of.mended_by.map(|who| format!(" {} can fix it.", capitalised(who.phrase())));
    let mut blocks = vec![
        Block::Heading(capitalised(of.check.describe())),
        Block::Text(format!("{}.{}", capitalised(&of.found), mended.unwrap_or_default())),
    ];
    blocks.extend(of.command.clone().map(Block::Command));
    blocks
}

fn short_table(site: &SiteResult, heading: &str, state: FindingState) -> Vec<Block> {
    let row = |of: &SiteFinding| {
        Row::new(capitalised(of.check.describe()), vec![of.found.as_str().into()])
    };
    let rows: Vec<Row> = site.of_state(state).map(row).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let columns = vec![Column::words("Check"), Column::words("Found")];
    vec![Block::Table(Table::new(heading, columns, rows))]
}

fn address_table(site: &SiteResult) -> Table {
    let columns = vec![
        Column::words("Address"),
        Column::number("Complete"),
        Column::number("Connect"),
        Column::number("TLS"),
        Column::number("First byte"),
        Column::number("Whole"),
        Column::words("Protocol").off_terminal(),
        Column::words("Otherwise").off_terminal(),
    ];
    let rows = site.observed.addresses.iter().map(address_row).collect();
    Table::new("Median times of complete fetches", columns, rows)
}

fn address_row(of: &CheckedAddress) -> Row {
    let complete: Vec<&SiteFetch> = of.fetches.iter().filter(|fetch| fetch.is_complete()).collect();
    let median = |value: fn(&SiteFetch) -> f64| {
        let mut times: Vec<f64> = complete.iter().map(|fetch| value(fetch)).collect();
        times.sort_by(f64::total_cmp);
        match times.get(times.len() / 2) {
            Some(us) if *us > 0.0 => SheetCell::Number(write_time(*us), *us),
            _ => SheetCell::none(),
        }
    };
    let mut failures: Vec<&str> = of
        .fetches
        .iter()
        .filter(|fetch| !fetch.is_complete())
        .map(|fetch| fetch.end.phrase())
        .collect();
    failures.dedup();
    let protocol = complete.iter().find_map(|fetch| fetch.protocol.clone());
    let counts = format!("{} of {}", complete.len(), of.fetches.len());
    Row::new(
        of.address.to_string(),
        vec![
            SheetCell::Number(counts, complete.len() as f64),
            median(|fetch| fetch.connect_us),
            median(|fetch| fetch.tls_us),
            median(|fetch| fetch.send_us + fetch.wait_us),
            median(SiteFetch::response_us),
            protocol.unwrap_or_default().into(),
            failures.join(", ").into(),
        ],
    )
}

fn name_tables(site: &SiteResult) -> Vec<Block> {
    let row = |resolver: &str, of: &QueryRecords| {
        let ttl = match of.ttl_s {
            Some(ttl) => SheetCell::Number(format!("{} s", write_count(ttl.into())), ttl.into()),
            None => SheetCell::none(),
        };
        let took = SheetCell::Number(write_time(of.took_ms * 1e3), of.took_ms);
        Row::new(resolver, vec![of.kind.as_str().into(), of.describe().into(), ttl, took])
    };
    let resolvers = &site.observed.resolvers;
    let rows: Vec<Row> = resolvers
        .iter()
        .flat_map(|of| of.queries.iter().map(|query| row(&of.resolver, query)))
        .collect();
    let columns = vec![
        Column::words("Resolver"),
        Column::words("Type"),
        Column::words("Answer"),
        Column::number("TTL"),
        Column::number("Time"),
    ];
    if rows.is_empty() {
        return Vec::new();
    }
    vec![Block::Table(Table::new("What the resolvers answer", columns, rows))]
}
