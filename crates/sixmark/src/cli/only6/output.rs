//! What `sixmark only6` writes, and where: the report, the document, the page, the test report and the folder that
//! can be filed; and the check of such a folder.

use std::path::{Path, PathBuf};

use sixmark_only6::engine::{
    FolderFile, MeasuredCost, check_folder, check_new_folder, write_folder,
};
use sixmark_only6::filed_folder::{DOCUMENT, MARKDOWN, PAGE, SUMS, capture_path};
use sixmark_only6::only6_result::{Only6Result, ScenarioVerdict};
use sixmark_only6::sheet::only6_text;
use sixmark_only6::way_cost::WayCost;
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output::Readers;

use super::super::files::CommandFiles;
use super::super::out::{OutputPlace, complain, do_all, encoded, print};
use super::super::report::write_page;
use crate::report::documents::Document;
use crate::report::sheet::{Named, sheet_of};
use crate::report::{html_page, junit, markdown_page};

/// The captures of each scenario, in the order of the document.
pub(super) type FiledCaptures = Vec<Vec<Vec<u8>>>;

/// Where the result goes.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub(super) struct Only6OutputArgs {
    /// Write a folder that can be filed: document, page, captures and their hashes (see sixmark verify)
    #[arg(long, value_name = "FOLDER", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Write the document (sixmark.only6/1)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    json: Option<OutputPlace>,

    /// Write the report as one HTML page
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    html: Option<OutputPlace>,

    /// Write the scenarios as JUnit XML
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    junit: Option<OutputPlace>,
}

impl Only6OutputArgs {
    /// Refuses files that can't be written, before a program is started.
    pub(super) fn check_files(&self) -> Result<(), CommandError> {
        let files = CommandFiles::default().document("--json", self.json.as_ref());
        let files = files.document("--html", self.html.as_ref());
        files.document("--junit", self.junit.as_ref()).check()?;
        self.output.as_deref().map_or(Ok(()), check_new_folder)
    }

    fn has_standard_output(&self) -> bool {
        [&self.json, &self.html, &self.junit].contains(&&Some(OutputPlace::Standard))
    }
}

/// Prints the report, and writes what was asked for. Returns the exit status: 1 unless the program works in all
/// scenarios.
pub(super) fn write_outputs(
    args: &Only6OutputArgs,
    result: Only6Result,
    captures: &FiledCaptures,
    costs: &[MeasuredCost],
) -> Result<u8, CommandError> {
    let is_fine = result.scenarios.iter().all(|of| of.verdict == ScenarioVerdict::Works);
    let shown = !args.has_standard_output();
    let printed = if shown { print(&only6_text(&result)) } else { Ok(()) };
    let text = encoded(&result)?;
    let written = args.json.as_ref().map_or(Ok(()), |place| place.write(&text));
    let suite = args.junit.as_ref().map_or(Ok(()), |place| place.write(&junit::of_only6(&result)));
    let document = Document::Only6(Box::new(result.clone()));
    let filed = match &args.output {
        Some(folder) => {
            let files = filed_files(&result, &document, text.clone(), captures, costs);
            write_folder(folder, &files).and_then(|hash| {
                let line =
                    format!("\n{}: {} files, {SUMS} {hash}\n", folder.display(), files.len());
                if shown {
                    return print(&line);
                }
                complain(line.trim());
                Ok(())
            })
        }
        None => Ok(()),
    };
    let page = write_page(args.html.as_ref(), Readers::Umask, || document);
    do_all([printed, written, suite, filed, page])?;
    Ok(u8::from(!is_fine))
}

/// Returns what a comparison says of a way.
///
/// # Errors
/// Returns an error if its document can't be read.
pub(super) fn describe_cost(of: &MeasuredCost) -> Result<WayCost, CommandError> {
    let document = Document::parse(&of.document)
        .map_err(|why| CommandError::Measure(format!("the comparison of a way {why}")))?;
    let headline = sheet_of(Named { name: "", document: &document }).headline;
    Ok(WayCost {
        way: of.ways.way,
        sentence: headline.sentence,
        notes: headline.notes,
        file: of.ways.file(),
    })
}

/// Returns the files of the folder, without the hashes.
fn filed_files(
    result: &Only6Result,
    document: &Document,
    text: String,
    captures: &FiledCaptures,
    costs: &[MeasuredCost],
) -> Vec<FolderFile> {
    let named = [Named { name: "", document }];
    let texts = [(DOCUMENT, text), (PAGE, html_page(&named)), (MARKDOWN, markdown_page(&named))];
    let texts = texts
        .into_iter()
        .map(|(path, text)| FolderFile { path: path.to_owned(), bytes: text.into_bytes() });
    let captured = result.scenarios.iter().zip(captures).flat_map(|(scenario, starts)| {
        starts.iter().enumerate().map(|(at, bytes)| FolderFile {
            path: capture_path(scenario, at + 1),
            bytes: bytes.clone(),
        })
    });
    let compared = costs
        .iter()
        .map(|of| FolderFile { path: of.ways.file(), bytes: of.document.clone().into_bytes() });
    texts.chain(captured).chain(compared).collect()
}

/// Checks a folder, and prints what is wrong. Returns the exit status: 1 if something is.
pub(super) fn verify_folder(folder: &Path) -> Result<u8, CommandError> {
    let checked = check_folder(folder)?;
    for line in &checked.faults {
        print(&format!("{line}\n"))?;
    }
    let files = checked.files;
    if checked.faults.is_empty() {
        let line = format!(
            "{}: {files} files are unchanged, and the captures show what the document says\n{SUMS} {}\n",
            folder.display(),
            checked.hash
        );
        print(&line)?;
        return Ok(0);
    }
    print(&format!(
        "{}: {} of what was checked is wrong\n",
        folder.display(),
        checked.faults.len()
    ))?;
    Ok(1)
}
