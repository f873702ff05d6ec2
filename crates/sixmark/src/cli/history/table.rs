//! An entry of the store with the figures of its sides, in lines of at most 80 columns.

use crate::report::headline::{DocumentKind, ListHeadline, SideFigures};
use sixmark_document::provenance::Ended;
use sixmark_sheet::terminal::width;
use sixmark_units::quantity::{duration_us, write_count, write_per_s};

use crate::store::Listed;

/// Maximum width of a label, in columns, which leaves space for the targets.
const LABEL: usize = 30;
/// Width of a side's name, in columns.
const NAME: usize = 10;

/// Returns one line with the number, the start time, the kind, the targets and how the measurement
/// ended.
pub(super) fn entry_line(entry: &Listed) -> String {
    let Listed { id, headline, label, .. } = entry;
    let label = label.as_ref().map(|label| format!("'{}' ", shortened(label, LABEL)));
    let label = label.unwrap_or_default();
    let head =
        format!("{id:>5}  {}  {}  {label}", short_time(&headline.started), headline.kind.name());
    let end = format!("{}{}", ended_mark(headline), short_verdict(headline));
    let room = width().saturating_sub(head.chars().count() + end.chars().count());
    let line = format!("{head}{}{end}", shortened(&targets(&headline.targets), room));
    shortened(&line, width())
}

/// Returns one line of figures per side.
pub(super) fn sides_line(entry: &Listed) -> String {
    let watched = entry.headline.kind == DocumentKind::Watch;
    let line = |of: &SideFigures| match watched && of.requests == 0 {
        // A watch can't see all requests, for instance encrypted ones.
        true => format!("       {:NAME$}  no requests seen\n", shortened(short_name(of), NAME)),
        false => side_figures(of) + "\n" + &found_rate(of),
    };
    entry.headline.sides.iter().map(line).collect()
}

/// Returns the line of an entry, and one line for each of its sides.
pub(super) fn wide_entry(entry: &Listed) -> String {
    format!("{}\n{}", entry_line(entry).trim_end(), sides_line(entry))
}

fn side_figures(of: &SideFigures) -> String {
    let time = |us: Option<f64>| us.map_or("-".to_owned(), duration_us);
    format!(
        "       {:NAME$}  {:>13} requests  {:>9} failed  median {:>7}  p99 {:>7}  {:>10}/s",
        shortened(short_name(of), NAME),
        write_count(of.requests),
        write_count(of.failed),
        time(of.response_p50_us),
        time(of.response_p99_us),
        write_count(of.requests_per_s.round() as u64),
    )
}

/// Returns a line with the rate that a search found; empty if there is none. The figures above it
/// are of a trial at that rate.
fn found_rate(of: &SideFigures) -> String {
    let rate = |per_s: f64| format!("{}/s", write_per_s(per_s));
    let said = match (of.holds_per_s, of.fails_per_s) {
        (Some(holds), Some(fails)) => format!("held {}, did not hold {}", rate(holds), rate(fails)),
        (Some(holds), None) => format!("held {}", rate(holds)),
        (None, Some(fails)) => format!("did not hold {}", rate(fails)),
        (None, None) => return String::new(),
    };
    format!("       {:NAME$}  {said}\n", "")
}

/// Returns the name of a side, with families as `IPv6` and `IPv4`.
fn short_name(of: &SideFigures) -> &str {
    match of.name.as_str() {
        "ipv6" => "IPv6",
        "ipv4" => "IPv4",
        other => other,
    }
}

/// Returns a start time without fractions of a second and zone.
fn short_time(started: &str) -> String {
    started.get(..19).unwrap_or(started).replace('T', " ")
}

/// Returns one or two URLs, or the first one and the number of the others.
pub(super) fn targets(urls: &[String]) -> String {
    match urls {
        [] => String::new(),
        [one] => one.clone(),
        [first, second] => format!("{first} {second}"),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

fn ended_mark(of: &ListHeadline) -> &'static str {
    match of.ended {
        Some(Ended::Complete) => "",
        Some(Ended::Interrupted) => "  interrupted",
        Some(Ended::Hopeless) => "  given up",
        None => "  not finished",
    }
}

fn short_verdict(of: &ListHeadline) -> String {
    let word = |judged| serde_json::to_value(judged).ok()?.as_str().map(str::to_owned);
    let said = of.verdict.and_then(|of| Some(format!("  {} {}", of.metric, word(of.verdict)?)));
    let of_check = || of.site_verdict.map(|of| format!("  {}", of.shown().to_lowercase()));
    said.or_else(of_check).unwrap_or_default()
}

/// Shortens text to at most `columns` columns, and replaces control characters, which could move a
/// terminal's cursor.
pub(super) fn shortened(text: &str, columns: usize) -> String {
    let plain: Vec<char> = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    if plain.len() > columns {
        plain[..columns.saturating_sub(1)].iter().chain(&['…']).collect()
    } else {
        plain.into_iter().collect()
    }
}
