//! `sixmark history import`.

use std::path::Path;

use crate::report::documents::Document;
use crate::report::headline::ListHeadline;
use serde::de::IgnoredAny;

use super::super::keep::StoreArgs;
use super::print;
use crate::store::{NewEntry, Store};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::text_file;

/// Store documents that --json or `sixmark history export` wrote.
///
/// Each document is stored unchanged under a new number. A file may contain several documents, one
/// after another.
#[derive(Debug, clap::Args)]
pub(super) struct HistoryImportArgs {
    /// Files with documents ('-': standard input)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,

    /// Label for `sixmark history --label`
    #[arg(long, value_name = "TEXT", value_parser = super::super::keep::parse_label)]
    label: Option<String>,

    #[command(flatten)]
    store: StoreArgs,
}

/// Imports one file after the other. An error ends the import; what was reported as kept stays in
/// the store.
pub(super) fn main(args: &HistoryImportArgs) -> Result<(), CommandError> {
    let place = args.store.place()?;
    let Some(mut store) = Store::open(&place)? else {
        return Err(super::no_store());
    };
    args.files.iter().try_for_each(|file| import(file, args.label.as_deref(), &mut store))
}

/// Stores the documents of a file. If any of them is invalid, none is stored.
fn import(file: &str, label: Option<&str>, store: &mut Store) -> Result<(), CommandError> {
    let wrong = |why: String| CommandError::Usage(format!("'{file}' {why}"));
    let text = text_file::read(Path::new(file))
        .map_err(|error| wrong(format!("can't be read: {error}")))?;
    let documents = split(&text).map_err(wrong)?;
    let known = documents.iter().map(|text| headline_of(text));
    let headlines = known.collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    for (document, headline) in documents.iter().zip(&headlines) {
        let id = store.keep(&NewEntry { headline, document, command: &[], label })?;
        print(&format!("'{file}' is kept as {id}\n"))?;
    }
    Ok(())
}

fn headline_of(document: &str) -> Result<ListHeadline, String> {
    let headline = ListHeadline::of(&Document::parse(document)?)?;
    match humantime::parse_rfc3339(&headline.started) {
        Ok(_) => Ok(headline),
        Err(_) => Err(format!("can't be read: '{}' is not a valid start time", headline.started)),
    }
}

/// Splits a file into its documents. A single document is returned byte for byte, with the
/// whitespace around it.
fn split(text: &str) -> Result<Vec<&str>, String> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let mut documents = Vec::new();
    let mut begin = 0;
    while let Some(value) = stream.next() {
        value.map_err(|error| format!("is not a document of sixmark ({error})"))?;
        let end = line_end(text, stream.byte_offset());
        documents.push(text[begin..end].trim_start());
        begin = end;
    }
    match documents.len() {
        0 => Err("is not a document of sixmark: it is empty".to_owned()),
        1 => Ok(vec![text]),
        _ => Ok(documents),
    }
}

/// Returns the end of a document, including the line feed that follows it.
fn line_end(text: &str, at: usize) -> usize {
    if text[at..].starts_with('\n') { at + 1 } else { at }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn splits_a_file_into_its_documents_without_changing_them() {
        for (text, documents) in [
            ("{\n  \"a\": 1\n}\n", &["{\n  \"a\": 1\n}\n"][..]),
            (" {} ", &[" {} "]),
            ("{\n}\n{\n \"b\": {}}\n", &["{\n}\n", "{\n \"b\": {}}\n"]),
            ("{}\n\n{}{}", &["{}\n", "{}", "{}"]),
        ] {
            assert_eq!(split(text).unwrap(), documents, "{text:?}");
        }
        for text in ["", " \n", "{", "{} x", "{}]"] {
            assert!(split(text).unwrap_err().contains("not a document"), "{text:?}");
        }
    }
}
