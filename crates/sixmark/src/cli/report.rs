//! `sixmark report`.

use sixmark_report::text::Detail;
use std::path::{Path, PathBuf};

use crate::report::documents::Document;
use crate::report::prometheus::prometheus_page_of;
use crate::report::sheet::Named;
use crate::report::{document_text, html_page, long, markdown_page, verdicts_page};

use super::detail::DetailArgs;
use super::files::CommandFiles;
use super::history;
use super::keep::StoreArgs;
use super::out::{OutputPlace, print, print_document, warn};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output::Readers;
use sixmark_sys::text_file;

/// Show results again: as an HTML page, tables, Markdown or CSV.
///
/// Without --html, --prometheus, --md, --verdicts or --csv, prints the tables that `run`, `compare` and `study` print.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(super) struct ReportArgs {
    /// Documents written with `--json FILE`, numbers from `sixmark history`, last, or folders of
    /// studies; `-` reads one document from standard input
    #[arg(required = true, value_name = "RESULT")]
    results: Vec<String>,
    /// Write one self-contained HTML page; `-` for standard output
    #[arg(long, value_name = "FILE")]
    html: Option<OutputPlace>,
    /// Print Markdown, for a pull request
    #[arg(long, group = "printed")]
    md: bool,
    /// Print the verdicts of comparisons as Markdown, for a comment on a pull request
    #[arg(long, group = "printed")]
    verdicts: bool,
    /// Print tables, as `run`, `compare` and `study` do
    #[arg(long, group = "printed")]
    text: bool,
    /// Print CSV, one line per figure: document,kind,started,part,number,side,metric,value
    #[arg(long, group = "printed")]
    csv: bool,

    /// Write the figures as a page for Prometheus, such as a file of node_exporter's textfile collector (NAME.prom); `-`
    /// for standard output
    #[arg(long, value_name = "FILE")]
    prometheus: Option<OutputPlace>,

    #[command(flatten)]
    detail: DetailArgs,

    #[command(flatten)]
    store: StoreArgs,
}

/// Writes a document as an HTML page for these readers, if one was asked for.
pub(super) fn write_page(
    place: Option<&OutputPlace>,
    readers: Readers,
    document: impl FnOnce() -> Document,
) -> Result<(), CommandError> {
    let write = |place: &OutputPlace| {
        place.write_for(readers, &html_page(&[Named { name: "", document: &document() }]))
    };
    place.map_or(Ok(()), write)
}

/// Reads all documents, then writes the output.
pub(super) fn main(args: &ReportArgs) -> Result<u8, CommandError> {
    check_places(args)?;
    args.detail.show_codes();
    let documents: Vec<Document> = args
        .results
        .iter()
        .map(|word| document_named(word, &args.store))
        .collect::<Result<_, CommandError>>()?;
    let both = args.results.iter().zip(&documents);
    let named: Vec<Named<'_>> = both.map(|(name, document)| Named { name, document }).collect();
    let verdicts = if args.verdicts { Some(verdicts(&named)?) } else { None };
    let figures = args.prometheus.as_ref().map(|place| Ok((place, prometheus(&named)?)));
    let figures = figures.transpose()?;
    if let Some(place) = &args.html {
        let secret = documents.iter().any(Document::holds_secrets);
        let readers = if secret { Readers::Owner } else { Readers::Umask };
        place.write_for(readers, &html_page(&named))?;
    }
    if let Some((place, text)) = figures {
        place.write(&text)?;
    }
    match verdicts {
        Some(text) => print(&text)?,
        None => printed(args, &named)?,
    }
    Ok(0)
}

fn check_places(args: &ReportArgs) -> Result<(), CommandError> {
    let printed = args.md || args.verdicts || args.text || args.csv;
    let places = [("--html", &args.html), ("--prometheus", &args.prometheus)];
    let standard = places.iter().filter(|(_, of)| **of == Some(OutputPlace::Standard));
    let standard: Vec<&str> = standard.map(|(option, _)| *option).collect();
    if let [option, others @ ..] = &standard[..]
        && (printed || !others.is_empty())
    {
        return Err(CommandError::Usage(format!(
            "{option} - and --md, --verdicts, --text, --csv or another - can't both go to standard output; give \
             {option} a file"
        )));
    }
    if args.results.iter().filter(|word| *word == "-").count() > 1 {
        return Err(CommandError::Usage("standard input (-) can be read only once".into()));
    }
    let files = CommandFiles::default().document("--html", args.html.as_ref());
    let files = files.document("--prometheus", args.prometheus.as_ref());
    let read = |files: CommandFiles, word: &String| {
        files.needed(Some(&document_path(word)), "it is a document to report")
    };
    args.results.iter().fold(files.store(&args.store), read).check()
}

fn printed(args: &ReportArgs, named: &[Named<'_>]) -> Result<(), CommandError> {
    match (args.md, args.csv) {
        (true, _) => print(&markdown_page(named)),
        (_, true) => print_document(&long::csv_of_figures(named)),
        _ if args.text || (args.html.is_none() && args.prometheus.is_none()) => {
            tables(named, args.detail.detail())
        }
        _ => Ok(()),
    }
}

/// Returns the page for Prometheus.
fn prometheus(named: &[Named<'_>]) -> Result<String, CommandError> {
    prometheus_page_of(named).map_err(CommandError::Usage)
}

/// Returns the verdicts of all documents, which must be comparisons.
fn verdicts(named: &[Named<'_>]) -> Result<String, CommandError> {
    let comparison = |of: &Named<'_>| match of.document {
        Document::Comparison(result) => Ok((**result).clone()),
        other => Err(CommandError::Usage(format!(
            "'{}' is a {} and has no verdicts: --verdicts needs documents of `sixmark compare`",
            of.name,
            other.schema()
        ))),
    };
    let results = named.iter().map(comparison).collect::<Result<Vec<_>, _>>()?;
    Ok(verdicts_page(&results.iter().collect::<Vec<_>>()))
}

/// Reads the document that a word of the command line names. A file takes precedence over a number
/// in the store.
pub(super) fn document_named(word: &str, store: &StoreArgs) -> Result<Document, CommandError> {
    let kept = || if Path::new(word).exists() { None } else { history::kept(store, word) };
    let (name, text) = match word {
        "-" => {
            let text = text_file::read_from(std::io::stdin().lock());
            ("standard input".to_owned(), read_text(text, "standard input")?)
        }
        _ => match kept() {
            Some(text) => (format!("result {word}"), text?),
            None => {
                let text = text_file::read_file(&document_path(word));
                (format!("'{word}'"), read_text(text, word)?)
            }
        },
    };
    Document::parse(&text).map_err(|why| CommandError::Usage(format!("{name} {why}")))
}

fn read_text(text: std::io::Result<String>, name: &str) -> Result<String, CommandError> {
    text.map_err(|error| CommandError::Usage(format!("can't read '{name}': {error}")))
}

/// Returns the path of a document. For a study's folder, that is the `study.json` in it.
fn document_path(word: &str) -> PathBuf {
    let path = Path::new(word);
    if path.is_dir() { path.join("study.json") } else { path.to_owned() }
}

/// Prints the tables one after the other, and the warnings to standard error.
fn tables(named: &[Named<'_>], detail: Detail) -> Result<(), CommandError> {
    for (at, Named { name, document }) in named.iter().enumerate() {
        let between = if at > 0 { "\n" } else { "" };
        let title = if named.len() > 1 { format!("{between}== {name}\n") } else { String::new() };
        print(&format!("{title}{}", document_text(document, detail)))?;
        warn(document.warnings());
    }
    Ok(())
}
