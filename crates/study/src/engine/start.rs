//! The folder and document of a study that begins or is resumed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sixmark_analysis::analyse::published;
use sixmark_design::form::Form;
use sixmark_design::looks::StudyUntil;
use sixmark_design::spec::cells::cells;
use sixmark_design::spec::lab::InLab;
use sixmark_design::spec::{Factor, Study};
use sixmark_design::study_result::{
    FactorResult, LabUsed, Resumed, SCHEMA, StudyFile, StudyResult,
};
use sixmark_document::provenance::{Ended, Tool};
use sixmark_sys::enclosure::Rights;

use super::changes::{self, Now};
use super::elsewhere::found_here;
use super::folder::Folder;
use super::source::Source;
use crate::engine::cell_warnings as doubts;
use crate::engine::options::Options;
use sixmark_document::environment;
use sixmark_sys::command_error::CommandError;

/// Creates the folder and document of a new study.
pub(super) fn begin_study(
    source: &Source,
    study: &Study,
    options: &Options,
    programs: BTreeMap<String, String>,
) -> Result<(Folder, StudyResult), CommandError> {
    check_claims(study, options)?;
    let path = options.out.clone().unwrap_or_else(|| usual_folder(study));
    if Folder::is_taken(&path) {
        let shown = path.display();
        let line = format!(
            "'{shown}' is not empty: choose another --out, or continue with --resume \
             {shown}"
        );
        return Err(CommandError::Usage(line));
    }
    let folder = Folder::create(&path)?;
    for (name, text) in source.copies() {
        folder.write(name, &text)?;
    }
    let seed = options.seed.unwrap_or_else(random_seed);
    Ok((folder, begin_document(source, study, seed, options, programs)))
}

/// Refuses to go on until claims are decided if there are none.
fn check_claims(study: &Study, options: &Options) -> Result<(), CommandError> {
    if options.until_decided.is_some() && study.outputs.claims.is_empty() {
        Err(CommandError::Usage(format!(
            "--until decided: the study '{}' has no [[claims]]",
            study.name
        )))
    } else {
        Ok(())
    }
}

/// Returns the default folder, such as `anma-2026-11-21T173000`.
fn usual_folder(study: &Study) -> PathBuf {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let now: String = now.chars().filter(|c| !matches!(c, ':' | 'Z')).collect();
    let Form { quick, full, in_lab } = study.form;
    let parts = [(in_lab, "-in-lab"), (quick, "-quick"), (full, "-full")];
    let form: String = parts.iter().filter(|(is, _)| *is).map(|(_, part)| *part).collect();
    PathBuf::from(format!("{}{form}-{now}", study.name))
}

fn begin_document(
    source: &Source,
    study: &Study,
    seed: u64,
    options: &Options,
    programs: BTreeMap<String, String>,
) -> StudyResult {
    let planned = cells(study).len() as u32 * study.repetitions.get();
    let uncontrolled = found_here(study);
    let doubts = doubts::of_study(study, &[], options.fleet.is_some());
    let doubts = doubts.into_iter().chain(doubts::of_uncontrolled(&uncontrolled)).collect();
    StudyResult {
        schema: SCHEMA.to_owned(),
        tool: Tool::of_this_program(),
        name: study.name.clone(),
        title: study.title.clone(),
        description: study.description.clone(),
        differences: study.differences.clone(),
        file: StudyFile { name: source.name.clone(), sha256: source.sha256() },
        quick: study.form.quick,
        full: study.form.full,
        in_lab: study.form.in_lab,
        seed,
        order: study.order,
        repetitions: study.repetitions.get(),
        until: options
            .until_decided
            .map(|at_most| StudyUntil { at_most_s: at_most.as_secs_f64(), looks: Vec::new() }),
        started: now(),
        updated: now(),
        ended: None,
        factors: factor_results(study),
        omitted: study.omitted.clone(),
        targets: targets(study),
        uncontrolled: uncontrolled.clone(),
        cells_planned: planned,
        cells: Vec::new(),
        tables: Vec::new(),
        figures: Vec::new(),
        comparisons: Vec::new(),
        claims: Vec::new(),
        published: study.published.as_ref().map(published),
        environment: environment::environment(Vec::new()),
        programs,
        lab: study.lab.as_ref().map(|lab| lab_used(lab, options.rights)),
        fleet: places(options),
        resumed: Vec::new(),
        warnings: doubts,
    }
}

/// Returns the factors with their levels for the document.
pub(super) fn factor_results(study: &Study) -> Vec<FactorResult> {
    let of = |factor: &Factor| {
        let labels = study.labels.of(&factor.name).cloned().unwrap_or_default();
        FactorResult {
            name: factor.name.clone(),
            levels: factor.levels.iter().map(|level| level.name.clone()).collect(),
            label: labels.label,
            unit: labels.unit,
            labels: labels.levels.into_iter().collect(),
        }
    };
    study.factors.iter().map(of).collect()
}

/// Returns the URLs of servers that the study does not start.
fn targets(study: &Study) -> BTreeMap<String, Vec<String>> {
    study.named.elsewhere.as_ref().map_or(BTreeMap::new(), |elsewhere| elsewhere.urls.clone())
}

/// Returns where the agents are.
fn places(options: &Options) -> Vec<String> {
    options.fleet.as_ref().map_or(Vec::new(), |fleet| fleet.places())
}

fn lab_used(lab: &InLab, rights: Option<Rights>) -> LabUsed {
    let (file, name) = (lab.file.clone(), lab.lab.name.clone());
    LabUsed { file, name, root: rights == Some(Rights::Root) }
}

/// Opens the folder and document of a study to resume, with all cells that were kept. If the study
/// was complete, also returns the document as it was.
pub(super) fn resume(
    path: &Path,
    source: &Source,
    study: &Study,
    options: &Options,
    programs: &BTreeMap<String, String>,
) -> Result<(Folder, StudyResult, Option<StudyResult>), CommandError> {
    let folder = Folder::open(path)?;
    let mut document = folder.document()?;
    let complete = Some(document.clone()).filter(|before| before.ended == Some(Ended::Complete));
    let environment = environment::environment(Vec::new());
    let sha256 = source.sha256();
    let version = env!("CARGO_PKG_VERSION");
    let (fleet, targets) = (places(options), targets(study));
    let now_is = Now {
        environment: &environment,
        programs,
        sha256: &sha256,
        version,
        fleet: &fleet,
        targets: &targets,
    };
    let found = changes::changes(&document, &now_is);
    if !found.is_empty() && !options.force {
        return Err(CommandError::Usage(format!(
            "changed since '{}' was started: {}; use --force to resume anyway",
            path.display(),
            changes::changes_line(&found)
        )));
    }
    check_claims(study, options)?;
    match (&mut document.until, options.until_decided) {
        (Some(until), Some(at_most)) => until.at_most_s = at_most.as_secs_f64(),
        (None, Some(_)) => {
            return Err(CommandError::Usage(format!(
                "'{}' was begun without --until decided, so that its claims are tested once: begin \
                 a new study",
                path.display()
            )));
        }
        (_, None) => {}
    }
    read_cells(&folder, &mut document)?;
    check_looks(&document, path)?;
    let cells = document.measured().count() as u32;
    document.resumed.push(Resumed { at: now(), cells, changes: found });
    document.ended = None;
    document.fleet = fleet;
    document.targets = targets;
    let doubts = doubts::of_study(study, &document.resumed, options.fleet.is_some());
    let of_settings = doubts::of_uncontrolled(&document.uncontrolled);
    document.warnings = doubts.into_iter().chain(of_settings).collect();
    Ok((folder, document, complete))
}

/// Refuses a document whose looks can't have been: they rise, and each follows repetitions that were
/// measured.
fn check_looks(document: &StudyResult, path: &Path) -> Result<(), CommandError> {
    let Some(until) = &document.until else { return Ok(()) };
    let most = document.measured().map(|cell| cell.repetition).max().unwrap_or(0);
    let rise = until.looks.windows(2).all(|two| two[0] < two[1]);
    let were = until.looks.iter().all(|look| (1..=most).contains(look));
    if rise && were {
        Ok(())
    } else {
        Err(CommandError::Usage(format!(
            "'{}': until.looks does not fit the {most} repetitions that were measured; the file is damaged",
            path.join("study.json").display()
        )))
    }
}

/// Reads the measured cells. Their files are authoritative: the document may be older. Imported cells
/// are only in the document.
pub(super) fn read_cells(folder: &Folder, document: &mut StudyResult) -> Result<(), CommandError> {
    let imported = document.imported().cloned().collect::<Vec<_>>();
    document.cells = folder.cells()?;
    document.cells.extend(imported);
    Ok(())
}

/// Returns a random seed of 53 bits, which every JSON parser represents exactly (RFC 8259, 6).
fn random_seed() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    RandomState::new().build_hasher().finish() >> 11
}

/// Returns the current time in the format of documents.
pub(super) fn now() -> String {
    humantime::format_rfc3339_millis(SystemTime::now()).to_string()
}
