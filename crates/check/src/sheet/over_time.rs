//! The checks of sites over time, as a sheet.

use sixmark_sheet::chart::{Axis, Chart, Mark, Series, Unit, describe_series, values};
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::write::{capitalised, write_time};
use sixmark_sheet::{Block, Part, Sheet, SheetHeadline, setting};
use sixmark_tally::timed_phase::TimedPhase;
use sixmark_units::family::{Family, PerFamily};
use sixmark_units::quantity::counted;

use crate::changed_since::{describe_changes, since_sentence};
use crate::check_result::SiteResult;
use crate::judge::{SiteTimes, TimeRatio, times_of_site};
use crate::site_finding::FindingState;
use crate::site_verdict::SiteVerdict;

/// The heading of the times at which checks began.
const BEGAN: &str = "Began, UTC";
/// The most sites that a title names.
const MOST_NAMED: usize = 3;
/// The seconds in the units of the charts, the largest first, with their names.
const SPANS: [(f64, &str, &str); 3] =
    [(86_400.0, "days", " d"), (3_600.0, "hours", " h"), (60.0, "minutes", " min")];

/// The checks of one site.
#[derive(Clone, Debug)]
pub struct SiteHistory {
    /// The URL.
    pub url: String,
    /// The checks, in the order of time.
    pub checks: Vec<SiteMoment>,
}

/// What one check found of a site.
#[derive(Clone, Debug)]
pub struct SiteMoment {
    /// The number under which the document is kept.
    pub id: String,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// The same in seconds since 1970.
    pub began_s: f64,
    verdict: SiteVerdict,
    sentence: String,
    since: Option<String>,
    changes: Vec<String>,
    differs: Vec<&'static str>,
    times: SiteTimes,
}

impl SiteMoment {
    /// Creates it from a site of a document.
    pub fn new(id: String, started: &str, began_s: f64, site: &SiteResult) -> SiteMoment {
        let differs = site.of_state(FindingState::Differs);
        let changes = site.since.as_ref().map(|of| describe_changes(of, site.verdict));
        SiteMoment {
            id,
            started: started.to_owned(),
            began_s,
            verdict: site.verdict,
            sentence: site.sentence.clone(),
            since: since_sentence(site),
            changes: changes.unwrap_or_default(),
            differs: differs.map(|of| of.check.describe()).collect(),
            times: times_of_site(&site.observed),
        }
    }
}

/// Returns the checks of sites as a sheet: first what changed at the last check, then the verdicts, the
/// times and the changes.
pub fn history_sheet(sites: &[SiteHistory]) -> Sheet {
    let urls: Vec<&str> = sites.iter().map(|site| site.url.as_str()).collect();
    let title = match urls.len() {
        ..=MOST_NAMED => urls.join(", "),
        more => counted(more as u64, "site", "sites"),
    };
    let mut times: Vec<&str> =
        sites.iter().flat_map(|site| &site.checks).map(|of| of.started.as_str()).collect();
    times.sort_unstable();
    let count: usize = sites.iter().map(|site| site.checks.len()).sum();
    let mut about = vec![counted(count as u64, "check", "checks")];
    if let [first, .., last] = &times[..] {
        let [first, last] = [first, last].map(|at| setting::when_to_minute(at));
        about.push(format!("{first} to {last}"));
    }
    let single = sites.len() == 1;
    Sheet {
        kind: "Checks over time",
        title,
        // Of several checks, the first and the last are named.
        when: if let [only] = &times[..] { setting::when(only) } else { String::new() },
        about,
        headline: headline_of(sites),
        parts: sites.iter().flat_map(|site| site_parts(site, single)).collect(),
        ..Sheet::default()
    }
}

fn headline_of(sites: &[SiteHistory]) -> SheetHeadline {
    let lines = |site: &SiteHistory| {
        let last = site.checks.last()?;
        let since = last.since.clone().unwrap_or_else(|| {
            let when = setting::when_to_minute(&last.started);
            format!("At {when}: there was no earlier check to compare with.")
        });
        Some([since, format!("{}: {}", last.verdict.shown(), last.sentence)])
    };
    match sites {
        [site] => {
            let [sentence, verdict] = lines(site).unwrap_or_default();
            SheetHeadline { sentence, notes: vec![verdict], ..SheetHeadline::default() }
        }
        sites => {
            let notes = sites.iter().filter_map(|site| {
                let [since, verdict] = lines(site)?;
                Some([format!("{}: {since}", site.url), verdict])
            });
            SheetHeadline {
                sentence: format!("{}.", counted(sites.len() as u64, "site", "sites")),
                notes: notes.flatten().collect(),
                ..SheetHeadline::default()
            }
        }
    }
}

fn site_parts(site: &SiteHistory, single: bool) -> Vec<Part> {
    let part = |heading, block: Option<Block>| {
        let title = (!single).then(|| Block::Heading(site.url.clone()));
        Part::new(heading, title.into_iter().chain([block?]).collect()).map(Part::open)
    };
    let changes = changes_table(site);
    let is_timed =
        |of: &SiteMoment| Family::BOTH.iter().any(|f| of.times.response_us[*f].is_some());
    let timed = site.checks.iter().filter(|of| is_timed(of)).count();
    let times = (timed > 0).then(|| Block::Table(times_table(site)));
    let chart = (timed > 1).then(|| Block::Charts(vec![times_chart(site)]));
    let parts = [
        part("Verdicts", Some(Block::Table(verdict_table(site)))),
        part("What changed", changes.map(Block::Table)),
        part("Median times", times),
        part("Response times", chart).map(Part::off_terminal),
    ];
    parts.into_iter().flatten().collect()
}

/// Returns the time in the column [`BEGAN`].
fn began(of: &SiteMoment) -> String {
    let when = setting::when_to_minute(&of.started);
    when.strip_suffix(" UTC").map_or(when.clone(), str::to_owned)
}

fn verdict_table(site: &SiteHistory) -> Table {
    let columns = vec![
        Column::words(BEGAN),
        Column::words("Result"),
        Column::words("Verdict"),
        Column::words("What differs"),
    ];
    let row = |of: &SiteMoment| {
        let differs = match of.verdict {
            _ if !of.differs.is_empty() => of.differs.join("; "),
            SiteVerdict::CantTell => "not known".to_owned(),
            _ => "nothing".to_owned(),
        };
        Row::new(began(of), vec![of.id.as_str().into(), of.verdict.shown().into(), differs.into()])
    };
    Table::new("Verdicts", columns, site.checks.iter().map(row).collect())
}

/// Returns the checks at which something changed; `None` if there are none.
fn changes_table(site: &SiteHistory) -> Option<Table> {
    let changed = site.checks.iter().filter(|of| !of.changes.is_empty());
    let row =
        |of: &SiteMoment| Row::new(began(of), vec![capitalised(&of.changes.join("; ")).into()]);
    let rows: Vec<Row> = changed.map(row).collect();
    let columns = vec![Column::words(BEGAN), Column::words("Since the check before")];
    (!rows.is_empty()).then(|| Table::new("What changed", columns, rows))
}

fn times_table(site: &SiteHistory) -> Table {
    let [response, connect] =
        [TimedPhase::Response, TimedPhase::Connect].map(|phase| capitalised(phase.name()));
    let columns = vec![
        Column::words(BEGAN),
        Column::number(format!("{response}, IPv6")),
        Column::number(format!("{response}, IPv4")),
        Column::number("IPv6 takes"),
        Column::number(format!("{connect}, IPv6")),
        Column::number(format!("{connect}, IPv4")),
    ];
    let row = |of: &SiteMoment| {
        let of_family = |times: &PerFamily<Option<f64>>| Family::BOTH.map(|f| time_cell(times[f]));
        let [response6, response4] = of_family(&of.times.response_us);
        let [connect6, connect4] = of_family(&of.times.connect_us);
        let ratio = ratio_cell(of.times.ratio);
        Row::new(began(of), vec![response6, response4, ratio, connect6, connect4])
    };
    Table::new("Median times", columns, site.checks.iter().map(row).collect())
}

fn time_cell(us: Option<f64>) -> SheetCell {
    us.map_or_else(SheetCell::none, |us| SheetCell::Number(write_time(us), us))
}

fn ratio_cell(ratio: Option<TimeRatio>) -> SheetCell {
    let cell = |of: TimeRatio| SheetCell::Number(format!("× {:.2}", of.value), of.value);
    ratio.map_or_else(SheetCell::none, cell)
}

fn times_chart(site: &SiteHistory) -> Chart {
    let first = site.checks.first().map_or(0.0, |of| of.began_s);
    let span = site.checks.last().map_or(0.0, |of| of.began_s - first).max(1.0);
    let fits = |of: &&(f64, &str, &str)| span >= 2.0 * of.0;
    let (unit_s, unit, suffix) = SPANS.iter().find(fits).copied().unwrap_or((1.0, "seconds", " s"));
    let series = Family::BOTH.into_iter().enumerate().map(|(side, family)| {
        let ys = site.checks.iter().map(|of| of.times.response_us[family]).collect();
        Series::new(family.to_string(), side, Mark::Points, ys)
    });
    let series: Vec<Series> = series.collect();
    let most = values(&series).collect::<Vec<_>>();
    let label = format!("{unit} since the first of these checks");
    Chart {
        title: "Median response time".to_owned(),
        about: describe_series(&series, "", write_time),
        table: times_table(site),
        x: Axis {
            suffix: suffix.to_owned(),
            ..Axis::linear(&label, Unit::Plain, 0.0, span / unit_s)
        },
        y: Axis::from_zero("response time", Unit::Us, most.into_iter()),
        labels: Vec::new(),
        xs: site.checks.iter().map(|of| (of.began_s - first) / unit_s).collect(),
        series,
        bands: Vec::new(),
    }
}
