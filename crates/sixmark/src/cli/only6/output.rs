//! What `sixmark only6` writes, and where: the report, the document, the page, the test report and the folder that
//! can be filed; and the check of such a folder.

use std::path::{Path, PathBuf};

use sixmark_document::provenance::Tool;
use sixmark_only6::engine::{
    CheckedFolder, CostRun, FolderWriter, MeasuredCost, UncomparedWay, check_folder,
    check_new_folder, read_file,
};
use sixmark_only6::filed_folder::{DOCUMENT, MARKDOWN, PAGE, SUMS};
use sixmark_only6::only6_result::{Only6Result, ScenarioVerdict};
use sixmark_only6::sheet::only6_text;
use sixmark_only6::way_cost::{COMPARED_WAYS, ComparedWays, WayCost};
use sixmark_sys::command_error::CommandError;
use sixmark_sys::output::{Readers, keep_aside};

use super::super::files::CommandFiles;
use super::super::out::{OutputPlace, complain, do_all, encoded, print};
use super::super::report::write_page;
use crate::report::documents::Document;
use crate::report::sheet::{Named, sheet_of};
use crate::report::{html_page, junit, markdown_page};

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

/// Returns true if a path is in a folder, also if they are written in other ways. The folder may not exist.
fn is_within(path: &Path, folder: &Path) -> bool {
    let whole = |of: &Path| std::path::absolute(of).unwrap_or_else(|_| of.to_owned());
    whole(path).starts_with(whole(folder))
}

impl Only6OutputArgs {
    /// Refuses files that can't be written, before a program is started.
    pub(super) fn check(&self) -> Result<(), CommandError> {
        if let Some(folder) = self.output.as_deref() {
            self.check_outside(folder)?;
            check_new_folder(folder)?;
        }
        let files = CommandFiles::default().document("--json", self.json.as_ref());
        let files = files.document("--html", self.html.as_ref());
        files.document("--junit", self.junit.as_ref()).check()
    }

    /// Refuses other files in the folder that is filed.
    fn check_outside(&self, folder: &Path) -> Result<(), CommandError> {
        let places =
            [("--json", &self.json), ("--html", &self.html), ("--junit", &self.junit)].into_iter();
        for (option, place) in places {
            if let Some(OutputPlace::File(path)) = place
                && is_within(path, folder)
            {
                let line = format!("{option} {}: is in the folder of --output", path.display());
                return Err(CommandError::Usage(line));
            }
        }
        Ok(())
    }

    /// Returns what writes the folder that is filed, if one is asked for.
    pub(super) fn folder_writer(&self) -> Option<FolderWriter> {
        self.output.clone().map(FolderWriter::new)
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
    filed: Option<FolderWriter>,
    costs: &[MeasuredCost],
) -> Result<u8, CommandError> {
    let is_fine = result.scenarios.iter().all(|of| of.verdict == ScenarioVerdict::Works);
    let shown = !args.has_standard_output();
    let printed = if shown { print(&only6_text(&result)) } else { Ok(()) };
    let text = encoded(&result)?;
    let written = args.json.as_ref().map_or(Ok(()), |place| place.write(&text));
    let suite = args.junit.as_ref().map_or(Ok(()), |place| place.write(&junit::of_only6(&result)));
    let document = Document::Only6(Box::new(result));
    let finished = filed.map_or(Ok(()), |filed| {
        let line = finish_folder(filed, &document, &text, costs)?;
        match line {
            Some(line) if shown => print(&format!("\n{line}\n")),
            Some(line) => {
                complain(&line);
                Ok(())
            }
            None => Ok(()),
        }
    });
    let page = write_page(args.html.as_ref(), Readers::Umask, || document);
    do_all([printed, written, suite, finished, page])?;
    Ok(u8::from(!is_fine))
}

/// Writes the folder's document, its pages, its comparisons and its hashes. Returns what is printed of it; `None` of a
/// folder in which a capture is missing.
fn finish_folder(
    mut filed: FolderWriter,
    document: &Document,
    text: &str,
    costs: &[MeasuredCost],
) -> Result<Option<String>, CommandError> {
    // What was measured is kept in another place if it can't be kept here.
    filed.write(DOCUMENT, text.as_bytes()).map_err(|error| {
        let aside = keep_aside(&filed.folder().join(DOCUMENT), text);
        error.map(|line| format!("{line}; {aside}"))
    })?;
    for (path, text) in pages(document) {
        filed.write(path, text.as_bytes())?;
    }
    for of in costs {
        filed.write(&of.ways.file(), of.document.as_bytes())?;
    }
    let place = filed.folder().display().to_string();
    let whole = filed.finish()?;
    Ok(whole.map(|(files, hash)| format!("{place}: {files} files, {SUMS} {hash}")))
}

/// Returns the pages of a folder, each with its path.
fn pages(document: &Document) -> [(&'static str, String); 2] {
    let named = [Named { name: "", document }];
    [(PAGE, html_page(&named)), (MARKDOWN, markdown_page(&named))]
}

/// Returns what the comparisons say of the ways. Those whose document can't be read become uncompared.
pub(super) fn describe_costs(run: &mut CostRun) -> Vec<WayCost> {
    let mut described = Vec::new();
    for of in std::mem::take(&mut run.costs) {
        let way = of.ways.way;
        match summarise_comparison(&of.document) {
            Ok((sentence, notes)) => {
                described.push(WayCost { way, sentence, notes, file: of.ways.file() });
                run.costs.push(of);
            }
            Err(why) => {
                let why = format!("the document of sixmark compare {why}");
                run.uncompared.push(UncomparedWay { way, why });
            }
        }
    }
    described
}

/// Returns the sentence and the notes of a comparison, from its document.
fn summarise_comparison(text: &str) -> Result<(String, Vec<String>), String> {
    let document = Document::parse(text)?;
    if !matches!(document, Document::Comparison(_)) {
        return Err("is not a comparison".to_owned());
    }
    let headline = sheet_of(Named { name: "", document: &document }).headline;
    Ok((headline.sentence, headline.notes))
}

/// Checks a folder, and prints what is wrong. Returns the exit status: 1 if something is.
pub(super) fn verify_folder(folder: &Path) -> Result<u8, CommandError> {
    let mut checked = check_folder(folder)?;
    if let Some(note) = check_pages(folder, &mut checked) {
        print(&format!("{note}\n"))?;
    }
    for line in &checked.faults {
        print(&format!("{line}\n"))?;
    }
    let place = folder.display();
    if checked.faults.is_empty() {
        let line = format!(
            "{place}: {} files are unchanged, and the captures show what the document says\n{SUMS} {}\n",
            checked.files.len(),
            checked.hash
        );
        print(&line)?;
        return Ok(0);
    }
    let unlisted = match checked.count - checked.faults.len() {
        0 => String::new(),
        count => format!(" ({count} more are not listed)"),
    };
    print(&format!("{place}: {} of what was checked is wrong{unlisted}\n", checked.count))?;
    Ok(1)
}

/// Computes the pages and the sentences of comparisons again, from the documents. Adds what differs. Returns a note
/// if another version wrote them, whose words may be others.
fn check_pages(folder: &Path, checked: &mut CheckedFolder) -> Option<String> {
    let read = |path: &str| {
        let bytes = read_file(folder, path)?;
        String::from_utf8(bytes).map_err(|_| format!("{path}: is not text"))
    };
    // What is wrong with the document itself is known.
    let document = read(DOCUMENT).and_then(|text| Document::parse(&text)).ok()?;
    let Document::Only6(result) = &document else { return None };
    let (made, own) = (&result.tool.version, Tool::of_this_program().version);
    let is_own = *made == own;
    let mut left: Vec<&ComparedWays> = COMPARED_WAYS.iter().collect();
    for of in &result.costs {
        let place = left.iter().position(|ways| ways.way == of.way && ways.file() == of.file);
        let is_listed = checked.files.contains(&of.file);
        let (Some(place), true) = (place, is_listed) else {
            let way = of.way.words();
            checked.add_faults([format!("{DOCUMENT}: the cost of {way} has no comparison here")]);
            continue;
        };
        left.remove(place);
        let said = read(&of.file).and_then(|text| {
            summarise_comparison(&text).map_err(|why| format!("{}: {why}", of.file))
        });
        match said {
            Ok((sentence, notes)) if (&sentence, &notes) == (&of.sentence, &of.notes) => {}
            Ok(_) if !is_own => {}
            Ok(_) => {
                checked.add_faults([format!("{DOCUMENT}: does not say what {} says", of.file)])
            }
            Err(why) => checked.add_faults([why]),
        }
    }
    if !is_own {
        return Some(format!(
            "{DOCUMENT}: written by sixmark {made}; this is {own}, whose rules and words may differ: pages and \
             sentences are not compared"
        ));
    }
    let check_page = |(path, again): (&str, String)| match read(path) {
        Ok(text) if text == again => None,
        Ok(_) => Some(format!("{path}: does not show what {DOCUMENT} says")),
        Err(why) => Some(why),
    };
    checked.add_faults(pages(&document).into_iter().filter_map(check_page));
    None
}
