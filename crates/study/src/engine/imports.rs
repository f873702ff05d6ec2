//! Imports: cells that other machines measured, from the output of the tools that ran there.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::engine::cell_warnings::{doubt, of_study};
use crate::import_place::{ImportPlace, find_place};
use sixmark_clients::import::{ImportTool, LARGEST_IMPORT, ToolOutput, read_output};
use sixmark_design::spec::Study;
use sixmark_design::study_result::{
    At, CellResult, ImportedFrom, Resumed, SetupChange, StudyResult,
};
use sixmark_document::provenance::{Ended, Warning};
use sixmark_tally::family_result::Families;
use sixmark_units::family::Family;

use super::conduct::finish;
use super::folder::Folder;
use super::source::Source;
use super::start::{now, read_cells};
use sixmark_sys::command_error::CommandError;

/// The most characters of a file's name that its copy keeps.
const LONGEST_NAME: usize = 60;

/// What to import into a study.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The study's folder.
    pub folder: PathBuf,
    /// The levels of the cell.
    pub at: Vec<At>,
    /// The tool that wrote the files; if absent, their words tell.
    pub tool: Option<ImportTool>,
    /// The repetition of the first file; if absent, the one after the last that was imported.
    pub repetition: Option<u32>,
    /// The files, each with one repetition.
    pub files: Vec<PathBuf>,
}

/// A study after an import.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Its document.
    pub document: StudyResult,
    /// The identifiers of the new cells, in the order of the files.
    pub cells: Vec<String>,
}

/// Imports files as cells of a study, and recomputes its outputs. `study` is what `source`, the copy
/// in the folder, was parsed into.
///
/// All files are read and checked before anything is written. The cells are added by writing the
/// document, completely or not at all.
///
/// # Errors
/// Returns an error of one line if the study takes no imports, if a file can't be read or has no
/// figures, or if its place is impossible or taken.
pub fn import_files(
    source: &Source,
    study: &Study,
    options: &ImportOptions,
) -> Result<Imported, CommandError> {
    check_takes_imports(study, &options.folder)?;
    let folder = Folder::open(&options.folder)?;
    let mut document = folder.document()?;
    read_cells(&folder, &mut document)?;
    let files = options.files.iter().map(|path| read_file(path, options.tool));
    let files: Vec<ReadFile> = files.collect::<Result<_, _>>()?;
    let first = document.cells.len();
    let at = now();
    for (number, file) in (0..).zip(&files) {
        let placed = place_file(&document.cells, study, options, number, file);
        let cell = placed.map(|place| new_cell(file, place, &at));
        document.cells.push(cell.map_err(|why| file.wrong(&why))?);
    }
    for (cell, file) in document.cells[first..].iter_mut().zip(&files) {
        let copy =
            folder.keep_import(&format!("{}-{}", cell.id, plain(&file.name)), &file.bytes)?;
        cell.imported.iter_mut().for_each(|from| from.copy.clone_from(&copy));
    }
    note_changed_file(source, study, &mut document, &at);
    let ended = document.ended;
    finish(study, &mut document, ended);
    folder.write_document(&document)?;
    let cells = document.cells[first..].iter().map(|cell| cell.id.clone()).collect();
    Ok(Imported { document, cells })
}

fn check_takes_imports(study: &Study, folder: &Path) -> Result<(), CommandError> {
    if study.imports.is_some() {
        return Ok(());
    }
    let factors = study.factors.iter().map(|factor| factor.name.as_str());
    let factors: Vec<&str> = factors.filter(|name| *name != sixmark_design::spec::FAMILY).collect();
    let factors = if factors.is_empty() { "none".to_owned() } else { factors.join(", ") };
    Err(CommandError::Usage(format!(
        "the study takes no imports: write imports = \"FACTOR\" before the tables of '{}', with the \
         factor whose levels they add (factors: {factors})",
        folder.join(super::source::STUDY).display()
    )))
}

/// Adds an entry of what changed if the study's file, from which the outputs are computed, is not
/// the one that ran.
fn note_changed_file(source: &Source, study: &Study, document: &mut StudyResult, at: &str) {
    let (before, now) = (document.file.sha256.clone(), source.sha256());
    let is_noted = |resumed: &Resumed| resumed.changes.iter().any(|change| change.now == now);
    if before != now && !document.resumed.iter().any(is_noted) {
        let what = "the study's file (SHA-256), for an import".to_owned();
        let changes = vec![SetupChange { what, before, now }];
        let cells = document.measured().count() as u32;
        document.resumed.push(Resumed { at: at.to_owned(), cells, changes });
        document.warnings = of_study(study, &document.resumed, !document.fleet.is_empty());
    }
}

/// A file of another tool.
struct ReadFile {
    /// Its path as it was given.
    path: String,
    /// Its name without its folder.
    name: String,
    bytes: Vec<u8>,
    sha256: String,
    output: ToolOutput,
}

impl ReadFile {
    fn wrong(&self, why: &str) -> CommandError {
        CommandError::Usage(format!("'{}': {why}", self.path))
    }
}

fn read_file(path: &Path, tool: Option<ImportTool>) -> Result<ReadFile, CommandError> {
    let shown = path.display().to_string();
    let wrong = |why: String| CommandError::Usage(format!("'{shown}' {why}"));
    let bytes = read_bytes(path).map_err(wrong)?;
    let output = read_output(&bytes, tool).map_err(wrong)?;
    let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let name = name.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
    let sha256 = crate::digest_of_bytes(&bytes);
    Ok(ReadFile { path: shown.clone(), name, bytes, sha256, output })
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let cannot = |error: std::io::Error| format!("can't be read: {error}");
    // A pipe without a writer would wait for ever.
    if !fs::metadata(path).map_err(cannot)?.is_file() {
        return Err("is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(cannot)?;
    file.take(LARGEST_IMPORT + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > LARGEST_IMPORT {
        Err(format!("is larger than {} MiB", LARGEST_IMPORT >> 20))
    } else {
        Ok(bytes)
    }
}

/// The place of a file's figures among the cells.
struct NewPlace {
    place: ImportPlace,
    /// The number of the combination among imported ones, from 1.
    cell: u32,
    repetition: u32,
}

/// Finds the place of the file of this number, from 0. `cells` contains those of the files before.
fn place_file(
    cells: &[CellResult],
    study: &Study,
    options: &ImportOptions,
    number: u32,
    file: &ReadFile,
) -> Result<NewPlace, String> {
    let place = find_place(study, &options.at, &file.output)?;
    let imported = || cells.iter().filter(|cell| cell.is_imported());
    let here = |cell: &&CellResult| {
        cell.levels == place.levels && cell.families.of(place.family).is_some()
    };
    let is_same =
        |cell: &&CellResult| cell.imported.as_ref().is_some_and(|from| from.sha256 == file.sha256);
    if let Some(before) = imported().filter(here).find(is_same) {
        return Err(format!("the same file was imported at these levels as {}", before.id));
    }
    let known = imported().find(here).map(|cell| cell.cell);
    let next = || imported().map(|cell| cell.cell).max().unwrap_or(0) + 1;
    let cell = known.unwrap_or_else(next);
    let last = imported().filter(here).map(|cell| cell.repetition).max().unwrap_or(0);
    let repetition = match options.repetition {
        Some(first) => first.saturating_add(number),
        None => last.saturating_add(1),
    };
    if imported().filter(here).any(|cell| cell.repetition == repetition) {
        Err(format!("repetition {repetition} was imported at these levels before"))
    } else {
        Ok(NewPlace { place, cell, repetition })
    }
}

fn new_cell(file: &ReadFile, at: NewPlace, now: &str) -> CellResult {
    let NewPlace { place: ImportPlace { levels, family }, cell, repetition } = at;
    let figures = Some(file.output.figures.clone());
    let families = match family {
        Family::Ipv6 => Families { ipv6: figures, ipv4: None },
        Family::Ipv4 => Families { ipv6: None, ipv4: figures },
    };
    let tool = file.output.tool.name().to_owned();
    CellResult {
        id: format!("i{cell:03}-r{repetition}"),
        cell,
        repetition,
        levels,
        client: tool.clone(),
        agents: None,
        command: Vec::new(),
        started: now.to_owned(),
        took_s: file.output.took_s,
        ended: Ended::Complete,
        families,
        given: Families::default(),
        accounts: Families::default(),
        traffic: None,
        links: Vec::new(),
        instruments: None,
        warnings: refused(&file.output),
        imported: Some(ImportedFrom {
            file: file.name.clone(),
            copy: String::new(),
            sha256: file.sha256.clone(),
            tool,
            version: file.output.version.clone(),
            at: now.to_owned(),
        }),
    }
}

fn refused(output: &ToolOutput) -> Vec<Warning> {
    let line =
        || format!("{} responses to {} had an error status", output.refused, output.tool.name());
    (output.refused > 0).then(|| doubt("client_statuses", line())).into_iter().collect()
}

/// Returns a name for a copy: letters, digits and `._-` of the file's name.
fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    name.chars().take(LONGEST_NAME).map(plain).collect()
}
