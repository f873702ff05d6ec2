//! `sixmark history`.

mod checks;
mod compact;
mod delete;
mod export;
mod filter;
mod import;
mod list;
mod show;
mod table;
mod when;

use std::str::FromStr;

use super::keep::StoreArgs;
use super::out::print;
use crate::store::{Id, ListFilter, Listed, Store, StorePlace};
use sixmark_sys::command_error::CommandError;

/// Find, show, export and delete stored results.
///
/// Every result is stored unless the store is `none`. Without a command, lists the stored results,
/// newest last.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(super) struct HistoryArgs {
    #[command(subcommand)]
    command: Option<HistoryCommand>,

    #[command(flatten)]
    list: list::HistoryListArgs,
}

#[derive(Debug, clap::Subcommand)]
enum HistoryCommand {
    /// List stored results, one line each, newest last
    List(list::HistoryListArgs),
    /// Show the checks of sites over time
    Checks(checks::HistoryChecksArgs),
    /// Show one result as when it was measured
    Show(show::HistoryShowArgs),
    /// Write stored documents, byte for byte
    Export(export::HistoryExportArgs),
    /// Delete stored results without confirmation
    Delete(delete::HistoryDeleteArgs),
    /// Store documents that --json or `sixmark history export` wrote
    Import(import::HistoryImportArgs),
}

/// Runs the given subcommand, by default `list`.
pub(super) fn main(args: HistoryArgs) -> Result<u8, CommandError> {
    match args.command.unwrap_or(HistoryCommand::List(args.list)) {
        HistoryCommand::List(args) => list::main(args),
        HistoryCommand::Checks(args) => checks::main(args),
        HistoryCommand::Show(args) => show::main(&args),
        HistoryCommand::Export(args) => export::main(&args),
        HistoryCommand::Delete(args) => delete::main(&args),
        HistoryCommand::Import(args) => import::main(&args),
    }
    .map(|()| 0)
}

/// Which entry of the store is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WhichEntry {
    /// The newest one.
    Last,
    /// The one with this number.
    Numbered(Id),
}

impl FromStr for WhichEntry {
    type Err = String;

    fn from_str(text: &str) -> Result<WhichEntry, String> {
        if text == "last" { Ok(WhichEntry::Last) } else { text.parse().map(WhichEntry::Numbered) }
    }
}

/// Returns the document that `word` names: the number of an entry, or `last`. `None` if the word is
/// neither.
pub(super) fn kept(args: &StoreArgs, word: &str) -> Option<Result<String, CommandError>> {
    let which = word.parse::<WhichEntry>().ok()?;
    let document = || {
        let store = open_for(args)?;
        let found = numbers(&store, &[which])?;
        let id = found.first().copied();
        id.map_or(Ok(String::new()), |id| store.document(id))
    };
    Some(document())
}

/// Opens the store. `None` if nothing has been stored yet.
fn open_store(args: &StoreArgs) -> Result<Option<Store>, CommandError> {
    let place = args.place()?;
    match (&place, Store::open_existing(&place)?) {
        (StorePlace::Nowhere, _) => Err(no_store()),
        (StorePlace::Named(path, by), None) => Err(CommandError::Usage(format!(
            "the store '{}' does not exist; it is named by {by}",
            path.display()
        ))),
        (_, store) => Ok(store),
    }
}

/// Opens the store, and fails if nothing has been stored yet.
fn open_for(args: &StoreArgs) -> Result<Store, CommandError> {
    open_store(args)?.ok_or_else(nothing)
}

fn no_store() -> CommandError {
    let line = "there is no store: --store or SIXMARK_STORE is none; give --store PATH";
    CommandError::Usage(line.to_owned())
}

fn nothing() -> CommandError {
    CommandError::Usage("the store is empty".to_owned())
}

/// Returns the numbers of the entries, each once.
fn numbers(store: &Store, which: &[WhichEntry]) -> Result<Vec<Id>, CommandError> {
    let mut ids = Vec::new();
    for &which in which {
        let id = match which {
            WhichEntry::Numbered(id) => id,
            WhichEntry::Last => newest(store)?.id,
        };
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

fn newest(store: &Store) -> Result<Listed, CommandError> {
    let page = store.list(&ListFilter { limit: Some(1), ..ListFilter::default() })?;
    page.entries.into_iter().next().ok_or_else(nothing)
}
