//! The cells of a study, and the order in which they are measured.

use super::words::Place;
use super::{Factor, Given, Level, Setting, Study, Together};
use crate::study::client::{Blocks, Client, Job};
use crate::study::result::{At, Order};
use sixmark_units::random::Random;

/// The most cells, and the most measurements.
const MOST_CELLS: u64 = 100_000;
const MOST_MEASURED: u64 = 1_000_000;

/// One combination of levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell<'a> {
    /// Its number in the written order, from 1.
    pub number: u32,
    levels: Vec<(&'a str, &'a Level)>,
    options: &'a [Setting],
    together: &'a [Together],
}

impl<'a> Cell<'a> {
    /// Its level of each factor.
    pub fn at(&self) -> Vec<At> {
        let at = |&(factor, level): &(&str, &Level)| At {
            factor: factor.to_owned(),
            level: level.name.clone(),
        };
        self.levels.iter().map(at).collect()
    }

    /// Everything that it sets: what a level says goes before the options of the study, and what
    /// several say together before what each of them does.
    pub fn settings(&self) -> Vec<&'a Setting> {
        let of_levels = self.levels.iter().flat_map(|(_, level)| &level.settings);
        let together = self.together.iter().filter(|one| is_at(&self.levels, &one.at));
        let mut all: Vec<&Setting> = Vec::new();
        for setting in
            self.options.iter().chain(of_levels).chain(together.flat_map(|t| &t.settings))
        {
            all.retain(|before| before.key != setting.key);
            all.push(setting);
        }
        all
    }

    /// The last setting of a key.
    pub fn setting(&self, key: &str) -> Option<&'a Setting> {
        self.settings().into_iter().rev().find(|setting| setting.key == key)
    }

    /// The text of a setting.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        match &self.setting(key)?.value {
            Given::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Who loads.
    pub fn client(&self) -> Client {
        self.text("client").and_then(Client::named).unwrap_or(Client::Sixmark)
    }

    /// What a name in braces stands for: a setting's text, else a factor's level.
    pub fn value(&self, name: &str) -> Option<String> {
        let of_factor = || self.levels.iter().find(|(factor, _)| *factor == name);
        let text = self.text(name).map(str::to_owned);
        text.or_else(|| of_factor().map(|(_, level)| level.name.clone()))
    }

    /// The line of the setting that decides the most about it, for what is wrong with all of it.
    pub fn line(&self) -> usize {
        let settings = self.settings();
        settings.iter().find(|s| s.key == "client").or(settings.last()).map_or(0, |s| s.line)
    }
}

/// How many cells there are.
///
/// # Errors
/// They are too many.
pub fn count(study: &Study) -> Result<u32, String> {
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

/// The cells in the written order: the last factor changes fastest.
pub fn cells(study: &Study) -> Vec<Cell<'_>> {
    let mut all: Vec<Vec<(&str, &Level)>> = vec![Vec::new()];
    for factor in &study.factors {
        all = all.iter().flat_map(|levels| with(levels, factor)).collect();
    }
    all.retain(|levels| !study.exclude.iter().any(|out| is_at(levels, out)));
    let cell = |(number, levels)| Cell {
        number,
        levels,
        options: &study.options,
        together: &study.together,
    };
    (1..).zip(all).map(cell).collect()
}

/// Levels with each of a further factor.
fn with<'a>(levels: &[(&'a str, &'a Level)], factor: &'a Factor) -> Vec<Vec<(&'a str, &'a Level)>> {
    let next = factor.levels.iter().map(|level| (factor.name.as_str(), level));
    next.map(|next| levels.iter().copied().chain([next]).collect()).collect()
}

/// True where the levels are those named, in every factor named.
fn is_at(levels: &[(&str, &Level)], at: &[At]) -> bool {
    let holds = |at: &At| {
        levels.iter().any(|(factor, level)| *factor == at.factor && level.name == at.level)
    };
    !at.is_empty() && at.iter().all(holds)
}

/// Places in the list of cells, with the repetition from 1, in the order in which they are measured.
/// Depends on nothing but the study and the seed, so that a study that goes on goes on in the same
/// order.
pub fn schedule(study: &Study, cells: usize, seed: u64) -> Vec<(usize, u32)> {
    let block = |repetition: u32| {
        let mut order: Vec<usize> = (0..cells).collect();
        if study.order == Order::Random {
            shuffle(&mut order, &mut Random::new(seed, u64::from(repetition)));
        }
        order.into_iter().map(move |cell| (cell, repetition))
    };
    (1..=study.repetitions.get()).flat_map(block).collect()
}

/// Fisher and Yates. The bias of the remainder is below 2^-46 for any number of cells.
fn shuffle(order: &mut [usize], random: &mut Random) {
    for last in (1..order.len()).rev() {
        let other = (random.bits() % (last as u64 + 1)) as usize;
        order.swap(last, other);
    }
}

/// sixmark itself asks for pages, not blocks.
fn no_blocks(study: &Study, cell: &Cell<'_>) -> Result<(), (usize, String)> {
    let settings = cell.settings();
    let ours = |setting: &&&Setting| {
        Blocks::KEYS.contains(&setting.key.as_str()) && !study.is_text(&setting.key)
    };
    match settings.iter().find(ours) {
        Some(setting) => {
            Err((setting.line, format!("{}: is for client = \"fio\" alone", setting.key)))
        }
        None => Ok(()),
    }
}

/// Looks into every cell: whom it loads, and what its client can't do.
///
/// # Errors
/// The line of a setting, and what is wrong.
pub fn check(study: &Study) -> Result<(), (usize, String)> {
    let urls = |service: &str| study.likely_urls(service);
    for cell in cells(study) {
        let place = Place::new(study, &cell, urls).map_err(|why| (cell.line(), why))?;
        let of_cell = |why| (cell.line(), why);
        if study.lab.is_some() && cell.text("from").is_none() {
            return Err(of_cell(
                "does not say which host of the lab it loads from: from".to_owned(),
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
