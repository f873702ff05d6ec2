//! A report of what was watched.

use sixmark_model::measurement::Measurement;
use sixmark_model::watch::describe_hidden;
use sixmark_model::watch::document::WatchResult;

use super::side::Sides;
use super::{
    Block, Sheet, SheetHeadline, figures, gates, outcomes, path, phases, seconds, setting, verdict,
    watched, write,
};

/// What is shown of it.
pub(super) fn sheet(name: &str, result: &WatchResult) -> Sheet {
    let sides = Sides::of_families(Measurement::Watch(result));
    let hides_all = sides.hides_all();
    let seen = || watched::part(&result.watched);
    let parts = [
        seen().filter(|_| hides_all),
        gates::part(&result.gates),
        seconds::part(&result.intervals, &sides),
        phases::part(&sides),
        figures::part(&sides),
        outcomes::part(&sides),
        path::part(&sides),
        seen().filter(|_| !hides_all),
        setting::part(machine(result)),
    ];
    Sheet {
        name: name.to_owned(),
        kind: "Watch",
        title: result.watched.names().collect::<Vec<_>>().join(", "),
        when: setting::when(&result.started),
        about: about(result, hides_all),
        headline: headline(result, &sides),
        tiles: match hides_all {
            true => watched::tiles(&result.watched),
            false => figures::tiles(&sides),
        },
        warnings: result.warnings.clone(),
        parts: parts.into_iter().flatten().collect(),
    }
}

/// For how long, and how much was seen.
fn about(result: &WatchResult, hides_all: bool) -> Vec<String> {
    let seen = match hides_all {
        true => format!("{} connections", write::count(result.total.connections.opened)),
        false => format!("{} requests", write::count(result.total.requests.sent)),
    };
    let said =
        [format!("{:.1} s", result.elapsed_s), seen, setting::ended(result.ended).to_owned()];
    said.into_iter().filter(|phrase| !phrase.is_empty()).collect()
}

fn headline(result: &WatchResult, sides: &Sides<'_>) -> SheetHeadline {
    let line = describe_hidden(&result.watched.seen());
    let notes = line.map(|line| write::sentence(&line)).into_iter().collect();
    match sides.hides_all() {
        true => {
            let sentence = watched::sentence(&result.watched);
            SheetHeadline { verdict: None, sentence, notes }
        }
        false => verdict::of_run(sides, notes),
    }
}

fn machine(result: &WatchResult) -> Vec<Block> {
    setting::environment(&result.environment, None, &[], &result.tool)
}
