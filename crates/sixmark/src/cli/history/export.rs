//! `sixmark history export`.

use std::path::{Path, PathBuf};

use super::super::files::CommandFiles;
use super::super::keep::StoreArgs;
use super::super::out::OutputPlace;
use super::{WhichEntry, numbers, open_for};
use crate::store::Id;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output::Readers;

/// Write stored documents, byte for byte.
#[derive(Debug, clap::Args)]
pub(super) struct HistoryExportArgs {
    /// Numbers from `sixmark history`, or last
    #[arg(value_name = "ID|last", required = true)]
    ids: Vec<WhichEntry>,

    /// A file for one document; a folder, created if missing, for 17.json, 18.json and so on; or
    /// standard output, one document after another
    #[arg(long, value_name = "FILE|FOLDER|-", default_value = "-", help_heading = "Output")]
    out: String,

    #[command(flatten)]
    store: StoreArgs,
}

/// Writes the documents.
pub(super) fn main(args: &HistoryExportArgs) -> Result<(), CommandError> {
    let store = open_for(&args.store)?;
    let ids = numbers(&store, &args.ids)?;
    // If one document is missing, none is written.
    let documents = ids.iter().map(|&id| store.document(id));
    let documents = documents.collect::<Result<Vec<_>, _>>()?;
    let places = places(&args.out, &ids)?;
    // Several documents may follow one another on standard output.
    let files = places.iter().take(if args.out == "-" { 1 } else { places.len() });
    let files =
        files.fold(CommandFiles::default(), |all, place| all.document("--out", Some(place)));
    files.store(&args.store).check()?;
    places.iter().zip(&documents).try_for_each(|(place, document)| {
        // As private as the store that they are from.
        place.write_for(Readers::Owner, document)
    })
}

fn places(out: &str, ids: &[Id]) -> Result<Vec<OutputPlace>, CommandError> {
    let path = Path::new(out);
    if out == "-" {
        return Ok(ids.iter().map(|_| OutputPlace::Standard).collect());
    }
    if ids.len() == 1 && !path.is_dir() && !out.ends_with('/') {
        return Ok(vec![OutputPlace::File(path.into())]);
    }
    std::fs::create_dir_all(path).map_err(|error| {
        let several = "several documents need a folder";
        CommandError::Usage(format!("can't make the folder '{out}': {error}; {several}"))
    })?;
    let file = |id: &Id| -> PathBuf { path.join(format!("{id}.json")) };
    Ok(ids.iter().map(|id| OutputPlace::File(file(id))).collect())
}
