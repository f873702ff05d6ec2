//! `sixmark history list`.

use std::fmt::Write as _;
use std::time::SystemTime;

use crate::report::headline::DocumentKind;
use sixmark_units::quantity::write_count;
use sixmark_units::visible::visible_json;

use super::super::keep::StoreArgs;
use super::filter::FilterArgs;
use super::{compact, open_store, print, table};
use crate::cli::out::print_document;
use crate::store::{ListPage, Listed};
use sixmark_sys::command_error::CommandError;

/// List stored results, one line each, newest last.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct HistoryListArgs {
    /// Only results of this kind
    #[arg(long, value_name = "run|comparison|study|watch|check", value_parser = kind)]
    kind: Option<DocumentKind>,

    #[command(flatten)]
    filter: FilterArgs,

    /// Also show times, targets and the figures of both sides
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    wide: bool,

    /// Write one line of JSON per result, newest first
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    store: StoreArgs,
}

/// Prints the list.
pub(super) fn main(args: HistoryListArgs) -> Result<(), CommandError> {
    let (json, wide) = (args.json, args.wide);
    let Some(store) = open_store(&args.store)? else {
        return print(if json { "" } else { "the store is empty\n" });
    };
    let page = store.list(&args.filter.filter(args.kind))?;
    if json {
        print_document(&visible_json(&csv_of_entries(&page.entries)?))
    } else {
        print(&list_text(page, wide))
    }
}

/// Returns the list, the newest entry last, next to the prompt.
fn list_text(mut page: ListPage, wide: bool) -> String {
    if page.entries.is_empty() {
        return "no matching results\n".to_owned();
    }
    let mut text = String::new();
    if page.more > 0 {
        let all = page.more + page.entries.len() as u64;
        let _ = writeln!(text, "{} older not shown: use --limit {all}", write_count(page.more));
    }
    page.entries.reverse();
    if wide {
        text.extend(page.entries.iter().map(table::wide_entry))
    } else {
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        let width = width.unwrap_or(compact::USUAL_WIDTH).max(compact::USUAL_WIDTH);
        text += &compact::entry_lines(&page.entries, SystemTime::now(), width);
    }
    text
}

fn csv_of_entries(entries: &[Listed]) -> Result<String, CommandError> {
    let line = |entry| serde_json::to_string(entry).map(|line| line + "\n");
    let lines: Result<String, _> = entries.iter().map(line).collect();
    lines.map_err(|error| CommandError::Measure(format!("can't encode the list: {error}")))
}

fn kind(text: &str) -> Result<DocumentKind, String> {
    let found = DocumentKind::ALL.into_iter().find(|kind| kind.name() == text);
    found.ok_or_else(|| "expected run, comparison, study, watch or check".to_owned())
}
