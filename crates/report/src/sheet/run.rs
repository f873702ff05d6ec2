//! A run's report.

use sixmark_model::result::RunResult;
use sixmark_model::watch::Watched;
use sixmark_model::watch::describe_hidden;

use super::side::Sides;
use super::{
    Block, Part, Sheet, SheetHeadline, Tile, costs, figures, floor, gates, outcomes, path, phases,
    search, seconds, setting, truth, verdict, watched, write,
};

/// What is shown of a run.
pub(super) fn sheet(name: &str, result: &RunResult) -> Sheet {
    let sides = Sides::of_run(result);
    let watched = || result.watched.as_ref().and_then(watched::part);
    let parts = [
        watched().filter(|_| sides.hides_all()),
        result.find_max.as_ref().and_then(search::part),
        gates::part(&result.gates),
        seconds::part(result, &sides),
        phases::part(&sides),
        figures::part(&sides),
        outcomes::part(&sides),
        path::part(&sides),
        watched().filter(|_| !sides.hides_all()),
    ];
    let parts = parts.into_iter().flatten().chain(clock_checks(result));
    let parts = parts.chain(costs::part(result.vitals.as_ref()));
    let parts = parts.chain(setting::part(measured(result)));
    Sheet {
        name: name.to_owned(),
        kind: kind(result),
        title: title(result),
        when: setting::when(&result.started),
        about: about(result, &sides),
        headline: headline(result, &sides),
        tiles: tiles(result, &sides),
        warnings: result.warnings.clone(),
        parts: parts.collect(),
    }
}

/// What tells whether to believe the clock.
pub(super) fn clock_checks(result: &RunResult) -> Vec<Part> {
    let parts = [floor::part(result.calibration.as_ref()), truth::part(result.truth.as_ref())];
    parts.into_iter().flatten().collect()
}

fn kind(result: &RunResult) -> &'static str {
    match (&result.find_max, &result.plan) {
        (Some(_), _) => "Search for the highest rate",
        (None, Some(_)) => "Run",
        (None, None) => "Watch",
    }
}

fn title(result: &RunResult) -> String {
    let watched = || result.watched.iter().flat_map(Watched::names).collect::<Vec<_>>().join(", ");
    result.plan.as_ref().map_or_else(watched, setting::title)
}

fn about(result: &RunResult, sides: &Sides<'_>) -> Vec<String> {
    let ratio = result.plan.as_ref().map(|plan| format!("IPv6 : IPv4 = {}", plan.ratio));
    let said = [
        format!("{:.1} s", result.elapsed_s),
        match sides.hides_all() {
            true => format!("{} connections", write::count(result.total.connections.opened)),
            false => format!("{} requests", write::count(result.total.requests.sent)),
        },
        result.plan.as_ref().map_or(String::new(), setting::pace),
        ratio.unwrap_or_default(),
        result.plan.as_ref().map_or(String::new(), setting::protocol),
        setting::ended(result.ended).to_owned(),
    ];
    said.into_iter().filter(|phrase| !phrase.is_empty()).collect()
}

fn headline(result: &RunResult, sides: &Sides<'_>) -> SheetHeadline {
    let mut notes = Vec::new();
    if result.is_saturated() {
        notes.push(verdict::SATURATED.to_owned());
    }
    let line = result.watched.as_ref().and_then(|watched| describe_hidden(&watched.seen()));
    notes.extend(line.map(|line| write::sentence(&line)));
    if let Some(watched) = result.watched.as_ref().filter(|_| sides.hides_all()) {
        return SheetHeadline { verdict: None, sentence: watched::sentence(watched), notes };
    }
    if let Some(found) = &result.find_max {
        return SheetHeadline { verdict: None, sentence: search::sentence(found), notes };
    }
    if let Some(said) = result.not_same() {
        let mut headline = verdict::unlike(said, Vec::new());
        headline.notes.extend(notes);
        return headline;
    }
    verdict::of_run(sides, notes)
}

fn tiles(result: &RunResult, sides: &Sides<'_>) -> Vec<Tile> {
    match result.watched.as_ref().filter(|_| sides.hides_all()) {
        Some(watched) => watched::tiles(watched),
        None => figures::tiles(sides),
    }
}

fn measured(result: &RunResult) -> Vec<Block> {
    let plan = result.plan.iter().map(|plan| setting::plan(plan, "What was run"));
    let mut blocks: Vec<Block> = plan.collect();
    blocks.extend(setting::environment(
        &result.environment,
        result.generator.as_ref(),
        &result.dns,
        &result.tool,
    ));
    blocks
}
