//! The report on a comparison.

pub mod blocks;
pub mod brief;
mod by_agent;
pub mod effects;
pub(crate) mod intervals;
mod next_step;
pub mod repeated;
mod silent;
pub mod verdict;
pub mod why;
use crate::Comparison;
use crate::comparison_result::{BlockOrder, BlockSchedule, ComparedSide, ComparisonResult};

use sixmark_document::verdict::Verdict;
use sixmark_report::sheet::failed::{failed_altogether, failed_gates};
use sixmark_report::sheet::redirected::describe_redirected;
use sixmark_report::sheet::side::{Side, Sides, shown};
use sixmark_report::sheet::{
    families, figures, fleet, gates, outcomes, path, phases, planned, requests,
};
use sixmark_sheet::table::{Column, Row, SheetCell, Table};
use sixmark_sheet::{Block, Part, Sheet, SheetHeadline, Tile, setting, write};

/// Returns the report.
pub fn comparison_sheet(name: &str, result: &ComparisonResult) -> Sheet {
    let sides = sides_of(result);
    let parts = [
        gates::gates_part(&result.gates).map(Part::off_terminal),
        why::why_part(result),
        by_agent::agents_part(result),
        (!silent::is_given_up(result)).then(|| effects::effects_part(result)).flatten(),
        blocks::blocks_part(result),
        phases::phases_part(&sides),
        figures::figures_part(&sides).map(Part::off_terminal),
        requests::requests_part(&sides).map(Part::off_terminal),
        outcomes::outcomes_part(&sides).map(Part::off_terminal),
        path::path_part(&sides).map(Part::off_terminal),
        noise(result.noise.as_ref()).map(Part::off_terminal),
        fleet::fleet_part(result.fleet.as_ref()),
        setting::setting_part(setting_of_comparison(result)),
    ];
    Sheet {
        name: name.to_owned(),
        kind: "Comparison",
        title: comparison_title(result),
        when: setting::when(&result.started),
        about: describe_comparison(result),
        headline: comparison_headline(result),
        tiles: tiles(&sides, &result.comparison),
        warnings: result.warnings.clone(),
        parts: parts.into_iter().flatten().collect(),
    }
}

/// Returns the sides of a comparison.
fn sides_of<'a>(result: &'a ComparisonResult) -> Sides<'a> {
    let both = [&result.sides.a, &result.sides.b].into_iter().enumerate();
    let side = |(place, side): (usize, &'a ComparedSide)| Side {
        place,
        name: shown(&side.name),
        figures: &side.figures,
        version: side.plan.http.version,
        hidden: false,
    };
    Sides { all: both.map(side).collect(), both: None, watched: false }
}

/// Returns the title: what was loaded. It names both sides' targets only if they differ.
fn comparison_title(result: &ComparisonResult) -> String {
    let [a, b] = [&result.sides.a, &result.sides.b].map(|side| planned::plan_title(&side.plan));
    if a == b { a } else { format!("{a} against {b}") }
}

fn describe_comparison(result: &ComparisonResult) -> Vec<String> {
    let BlockSchedule { pairs, order, block_s, block_requests, .. } = result.schedule;
    let each = match (block_s, block_requests) {
        (Some(s), _) => format!(" of blocks of {}", write::write_time(s * 1e6)),
        (None, Some(n)) => format!(" of blocks of {} requests", write::write_count(n)),
        (None, None) => String::new(),
    };
    let order = match order {
        BlockOrder::Abba => "ABBA, BAAB",
        BlockOrder::Random => "in random order",
    };
    let compared = result.comparison.pairs;
    let [a, b] = [&result.sides.a, &result.sides.b]
        .map(|side| write::write_count(side.figures.requests.sent));
    let said = [
        format!("{:.1} s", result.elapsed_s),
        format!("{a} and {b} requests"),
        if compared == pairs as usize {
            format!("{pairs} pairs{each}")
        } else {
            format!("{compared} of {pairs} pairs{each}")
        },
        order.to_owned(),
        planned::pace(&result.sides.a.plan),
        planned::protocol(&result.sides.a.plan),
        setting::describe_end(result.ended).to_owned(),
    ];
    said.into_iter().filter(|phrase| !phrase.is_empty()).collect()
}

fn comparison_headline(result: &ComparisonResult) -> SheetHeadline {
    let headline = verdict::comparison_verdict(&result.comparison);
    let mut headline = silent::name_silent_sides(headline, result);
    // Where the sides can't be compared, the sentence says how they fail.
    headline.failed = match headline.verdict {
        Some(Verdict::NotComparable) => failed_gates(&result.gates),
        _ => failed_altogether(&sides_of(result), &result.gates),
    };
    let saturated = result.generator.saturated || result.blocks.iter().any(|block| block.saturated);
    let cause = next_step::noise_sentence(result).filter(|_| !saturated);
    headline.notes.splice(0..0, next_step::primary_step(result).into_iter().chain(cause));
    headline.notes.splice(0..0, describe_redirected(&sides_of(result)));
    headline.notes.splice(0..0, why::why_notes(result));
    headline.notes.extend(noise_floor(result));
    if saturated {
        headline.notes.push(families::SATURATED.to_owned());
    }
    headline
}

/// Returns a sentence about the noise floor of the primary metric, if side A was compared with
/// itself (`--calibrate`).
fn noise_floor(result: &ComparisonResult) -> Option<String> {
    let noise = result.noise.as_ref()?;
    let primary = result.comparison.metrics.first()?;
    let (side, what) = (shown(&noise.a), primary.metric.noun());
    let Some(floor) = primary.noise_floor else {
        return Some(format!(
            "Noise floor: unknown, {side} can’t be compared with itself in {what}."
        ));
    };
    let found = noise.metrics.iter().find(|of| of.metric == primary.metric);
    let found = found.and_then(|of| verdict::measured_change(of, &noise.settings));
    let found = found.map_or(String::new(), |said| said + ", ");
    Some(format!(
        "Noise floor: {side} differs from itself by up to {} in {what} ({found}{} pairs).",
        write::write_percent(floor),
        noise.pairs
    ))
}

/// Returns the tiles with the figures of both sides, and with the relative change if that was
/// estimated.
fn tiles(sides: &Sides<'_>, comparison: &Comparison) -> Vec<Tile> {
    let mut tiles = figures::tiles(sides);
    for tile in &mut tiles {
        let found = comparison.metrics.iter().find(|of| tile.metric == Some(of.metric.to_string()));
        if let Some(ratio) = found.and_then(|of| of.ratio) {
            tile.change = write::change(families::change_of(ratio).value);
        }
    }
    tiles
}

/// Returns the table of the comparison of side A with itself.
fn noise(noise: Option<&Comparison>) -> Option<Part> {
    let noise = noise?;
    let name = shown(&noise.a);
    let row = |of: &crate::Compared| {
        let change = of.ratio.map(families::change_of)?;
        let decides = of.deciding_interval(&noise.settings)?;
        let cells = vec![
            SheetCell::Number(write::change(change.value), change.value),
            intervals::interval_cell(of.metric, decides, &noise.settings).into(),
            SheetCell::Verdict(of.verdict),
        ];
        Some(Row::new(families::short(of.metric), cells))
    };
    let rows = noise.metrics.iter().filter_map(row).collect();
    let columns = vec![
        Column::words("Metric"),
        Column::number("Change"),
        Column::number(intervals::interval_heading(&noise.settings)),
        Column::words("Verdict"),
    ];
    let caption = format!("{name} against itself, over {} pairs", noise.pairs);
    let text = "The same comparison with two identical sides: smaller differences are not \
                distinguishable from noise.";
    let table = Block::Table(Table::new(caption, columns, rows));
    Part::new("Noise floor", vec![Block::Aside(text.into()), table])
}

fn setting_of_comparison(result: &ComparisonResult) -> Vec<Block> {
    let mut blocks = Vec::new();
    for side in [&result.sides.a, &result.sides.b] {
        blocks.push(planned::plan(&side.plan, &format!("Settings: {}", shown(&side.name))));
    }
    blocks.extend(planned::environment(
        &result.environment,
        Some(&result.generator),
        &result.dns,
        &result.tool,
    ));
    blocks
}
