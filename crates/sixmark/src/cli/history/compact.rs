//! A list of entries, one line each, as wide as the terminal.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use crate::report::headline::{DocumentKind, ListHeadline, SideFigures};
use sixmark_document::provenance::Ended;
use sixmark_units::quantity::{duration_us, write_count};

use super::table::{shortened, targets};
use crate::store::Listed;

/// Columns of the number of an entry, its age, its kind with its result, and its median response times.
const COLUMNS: [usize; 4] = [5, 9, 22, 17];
/// Columns between two of them.
const GAP: usize = 2;
/// Columns of a label, at most.
const LABEL: usize = 20;
/// Columns of a terminal that does not say how many it has.
pub(super) const USUAL_WIDTH: usize = 80;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// A line of headings, and one for each entry, none longer than `width` columns.
pub(super) fn entry_lines(entries: &[Listed], now: SystemTime, width: usize) -> String {
    let headings = ["ID", "BEGAN", "RESULT", "MEDIAN RESPONSE"].map(str::to_owned);
    let mut text = line(&headings, "TARGET", width);
    for entry in entries {
        let Listed { id, headline, label, .. } = entry;
        let cells =
            [id.to_string(), age(&headline.started, now), result(headline), medians(headline)];
        let label = label.as_ref().map(|label| format!("'{}' ", shortened(label, LABEL)));
        let target = label.unwrap_or_default() + &targets(&headline.targets);
        text += &line(&cells, &target, width);
    }
    text
}

fn line(cells: &[String; 4], last: &str, width: usize) -> String {
    let [id, rest @ ..] = cells;
    let mut line = format!("{id:>0$}", COLUMNS[0]);
    for (cell, columns) in rest.iter().zip(&COLUMNS[1..]) {
        let _ = write!(line, "{:GAP$}{:columns$}", "", shortened(cell, *columns));
    }
    let _ = write!(line, "{:GAP$}{last}", "");
    shortened(line.trim_end(), width) + "\n"
}

/// How long ago something began: `3 h ago`; its day where that is more than two months.
fn age(started: &str, now: SystemTime) -> String {
    let day = || started.get(..10).unwrap_or(started).to_owned();
    let Ok(began) = humantime::parse_rfc3339(started) else { return day() };
    // A document from a machine whose clock is ahead.
    let age = now.duration_since(began).map_or(0, |age: Duration| age.as_secs());
    match age {
        ..MINUTE => "just now".to_owned(),
        MINUTE..HOUR => format!("{} min ago", age / MINUTE),
        HOUR..172_800 => format!("{} h ago", age / HOUR),
        172_800..5_184_000 => format!("{} d ago", age / DAY),
        _ => day(),
    }
}

/// The kind of an entry, then what a reader looks for first: that it did not end, that requests failed, its
/// verdict.
fn result(of: &ListHeadline) -> String {
    let kind = match of.kind {
        DocumentKind::Comparison => "compare",
        kind => kind.name(),
    };
    let ended = match of.ended {
        Some(Ended::Complete) => None,
        Some(Ended::Interrupted) => Some("interrupted".to_owned()),
        Some(Ended::Hopeless) => Some("given up".to_owned()),
        None => Some("not finished".to_owned()),
    };
    let failed: u64 = of.sides.iter().map(|side| side.failed).sum();
    let failed = (failed > 0).then(|| format!("{} failed", write_count(failed)));
    let word = |judged| serde_json::to_value(judged).ok()?.as_str().map(str::to_owned);
    let said = ended.or(failed).or_else(|| word(of.verdict?.verdict));
    said.map_or(kind.to_owned(), |said| format!("{kind}: {said}"))
}

/// The median response times of the sides, IPv6 or side A first.
fn medians(of: &ListHeadline) -> String {
    let time = |side: &SideFigures| side.response_p50_us.map_or("-".to_owned(), duration_us);
    match of.sides.iter().any(|side| side.response_p50_us.is_some()) {
        true => of.sides.iter().map(time).collect::<Vec<_>>().join(" / "),
        false => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::age;

    #[test]
    fn an_age_is_in_the_largest_whole_unit_and_old_entries_have_a_day() {
        let began = SystemTime::UNIX_EPOCH;
        for (seconds, said) in [
            (0, "just now"),
            (59, "just now"),
            (60, "1 min ago"),
            (7_199, "1 h ago"),
            (172_799, "47 h ago"),
            (172_800, "2 d ago"),
            (5_183_999, "59 d ago"),
            (5_184_000, "1970-01-01"),
        ] {
            assert_eq!(age("1970-01-01T00:00:00.000Z", began + Duration::from_secs(seconds)), said);
        }
        assert_eq!(age("2999-01-01T00:00:00.000Z", began), "just now");
    }
}
