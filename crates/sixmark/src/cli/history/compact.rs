//! A list of the store's entries, one line each, as wide as the terminal.

use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use crate::report::headline::{DocumentKind, ListHeadline, SideFigures};
use sixmark_document::provenance::Ended;
use sixmark_units::quantity::{duration_us, write_count, write_per_s};

use super::table::{shortened, targets};
use crate::store::Listed;

/// Widths, in columns, of an entry's number, its age, its kind and result, and its median response
/// times.
const COLUMNS: [usize; 4] = [5, 9, 22, 17];
/// Number of blank columns between two cells.
const GAP: usize = 2;
/// Maximum width of a label, in columns.
const LABEL: usize = 20;
/// Width assumed for a terminal that does not report one, in columns.
pub(super) const USUAL_WIDTH: usize = 80;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Returns a heading line and one line per entry, none longer than `width` columns.
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

/// Returns how long ago something began, as in `3 h ago`, or its date if that is 60 days or more.
fn age(started: &str, now: SystemTime) -> String {
    let day = || started.get(..10).unwrap_or(started).to_owned();
    let Ok(began) = humantime::parse_rfc3339(started) else { return day() };
    // The age is zero if the document comes from a machine whose clock is ahead.
    let age = now.duration_since(began).map_or(0, |age: Duration| age.as_secs());
    match age {
        ..MINUTE => "just now".to_owned(),
        MINUTE..HOUR => format!("{} min ago", age / MINUTE),
        HOUR..172_800 => format!("{} h ago", age / HOUR),
        172_800..5_184_000 => format!("{} d ago", age / DAY),
        _ => day(),
    }
}

/// Returns the kind of an entry, and the first of these that applies: it did not complete, the
/// highest rates of a search, requests failed, its verdict.
fn result(of: &ListHeadline) -> String {
    let kind = match of.kind {
        DocumentKind::Comparison => "compare",
        _ if of.is_search() => "max",
        kind => kind.name(),
    };
    let ended = match of.ended {
        Some(Ended::Complete) => None,
        Some(Ended::Interrupted) => Some("interrupted".to_owned()),
        Some(Ended::Hopeless) => Some("given up".to_owned()),
        None => Some("not finished".to_owned()),
    };
    if of.is_search() && ended.is_none() {
        return format!("{kind} {}/s", rates(of));
    }
    if let Some(verdict) = of.site_verdict {
        // That fetches fail is a part of the verdict.
        return format!("{kind}: {}", verdict.shown().to_lowercase());
    }
    let failed: u64 = of.sides.iter().map(|side| side.failed).sum();
    let failed = (failed > 0).then(|| format!("{} failed", write_count(failed)));
    let word = |judged| serde_json::to_value(judged).ok()?.as_str().map(str::to_owned);
    let said = ended.or(failed).or_else(|| word(of.verdict?.verdict));
    said.map_or(kind.to_owned(), |said| format!("{kind}: {said}"))
}

/// Returns the highest rates of a search, IPv6 first.
fn rates(of: &ListHeadline) -> String {
    let held = |side: &SideFigures| side.holds_per_s.map_or("none".to_owned(), short_rate);
    of.sides.iter().map(held).collect::<Vec<_>>().join(" / ")
}

/// Writes a rate; one of six digits or more in thousands, of which searches try whole ones.
fn short_rate(per_s: f64) -> String {
    match per_s {
        large if large >= 1e5 => format!("{}k", write_count((large / 1e3).round() as u64)),
        small => write_per_s(small),
    }
}

/// Returns the median response times of the sides, IPv6 or side A first. Empty if no side has one.
fn medians(of: &ListHeadline) -> String {
    let time = |side: &SideFigures| side.response_p50_us.map_or("-".to_owned(), duration_us);
    if of.sides.iter().any(|side| side.response_p50_us.is_some()) {
        of.sides.iter().map(time).collect::<Vec<_>>().join(" / ")
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{age, short_rate};

    #[test]
    fn rates_of_a_search_fit_into_their_column() {
        let written = [9.5, 995.0, 41_200.0, 123_000.0, 1_230_000.0].map(short_rate);
        assert_eq!(written, ["9.5", "995", "41,200", "123k", "1,230k"]);
    }

    #[test]
    fn shows_recent_entries_by_age_and_old_entries_by_date() {
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
