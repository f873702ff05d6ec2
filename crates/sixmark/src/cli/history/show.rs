//! `sixmark history show`.

use crate::report::documents::Document;
use sixmark_units::visible::visible_json;

use super::super::keep::{StoreArgs, quoted};
use super::{WhichEntry, numbers, open_for, print, table};
use crate::cli::detail::DetailArgs;
use crate::cli::out::print_document;
use crate::report::document_text;
use crate::store::Listed;
use sixmark_report::text::Detail;
use sixmark_sys::command_error::CommandError;

/// Show one result as when it was measured.
#[derive(Debug, clap::Args)]
pub(super) struct HistoryShowArgs {
    /// Number from `sixmark history`, or last
    #[arg(value_name = "ID|last")]
    id: WhichEntry,

    /// Print the whole document as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    detail: DetailArgs,

    #[command(flatten)]
    store: StoreArgs,
}

/// Prints the entry.
pub(super) fn main(args: &HistoryShowArgs) -> Result<(), CommandError> {
    args.detail.show_codes();
    let store = open_for(&args.store)?;
    for id in numbers(&store, &[args.id])? {
        let document = store.document(id)?;
        match store.entry(id)? {
            Some(entry) if !args.json => {
                print(&shown_entry(&entry, &document, args.detail.detail())?)?
            }
            _ => print_document(&visible_json(&document))?,
        }
    }
    Ok(())
}

/// Returns the line of the entry, the command that made it, and its result.
fn shown_entry(entry: &Listed, document: &str, detail: Detail) -> Result<String, CommandError> {
    let parsed = Document::parse(document).map_err(|why| {
        let id = entry.id;
        CommandError::Measure(format!(
            "{id} {why}; `sixmark history show {id} --json` shows it as it is"
        ))
    })?;
    let found = document_text(&parsed, detail);
    let typed = entry.command.iter().skip(1).map(|word| quoted(word));
    let typed: Vec<String> = typed.collect();
    let command =
        if typed.is_empty() { String::new() } else { format!("$ sixmark {}\n", typed.join(" ")) };
    Ok(format!("{}\n{command}\n{found}", table::entry_line(entry).trim()))
}
