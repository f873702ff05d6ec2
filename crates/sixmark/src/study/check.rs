//! What is wrong with a study's options, in the words of `sixmark run`.

use std::collections::BTreeSet;

use sixmark_model::study::client::Client;
use sixmark_model::study::spec::Cell;
use sixmark_model::study::spec::Study;
use sixmark_model::study::spec::cells::cells;
use sixmark_model::study::spec::words::{Place, option, words};

use super::Commands;

/// An address that an option can be tried with.
const NOWHERE: &str = "http://[::1]:1/";

/// Every option that `sixmark run` would refuse: the line, the key, and what it says.
pub fn wrongs(study: &Study, commands: &Commands<'_>) -> Vec<(usize, String, String)> {
    let mut seen = BTreeSet::new();
    let mut wrongs = BTreeSet::new();
    for cell in cells(study).iter().filter(|cell| cell.client() == Client::Sixmark) {
        let Some(words) = words_of(study, cell) else { continue };
        if !seen.insert(words.clone()) {
            continue;
        }
        // What stands for a folder that is not there yet can't be looked into.
        let whole = !words.iter().any(|word| word.contains("{www}") || word.contains("{here}"));
        if let Err(message) = (commands.check)(&words, whole) {
            let (line, key) = place(study, cell, &message, commands);
            wrongs.insert((line, key, message));
        }
    }
    wrongs.into_iter().collect()
}

/// The words of a cell, with ports that any other could be.
fn words_of(study: &Study, cell: &Cell<'_>) -> Option<Vec<String>> {
    let place = Place::new(study, cell, |service| study.likely_urls(service)).ok()?;
    Some(words(study, cell, &place, |_| None))
}

/// The line and the key of the option that is wrong by itself; else the line of the cell.
fn place(
    study: &Study,
    cell: &Cell<'_>,
    message: &str,
    commands: &Commands<'_>,
) -> (usize, String) {
    let alone = |words: Vec<String>| {
        let words: Vec<String> = words.into_iter().chain([NOWHERE.to_owned()]).collect();
        (commands.check)(&words, true).is_err_and(|said| said == message)
    };
    let settings = cell.settings();
    let culprit = settings.iter().find(|setting| alone(option(study, setting, |_| None)));
    culprit.map_or_else(|| (cell.line(), String::new()), |one| (one.line, one.key.clone()))
}
