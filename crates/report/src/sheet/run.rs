//! A run's report.

use crate::find;
use sixmark_model::find::{FindMax, Found};
use sixmark_model::result::RunResult;
use sixmark_model::watch::Watched;
use sixmark_model::watch::describe_hidden;

use super::side::Sides;
use super::table::{Cell, Column, Group, Row, Table};
use super::{
    Block, Headline, Part, Sheet, Tile, figures, floor, gates, outcomes, path, phases, seconds,
    setting, verdict, watched, write,
};

/// What is shown of a run.
pub(super) fn sheet(name: &str, result: &RunResult) -> Sheet {
    let sides = Sides::of_run(result);
    let watched = || result.watched.as_ref().and_then(watched::part);
    let parts = [
        watched().filter(|_| sides.hides_all()),
        search(result),
        gates::part(&result.gates),
        seconds::part(result, &sides),
        phases::part(&sides),
        figures::part(&sides),
        outcomes::part(&sides),
        path::part(&sides),
        watched().filter(|_| !sides.hides_all()),
        floor::part(result.calibration.as_ref()),
        setting::part(measured(result)),
    ];
    Sheet {
        name: name.to_owned(),
        kind: kind(result),
        title: title(result),
        about: about(result, &sides),
        headline: headline(result, &sides),
        tiles: tiles(result, &sides),
        warnings: result.warnings.clone(),
        parts: parts.into_iter().flatten().collect(),
    }
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
        setting::when(&result.started),
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

fn headline(result: &RunResult, sides: &Sides<'_>) -> Headline {
    let mut notes = Vec::new();
    if result.is_saturated() {
        notes.push(verdict::SATURATED.to_owned());
    }
    let line = result.watched.as_ref().and_then(|watched| describe_hidden(&watched.seen()));
    notes.extend(line.map(|line| write::sentence(&line)));
    if let Some(watched) = result.watched.as_ref().filter(|_| sides.hides_all()) {
        return Headline { verdict: None, sentence: watched::sentence(watched), notes };
    }
    if let Some(found) = &result.find_max {
        return Headline { verdict: None, sentence: highest(found), notes };
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

/// What a search found, in a sentence.
fn highest(found: &FindMax) -> String {
    let conditions: Vec<String> = found.conditions.iter().map(ToString::to_string).collect();
    let of =
        |(family, found): (sixmark_units::family::Family, &Found)| match (found.holds, found.fails)
        {
            (Some(holds), Some(fails)) => {
                format!("{family} held {} a second and did not hold {}", rate(holds), rate(fails))
            }
            (Some(holds), None) => {
                format!("{family} held {} a second, and no higher rate was decided", rate(holds))
            }
            (None, Some(fails)) => format!("{family} did not hold even {} a second", rate(fails)),
            (None, None) => format!("of {family} nothing was decided"),
        };
    let found: Vec<String> = found.families.iter().map(of).collect();
    format!("With {}: {}.", conditions.join(" and "), found.join("; "))
}

fn rate(per_s: f64) -> String {
    write::per_s(per_s)
}

/// The trials of a search.
fn search(result: &RunResult) -> Option<Part> {
    let found = result.find_max.as_ref()?;
    let groups = found.families.iter().map(|(family, of)| Group {
        name: Some(family.to_string()),
        rows: of
            .trials
            .iter()
            .map(|trial| {
                let said = find::trial(family, trial, &found.conditions);
                let why = said.split_once('(').map_or("", |(_, why)| why.trim_end_matches(')'));
                let held = if trial.held { "held" } else { "did not hold" };
                let label = Cell::Number(write::per_s(trial.rate), trial.rate);
                Row::new(label, vec![held.into(), why.into()])
            })
            .collect(),
    });
    let columns = ["Rate, a second", "", "Because"].map(Column::words).into();
    let caption = "Trials in their order".to_owned();
    let table = Table { caption, columns, groups: groups.collect(), scale: None };
    let mut blocks = Vec::new();
    if let Some([least, most]) = found.ratio {
        let line = format!("IPv6’s highest rate is {least:.2} to {most:.2} times IPv4’s.");
        blocks.push(Block::Text(line));
    } else if found.has_ratio_of_limits() {
        blocks.push(Block::Text(format!("{}.", find::NO_RATIO)));
    }
    blocks.push(Block::Folded("All trials".into(), vec![Block::Table(table)]));
    blocks.push(Block::Text("The figures below are of one trial of each family.".into()));
    Part::new("The highest rate", blocks)
}
