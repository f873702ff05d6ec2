//! The cells of a study, and the order in which they are measured.

use super::{CellGroup, Factor, Level, Study};
use crate::spec::PlannedCell;
use crate::spec::cell::is_at;
use crate::spec::command_line::CellTarget;
use crate::study_result::CellOrder;
use sixmark_clients::client::{Blocks, Client, Job, SAVE};
use sixmark_clients::setting::{Setting, SettingValue};
use sixmark_units::random::Random;
use std::collections::HashSet;

/// The maximum number of cells, and of cells times repetitions.
const MOST_CELLS: u64 = 100_000;
const MOST_MEASURED: u64 = 1_000_000;

/// Returns the number of cells.
///
/// # Errors
/// Returns a message if there are too many.
pub fn count_cells(study: &Study) -> Result<u32, String> {
    let of_factors = study.factors.iter().map(|factor| factor.levels.len() as u64);
    let of_group = |group: &CellGroup| -> u64 {
        let sizes = group.levels.iter().map(|(_, levels)| levels.len() as u64);
        sizes.fold(1, u64::saturating_mul)
    };
    let of_groups = study.groups.iter().map(of_group).fold(0, u64::saturating_add);
    let product =
        if study.groups.is_empty() { of_factors.fold(1, u64::saturating_mul) } else { of_groups };
    let repetitions = u64::from(study.repetitions.get());
    if product > MOST_CELLS || product.saturating_mul(repetitions) > MOST_MEASURED {
        return Err(format!(
            "{product} combinations, {repetitions} times each, are more than {MOST_CELLS} and \
             {MOST_MEASURED} in all"
        ));
    }
    Ok(cells(study).len() as u32)
}

/// Returns the cells in the written order: the last factor changes fastest.
pub fn cells(study: &Study) -> Vec<PlannedCell<'_>> {
    let mut all: Vec<Vec<(&str, &Level)>> =
        if study.groups.is_empty() { combine(&study.factors, |_, _| true) } else { union(study) };
    all.retain(|levels| !study.exclude.iter().any(|out| is_at(levels, out)));
    let cell = |levels| PlannedCell {
        number: 0,
        levels,
        options: &study.options,
        together: &study.together,
    };
    let is_omitted =
        |cell: &PlannedCell<'_>| study.server_of(cell).is_some_and(|name| study.is_omitted(name));
    let mut cells: Vec<PlannedCell<'_>> = all.into_iter().map(cell).collect();
    if !study.omitted.is_empty() {
        cells.retain(|cell| !is_omitted(cell));
    }
    (1..).zip(&mut cells).for_each(|(number, cell)| cell.number = number);
    cells
}

/// A level of each factor.
type Combination<'a> = Vec<(&'a str, &'a Level)>;

/// Returns the combinations of all groups, each of them once, in the order of the groups.
fn union(study: &Study) -> Vec<Combination<'_>> {
    let mut seen: HashSet<Vec<&str>> = HashSet::new();
    let of_group =
        |group: &CellGroup| combine(&study.factors, |factor, level| group.includes(factor, level));
    let mut all: Vec<Combination<'_>> = study.groups.iter().flat_map(of_group).collect();
    all.retain(|levels| {
        let names: Vec<&str> = levels.iter().map(|(_, level)| level.name.as_str()).collect();
        seen.insert(names)
    });
    all
}

/// Returns all combinations of those levels of the factors that `is_wanted` accepts.
fn combine<'a>(
    factors: &'a [Factor],
    is_wanted: impl Fn(&str, &str) -> bool,
) -> Vec<Combination<'a>> {
    let mut all: Vec<Combination<'a>> = vec![Vec::new()];
    for factor in factors {
        let here = || factor.levels.iter().filter(|level| is_wanted(&factor.name, &level.name));
        let with = |levels: &Combination<'a>| -> Vec<Combination<'a>> {
            let next = here().map(|level| (factor.name.as_str(), level));
            next.map(|next| levels.iter().copied().chain([next]).collect()).collect()
        };
        all = all.iter().flat_map(with).collect();
    }
    all
}

/// Returns the order of measurement: indices into the list of cells, each with its repetition,
/// counted from 1. It depends only on the study and the seed, so that a resumed study continues in
/// the same order.
pub fn schedule(study: &Study, cells: usize, seed: u64) -> Vec<(usize, u32)> {
    let block = |repetition: u32| {
        let mut order: Vec<usize> = (0..cells).collect();
        if study.order == CellOrder::Random {
            shuffle(&mut order, &mut Random::new(seed, u64::from(repetition)));
        }
        order.into_iter().map(move |cell| (cell, repetition))
    };
    (1..=study.repetitions.get()).flat_map(block).collect()
}

/// Shuffles by the algorithm of Fisher and Yates. The bias of the remainder is below 2^-46 for any
/// number of cells.
pub fn shuffle(order: &mut [usize], random: &mut Random) {
    for last in (1..order.len()).rev() {
        let other = (random.bits() % (last as u64 + 1)) as usize;
        order.swap(last, other);
    }
}

/// Fails if a cell that sixmark itself loads has settings of other clients.
fn only_own_settings(study: &Study, cell: &PlannedCell<'_>) -> Result<(), (usize, String)> {
    let settings = cell.settings();
    let ours = |setting: &&&Setting| {
        Blocks::KEYS.contains(&setting.key.as_str()) && !study.is_text(&setting.key)
    };
    if let Some(setting) = settings.iter().find(ours) {
        return Err((setting.line, format!("{}: applies only to client = \"fio\"", setting.key)));
    }
    let saves =
        |setting: &&&Setting| setting.key == SAVE && setting.value == SettingValue::Flag(true);
    match settings.iter().find(saves) {
        Some(setting) => Err((
            setting.line,
            "save: sixmark discards responses: save applies to curl and wget".to_owned(),
        )),
        None => Ok(()),
    }
}

/// Returns why a client can't load from these hosts together; `None` if it can.
fn no_hosts(client: Client, hosts: &[&str]) -> Option<String> {
    if hosts.len() < 2 {
        return None;
    }
    match client {
        Client::Sixmark => {
            let hosts: Vec<String> = hosts.iter().map(|host| format!("lab:{host}")).collect();
            let hosts = hosts.join(",");
            Some(format!(
                "from: a list of hosts is for other clients; sixmark itself has --hosts {hosts}"
            ))
        }
        client if client.is_browser() => {
            Some(format!("from: {} loads from one host, not from a list", client.name()))
        }
        _ => None,
    }
}

/// Checks every cell: its target, its host in a lab, and whether its client can do what it asks
/// for.
///
/// # Errors
/// Returns the line of a setting, and a message.
pub fn check_cells(study: &Study) -> Result<(), (usize, String)> {
    let urls = |service: &str| study.likely_urls(service);
    for cell in cells(study) {
        let place = CellTarget::new(study, &cell, urls).map_err(|why| (cell.line(), why))?;
        let of_cell = |why| (cell.line(), why);
        let hosts = cell.from();
        if study.lab.is_some() && hosts.is_empty() {
            return Err(of_cell(
                "does not name the lab's host that it loads from: from".to_owned(),
            ));
        }
        if let Some(why) = no_hosts(cell.client(), &hosts) {
            return Err((cell.setting("from").map_or(0, |from| from.line), why));
        }
        match cell.client() {
            Client::Sixmark => only_own_settings(study, &cell)?,
            client => {
                let (url, family) = place.single().map_err(of_cell)?;
                let job =
                    Job::new(client, &cell.settings(), &url, family, |key| study.is_text(key))?;
                if job.save && hosts.len() > 1 {
                    let why = "save: what several hosts receive can't be saved in one file";
                    return Err(of_cell(why.to_owned()));
                }
                client.arguments(&job).map_err(of_cell)?;
            }
        }
    }
    Ok(())
}
