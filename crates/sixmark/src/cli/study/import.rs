//! `sixmark study import`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use sixmark_clients::import::ImportTool;
use sixmark_design::study_result::At;
use sixmark_study::engine::{ImportOptions, Source, check_begun, import_files};
use sixmark_study::import_place::parse_levels;
use sixmark_sys::command_error::CommandError;

use super::super::out::{OutputPlace, print};
use super::{describe_mistakes, document_in_folder, page_of};

/// Add what other tools wrote on other systems to a study: its tables, charts, comparisons and
/// claims are computed again, with the new level.
///
/// The study's file names the factor to which imports add levels: `imports = "system"`. Each file
/// is the output of one tool and one repetition.
#[derive(Debug, clap::Args)]
pub(super) struct ImportArgs {
    /// The folder of a study
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    /// The files: logs of wget (-o), curl -w '%{json}', ab, h2load, iperf3 -J
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Levels of the study's factors that the files belong to, separated by commas; repeatable.
    /// Factors with one level, a client named like the tool, and the family of an address need none
    #[arg(long, value_name = "FACTOR=LEVEL", value_parser = parse_levels)]
    at: Vec<Levels>,

    /// The tool that wrote the files [default: as their content shows]
    #[arg(long, value_name = "TOOL", value_parser = PossibleValuesParser::new(ImportTool::NAMES))]
    tool: Option<String>,

    /// The repetition of the first file [default: the one after the last imported]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repetition: Option<u32>,
}

/// The levels of one `--at`.
type Levels = Vec<At>;

/// Imports the files, and writes the document and the page.
pub(super) fn import(args: &ImportArgs) -> Result<u8, CommandError> {
    check_begun(&args.folder)?;
    let before = document_in_folder(&args.folder)?;
    // The copy of the study's file is what the cells were measured by.
    let source = Source::file(&args.folder.join("study.toml"))?;
    let form = before.form();
    let study = source.read(form).map_err(|wrongs| {
        describe_mistakes(wrongs.iter().map(|wrong| wrong.of_file(&source.name)))
    })?;
    let options = ImportOptions {
        folder: args.folder.clone(),
        at: args.at.concat(),
        tool: args.tool.as_deref().and_then(ImportTool::named),
        repetition: args.repetition,
        files: args.files.clone(),
    };
    let imported = import_files(&source, &study, &options)?;
    let report = args.folder.join("report.html");
    OutputPlace::File(report.clone()).write(&page_of(&imported.document, &args.folder))?;
    let number = imported.cells.len();
    let noun = if number == 1 { "cell" } else { "cells" };
    let (cells, report) = (imported.cells.join(", "), report.display());
    print(&format!("imported {number} {noun} ({cells}); the report is '{report}'\n")).map(|()| 0)
}
