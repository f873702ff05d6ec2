//! `sixmark history delete`.

use super::super::keep::StoreArgs;
use super::when::When;
use super::{WhichEntry, numbers, open_for, print, table};
use crate::store::{Id, ListFilter, Listed, Store};
use sixmark_sys::command_error::CommandError;

/// Delete stored results without confirmation, and print what was deleted.
#[derive(Debug, clap::Args)]
pub(super) struct HistoryDeleteArgs {
    /// Numbers from `sixmark history`, or last
    #[arg(value_name = "ID|last")]
    ids: Vec<WhichEntry>,

    /// All results that started before this day, time (UTC) or age (30d)
    #[arg(long, value_name = "DATE", conflicts_with = "ids")]
    before: Option<When>,

    #[command(flatten)]
    store: StoreArgs,
}

/// Deletes the entries: either all of them or, on an error, none.
pub(super) fn main(args: &HistoryDeleteArgs) -> Result<(), CommandError> {
    let mut store = open_for(&args.store)?;
    let entries = match &args.before {
        Some(when) => older(&store, when)?,
        None if args.ids.is_empty() => {
            let line = "nothing to delete: give numbers from `sixmark history`, or --before DATE";
            return Err(CommandError::Usage(line.to_owned()));
        }
        None => entries_named(&store, &args.ids)?,
    };
    let ids: Vec<Id> = entries.iter().map(|entry| entry.id).collect();
    store.delete(&ids)?;
    let lines =
        entries.iter().map(|entry| format!("deleted {}\n", table::entry_line(entry).trim()));
    if entries.is_empty() {
        print("no result is older\n")
    } else {
        print(&lines.collect::<String>())
    }
}

fn older(store: &Store, when: &When) -> Result<Vec<Listed>, CommandError> {
    let filter = ListFilter { until: Some(when.before()), ..ListFilter::default() };
    Ok(store.list(&filter)?.entries)
}

fn entries_named(store: &Store, which: &[WhichEntry]) -> Result<Vec<Listed>, CommandError> {
    let ids = numbers(store, which)?;
    let found = ids.iter().map(|&id| store.entry(id)).collect::<Result<Vec<_>, _>>()?;
    let missing: Vec<Id> =
        ids.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(&id, _)| id).collect();
    if !missing.is_empty() {
        return Err(store.unknown(&missing));
    }
    Ok(found.into_iter().flatten().collect())
}
