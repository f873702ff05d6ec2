//! The report of a run.

use sixmark_plan::plan::Plan;
use sixmark_result::failed_lookup::{describe_failed_lookups, failed_lookups};
use sixmark_result::result::RunResult;
use sixmark_units::family::Family;

use super::failed::{failed_altogether, failed_gates};
use super::measured::measured_parts;
use super::redirected::describe_redirected;
use super::requests::{failed_requests, requests_on_terminal};
use super::side::Sides;
use super::steps::steps_on_terminal;
use super::{families, figures, fleet, floor, planned, search, truth};
use sixmark_sheet::{Block, Part, Sheet, SheetHeadline, Tile, setting, write};
use sixmark_vitals::costs_sheet as costs;

/// Returns the report of a run.
pub fn run_sheet(name: &str, result: &RunResult) -> Sheet {
    let measurement = result;
    let sides = Sides::of_families(measurement);
    let parts = search_of(result).into_iter().chain(measured_parts(measurement, &sides));
    let parts = parts.chain(fleet::fleet_part(result.fleet.as_ref()));
    let parts = parts.chain(clock_checks(result));
    let parts = parts.chain(costs::costs_part(result.vitals.as_ref()));
    let parts = parts.chain(setting::setting_part(setting_of_run(result)).map(Part::on_terminal));
    Sheet {
        name: name.to_owned(),
        kind: kind(result),
        title: planned::plan_title(&result.plan),
        when: setting::when(&result.started),
        about: describe_run(result),
        headline: run_headline(result),
        tiles: run_tiles(result, &sides),
        warnings: result.warnings.clone(),
        parts: parts.collect(),
    }
}

/// Returns the result of a search for the highest rate, or `None` if the run was not a search.
pub fn search_of(result: &RunResult) -> Option<Part> {
    result.find_max.as_ref().and_then(search::search_part)
}

/// Returns the parts that show how reliable the times are: the noise floor and the comparison with
/// packets.
pub fn clock_checks(result: &RunResult) -> Vec<Part> {
    let parts =
        [floor::floor_part(result.calibration.as_ref()), truth::truth_part(result.truth.as_ref())];
    parts.into_iter().flatten().collect()
}

/// Returns the figures of at most `most` requests of a mix and of at most `most` steps of a rate,
/// for a terminal.
pub fn requests_and_steps(result: &RunResult, most: usize) -> Vec<Part> {
    let sides = Sides::of_families(result);
    let parts = [requests_on_terminal(&sides, most), steps_on_terminal(result, &sides, most)];
    parts.into_iter().flatten().collect()
}

fn kind(result: &RunResult) -> &'static str {
    match result.find_max {
        Some(_) => "Search for the highest rate",
        None => "Run",
    }
}

fn run_tiles(result: &RunResult, sides: &Sides<'_>) -> Vec<Tile> {
    let tiles = figures::tiles(sides);
    match &result.find_max {
        Some(found) => search::search_tiles(found, tiles),
        None => tiles,
    }
}

fn describe_run(result: &RunResult) -> Vec<String> {
    let said = match &result.find_max {
        Some(found) => search::about_search(found, &result.plan),
        None => vec![
            format!("{:.1} s", result.elapsed_s),
            format!("{} requests", write::write_count(result.total.requests.sent)),
            planned::pace(&result.plan),
            format!("IPv6 : IPv4 = {}", result.plan.ratio),
        ],
    };
    let protocol = planned::protocol(&result.plan);
    let end = setting::describe_end(result.ended).to_owned();
    let said = said.into_iter().chain([protocol, end]);
    said.filter(|phrase| !phrase.is_empty()).collect()
}

/// The most targets that are named in a command.
const MOST_NAMED: usize = 2;

/// Returns a note in which the command for a verdict names the targets of the run, so that it can be
/// pasted. Many targets came from a file, which a result does not name.
fn with_command(note: &str, plan: &Plan) -> String {
    let urls: Option<Vec<String>> = plan.targets.iter().map(|target| quoted(&target.url)).collect();
    match urls {
        Some(urls) if urls.len() <= MOST_NAMED => {
            let command = format!("`sixmark compare {}`", urls.join(" "));
            note.replace(families::FOR_A_VERDICT, &command)
        }
        _ => note.to_owned(),
    }
}

/// Quotes a URL for a shell if that is necessary; `None` if it contains a quote itself.
fn quoted(url: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/%+,@=".contains(c);
    if url.chars().all(is_plain) {
        Some(url.to_owned())
    } else {
        (!url.contains('\'')).then(|| format!("'{url}'"))
    }
}

/// Returns the headline of a run: what failed altogether, its conclusion, and the most important
/// notes.
pub fn run_headline(result: &RunResult) -> SheetHeadline {
    let sides = Sides::of_families(result);
    // Trials of a search are meant to fail.
    let mut failed = match result.find_max {
        Some(_) => failed_gates(&result.gates),
        None => failed_altogether(&sides, &result.gates),
    };
    failed.extend(describe_failed_lookups(&failed_lookups(&result.dns)));
    let mut headline = SheetHeadline { failed, ..conclusion(result, &sides) };
    if let Some(missing) = describe_missing_family(result) {
        headline.sentence = format!("{} {missing}", headline.sentence);
    }
    headline
}

/// Returns a sentence about the family that was not loaded although both were asked for, or `None`
/// if there is none.
fn describe_missing_family(result: &RunResult) -> Option<String> {
    let missing = Family::BOTH.into_iter().find(|&family| !result.plan.ratio.uses(family))?;
    let warned = |code: &str| result.warnings.iter().any(|warning| warning.code == code);
    if warned("lookup_failed") {
        return Some(format!("{missing} was not measured: the look-up of its addresses failed."));
    }
    warned("single_family")
        .then(|| format!("{missing} was not measured: the targets have no {missing} address."))
}

fn conclusion(result: &RunResult, sides: &Sides<'_>) -> SheetHeadline {
    let notes = describe_redirected(sides).into_iter().chain(failed_requests(sides));
    let mut notes: Vec<String> = notes.collect();
    if result.is_saturated() {
        notes.push(families::SATURATED.to_owned());
    }
    if let Some(found) = &result.find_max {
        let why = result.describe_no_answers();
        notes.extend(why.map(|why| format!("{}.", write::capitalised(&why))));
        return SheetHeadline {
            sentence: search::describe_search(found),
            notes,
            ..SheetHeadline::default()
        };
    }
    if let Some(said) = result.not_same() {
        let mut headline = families::unlike(said, Vec::new());
        headline.notes.extend(notes);
        return headline;
    }
    let mut headline = families::of_families(sides, notes);
    headline.notes.iter_mut().for_each(|note| *note = with_command(note, &result.plan));
    headline
}

fn setting_of_run(result: &RunResult) -> Vec<Block> {
    let RunResult { environment, generator, dns, tool, .. } = result;
    let plan = planned::plan(&result.plan, "Settings");
    let here = planned::environment(environment, Some(generator), dns, tool);
    [plan].into_iter().chain(here).collect()
}
