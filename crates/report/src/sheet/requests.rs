//! The figures of each request of a mix, by name.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use sixmark_document::timing::Summary;
use sixmark_tally::by_request::RequestFigures;
use sixmark_tally::outcome::Outcome;

use super::side::{Side, Sides};
use sixmark_sheet::Figure;
use sixmark_sheet::table::{Column, Group, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};
use sixmark_units::quantity::counted;

/// The most characters of a name that are shown: paths may be longer than a line.
const LONGEST_NAME: usize = 60;

/// The most names in the sentence about those that failed.
const MOST_FAILED: usize = 3;

/// The quantiles that are shown of response times.
pub(super) const QUANTILES: [Figure<Summary>; 3] =
    [("median", |s| s.p50), ("p95", |s| s.p95), ("p99", |s| s.p99)];

/// Returns a table of response times and, if anything failed or a status is not 200, a table of
/// failures and statuses, since one table of both would not fit a narrow page. Each has a group for
/// each request, with a row for each side.
pub fn requests_part(sides: &Sides<'_>) -> Option<Part> {
    let names = names(sides);
    if names.is_empty() {
        return None;
    }
    let table =
        |caption: &str, columns: Vec<Column>, cells: fn(&RequestFigures) -> Vec<SheetCell>| {
            let columns = std::iter::once(Column::words("Request")).chain(columns).collect();
            let groups = names.iter().map(|name| group(sides, *name, cells)).collect();
            Block::Table(Table { caption: caption.to_owned(), columns, groups, scale: None })
        };
    let numbers = std::iter::once("Sent").chain(QUANTILES.map(|(name, _)| name));
    let mut blocks = vec![table(
        "Response time of each request of the mix",
        numbers.map(Column::number).collect(),
        times,
    )];
    if !all_are_well(sides) {
        let columns = vec![Column::number("Failures"), Column::words(RESULTS)];
        blocks.push(table("Failures and statuses of each request of the mix", columns, results));
    }
    Part::new("Requests of the mix", blocks).map(Part::open)
}

/// Returns the same figures as one table for a terminal: of at most `most` requests, those with the
/// greatest share of failures first, and where the others are.
pub fn requests_on_terminal(sides: &Sides<'_>, most: usize) -> Option<Part> {
    let mut names = names(sides);
    if names.is_empty() {
        return None;
    }
    names.sort_by_key(|name| Reverse(worst_share(sides, *name)));
    let left_out = names.split_off(names.len().min(most));
    let quantiles = QUANTILES.map(|(name, _)| name);
    let numbers = ["Sent", "Failed"].into_iter().chain(quantiles).map(Column::number);
    let columns = std::iter::once(Column::words("Request")).chain(numbers);
    let columns = columns.chain([Column::words(RESULTS)]).collect();
    let cells: fn(&RequestFigures) -> Vec<SheetCell> = |of| {
        let counts = [number(of.sent), number(of.failed)].into_iter();
        let results = write_results(&of.status, &of.outcomes).into();
        counts.chain(time_cells(&of.response_us)).chain([results]).collect()
    };
    let groups = names.iter().map(|name| group(sides, *name, cells)).collect();
    let caption = "Each request of the mix".to_owned();
    let table = Block::Table(Table { caption, columns, groups, scale: None });
    let others = (!left_out.is_empty()).then(|| Block::Text(describe_left_out(sides, &left_out)));
    let blocks = [table].into_iter().chain(others).collect();
    Part::new("Requests of the mix", blocks)
}

fn describe_left_out(sides: &Sides<'_>, left_out: &[Option<&str>]) -> String {
    let some_failed = left_out.iter().any(|name| worst_share(sides, *name) > 0);
    let number = counted(left_out.len() as u64, "more request", "more requests");
    let failed = if some_failed { "some of which failed" } else { "none of which failed" };
    format!("{number}, {failed}: in `--full`, the page (`--html`) and the document (`--json`).")
}

/// Returns the share of failures of the side on which the requests with this name failed most
/// often, in parts of a million.
fn worst_share(sides: &Sides<'_>, name: Option<&str>) -> u64 {
    let share = |of: &RequestFigures| of.failed.saturating_mul(1_000_000) / of.ended().max(1);
    of_name(sides, name).map(|(_, of)| share(of)).max().unwrap_or(0)
}

/// Returns the figures of the requests with a name, of each side that has them.
fn of_name<'s>(
    sides: &'s Sides<'_>,
    name: Option<&str>,
) -> impl Iterator<Item = (&'s Side<'s>, &'s RequestFigures)> {
    sides.all.iter().filter_map(move |side| {
        let mut all = side.figures.by_request.iter();
        Some((side, all.find(|of| of.name.as_deref() == name)?))
    })
}

/// Returns a sentence that names the requests of a mix of which some failed, the worst first;
/// `None` if there are none.
pub(super) fn failed_requests(sides: &Sides<'_>) -> Option<String> {
    let mut failed = names(sides);
    failed.retain(|name| worst_share(sides, *name) > 0);
    failed.sort_by_key(|name| Reverse(worst_share(sides, *name)));
    let said = |name: &Option<&str>| {
        let of = of_name(sides, *name).map(|(side, of)| {
            let [failed, ended] = [of.failed, of.ended()].map(write::write_count);
            format!("{failed} of {ended} over {}", side.name)
        });
        format!("{} ({})", shown_name(*name), of.collect::<Vec<_>>().join(", "))
    };
    let mut all: Vec<String> = failed.iter().take(MOST_FAILED).map(said).collect();
    let more = failed.len().saturating_sub(MOST_FAILED);
    all.extend((more > 0).then(|| format!("{more} more")));
    (!all.is_empty()).then(|| format!("Requests of the mix that failed: {}.", all.join("; ")))
}

/// Returns true if nothing failed and every status is 200.
fn all_are_well(sides: &Sides<'_>) -> bool {
    let mut all = sides.all.iter().flat_map(|side| &side.figures.by_request);
    all.all(|of| of.failed == 0 && of.status.keys().all(|&code| code == 200))
}

/// Returns the names of all requests, in the order of the sides' lists. `None`, which stands for
/// all other requests, is last.
fn names<'a>(sides: &Sides<'a>) -> Vec<Option<&'a str>> {
    let mut names = Vec::new();
    for of in sides.all.iter().flat_map(|side| &side.figures.by_request) {
        let name = of.name.as_deref();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.sort_by_key(Option::is_none);
    names
}

fn group(
    sides: &Sides<'_>,
    name: Option<&str>,
    cells: fn(&RequestFigures) -> Vec<SheetCell>,
) -> Group {
    let row = |(side, of): (&Side<'_>, &RequestFigures)| Row::new(side.name.clone(), cells(of));
    Group { name: Some(shown_name(name)), rows: of_name(sides, name).map(row).collect() }
}

fn shown_name(name: Option<&str>) -> String {
    name.map_or_else(|| "all other requests".to_owned(), shortened)
}

fn times(of: &RequestFigures) -> Vec<SheetCell> {
    std::iter::once(number(of.sent)).chain(time_cells(&of.response_us)).collect()
}

/// Returns cells with the quantiles of response times.
pub(super) fn time_cells(of: &Summary) -> impl Iterator<Item = SheetCell> {
    QUANTILES.into_iter().map(|(name, quantile)| {
        let cell =
            |us: f64| SheetCell::Number(write::write_bound(of, name, us, write::write_time), us);
        quantile(of).map_or_else(SheetCell::none, cell)
    })
}

fn results(of: &RequestFigures) -> Vec<SheetCell> {
    vec![number(of.failed), write_results(&of.status, &of.outcomes).into()]
}

/// The heading of the column of [`write_results`].
pub(super) const RESULTS: &str = "Statuses and outcomes";

/// Returns a text like `200: 75, 404: 3, RESET: 2`: statuses, and the outcomes without a complete
/// response.
pub(super) fn write_results(
    status: &BTreeMap<u16, u64>,
    outcomes: &BTreeMap<String, u64>,
) -> String {
    let codes = status.iter().map(|(code, n)| (code.to_string(), *n));
    let others = outcomes.iter().filter(|(name, _)| *name != Outcome::Normal.name());
    let all = codes.chain(others.map(|(name, n)| (name.clone(), *n)));
    let said = all.map(|(name, n)| format!("{name}: {}", write::write_count(n)));
    said.collect::<Vec<_>>().join(", ")
}

/// Returns a cell with a count.
pub(super) fn number(count: u64) -> SheetCell {
    SheetCell::Number(write::write_count(count), count as f64)
}

/// Shortens a name to one line by omitting the middle of its path.
fn shortened(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= LONGEST_NAME {
        return name.to_owned();
    }
    let half = (LONGEST_NAME - 3) / 2;
    let [begin, end] = [&letters[..half], &letters[letters.len() - half..]];
    begin.iter().chain(&['.'; 3]).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sixmark_http::HttpVersion;
    use sixmark_plan::plan::Request;
    use sixmark_result::fixture;
    use sixmark_sheet::terminal;
    use sixmark_tally::by_request::{RequestNames, RequestTally};
    use sixmark_tally::family_result::FamilyResult;
    use sixmark_tally::outcome::{Failure, FailurePhase};

    /// Returns the sides of a mix of ten requests, two of which fail: the last one always.
    fn families() -> [FamilyResult; 2] {
        let requests = (0..10).map(|n| Request { name: format!("r{n}"), ..Request::plain("GET") });
        let names = RequestNames::new(&requests.collect::<Vec<_>>());
        let mut tallies = vec![RequestTally::default(); 10];
        tallies.iter_mut().for_each(|of| of.status.add(200, 20));
        (tallies[3].unaccepted, tallies[9].unaccepted) = (0, 20);
        tallies[3].failures.add(Failure::new(Outcome::Reset, FailurePhase::Wait), 5);
        tallies[9].status = Default::default();
        tallies[9].status.add(404, 20);
        let family = || FamilyResult { by_request: names.figures(&tallies), ..fixture::silent() };
        [family(), family()]
    }

    fn sides(families: &[FamilyResult; 2]) -> Sides<'_> {
        let side = |(place, figures): (usize, _)| Side {
            place,
            name: ["IPv6", "IPv4"][place].to_owned(),
            figures,
            version: HttpVersion::Http1,
            hidden: false,
        };
        Sides { all: families.iter().enumerate().map(side).collect(), both: None, watched: false }
    }

    fn shown(most: usize) -> String {
        let mut text = String::new();
        let part = requests_on_terminal(&sides(&families()), most);
        terminal::write_part(&mut text, &part.unwrap());
        text
    }

    #[test]
    fn lists_failing_requests_first_and_refers_to_the_others() {
        let text = shown(4);
        let names: Vec<&str> = text.lines().filter(|line| line.starts_with('r')).collect();
        assert_eq!(names, ["r9", "r3", "r0", "r1"], "{text}");
        assert!(text.contains("  IPv6     20      20"), "{text}");
        assert!(text.contains("404: 20") && text.contains("200: 20, RESET: 5"), "{text}");
        assert!(text.contains("6 more requests, none of which failed: in --full,"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(shown(1).contains("9 more requests, some of which failed"));
        assert!(!shown(10).contains("more requests"));
    }

    #[test]
    fn the_requests_that_fail_are_named() {
        let said = failed_requests(&sides(&families()));
        let expected = "Requests of the mix that failed: r9 (20 of 20 over IPv6, 20 of 20 over \
                        IPv4); r3 (5 of 25 over IPv6, 5 of 25 over IPv4).";
        assert_eq!(said.as_deref(), Some(expected));
        let well = [fixture::silent(), fixture::silent()];
        assert_eq!(failed_requests(&sides(&well)), None);
    }

    #[test]
    fn a_long_name_keeps_its_begin_and_its_end() {
        let long = format!("GET /{}/logo.svg", "a".repeat(100));
        let short = shortened(&long);
        assert!(short.chars().count() <= LONGEST_NAME, "{short}");
        assert!(short.starts_with("GET /a") && short.ends_with("a/logo.svg"), "{short}");
        assert_eq!(shortened("GET /"), "GET /");
    }
}
