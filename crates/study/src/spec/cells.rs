//! The cells of a study, and the order in which they are measured.

use super::{Factor, Level, Study};
use crate::client::{Blocks, Client, Job};
use crate::setting::Setting;
use crate::spec::PlannedCell;
use crate::spec::cell::is_at;
use crate::spec::command_line::CellTarget;
use crate::study_result::CellOrder;
use sixmark_units::random::Random;

/// The maximum number of cells, and of cells times repetitions.
const MOST_CELLS: u64 = 100_000;
const MOST_MEASURED: u64 = 1_000_000;

/// Returns the number of cells.
///
/// # Errors
/// Returns a message if there are too many.
pub fn count_cells(study: &Study) -> Result<u32, String> {
    let levels = study.factors.iter().map(|factor| factor.levels.len() as u64);
    let product = levels.fold(1, u64::saturating_mul);
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
    let mut all: Vec<Vec<(&str, &Level)>> = vec![Vec::new()];
    for factor in &study.factors {
        all = all.iter().flat_map(|levels| with(levels, factor)).collect();
    }
    all.retain(|levels| !study.exclude.iter().any(|out| is_at(levels, out)));
    let cell = |(number, levels)| PlannedCell {
        number,
        levels,
        options: &study.options,
        together: &study.together,
    };
    (1..).zip(all).map(cell).collect()
}

/// Returns the levels with each level of another factor appended.
fn with<'a>(levels: &[(&'a str, &'a Level)], factor: &'a Factor) -> Vec<Vec<(&'a str, &'a Level)>> {
    let next = factor.levels.iter().map(|level| (factor.name.as_str(), level));
    next.map(|next| levels.iter().copied().chain([next]).collect()).collect()
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
fn shuffle(order: &mut [usize], random: &mut Random) {
    for last in (1..order.len()).rev() {
        let other = (random.bits() % (last as u64 + 1)) as usize;
        order.swap(last, other);
    }
}

/// Fails if a cell that sixmark itself loads has settings of fio.
fn no_blocks(study: &Study, cell: &PlannedCell<'_>) -> Result<(), (usize, String)> {
    let settings = cell.settings();
    let ours = |setting: &&&Setting| {
        Blocks::KEYS.contains(&setting.key.as_str()) && !study.is_text(&setting.key)
    };
    match settings.iter().find(ours) {
        Some(setting) => {
            Err((setting.line, format!("{}: applies only to client = \"fio\"", setting.key)))
        }
        None => Ok(()),
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
        if study.lab.is_some() && cell.text("from").is_none() {
            return Err(of_cell(
                "does not name the lab's host that it loads from: from".to_owned(),
            ));
        }
        match cell.client() {
            Client::Sixmark => no_blocks(study, &cell)?,
            client => {
                let (url, family) = place.single().map_err(of_cell)?;
                let job =
                    Job::new(client, &cell.settings(), &url, family, |key| study.is_text(key))?;
                client.arguments(&job).map_err(of_cell)?;
            }
        }
    }
    Ok(())
}
