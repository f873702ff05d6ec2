//! The options of a study's cells. They are parsed with the study's file, and mistakes are
//! described in the words of `sixmark run`.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use sixmark_clients::client::Client;
use sixmark_design::spec::PlannedCell;
use sixmark_design::spec::Study;
use sixmark_design::spec::cells::cells;
use sixmark_design::spec::command_line::{CellTarget, option, options};

use sixmark_options::cell::CellArgs;
use sixmark_options::vitals_from;
use sixmark_result::failed_lookup::explain_failed_lookups;
use sixmark_run::{Extras, Generators, Runnable};
use sixmark_sys::command_error::CommandError;

/// A URL with which an option can be tried.
const NOWHERE: &str = "http://[::1]:1/";

/// The URLs of a cell.
#[derive(Clone, Copy, Debug)]
pub enum CellUrls<'a> {
    /// The URLs themselves.
    Given(&'a [String]),
    /// An address list file that contains them.
    Listed(&'a Path),
}

/// Returns the options of a cell with its URLs.
fn over(options: &CellArgs, urls: &[String]) -> CellArgs {
    let mut args = options.clone();
    args.workload.target.urls = urls.to_vec();
    // As in a block of a comparison: cells are compared, and many are shorter than the timeout.
    args.schedule.drain.get_or_insert(args.workload.load.timeout);
    args
}

/// Checks the options of a cell with these URLs.
///
/// # Errors
/// Returns a one-line description of the mistake, in the words of `sixmark run`.
fn check_options(options: &CellArgs, urls: &[String]) -> Result<(), String> {
    let args = over(options, urls);
    match args.draft(None).and_then(|_| args.extras()) {
        // A name that can't be resolved here and now is no mistake in the file.
        Ok(_) | Err(CommandError::Measure(_) | CommandError::Interrupted(_)) => Ok(()),
        Err(CommandError::Usage(line)) => Err(line),
    }
}

/// Returns the run of a cell with these targets and its extras. `fleet` carries it out if it is
/// given. `seed` applies to a cell that sets none; `folder` resolves the folders in braces.
///
/// # Errors
/// Returns an error if the run is impossible on this machine.
pub(super) fn run_of_cell(
    options: &CellArgs,
    targets: CellUrls<'_>,
    seed: u64,
    folder: &dyn Fn(&str) -> Option<String>,
    fleet: Option<&Arc<dyn Generators>>,
) -> Result<(Runnable, Extras), CommandError> {
    let mut args = match targets {
        CellUrls::Given(urls) => over(options, urls),
        CellUrls::Listed(_) => over(options, &[]),
    };
    if let CellUrls::Listed(file) = targets {
        args.workload.target.targets = Some(file.into());
    }
    args.workload.fill_braces(folder);
    args.measure.fill_braces(folder);
    args.seed.seed.get_or_insert(seed);
    if vitals_from::host(args.measure.vitals_from.as_deref(), None)?.is_some() {
        let line = "--vitals-from names a host: a study measures its services itself \
                    (server_cpu_per_request); omit the option";
        return Err(CommandError::Usage(line.into()));
    }
    let draft = args.draft(fleet.map(|fleet| fleet.size()))?;
    // A cell that lacks a family by chance would count as one of the other family alone.
    if let Some(line) = explain_failed_lookups(&draft.dns) {
        return Err(CommandError::Measure(line));
    }
    let extras = args.extras()?;
    let runnable = match fleet {
        Some(fleet) => draft.check_on(Arc::clone(fleet))?,
        None => draft.check()?,
    };
    Ok((runnable, extras))
}

/// The options of all cells that sixmark itself loads. Options that several cells share are parsed
/// once.
#[derive(Clone, Debug, Default)]
pub struct OptionsOfCells(BTreeMap<u32, Arc<CellArgs>>);

impl OptionsOfCells {
    /// Returns the options of the cell of this number.
    pub(super) fn of(&self, cell: u32) -> Option<&CellArgs> {
        self.0.get(&cell).map(Arc::as_ref)
    }
}

/// A mistake in an option: its line, its key, and the message of `sixmark run`.
pub type WrongOption = (usize, String, String);

/// Parses the options of all cells.
///
/// # Errors
/// Returns every option that `sixmark run` would refuse.
pub fn read_options(study: &Study) -> Result<OptionsOfCells, BTreeSet<WrongOption>> {
    let (mut read, mut checked) = (BTreeMap::new(), BTreeSet::new());
    let (mut all, mut wrongs) = (OptionsOfCells::default(), BTreeSet::new());
    for cell in cells(study).iter().filter(|cell| cell.client() == Client::Sixmark) {
        // The ports are only assumed; any other would do for the check.
        let Ok(place) = CellTarget::new(study, cell, |service| study.likely_urls(service)) else {
            continue;
        };
        let words = options(study, cell, &place, |_| None);
        // Options that refer to a folder that does not exist yet can't be checked.
        let whole = !words.iter().any(|word| word.contains("{www}") || word.contains("{here}"));
        let new = checked.insert((words.clone(), place.urls.clone()));
        let found = match read.entry(words) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let found = CellArgs::read(place.key()).map(Arc::new);
                place.insert(found)
            }
        };
        let fits = found.as_ref().map_err(String::clone).and_then(|options| {
            all.0.insert(cell.number, Arc::clone(options));
            if new && whole { check_options(options, &place.urls) } else { Ok(()) }
        });
        if let (Err(message), true) = (fits, new) {
            let (line, key) = position(study, cell, &message);
            wrongs.insert((line, key, message));
        }
    }
    if wrongs.is_empty() { Ok(all) } else { Err(wrongs) }
}

/// Returns the line and the key of the option that is wrong by itself, else the line of the cell.
fn position(study: &Study, cell: &PlannedCell<'_>, message: &str) -> (usize, String) {
    let alone = |words: Vec<String>| {
        let found = CellArgs::read(&words);
        let said = found.and_then(|options| check_options(&options, &[NOWHERE.to_owned()]));
        said.is_err_and(|said| said == message)
    };
    let settings = cell.settings();
    let culprit = settings.iter().find(|setting| alone(option(study, setting, |_| None)));
    culprit.map_or_else(|| (cell.line(), String::new()), |one| (one.line, one.key.clone()))
}
