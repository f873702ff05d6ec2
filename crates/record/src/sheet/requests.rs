//! The figures of each request of a mix, by name.

use crate::by_request::RequestFigures;
use sixmark_document::timing::Summary;

use super::side::{Side, Sides};
use sixmark_sheet::Figure;
use sixmark_sheet::table::{Column, Group, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, write};

/// The most characters of a name that are shown: paths may be longer than a line.
const LONGEST_NAME: usize = 60;

/// The quantiles that are shown of response times.
const QUANTILES: [Figure<Summary>; 3] =
    [("p50", |s| s.p50), ("p95", |s| s.p95), ("p99", |s| s.p99)];

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
        let columns = vec![Column::number("Failures"), Column::words("Statuses")];
        blocks.push(table("Failures and statuses of each request of the mix", columns, statuses));
    }
    Part::new("Requests of the mix", blocks).map(Part::open)
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
    let of_side = |side: &Side<'_>| {
        let found = side.figures.by_request.iter().find(|of| of.name.as_deref() == name);
        found.map(|of| Row::new(side.name.clone(), cells(of)))
    };
    let shown = name.map_or_else(|| "all other requests".to_owned(), shortened);
    Group { name: Some(shown), rows: sides.all.iter().filter_map(of_side).collect() }
}

fn times(of: &RequestFigures) -> Vec<SheetCell> {
    let time = |us: f64| SheetCell::Number(write::write_time(us), us);
    let times = QUANTILES.map(|(_, quantile)| quantile(&of.response_us));
    let times = times.map(|us| us.map_or_else(SheetCell::none, time));
    std::iter::once(number(of.sent)).chain(times).collect()
}

fn statuses(of: &RequestFigures) -> Vec<SheetCell> {
    let statuses = of.status.iter().map(|(code, n)| format!("{code}: {}", write::write_count(*n)));
    vec![number(of.failed), statuses.collect::<Vec<_>>().join(", ").into()]
}

fn number(count: u64) -> SheetCell {
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

    #[test]
    fn a_long_name_keeps_its_begin_and_its_end() {
        let long = format!("GET /{}/logo.svg", "a".repeat(100));
        let short = shortened(&long);
        assert!(short.chars().count() <= LONGEST_NAME, "{short}");
        assert!(short.starts_with("GET /a") && short.ends_with("a/logo.svg"), "{short}");
        assert_eq!(shortened("GET /"), "GET /");
    }
}
