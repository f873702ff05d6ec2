//! `sixmark history list`.

use sixmark_report::headline::DocumentKind;
use sixmark_units::visible::visible_json;

use super::super::keep::StoreArgs;
use super::when::When;
use super::{open_store, print, table};
use crate::cli::out::print_document;
use crate::store::{ListFilter, Listed};
use sixmark_machine::CommandError;

/// List what was kept, the newest first.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct HistoryListArgs {
    /// Of this kind only
    #[arg(long, value_name = "run|comparison|study|watch", value_parser = kind)]
    kind: Option<DocumentKind>,

    /// Begun at this time or later: a day, a time (UTC), or how long ago (2d)
    #[arg(long, value_name = "DATE")]
    since: Option<When>,

    /// Begun at this time or earlier
    #[arg(long, value_name = "DATE")]
    until: Option<When>,

    /// With this in one of its URLs
    #[arg(long, value_name = "TEXT")]
    target: Option<String>,

    /// Run with this --label
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,

    /// So many at most; 0 is all of them
    #[arg(long, value_name = "N", default_value = "20")]
    limit: u32,

    /// A line of JSON for each
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    store: StoreArgs,
}

/// Lists.
pub(super) fn main(args: HistoryListArgs) -> Result<(), CommandError> {
    let json = args.json;
    let Some(store) = open_store(&args.store)? else {
        return print(if json { "" } else { "nothing was kept yet\n" });
    };
    let page = store.list(&filter(args))?;
    match json {
        true => print_document(&visible_json(&csv_of_entries(&page.entries)?)),
        false => print(&table::entries_table(&page)),
    }
}

fn filter(args: HistoryListArgs) -> ListFilter {
    ListFilter {
        kind: args.kind,
        since: args.since.map(|when| when.begin()),
        until: args.until.map(|when| when.end()),
        target: args.target,
        label: args.label,
        limit: (args.limit > 0).then_some(args.limit),
    }
}

fn csv_of_entries(entries: &[Listed]) -> Result<String, CommandError> {
    let line = |entry| serde_json::to_string(entry).map(|line| line + "\n");
    let lines: Result<String, _> = entries.iter().map(line).collect();
    lines.map_err(|error| CommandError::Measure(format!("can't encode the list: {error}")))
}

fn kind(text: &str) -> Result<DocumentKind, String> {
    let found = DocumentKind::ALL.into_iter().find(|kind| kind.name() == text);
    found.ok_or_else(|| "say run, comparison, study or watch".to_owned())
}
