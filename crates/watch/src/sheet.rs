//! The report on a watch.

use crate::describe_hidden;
use crate::watch_result::WatchResult;

use crate::watched_sheet as watched;
use sixmark_record::sheet::measured::measured_parts;
use sixmark_record::sheet::side::Sides;
use sixmark_record::sheet::{families, figures};
use sixmark_sheet::{Block, Sheet, SheetHeadline, setting, write};

/// Returns the report.
pub fn watch_sheet(name: &str, result: &WatchResult) -> Sheet {
    let measurement = result;
    let sides = Sides::of_families(measurement);
    let hides_all = sides.hides_all();
    // If no exchange can be seen, the packet statistics come first.
    let seen = watched::watched_part(&result.watched);
    let (before, after) = if hides_all { (seen, None) } else { (None, seen) };
    let parts = before.into_iter().chain(measured_parts(measurement, &sides)).chain(after);
    let parts = parts.chain(setting::setting_part(machine(result)));
    Sheet {
        name: name.to_owned(),
        kind: "Watch",
        title: result.watched.names().collect::<Vec<_>>().join(", "),
        when: setting::when(&result.started),
        about: describe_watch(result, hides_all),
        headline: watch_headline(result, &sides),
        tiles: match hides_all {
            true => watched::tiles(&result.watched),
            false => figures::tiles(&sides),
        },
        warnings: result.warnings.clone(),
        parts: parts.collect(),
    }
}

/// Returns how long the watch took, how much was seen, and how it ended.
fn describe_watch(result: &WatchResult, hides_all: bool) -> Vec<String> {
    let seen = match hides_all {
        true => {
            let connections = watched::count_connections(&result.watched);
            format!("{} connections", write::write_count(connections))
        }
        false => format!("{} requests", write::write_count(result.total.requests.sent)),
    };
    let said = [
        format!("{:.1} s", result.elapsed_s),
        seen,
        setting::describe_end(result.ended).to_owned(),
    ];
    said.into_iter().filter(|phrase| !phrase.is_empty()).collect()
}

fn watch_headline(result: &WatchResult, sides: &Sides<'_>) -> SheetHeadline {
    let line = describe_hidden(&result.watched.seen());
    let notes = line.map(|line| write::write_sentence(&line)).into_iter().collect();
    match sides.hides_all() {
        true => {
            let sentence = watched::describe_watched(&result.watched);
            SheetHeadline { sentence, notes, ..SheetHeadline::default() }
        }
        false => families::of_families(sides, true, notes),
    }
}

fn machine(result: &WatchResult) -> Vec<Block> {
    setting::machine(&result.environment, Vec::new(), &result.tool)
}
