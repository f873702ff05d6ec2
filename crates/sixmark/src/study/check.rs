//! The options of a study's cells, read when its file is, and what is wrong with them in the words of
//! `sixmark run`.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;

use sixmark_model::study::client::Client;
use sixmark_model::study::spec::PlannedCell;
use sixmark_model::study::spec::Study;
use sixmark_model::study::spec::cells::cells;
use sixmark_model::study::spec::words::{CellTarget, option, options};

use super::Commands;
use crate::run::{Extras, Runnable};
use sixmark_machine::CommandError;

/// An address that an option can be tried with.
const NOWHERE: &str = "http://[::1]:1/";

/// The options of a cell but for its URLs, as values.
pub trait CellOptions: Debug + Send + Sync {
    /// What is wrong with them over these URLs, in the words of `sixmark run`.
    ///
    /// # Errors
    /// That, in a line.
    fn check(&self, urls: &[String]) -> Result<(), String>;

    /// The run over these URLs, and what it looks at beside. `seed` is that of a cell which sets none;
    /// `folder` knows the folders that stand in braces.
    ///
    /// # Errors
    /// What can't be done.
    fn runnable(
        &self,
        urls: &[String],
        seed: u64,
        folder: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(Runnable, Extras), CommandError>;
}

/// The options of all cells that sixmark itself loads; those of several cells are read once.
#[derive(Clone, Debug, Default)]
pub struct OptionsOfCells(BTreeMap<u32, Arc<dyn CellOptions>>);

impl OptionsOfCells {
    /// Those of the cell of this number.
    pub(super) fn of(&self, cell: u32) -> Option<&dyn CellOptions> {
        self.0.get(&cell).map(Arc::as_ref)
    }
}

/// What is wrong with an option: the line, the key, and what `sixmark run` says of it.
pub type WrongOption = (usize, String, String);

/// Reads the options of all cells.
///
/// # Errors
/// Every option that `sixmark run` would refuse.
pub fn read_options(
    study: &Study,
    commands: &Commands<'_>,
) -> Result<OptionsOfCells, BTreeSet<WrongOption>> {
    let (mut read, mut checked) = (BTreeMap::new(), BTreeSet::new());
    let (mut all, mut wrongs) = (OptionsOfCells::default(), BTreeSet::new());
    for cell in cells(study).iter().filter(|cell| cell.client() == Client::Sixmark) {
        // Ports that any other could be.
        let Ok(place) = CellTarget::new(study, cell, |service| study.likely_urls(service)) else {
            continue;
        };
        let words = options(study, cell, &place, |_| None);
        // What stands for a folder that is not there yet can't be looked into.
        let whole = !words.iter().any(|word| word.contains("{www}") || word.contains("{here}"));
        let new = checked.insert((words.clone(), place.urls.clone()));
        let found = match read.entry(words) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let found = (commands.read)(place.key());
                place.insert(found)
            }
        };
        let fits = found.as_ref().map_err(String::clone).and_then(|options| {
            all.0.insert(cell.number, Arc::clone(options));
            if new && whole { options.check(&place.urls) } else { Ok(()) }
        });
        if let (Err(message), true) = (fits, new) {
            let (line, key) = position(study, cell, &message, commands);
            wrongs.insert((line, key, message));
        }
    }
    if wrongs.is_empty() { Ok(all) } else { Err(wrongs) }
}

/// The line and the key of the option that is wrong by itself; else the line of the cell.
fn position(
    study: &Study,
    cell: &PlannedCell<'_>,
    message: &str,
    commands: &Commands<'_>,
) -> (usize, String) {
    let alone = |words: Vec<String>| {
        let found = (commands.read)(&words);
        let said = found.and_then(|options| options.check(&[NOWHERE.to_owned()]));
        said.is_err_and(|said| said == message)
    };
    let settings = cell.settings();
    let culprit = settings.iter().find(|setting| alone(option(study, setting, |_| None)));
    culprit.map_or_else(|| (cell.line(), String::new()), |one| (one.line, one.key.clone()))
}
